// The index: every paper with how its reproduction came out, and a link to its page.
import { h } from "./dom";
import { when, whole } from "./format";
import { brand, pageData, start } from "./page";
import { madeBy, olderProgram, type Counts } from "./reproduction_data";
import "./style.css";
import "./reproduction.css";
import { table } from "./table";
import { statusBar } from "./verdicts";

/** One row, as src/raddle/report/reproduction.cpp writes it. */
interface Paper {
  page: string;
  id: string;
  title: string;
  reference: string;
  raddle_version: string;
  commit?: string;
  date: string;
  command: string;
  scale: string;
  experiments: Counts;
  shapes: { total: number; passed: number; refuted: number };
  stated: { total: number; within: number; refuted: number };
  runs: { total: number; failed: number };
}

const share = (part: number, all: number) => `${whole(part)} / ${whole(all)}`;

function rows(papers: Paper[], version: string): HTMLElement {
  return table<Paper>({ caption: "Every paper with the outcome of its experiments", rows: papers, className: "papers", columns: [
    { title: "Paper", className: "words", value: (p) => p.title, show: (p) => h("div", {}, h("a", { class: "title", href: p.page }, p.title), h("span", { class: "reference" }, p.reference)) },
    { title: "Experiments", numeric: false, value: (p) => p.experiments.pass, show: (p) => statusBar(p.experiments) },
    { title: "Shapes", className: "aside", explain: "Required shapes that hold", numeric: true, value: (p) => (p.shapes.total === 0 ? null : p.shapes.passed), show: (p) => share(p.shapes.passed, p.shapes.total) },
    { title: "Stated", className: "aside", explain: "Stated numbers reproduced within their bounds", numeric: true, value: (p) => (p.stated.total === 0 ? null : p.stated.within), show: (p) => share(p.stated.within, p.stated.total) },
    { title: "Refuted", className: "aside", explain: "Shapes and stated numbers that a bound excludes under any policy", numeric: true, value: (p) => p.shapes.refuted + p.stated.refuted },
    { title: "Runs", className: "aside", explain: "Simulations", numeric: true, value: (p) => (p.runs.total === 0 ? null : p.runs.total), show: (p) => `${whole(p.runs.total)}${p.runs.failed > 0 ? ` (${whole(p.runs.failed)} failed)` : ""}` },
    { title: "Made with", className: "aside", explain: "Scale, date and version of Raddle", value: (p) => p.date, show: (p) => h("span", { title: p.command }, [p.scale, when(p.date), madeBy(p), olderProgram(p, version)].filter((s) => s !== "").join(" · ")) },
  ] });
}

start((page, text) => {
  const data = pageData(text, "reproduce or report") as { raddle_version: string; papers: Paper[] };
  page.replaceChildren(
    h("header", {}, brand(`Raddle ${data.raddle_version}`), h("h1", {}, "Papers reproduced"),
      h("p", { class: "facts" }, "Every experiment of each paper run again on Raddle. A paper's page shows its figures beside ours and explains what differs.")),
    h("main", {}, h("section", {}, data.papers.length === 0 ? h("p", { class: "none" }, "No paper has been reproduced yet.") : rows(data.papers, data.raddle_version))));
  return 0;
});
