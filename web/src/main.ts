// Puts the page together.
import { addMetric, addSpeedups } from "./bars";
import { Charts } from "./charts";
import { configTree } from "./config";
import { load, type Group, type Report, type Run } from "./data";
import { buttons, h, section, select, term } from "./dom";
import { energy, percent } from "./format";
import { header } from "./header";
import { hostTable } from "./host";
import { addKernels } from "./kernels";
import { addCounters, addPolicies } from "./matrix";
import { kMetrics, kSpeedup, kStalls, schedulerCycles, stallReasons, stallTitle } from "./metrics";
import { addOverTime } from "./overtime";
import { addStack, type Stack } from "./stacked";
import "./style.css";
import { summaryTable } from "./summary";
import { seriesColour, stallColour } from "./theme";
import { addTimeline } from "./timeline";

/** Only runs with time in them can be compared in it. */
function timedPart(report: Report): Report {
  const groups = report.groups.map((g) => ({ ...g, runs: g.runs.filter((run) => run.result.timed && run.result.totals.cycles > 0) }))
    .filter((g) => g.runs.length > 0);
  return { ...report, groups };
}

function stallStack(report: Report, relative: boolean): Stack {
  const parts = stallReasons(report.groups.flatMap((g) => g.runs));
  const base = new Map<Run, Run>();
  for (const g of report.groups) for (const run of g.runs) base.set(run, relative ? g.runs[0] : run);
  return {
    label: "Share of scheduler-cycles issued and lost to each reason, per run",
    parts,
    title: stallTitle,
    colour: (t, part) => stallColour(t, part, parts.indexOf(part)),
    value: (run, part) => (run.result.stalls[part] ?? 0) / Math.max(1, schedulerCycles(base.get(run)!)),
    show: percent,
    axis: (n) => `${Math.round(100 * n)} %`,
    max: relative ? undefined : 1,
  };
}

function addStalls(charts: Charts, place: HTMLElement, report: Report): void {
  let relative = false;
  const several = report.groups.some((g) => g.runs.length > 1);
  if (several) {
    place.append(h("div", { class: "choices" }, buttons("Bars show",
      [["share", "shares of each run"], ["relative", "length relative to the first policy"]], "share", (value) => {
        relative = value === "relative";
        redraw();
      })));
  }
  const redraw = addStack(charts, place, report, () => stallStack(report, relative));
}

function addEnergy(charts: Charts, place: HTMLElement, report: Report): void {
  const parts = [...new Set(report.groups.flatMap((g) => g.runs.flatMap((run) => Object.keys(run.result.energy_pj ?? {}))))];
  addStack(charts, place, report, () => ({
    label: "Energy by component, per run",
    parts,
    title: (part) => part,
    colour: (t, part) => seriesColour(t, parts.indexOf(part)),
    value: (run, part) => run.result.energy_pj?.[part] ?? 0,
    show: energy,
    axis: energy,
  }));
}

function fillDetail(charts: Charts, place: HTMLElement, group: Group, labels: string[]): void {
  charts.removeIn(place);
  place.replaceChildren(h("p", { class: "printed" }, `Workload: ${group.name}`));
  addOverTime(charts, place, group, labels);
  addTimeline(charts, place, group);
  addKernels(place, group);
  addPolicies(place, group);
  addCounters(place, group);
}

function glossary(report: Report): HTMLElement {
  const reasons = stallReasons(report.page.runs);
  return h("dl", { class: "glossary" },
    [kSpeedup, ...Object.values(kMetrics)].map((m) => [h("dt", {}, m.title), h("dd", {}, m.explain)]).flat(),
    reasons.map((r) => [h("dt", {}, `Scheduler-cycle: ${stallTitle(r)}`), h("dd", {}, `${kStalls[r]?.explain ?? ""}.`)]).flat());
}

function navigation(ids: [string, string][]): HTMLElement {
  return h("nav", { "aria-label": "Sections" }, ids.map(([id, text]) => h("a", { href: `#${id}` }, text)));
}

