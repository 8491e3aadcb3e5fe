// What the page of a paper computes, without a browser.
import { describe, expect, test } from "vitest";
import { darkRules } from "../src/drawing";
import { duration, kindWord } from "../src/experiment";
import { columns, given, hasNumbers, hasStated, shownCell, spot, stacksOf } from "../src/figure_data";
import { when } from "../src/format";
import { markdown, type Part } from "../src/markdown";
import { pageData } from "../src/page";
import { complete, countStatuses, madeBy, olderProgram, shownWith, type Experiment, type Stated } from "../src/reproduction_data";
import { theme } from "../src/theme";
import { boundText, bounds, outsideBy, placed } from "../src/verdicts";

function document(...experiments: object[]): { experiments: Experiment[] } {
  return complete({ experiments } as Parameters<typeof complete>[0]);
}
const figures = document({ figures: [
  { title: "IPC", type: "bars", x: { label: "kernel", values: ["BFS", "GC"] }, y: { label: "IPC" },
    series: [{ name: "LRR", values: [0.5, 1234567] }, { name: "GTO", values: [1.5, null], stated: [1.7, null] }] },
  { title: "Accesses", type: "stacked", x: { label: "", values: [8, 16] }, y: { label: "accesses" },
    series: [{ name: "miss", stack: "GTO", values: [6, 1] }, { name: "miss", stack: "CCWS", values: [5, 3], stated: [4, null] },
      { name: "hit", stack: "CCWS", values: [2, null] }] },
  { title: "Constants", type: "tornado", x: { label: "", values: ["queue", "seed"] }, y: { label: "IPC" },
    series: [{ name: "least", values: [1, null], at: ["1", ""] }, { name: "as declared", values: [1.3, 1.3] }, { name: "most", values: [1.7, null], at: ["16", ""] }] },
  { title: "Nothing", type: "lines", x: { label: "n", scale: "log", values: [1, 2] }, series: [{ name: "s", values: [null, null] }] },
] }).experiments[0].figures;
const stated = (s: Partial<Stated>): Stated => ({ what: "", paper: null, ours: null, bounds: [null, null], within: null, refuted: false, bound: null, ...s });

describe("the document", () => {
  test("what is absent or null is filled in", () => {
    const [e] = document({ id: "ccws.fig7", status: "pass", figures: null, runs: null }).experiments;
    expect(e.runs).toEqual({ total: 0, done: 0, failed: 0, failures: [] });
    expect([e.figures, e.shapes, e.stated, e.explanation, e.priority, e.counters]).toEqual([[], [], [], "", null, { columns: [], rows: [] }]);
  });
  test("a series without stated numbers has a null for each x", () => {
    expect(figures[0].series[0].stated).toEqual([null, null]);
    expect(figures.map(hasStated)).toEqual([true, true, false, false]);
    expect(figures.map(hasNumbers)).toEqual([true, true, true, false]);
  });
  test("a number that was not measured is neither within nor outside its bounds", () => {
    const [e] = document({ stated: [{ what: "gain", paper: 1.63, ours: null, within: false }, { what: "gain", ours: 1, within: false }] }).experiments;
    expect(e.stated.map((s) => s.within)).toEqual([null, false]);
  });
  test("statuses are counted", () => {
    const all = document({ status: "pass" }, { status: "fail" }, { status: "pass" }, { status: "tested_elsewhere" }).experiments;
    expect(countStatuses(all)).toEqual({ pass: 2, refuted: 0, fail: 1, incomplete: 0, tested_elsewhere: 1, no_verdict: 0 });
  });
  test("rows of ours count for nothing, as in the index", () => {
    const all = document({ status: "pass" }, { status: "fail" }, { status: "pass", kind: "study" }).experiments;
    expect([countStatuses(all).pass, countStatuses(all).fail]).toEqual([1, 1]);
    expect(all.map(shownWith)).toEqual(["pass", "fail", "ours"]);
  });
  test("of another program than the page's is marked", () => {
    expect(madeBy({ raddle_version: "0.1.0+ab", commit: "5b8a" })).toBe("Raddle 0.1.0+ab (commit 5b8a)");
    expect(madeBy({ raddle_version: "0.1.0+ab" })).toBe("Raddle 0.1.0+ab");
    expect(olderProgram({ raddle_version: "0.1.0+ab" }, "0.1.0+ab")).toBe("");
    expect(olderProgram({ raddle_version: "0.1.0+ab" }, "0.1.0+cd")).toContain("older program (0.1.0+ab)");
  });
  test("the unfilled page is told apart from broken data", () => {
    expect(() => pageData("/*DATA*/", "reproduce")).toThrow("raddle fills it with reproduce");
    expect(() => pageData("{", "reproduce")).toThrow(SyntaxError);
  });
});

