// Verdicts as sign, word and colour (never colour alone), and the paper's numbers beside ours.
import { h } from "./dom";
import { kNone, whole } from "./format";
import { given } from "./figure_data";
import type { Counts, Shape, Stated, Status, TrendBound, Verdict } from "./reproduction_data";

type Outcome = Status | Verdict;

const kOutcomes: { [outcome in Outcome]: [sign: string, word: string, explain: string] } = {
  pass: ["✓", "pass", "Every required shape holds."],
  refuted: ["⊘", "refuted", "What the paper says cannot be so on this machine with these programs under any policy: a bound excludes it."],
  fail: ["✗", "fail", "A required shape does not hold."],
  incomplete: ["◐", "incomplete", "Some runs have no result yet, so that not every shape could be judged."],
  tested_elsewhere: ["≡", "tested elsewhere", "Checked by tests that the row names; they were not built where this was made."],
  no_verdict: ["–", "no verdict", "Nothing is stated that could hold or fail, or another program ran than the paper's."],
  not_run: ["◌", "not run", "What it needs was not measured."],
};

export const kStatuses: Status[] = ["pass", "refuted", "fail", "incomplete", "tested_elsewhere", "no_verdict"];

export function outcomeWord(outcome: Outcome): string {
  return kOutcomes[outcome][1];
}

export function badge(outcome: Outcome): HTMLElement {
  const [sign, word, explain] = kOutcomes[outcome];
  return h("span", { class: `outcome ${outcome}`, title: explain }, h("span", { "aria-hidden": "true", class: "sign" }, sign), h("span", { class: "word" }, word));
}

/** The sign alone, for lists with little room; its word is there for those who listen. */
export function sign(outcome: Outcome): HTMLElement {
  const [mark, word] = kOutcomes[outcome];
  return h("span", { class: `sign ${outcome}`, title: word }, h("span", { "aria-hidden": "true" }, mark), h("span", { class: "unseen" }, word));
}

/** A bar of all experiments by status, with the numbers below. */
export function statusBar(counts: Counts): HTMLElement {
  const present = kStatuses.filter((status) => counts[status] > 0);
  const part = (status: Status) => {
    const piece = h("span", { class: `part ${status}` });
    piece.style.flexGrow = String(counts[status]);
    return piece;
  };
  return h("div", { class: "status" }, h("div", { class: "bar", "aria-hidden": "true" }, present.map(part)),
    h("div", { class: "counts" }, present.map((status) => h("span", { class: `count ${status}` },
      h("span", { class: "sign", "aria-hidden": "true" }, kOutcomes[status][0]), h("b", {}, String(counts[status])), ` ${kOutcomes[status][1]}`))));
}

const kMostParts = 3;
const kMostOpenParts = 12;

/** "3 of 16; bfs: 1.2 < 1; gc: ..." as a fold with a line per part, open where it tells why a shape fails. */
function detail(s: Shape): HTMLElement {
  const [first, ...rest] = s.detail.split("; ");
  if (rest.length < kMostParts) return h("span", { class: "detail" }, s.detail);
  return h("details", { class: "detail", open: s.verdict === "fail" && rest.length <= kMostOpenParts },
    h("summary", {}, first), h("ul", {}, rest.map((part) => h("li", {}, part))));
}

export function shapeList(shapes: Shape[]): HTMLElement {
  return h("ul", { class: "shapes" }, shapes.map((s) => h("li", {}, badge(s.verdict),
    h("div", {}, h("span", { class: "said" }, s.text === "" ? s.statement : s.text),
      s.statement !== "" && s.text !== "" && s.text !== s.statement && h("code", {}, s.statement),
      s.detail !== "" && detail(s), s.bound !== null && trendBound(s.bound)))));
}

function trendBound(b: TrendBound): HTMLElement {
  return h("p", { class: "bound" }, `Bound: ${b.text}${b.assumes === "" ? "" : ` (assumes ${b.assumes})`}. `, h("code", {}, b.statement), ` ${b.detail}`);
}

/** "at most 1.02: infinite L2"; "" without a bound. */
export function boundText(s: Stated): string {
  if (s.bound === null) return "";
  const { is, value, text, assumes } = s.bound;
  return `${is === "at_most" ? "at most" : "at least"} ${given(value)}: ${text}${assumes === "" ? "" : ` (assumes ${assumes})`}`;
}