function overview(charts: Charts, page: HTMLElement, report: Report, timed: Report): void {
  const several = timed.groups.some((g) => g.runs.length > 1);
  const speedups = h("div");
  page.append(section("summary", "Summary", several
    ? `Bars show how much faster (up) or slower (down) the same work ran than under ${timed.groups[0].runs[0].label}.`
    : "Click a heading to sort; rest the pointer on it for its meaning.", speedups, summaryTable(report)));
  if (several) addSpeedups(charts, speedups, timed);
  if (timed.groups.length === 0) return;
  const stalls = h("div");
  page.append(section("stalls", "Where the schedulers' cycles go",
    "Every cycle of every warp scheduler is either used to issue or lost for exactly one reason. The largest part is what to work on.", stalls));
  addStalls(charts, stalls, timed);
  if (timed.page.runs.length === 1) return;  // one bar per chart says no more than the table
  const pairs = [[kMetrics.l1d_hit_rate, true], [kMetrics.l2_hit_rate, true], [kMetrics.l1d_mpki, false],
    [kMetrics.dram_per_instruction, false]] as const;
  const places = pairs.map(([metric]) => h("div", { class: "panel" }, h("h3", {}, term(metric.title, metric.explain))));
  page.append(section("memory", "Caches and memory", "How much of the traffic each level keeps from the next.", h("div", { class: "grid" }, places)));
  pairs.forEach(([metric, share], i) => addMetric(charts, places[i], timed, metric, share));
}

function detail(charts: Charts, page: HTMLElement, report: Report): void {
  const place = h("div");
  const names = report.groups.map((g, i): [string, string] => [String(i), g.name]);
  page.append(section("detail", "One workload in detail", null,
    h("div", { class: "picker" }, select("Workload", names, "0", (i) => fillDetail(charts, place, report.groups[+i], report.labels))), place));
  fillDetail(charts, place, report.groups[0], report.labels);
}

function build(charts: Charts, page: HTMLElement, report: Report): void {
  const timed = timedPart(report);
  const hasEnergy = timed.groups.some((g) => g.runs.some((run) => Object.keys(run.result.energy_pj ?? {}).length > 0));
  page.replaceChildren(header(report));
  if (report.groups.length === 0) return;
  const ids: [string, string][] = [["summary", "Summary"], ["stalls", "Stalls"], ["memory", "Caches"], ["energy", "Energy"],
    ["detail", "Detail"], ["configuration", "Configuration"], ["host", "Host"], ["words", "Glossary"]];
  const absent = [...(timed.groups.length === 0 ? ["stalls"] : []), ...(timed.groups.length === 0 || report.page.runs.length === 1 ? ["memory"] : []), ...(hasEnergy ? [] : ["energy"])];
  page.append(navigation(ids.filter(([id]) => !absent.includes(id))));
  overview(charts, page, report, timed);
  if (hasEnergy) {
    const place = h("div");
    page.append(section("energy", "Energy", "Energy by component, computed from the counters of each run.", place));
    addEnergy(charts, place, timed);
  }
  detail(charts, page, report);
  page.append(
    section("configuration", "Configuration", "Everything that was set, resolved: read back, it gives the same runs bit for bit. Values that differ between runs are marked.", configTree(report)),
    section("host", "Speed of the simulation", null, hostTable(report)),
    section("words", "What the words mean", null, glossary(report)));
}

function start(): void {
  const page = document.getElementById("page")!;
  const charts = new Charts();
  try {
    const report = load(document.getElementById("raddle-data")!.textContent ?? "");
    document.title = `Raddle report: ${[...new Set(report.page.runs.map((run) => run.result.workload.name))].join(", ")}`;
    build(charts, page, report);
  } catch (error) {
    page.replaceChildren(h("p", { class: "none" }, error instanceof Error ? error.message : String(error)));
    console.error(error);
  }
  document.documentElement.dataset.charts = String(charts.count);
  document.documentElement.dataset.ready = "true";
}

start();
