// What the page of a paper computes, without a browser.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import samples from "../../tests/web/figure_samples.json";
import { duration, kindWord } from "../src/experiment";
import { figureHeight, figureOption, hasStated, narrowest, stacksOf, ticks, xText } from "../src/figure";
import { columns, csv, given, shownCell } from "../src/figure_data";
import { when } from "../src/format";
import { markdown, type Part } from "../src/markdown";
import { pageData } from "../src/page";
import { complete, countStatuses, type Cell, type Experiment, type Figure, type Stated } from "../src/reproduction_data";
import { theme } from "../src/theme";
import { bounds, outsideBy, placed } from "../src/verdicts";

function document(...experiments: object[]): { experiments: Experiment[] } {
  return complete({ experiments } as Parameters<typeof complete>[0]);
}
const figures = (document({ figures: samples.map((s) => s.figure) }).experiments[0]).figures;
const stated = (s: Partial<Stated>): Stated => ({ what: "", paper: null, ours: null, bounds: [null, null], within: null, ...s });

describe("the document", () => {
  test("what is absent or null is filled in", () => {
    const [e] = document({ id: "ccws.fig7", status: "pass", figures: null, runs: null }).experiments;
    expect(e.runs).toEqual({ total: 0, done: 0, failed: 0, failures: [] });
    expect([e.figures, e.shapes, e.stated, e.explanation, e.priority, e.counters]).toEqual([[], [], [], "", null, { columns: [], rows: [] }]);
  });
  test("a series without stated numbers has a null for each x", () => {
    expect(figures[0].series[0].stated).toEqual([null, null, null, null]);
    expect(figures.map(hasStated)).toEqual([true, true, false, true, false, false]);
  });
  test("a number that was not measured is neither within nor outside its bounds", () => {
    const [e] = document({ stated: [{ what: "gain", paper: 1.63, ours: null, within: false }, { what: "gain", ours: 1, within: false }] }).experiments;
    expect(e.stated.map((s) => s.within)).toEqual([null, false]);
  });
  test("statuses are counted", () => {
    const all = document({ status: "pass" }, { status: "fail" }, { status: "pass" }, { status: "tested_elsewhere" }).experiments;
    expect(countStatuses(all)).toEqual({ pass: 2, fail: 1, incomplete: 0, tested_elsewhere: 1, no_verdict: 0 });
  });
  test("the unfilled page is told apart from broken data", () => {
    expect(() => pageData("/*DATA*/", "reproduce")).toThrow("raddle fills it with reproduce");
    expect(() => pageData("{", "reproduce")).toThrow(SyntaxError);
  });
});

describe("CSV", () => {
  test.each(samples.map((s, i): [string, number] => [s.figure.title, i]))("%s as the C++ writes it", (_title, i) => {
    expect(csv(figures[i])).toBe(samples[i].csv);
  });
  test("the paper's numbers stand beside ours and are marked", () => {
    expect(columns(figures[1]).map((c) => [c.title, c.stated])).toEqual(
      [["GTO / miss", false], ["CCWS / miss", false], ["CCWS / miss (stated)", true]]);
  });
});

describe("numbers", () => {
  test("in cells", () => {
    expect([null, "text", 5, 1234567, 1.234, 0.5].map(shownCell)).toEqual(["–", "text", "5", "1,234,567", "1.23", "0.500"]);
  });
  test("that somebody wrote down keep their digits", () => {
    expect([0.36, 1.63, 32, 20480, null].map(given)).toEqual(["0.36", "1.63", "32", "20,480", "–"]);
  });
  test("under an axis are short when they are round", () => {
    expect([4096, 16384, 500_000, 20_000_000, 0.5, 12_500, 1048576].map(xText)).toEqual(["4096", "16384", "500 k", "20 M", "0.5", "12.5 k", "1048576"]);
  });
  test("of time", () => {
    expect(["2024-05-01T12:34:56Z", "2024-05-01", ""].map(when)).toEqual(["2024-05-01 12:34 UTC", "2024-05-01", ""]);
    expect([3, 214, 599.6, 2760, 7500].map(duration)).toEqual(["3.00 s", "3 min 34 s", "10 min", "46 min", "2 h 5 min"]);
    expect(["P", "special"].map(kindWord)).toEqual(["performance", "special"]);
  });
});

describe("axes", () => {
  const wide = () => 20;
  test("all values are written where there is room", () => {
    expect(ticks([8, 16, 32], Math.log, 300, wide)).toEqual([8, 16, 32]);
  });
  test("those that would touch are left out, and the order of the values does not matter", () => {
    expect(ticks([5, 1, 3, 2, 4], (x) => x, 100, wide)).toEqual([1, 3, 5]);
  });
  test("one value stands alone", () => {
    expect(ticks([7], (x) => x, 100, wide)).toEqual([7]);
  });
});

describe("stated numbers", () => {
  test("lie between their bounds in the picture as they do in fact", () => {
    const { low, high, paper, ours } = placed(stated({ paper: 1.63, ours: 1.21, bounds: [1.32, 2.01] }));
    expect(ours).toBeLessThan(low);
    expect(low).toBeLessThan(paper!);
    expect(paper).toBeLessThan(high);
    for (const share of [low, high, paper!, ours!]) expect(share > 0 && share < 1).toBe(true);
  });
  test("open bounds reach the edge, a single number is in the middle", () => {
    expect(placed(stated({ ours: 1.02, bounds: [1, null] })).high).toBe(1);
    expect(placed(stated({ ours: 5 }))).toEqual({ low: 0, high: 1, paper: null, ours: 0.5 });
    expect(placed(stated({ ours: 0, paper: 0 })).ours).toBe(0.5);
  });
  test("a miss says by how much", () => {
    expect(outsideBy(stated({ ours: 1.31, bounds: [1.315, 2], within: false }))).toBe("by 0.005");
    expect(outsideBy(stated({ ours: 2.5, bounds: [null, 2], within: false }))).toBe("by 0.5");
    expect(outsideBy(stated({ ours: 1.5, bounds: [1.315, 2], within: true }))).toBe("");
    expect(outsideBy(stated({ ours: null, bounds: [1, 2], within: null }))).toBe("");
  });
  test("bounds are told in words", () => {
    expect([[1.32, 2.01], [1, null], [null, 0.5], [null, null]].map(([lo, hi]) => bounds(stated({ bounds: [lo, hi] }))))
      .toEqual(["1.32 to 2.01", "at least 1", "at most 0.5", "–"]);
  });
});

