// The page of one paper: what was run, how it came out, and every experiment.
import { configTree } from "./config";
import { buttons, h, section } from "./dom";
import { darkRules } from "./drawing";
import { addExperiment, duration, kindWord, statedTable } from "./experiment";
import { when, whole } from "./format";
import { elements, markdown } from "./markdown";
import { brand, onPrinting, pageData, start } from "./page";
import { complete, countStatuses, isOurs, madeBy, olderProgram, shownWith, type Experiment, type Reproduction, type Stated, type Status } from "./reproduction_data";
import "./style.css";
import "./reproduction.css";
import { table } from "./table";
import { badge, gaugeKey, kStatuses, outcomeWord, sign, statusBar } from "./verdicts";

/** Of more, only some are shown at first. */
const kMostHeadlines = 16;
const kFirstHeadlines = 12;

function header(r: Reproduction): HTMLElement {
  const facts = [r.scale === "" ? "" : `scale: ${r.scale}`, r.machine.name === "" ? "" : `machine: ${r.machine.name}`, when(r.date)].filter((s) => s !== "");
  return h("header", {},
    brand(madeBy(r), r.index_page !== "" && h("a", { href: r.index_page }, "All papers")),
    h("h1", {}, r.paper.title),
    h("p", { class: "facts" }, r.paper.reference),
    facts.length > 0 && h("p", { class: "facts" }, facts.join(" · ")),
    olderProgram(r, r.page_version) !== "" && h("p", { class: "note older" }, `These results were ${olderProgram(r, r.page_version)}.`),
    r.command !== "" && h("pre", { class: "command" }, r.command));
}

// --- summary ---------------------------------------------------------------------------------------------------------

const sum = (experiments: Experiment[], of: (e: Experiment) => number) => experiments.reduce((total, e) => total + of(e), 0);
const passed = (e: Experiment) => e.shapes.filter((s) => s.verdict === "pass").length;
const refuted = (e: Experiment) => e.shapes.filter((s) => s.verdict === "refuted").length + e.stated.filter((s) => s.refuted).length;
const inBounds = (e: Experiment) => e.stated.filter((s) => s.within === true).length;
const share = (part: number, all: number) => (all === 0 ? null : `${whole(part)} / ${whole(all)}`);

function tile(figure: string, words: string): HTMLElement {
  return h("div", { class: "tile" }, h("span", { class: "figure" }, figure), h("span", { class: "words" }, words));
}

function tiles(all: Experiment[]): HTMLElement {
  const runs = sum(all, (e) => e.runs.total);
  const failed = sum(all, (e) => e.runs.failed);
  const time = sum(all, (e) => e.wall_seconds);
  const papers = all.filter((e) => !isOurs(e));
  const shapes = share(sum(papers, passed), sum(papers, (e) => e.shapes.length));
  const stated = share(sum(papers, inBounds), sum(papers, (e) => e.stated.length));
  return h("div", { class: "tiles" },
    shapes !== null && tile(shapes, "required shapes hold"),
    stated !== null && tile(stated, "stated numbers reproduced within bounds"),
    sum(papers, refuted) > 0 && tile(whole(sum(papers, refuted)), "shapes and numbers refuted by a bound"),
    runs > 0 && tile(share(sum(all, (e) => e.runs.done), runs)!, `runs done${failed > 0 ? `, ${whole(failed)} failed` : ""}`),
    time > 0 && tile(duration(time), "of simulation, all runs together"));
}

interface Headline extends Stated {
  id: string;
}

function headlines(all: Experiment[]): HTMLElement[] {
  const rows: Headline[] = all.filter((e) => e.priority === 1 && !isOurs(e)).flatMap((e) => e.stated.map((s) => ({ ...s, id: e.id })));
  if (rows.length === 0) return [];
  return [h("h3", {}, "Headline numbers"), gaugeKey(), statedTable<Headline>("Numbers stated for the experiments of priority 1", rows,
    [{ title: "Experiment", value: (s) => s.id, show: (s) => h("a", { href: `#${s.id}` }, s.id) }], rows.length > kMostHeadlines ? kFirstHeadlines : undefined)];
}

function overview(all: Experiment[]): HTMLElement {
  return table<Experiment>({ caption: "Every experiment with its outcome", rows: all, className: "overview", columns: [
    { title: "Experiment", value: (e) => e.id, show: (e) => h("a", { href: `#${e.id}` }, e.id) },
    { title: "Title", className: "words", value: (e) => e.title },
    { title: "Kind", className: "aside", value: (e) => (e.kind === "" ? null : kindWord(e.kind)) },
    { title: "Priority", className: "aside", explain: "1: headline, 2: supporting, 3: arithmetic or descriptive", value: (e) => e.priority },
    { title: "Outcome", value: (e) => outcomeWord(e.status), show: (e) => badge(e.status) },
    { title: "Shapes", className: "aside", explain: "Required shapes that hold", numeric: true, value: (e) => (e.shapes.length === 0 ? null : passed(e)), show: (e) => share(passed(e), e.shapes.length)! },
    { title: "Stated", className: "aside", explain: "Stated numbers reproduced within their bounds", numeric: true, value: (e) => (e.stated.length === 0 ? null : inBounds(e)), show: (e) => share(inBounds(e), e.stated.length)! },
    { title: "Runs", className: "aside", explain: "Simulations done", numeric: true, value: (e) => (e.runs.total === 0 ? null : e.runs.done), show: (e) => share(e.runs.done, e.runs.total)! },
  ] });
}

