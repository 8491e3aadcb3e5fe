// One experiment: what the paper claims, the figures, verdicts, and what explains a miss.
import { configTree } from "./config";
import { h } from "./dom";
import { drawing, pngOf, save } from "./drawing";
import { columns, given, hasNumbers, hasStated, shownCell } from "./figure_data";
import { seconds, whole } from "./format";
import { elements, markdown } from "./markdown";
import { shownWith, type Cell, type Experiment, type Figure, type Stated } from "./reproduction_data";
import { table, type Column } from "./table";
import { badge, boundText, bounds, gauge, shapeList, within } from "./verdicts";

const kKinds: { [letter: string]: string } = {
  P: "performance", C: "characterisation", S: "sensitivity", K: "case study", H: "hardware cost", D: "worked example",
};

export function kindWord(kind: string): string {
  return kKinds[kind] ?? kind;
}

/** 214 -> "3 min 34 s". */
export function duration(s: number): string {
  const all = Math.round(s);
  if (all < 60) return seconds(s);
  const minutes = Math.round(s / 60);
  if (all < 600) return `${Math.floor(all / 60)} min ${all % 60} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function facts(e: Experiment): string {
  const { runs } = e;
  return [
    kindWord(e.kind),
    e.kind === "study" || e.priority === null ? "" : `priority ${e.priority}`,
    runs.total === 0 ? "" : `${whole(runs.done)} of ${whole(runs.total)} ${runs.total === 1 ? "run" : "runs"} done${runs.failed > 0 ? `, ${whole(runs.failed)} failed` : ""}`,
    e.wall_seconds > 0 ? duration(e.wall_seconds) : "",
  ].filter((word) => word !== "").join(" · ");
}

// --- figures ---------------------------------------------------------------------------------------------------------

function saveButtons(f: Figure, name: string): HTMLElement {
  const button = (format: string, content: () => Blob | Promise<Blob>) =>
    h("button", { type: "button", class: "save", "aria-label": `Save "${f.title}" as ${format.toUpperCase()}`,
      onclick: () => void Promise.resolve(content()).then((blob) => save(`${name}.${format}`, blob)) }, format.toUpperCase());
  return h("span", { class: "saves", role: "group", "aria-label": "Save" }, button("png", () => pngOf(f)),
    button("svg", () => new Blob([f.svg], { type: "image/svg+xml" })), button("csv", () => new Blob([f.csv], { type: "text/csv" })));
}

export function numbers(f: Figure): HTMLElement {
  const shown = columns(f);
  const kind = (cells: Cell[]) => (cells.some((cell) => typeof cell === "string") ? "text" : "number");
  return h("div", { class: "scroll" }, h("table", { class: "numbers" }, h("caption", { class: "unseen" }, f.title),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, f.x.label === "" ? "" : f.x.label), shown.map((c) => h("th", { scope: "col", class: `${kind(c.cells)}${c.stated ? " stated" : ""}` }, c.title)))),
    h("tbody", {}, f.x.values.map((x, i) => h("tr", {}, h("th", { scope: "row" }, String(x)),
      shown.map((c) => h("td", { class: `${kind(c.cells)}${c.stated ? " stated" : ""}` }, shownCell(c.cells[i]))))))));
}

const kTypes = { bars: "Bar chart", lines: "Line chart", stacked: "Stacked bar chart", table: "Table", tornado: "Tornado chart" };

function addFigure(parent: HTMLElement, f: Figure, name: string): void {
  if (f.type !== "table" && !hasNumbers(f)) {
    parent.append(h("figure", {}, h("figcaption", {}, h("h3", {}, f.title)), h("p", { class: "none" }, "Nothing of this figure has been measured yet.")));
    return;
  }
  const head = h("figcaption", {}, h("h3", {}, f.title), saveButtons(f, name));
  if (f.type === "table") {
    parent.append(h("figure", {}, head, numbers(f)));
    return;
  }
  const label = `${kTypes[f.type]}: ${f.title}. ${f.series.length} series over ${f.x.values.length} values${hasStated(f) ? ", with the paper's numbers marked" : ""}. The numbers are in the table that follows.`;
  parent.append(h("figure", {}, head, h("div", { class: "scroll" }, drawing(f, name, label)), h("details", { class: "fold" }, h("summary", {}, "Numbers"), numbers(f))));
}

// --- tables ----------------------------------------------------------------------------------------------------------

/** The paper's numbers beside ours; `before` are columns to the left. */
export function statedTable<Row extends Stated>(caption: string, rows: Row[], before: Column<Row>[] = [], limit?: number): HTMLElement {
  const anyPolicy: Column<Row>[] = rows.every((s) => s.bound === null) ? [] :
    [{ title: "Any policy", className: "words", explain: "What no policy can exceed on this machine with these programs", value: boundText }];
  return table<Row>({ caption, rows, limit, className: "stated", columns: [
    ...before,
    { title: "What", className: "words", value: (s) => s.what },
    { title: "Paper", explain: "As the paper's text states it", numeric: true, value: (s) => s.paper, show: (s) => given(s.paper) },
    { title: "Ours", numeric: true, value: (s) => s.ours, show: (s) => h("b", {}, shownCell(s.ours)) },
    { title: "Counts as reproduced", className: "aside", explain: "The bounds within which our number is a reproduction of the paper's", value: bounds,
      show: (s) => h("span", { class: "bounds" }, gauge(s), h("span", {}, bounds(s))) },
    ...anyPolicy,
    { title: "Verdict", value: (s) => (s.within === null ? "not run" : s.within ? "within" : s.refuted ? "refuted" : "outside"), show: within },
  ] });
}

function counterTable(e: Experiment): HTMLElement {
  const { columns: titles, rows } = e.counters;
  return table<Cell[]>({ caption: `Counters of ${e.id}`, rows, limit: 40,
    columns: titles.map((title, c) => ({ title, value: (row) => row[c], show: (row) => shownCell(row[c]) })) });
}

function failures(e: Experiment): HTMLElement {
  const { failures: all } = e.runs;
  return h("details", { class: "fold", open: all.length <= 5 }, h("summary", {}, `${all.length} failed ${all.length === 1 ? "run" : "runs"}`),
    table({ caption: `Runs of ${e.id} that failed`, rows: all, limit: 20, className: "failures",
      columns: [{ title: "Run", className: "words", value: (f) => f.cell }, { title: "Why it failed", className: "words", value: (f) => f.error }] }));
}

function outcome(e: Experiment, test: string): string {
  const words: Record<string, string> = { passed: " (passed)", failed: " (failed)", not_built: " (not built here)" };
  return words[e.tests[test]] ?? "";
}

function missing(e: Experiment): string {
  const left = e.runs.total - e.runs.done - e.runs.failed;
  return left > 0 ? `${whole(left)} of ${whole(e.runs.total)} runs have no result yet.` : "";
}

/** Adds the section of an experiment to `parent`. */
export function addExperiment(parent: HTMLElement, e: Experiment): void {
  const place = h("section", { id: e.id, class: `experiment ${e.status}`, "aria-labelledby": `${e.id}-title`, "data-status": e.status, "data-shown": shownWith(e) });
  parent.append(place);
  place.append(
    h("div", { class: "heading" }, h("h2", { id: `${e.id}-title` }, h("span", { class: "id" }, e.id), " ", e.title), badge(e.status)),
    h("p", { class: "facts" }, facts(e)),
    ...(e.claim === "" ? [] : [h("div", { class: "claim" }, h("span", { class: "label" }, e.source === "" ? "The paper" : `The paper, ${e.source}`), h("p", {}, e.claim))]));
  e.figures.forEach((f, i) => addFigure(place, f, e.figures.length === 1 ? e.id : `${e.id}.${i + 1}`));
  if (e.tested_by.length > 0)
    place.append(h("p", {}, "Tested by ", e.tested_by.flatMap((name, i) => [i > 0 ? ", " : "", h("code", {}, name), outcome(e, name)]), "."));
  const add = (title: string, there: boolean, ...content: Node[]) => {
    if (there) place.append(h("h3", {}, title), ...content);
  };
  add("Required shape", e.shapes.length > 0, shapeList(e.shapes));
  add("Stated numbers", e.stated.length > 0, statedTable(`Numbers the paper states for ${e.id}, and ours`, e.stated));
  add("Explanation", e.explanation.trim() !== "", h("div", { class: "prose" }, ...elements(markdown(e.explanation))));
  add("Counters", e.counters.rows.some((row) => row.some((cell) => typeof cell === "number")), counterTable(e));
  if (missing(e) !== "") place.append(h("p", { class: "note" }, missing(e)));
  if (e.runs.failures.length > 0) place.append(failures(e));
  if (Object.keys(e.settings).length > 0)
    place.append(h("details", { class: "fold" }, h("summary", {}, "How it was run"), configTree([{ label: e.id, config: e.settings }])));
}