describe("figures", () => {
  test("only bars need room; stacks of several bars more than single ones", () => {
    expect(narrowest(figures[2])).toBe(0);
    expect(stacksOf(figures[1])).toEqual(["GTO", "CCWS"]);
    const single: Figure = { ...figures[1], series: [figures[1].series[0]] };
    expect(narrowest(figures[1])).toBeGreaterThan(narrowest(single));
  });
});

describe("options of charts", () => {
  beforeEach(() => vi.stubGlobal("document", { createElement: () => ({ getContext: () => ({ measureText: (text: string) => ({ width: 7 * text.length }) }) }) }));
  afterEach(() => vi.unstubAllGlobals());
  const option = (f: Figure) => figureOption(f, theme(false), 800) as { yAxis: { axisLine: object }; series: { data: unknown[] }[]; xAxis: { axisTick?: { customValues: number[] } } };

  test("the y axis stays at the left edge where the logarithm of x is 0", () => {
    expect(option(figures[2]).yAxis.axisLine).toMatchObject({ onZero: false });
  });
  test("a logarithmic axis has a tick for each x", () => {
    expect(option(figures[2]).xAxis.axisTick!.customValues).toEqual([8, 16, 0.5].map(Math.log));
  });
  test("what was not measured is a gap, what is stated a mark", () => {
    const [ours, , marks] = option(figures[0]).series;
    expect(ours.data).toEqual([1, 0.1, "-", 1234567]);
    expect(marks.data).toEqual([[0, 1.7, 1]]);
  });
  test("a tornado has the ends of each bar, and none where a number is missing", () => {
    const series = (name: string, values: Cell[], at: string[]) => ({ name, stack: "", values, at, stated: [] });
    const tornado: Figure = { title: "", type: "tornado", x: { label: "", scale: "category", values: ["queue", "seed"] }, y: { label: "IPC", unit: "" },
      series: [series("least", [1, null], ["1", ""]), series("as declared", [1.3, 1.3], []), series("most", [1.7, null], ["16", ""])] };
    expect(option(tornado).series.map((s) => s.data)).toEqual([[[1, 0, 1.7]], [[1.3, 0]]]);
    expect(figureHeight(tornado, 800)).toBeGreaterThan(figureHeight({ ...tornado, x: { ...tornado.x, values: ["queue"] } }, 800));
  });
  test("a stated part of a stack stands on what lies below it", () => {
    const two: Figure = { ...figures[1], series: [...figures[1].series, { name: "hit", stack: "CCWS", values: [1, 2], at: [], stated: [null, 4] }] };
    expect(option(two).series[2].data).toEqual([[6, 6, 0], [6, 9.5, 0]]);
  });
});

/** Every tag and attribute of a tree, and all its text. */
function inventory(parts: Part[]): { tags: string[]; attributes: string[]; text: string } {
  const out = { tags: [] as string[], attributes: [] as string[], text: "" };
  const visit = (part: Part): void => {
    if (typeof part === "string") {
      out.text += part;
      return;
    }
    out.tags.push(part.tag);
    out.attributes.push(...Object.entries(part.attributes).map(([name, value]) => `${name}=${value}`));
    part.parts.forEach(visit);
  };
  parts.forEach(visit);
  return out;
}

describe("markdown", () => {
  test("what people write is drawn", () => {
    const { tags, text } = inventory(markdown("# A\n\n**b** *c* `d`\n\n1. e\n2. f\n\n> g\n\n| h | i |\n|---|--:|\n| 1 | 2 |\n\n---\n\n```\nj\n```\n"));
    expect(tags).toEqual(["h4", "p", "strong", "em", "code", "ol", "li", "p", "li", "p", "blockquote", "p",
      "div", "table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td", "hr", "pre", "code"]);
    expect(text).toBe("Ab c defghi12j");
  });
  test("markup is text", () => {
    const evil = "<script>x()</script>\n\n<img src=x onerror=y()> a <b onclick=z()>b</b> &lt;i&gt;";
    const { tags, attributes, text } = inventory(markdown(evil));
    expect(tags).toEqual(["p"]);
    expect(attributes).toEqual([]);
    expect(text).toContain("<script>x()</script>");
    expect(text).toContain("<b onclick=z()>b</b> <i>");
  });
  test("links lead to pages and to places of this page, nowhere else", () => {
    const links = (text: string) => inventory(markdown(text)).attributes.filter((a) => a.startsWith("href="));
    expect(links("[a](https://x.org/y) [b](#ccws.fig7) <http://z.org>")).toEqual(["href=https://x.org/y", "href=#ccws.fig7", "href=http://z.org"]);
    expect(links("[a](javascript:x()) [b](data:text/html,x) [c](file:///etc/passwd) [d](JAVASCRIPT:x()) [e](//x.org) [f](vbscript:x)")).toEqual([]);
  });
  test("pictures are not fetched, their words stay", () => {
    expect(inventory(markdown("![a curve](http://x.org/c.png)"))).toEqual({ tags: ["p"], attributes: [], text: "a curve" });
  });
});