function summary(r: Reproduction): HTMLElement {
  const all = r.experiments;
  if (all.length === 0) return section("summary", "Summary", null, h("p", { class: "none" }, "The document holds no experiments."));
  const ours = all.filter(isOurs).length;
  return section("summary", "Summary", `${whole(all.length - ours)} ${all.length - ours === 1 ? "experiment" : "experiments"}${ours > 0 ? `, and ${whole(ours)} of ours, which count for nothing` : ""}`,
    statusBar(countStatuses(all)), tiles(all), ...headlines(all), h("h3", {}, "All experiments"), overview(all));
}

// --- navigation ------------------------------------------------------------------------------------------------------

/** Shows the paper's experiments of one status, those that are ours, or all. */
function filter(main: HTMLElement, all: Experiment[]): HTMLElement | null {
  const counts = countStatuses(all);
  const present = kStatuses.filter((status) => counts[status] > 0);
  const ours = all.filter(isOurs).length;
  if (present.length + (ours > 0 ? 1 : 0) < 2) return null;
  const options: [string, string][] = [["all", `all ${all.length}`], ...present.map((s): [string, string] => [s, `${outcomeWord(s)} ${counts[s]}`]),
    ...(ours > 0 ? [["ours", `ours ${ours}`] as [string, string]] : [])];
  return buttons("Show", options, "all", (wanted) => {
    for (const place of main.querySelectorAll<HTMLElement>(".experiment")) place.hidden = wanted !== "all" && place.dataset.shown !== wanted;
    for (const item of document.querySelectorAll<HTMLElement>("nav li[data-shown]")) item.hidden = wanted !== "all" && item.dataset.shown !== wanted;
  });
}

/** Without what all ids begin with. */
function shortId(id: string, paper: string): string {
  return id.startsWith(`${paper}.`) ? id.slice(paper.length + 1) : id;
}

function navigation(r: Reproduction): HTMLElement {
  const item = (status: Status | null, id: string, text: string, title: string, shown: string | null = null) =>
    h("li", shown === null ? {} : { "data-shown": shown }, h("a", { href: `#${id}`, title }, status !== null && sign(status), h("span", { class: "text" }, text)));
  const links = h("ul", {}, item(null, "summary", "Summary", "Summary"),
    r.experiments.map((e) => item(e.status, e.id, shortId(e.id, r.paper.id), e.title, shownWith(e))),
    r.paper.notes.trim() !== "" && item(null, "notes", "Notes", "Where the paper is silent, or cannot be followed"),
    Object.keys(r.machine.config).length > 0 && item(null, "configuration", "Configuration", "The machine"));
  const fold = h("details", {}, h("summary", {}, "Experiments"), links);
  const wide = matchMedia("(min-width: 1001px)");
  const fit = () => { fold.open = wide.matches; };
  wide.addEventListener("change", fit);
  fit();
  links.addEventListener("click", () => { if (!wide.matches) fold.open = false; });
  return h("nav", { class: "side", "aria-label": "Experiments" }, fold);
}

/** Marks in the navigation what is being read. */
function follow(nav: HTMLElement, main: HTMLElement): void {
  const seen = new Set<Element>();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) seen.add(entry.target);
    else seen.delete(entry.target);
    const first = [...main.querySelectorAll("section")].find((s) => seen.has(s));
    for (const link of nav.querySelectorAll("a")) {
      link.removeAttribute("aria-current");
      if (!first || link.getAttribute("href") !== `#${first.id}`) continue;
      link.setAttribute("aria-current", "true");
      if (link.offsetTop < nav.scrollTop || link.offsetTop > nav.scrollTop + nav.clientHeight - 30) nav.scrollTop = link.offsetTop - nav.clientHeight / 2;
    }
  }, { rootMargin: "-10% 0px -60% 0px" });
  for (const place of main.querySelectorAll("section")) observer.observe(place);
}

function build(page: HTMLElement, r: Reproduction): void {
  const main = h("main", {});
  const nav = navigation(r);
  page.replaceChildren(h("a", { class: "skip", href: "#summary" }, "Skip to the summary"), header(r), h("div", { class: "columns" }, nav, main));
  main.append(summary(r));
  const choice = filter(main, r.experiments);
  if (choice !== null) main.append(h("div", { class: "choices" }, choice));
  for (const e of r.experiments) addExperiment(main, e);
  if (r.paper.notes.trim() !== "")
    main.append(section("notes", "Notes", "Where the paper is silent, or cannot be followed", h("div", { class: "prose" }, ...elements(markdown(r.paper.notes)))));
  if (Object.keys(r.machine.config).length > 0)
    main.append(section("configuration", "Configuration", `The machine all experiments begin from: ${r.machine.name}. What an experiment changes is under "How it was run".`,
      h("details", { class: "fold" }, h("summary", {}, "Everything that was set"), configTree([{ label: r.machine.name, config: r.machine.config }]))));
  follow(nav, main);
}

start((page, text) => {
  document.head.append(h("style", {}, darkRules()));
  onPrinting();
  const r = complete(pageData(text, "reproduce or report") as object);
  document.title = `Raddle: ${r.paper.title}`;
  build(page, r);
  return page.querySelectorAll(".chart").length;
});