// --- the paper's numbers beside ours ---------------------------------------------------------------------------------

const kWidth = 170;
const kHeight = 18;

function svg(tag: string, attributes: { [name: string]: string | number }): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Where bounds, paper and ours lie, between 0 and 1; an open bound reaches the edge. */
export function placed(s: Stated): { low: number; high: number; paper: number | null; ours: number | null; bound: number | null } {
  const known = [s.paper, s.ours, s.bound?.value ?? null, ...s.bounds].filter((n): n is number => n !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const room = (most - least || Math.abs(most) || 1) * 0.12;
  const at = (n: number | null) => (n === null ? null : (n - least + room) / (most - least + 2 * room));
  return { low: at(s.bounds[0]) ?? 0, high: at(s.bounds[1]) ?? 1, paper: at(s.paper), ours: at(s.ours), bound: at(s.bound?.value ?? null) };
}

/** The bounds as a band, the paper's number as a diamond, ours as a dot. Says nothing the row does not say. */
export function gauge(s: Stated): Element {
  const picture = svg("svg", { class: "gauge", width: kWidth, height: kHeight, viewBox: `0 0 ${kWidth} ${kHeight}`, "aria-hidden": "true" });
  const { low, high, paper, ours, bound } = placed(s);
  const x = (share: number) => Math.round(share * kWidth * 10) / 10;
  const middle = kHeight / 2;
  picture.append(svg("line", { class: "base", x1: 0, x2: kWidth, y1: middle, y2: middle }));
  if (s.bounds.some((bound) => bound !== null)) picture.append(svg("rect", { class: "band", x: x(low), width: Math.max(1, x(high) - x(low)), y: 3, height: kHeight - 6, rx: 2 }));
  if (bound !== null) {
    // A wall, hatched on the side that no policy reaches.
    const wall = x(bound);
    const [from, width] = s.bound!.is === "at_most" ? [wall, kWidth - wall] : [0, wall];
    picture.append(svg("rect", { class: "beyond", x: from, width, y: 1, height: kHeight - 2 }), svg("line", { class: "wall", x1: wall, x2: wall, y1: 0, y2: kHeight }));
  }
  if (paper !== null) picture.append(svg("path", { class: "paper", d: `M${x(paper)} ${middle - 6}l5 6l-5 6l-5 -6z` }));
  if (ours !== null) picture.append(svg("circle", { class: s.within === false ? "ours out" : "ours", cx: x(ours), cy: middle, r: 4 }));
  return picture;
}

export function bounds(s: Stated): string {
  const [low, high] = s.bounds;
  if (low === null && high === null) return kNone;
  if (low === null) return `at most ${given(high)}`;
  return high === null ? `at least ${given(low)}` : `${given(low)} to ${given(high)}`;
}

/** How far ours lies outside the bounds, in digits that show it: "by 0.005"; "" inside. */
export function outsideBy(s: Stated): string {
  const [low, high] = s.bounds;
  if (s.ours === null || s.within !== false) return "";
  const by = low !== null && s.ours < low ? low - s.ours : high !== null && s.ours > high ? s.ours - high : 0;
  return by > 0 ? `by ${Math.abs(by) >= 10 ? whole(by) : +by.toPrecision(2)}` : "";
}

export function within(s: Stated): HTMLElement {
  if (s.within === null) return badge("not_run");
  if (s.refuted) return badge("refuted");
  const [mark, word] = s.within ? ["✓", "within"] : ["✗", "outside"];
  return h("span", { class: `outcome ${s.within ? "pass" : "fail"}` }, h("span", { "aria-hidden": "true", class: "sign" }, mark), h("span", { class: "word" }, `${word} ${outsideBy(s)}`.trim()));
}

/** What the signs of the gauges mean. */
export function gaugeKey(): HTMLElement {
  return h("p", { class: "note gauge-key" }, gauge({ what: "", paper: 0.65, ours: 0.45, bounds: [0.2, 0.8], within: true, refuted: false, bound: null }),
    "In the small pictures the band is what counts as reproduced, the diamond the paper's number, the dot ours; where there is a wall, no policy can come to its shaded side.");
}