describe("figures", () => {
  test("as tables have the paper's numbers beside ours, marked", () => {
    expect(columns(figures[1]).map((c) => [c.title, c.stated])).toEqual(
      [["GTO / miss", false], ["CCWS / miss", false], ["CCWS / miss (stated)", true], ["CCWS / hit", false]]);
    expect(stacksOf(figures[1])).toEqual(["GTO", "CCWS"]);
  });
  test("tell what is under the pointer, and leave out what nobody measured or stated", () => {
    expect(spot(figures[0], 0)).toEqual({ heading: "kernel BFS", together: "", lines: [
      { series: 0, name: "LRR", value: "0.500", paper: "", at: "" }, { series: 1, name: "GTO", value: "1.50", paper: "1.70", at: "" }] });
    expect(spot(figures[0], 1).lines.map((line) => line.value)).toEqual(["1,234,567"]);
  });
  test("in stacks have a column for each stack, the top part first, with the sum", () => {
    const { heading, lines, together } = spot(figures[1], 1);
    expect([heading, lines.map((line) => [line.name, line.value, line.paper]), together]).toEqual(
      ["8 · CCWS", [["hit", "2", ""], ["miss", "5", "4"]], "7.00"]);
    expect(spot(figures[1], 2)).toMatchObject({ heading: "16 · GTO", together: "1.00" });
    expect(spot(figures[1], 3).lines.map((line) => line.name)).toEqual(["miss"]);
  });
  test("of constants say what the constant is at the ends", () => {
    expect(spot(figures[2], 0).lines.map((line) => [line.name, line.value, line.at])).toEqual(
      [["least", "1", "1"], ["as declared", "1.30", ""], ["most", "1.70", "16"]]);
    expect(spot(figures[2], 1).lines.map((line) => line.name)).toEqual(["as declared"]);
  });
  test("are shown in the dark in the dark theme's colours", () => {
    const rules = darkRules();
    theme(false).series.forEach((light, i) => expect(rules).toContain(`[fill="${light}"] { fill: ${theme(true).series[i]}; }`));
    expect(rules).toContain(`[stroke="${theme(false).paper}"] { stroke: ${theme(true).paper}; }`);
  });
});

describe("numbers", () => {
  test("in cells", () => {
    expect([null, "text", 5, 1234567, 1.234, 0.5].map(shownCell)).toEqual(["–", "text", "5", "1,234,567", "1.23", "0.500"]);
  });
  test("that somebody wrote down keep their digits", () => {
    expect([0.36, 1.63, 32, 20480, null].map(given)).toEqual(["0.36", "1.63", "32", "20,480", "–"]);
  });
  test("of time", () => {
    expect(["2024-05-01T12:34:56Z", "2024-05-01", ""].map(when)).toEqual(["2024-05-01 12:34 UTC", "2024-05-01", ""]);
    expect([3, 214, 599.6, 2760, 7500].map(duration)).toEqual(["3.00 s", "3 min 34 s", "10 min", "46 min", "2 h 5 min"]);
    expect(["P", "special"].map(kindWord)).toEqual(["performance", "special"]);
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
    expect(placed(stated({ ours: 5 }))).toEqual({ low: 0, high: 1, paper: null, ours: 0.5, bound: null });
    expect(placed(stated({ ours: 0, paper: 0 })).ours).toBe(0.5);
  });
  test("a bound is drawn between what it excludes and what is ours, and told", () => {
    const bounded = stated({ paper: 1.26, ours: 1, bounds: [1.13, 1.42], within: false, refuted: true,
      bound: { value: 1.05, is: "at_most", text: "no limit on MSHRs", assumes: "" } });
    const { low, paper, ours, bound } = placed(bounded);
    expect([ours! < bound!, bound! < low, low < paper!]).toEqual([true, true, true]);
    expect(boundText(bounded)).toBe("at most 1.05: no limit on MSHRs");
    expect(boundText(stated({}))).toBe("");
  });
  test("a miss says by how much", () => {
    expect(outsideBy(stated({ ours: 256, bounds: [8, 32], within: false }))).toBe("by 224");
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
