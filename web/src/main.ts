// Puts the page together.
import { addAllocations } from "./allocations";
import { addMetric, addSpeedups } from "./bars";
import { addBounds } from "./bounds";
import { Charts } from "./charts";
import { addChecks, checkedRuns } from "./checks";
import { configTree } from "./config";
import { addDifference } from "./difference";
import { isCorun, load, sampled, type Group, type Report, type Run } from "./data";
import { h, section, select, term } from "./dom";
import { energy } from "./format";
import { header } from "./header";
import { hostTable } from "./host";
import { addKernels } from "./kernels";
import { addCounters, addPolicies } from "./matrix";
import { addMemoryPath } from "./memorypath";
import { kMetrics, kSpeedup, kStalls, schedulerCycles, stallReasons, stallTitle } from "./metrics";
import { meshedRuns } from "./mesh";
import { addMeshMap } from "./meshmap";
import { addOverTime } from "./overtime";
import { addLaunchTree } from "./launchtree";
import { onPrinting, start } from "./page";
import { addFinish, addPlacement } from "./placement";
import { addSeeds } from "./seeds";
import { addSharing } from "./sharing";
import { addSms } from "./sms";
import { addSource } from "./source";
import { addWarps } from "./warps";
import { addShares } from "./stacked";
import "./style.css";
import { summaryTable } from "./summary";
import { partColour, stallColour } from "./theme";
import { addTimeline } from "./timeline";
import { addQueues } from "./queues";
import { addWaits } from "./waits";
import { whatIfTable } from "./whatif";
import { addServed, addTraffic, hasServed, hasTraffic } from "./traffic";

/** Only runs with time in them can be compared in it. */
function timedPart(report: Report): Report {
  const groups = report.groups.map((g) => ({ ...g, runs: g.runs.filter((run) => run.result.timed && run.result.totals.cycles > 0) }))
    .filter((g) => g.runs.length > 0);
  return { ...report, groups };
}

function addStalls(charts: Charts, place: HTMLElement, report: Report): void {
  const runs = report.groups.flatMap((g) => g.runs);
  const parts = stallReasons(runs).filter((part) => runs.some((run) => (run.result.stalls[part] ?? 0) > 0));
  addShares(charts, place, report, {
    label: "Share of scheduler-cycles issued and lost to each reason, per run",
    parts,
    title: stallTitle,
    colour: (t, part) => stallColour(t, part, parts.indexOf(part)),
    amount: (run, part) => run.result.stalls[part] ?? 0,
    whole: schedulerCycles,
  }, "share");
}

function addEnergy(charts: Charts, place: HTMLElement, report: Report): void {
  const energies = (run: Run) => run.result.energy_pj ?? {};
  const runs = report.groups.flatMap((g) => g.runs);
  const parts = [...new Set(runs.flatMap((run) => Object.keys(energies(run)).filter((part) => energies(run)[part] > 0)))];
  addShares(charts, place, report, {
    label: "Energy by component, per run",
    parts,
    title: (part) => part.replace(/_/g, " "),
    colour: (t, part) => partColour(t, parts.indexOf(part)),
    amount: (run, part) => energies(run)[part] ?? 0,
    whole: (run) => Object.values(energies(run)).reduce((sum, n) => sum + n, 0),
    show: energy,
  }, "amount");
}

/** Workloads in one printed page's detail: more would take the browser minutes. */
const kMostPrinted = 12;

function fillDetail(charts: Charts, place: HTMLElement, group: Group, report: Report): void {
  const labels = report.labels;
  charts.removeIn(place);
  place.replaceChildren(h("p", { class: "printed" }, `Workload: ${group.name}`));
  addDifference(place, group);
  addSharing(charts, place, group);
  addMemoryPath(charts, place, group);
  addBounds(charts, place, group, labels);
  addOverTime(charts, place, group, labels);
  addSms(charts, place, group);
  addMeshMap(charts, place, group);
  addTimeline(charts, place, group);
  addWarps(charts, place, group);
  addPlacement(charts, place, group);
  addFinish(charts, place, group);
  addLaunchTree(charts, place, group);
  addWaits(charts, place, group);
  addQueues(charts, place, group, labels);
  addKernels(place, group);
  addAllocations(place, group);
  addSource(place, group, report.page.source_texts ?? {});
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
  const several = timed.groups.some((g) => g.runs.length > 1 && !g.runs.some(isCorun));
  const speedups = h("div");
  page.append(section("summary", "Summary", several
    ? `Bars show how much faster (up) or slower (down) the same work ran than under ${timed.groups[0].runs[0].label}.`
    : "Click a heading to sort; rest the pointer on it for its meaning.", speedups, summaryTable(report)));
  if (timed.page.runs.some(sampled))
    speedups.before(h("p", { class: "note" }, "Launches like those timed before were estimated (run.sampling_error): cycles, rates and traffic of such runs are extrapolated. How exactly stands under Kernels."));
  if (several) addSpeedups(charts, speedups, timed);
  const seeds = h("div");
  speedups.after(seeds);
  addSeeds(charts, seeds, timed);
  if (timed.groups.length === 0) return;
  const stalls = h("div");
  page.append(section("stalls", "Where the schedulers' cycles go",
    "Every cycle of every warp scheduler is either used to issue or lost for exactly one reason: that of the warp nearest to ready. Cycles of a launch on its way are the machine's.", stalls));
  addStalls(charts, stalls, timed);
  const changes = report.page.what_if ?? [];
  if (changes.length > 0)
    page.append(section("what-if", "What would it bring", "Each policy on a machine of which one thing is another, over itself on the machine as it is: below 1 it loses. Timed, not estimated.", whatIfTable(changes)));
  if (timed.page.runs.length === 1) return;  // one bar per chart says no more than the table
  const pairs = [[kMetrics.l1d_hit_rate, true], [kMetrics.l2_hit_rate, true], [kMetrics.l1d_mpki, false],
    [kMetrics.dram_per_instruction, false]] as const;
  const places = pairs.map(([metric]) => h("div", { class: "panel" }, h("h3", {}, term(metric.title, metric.explain))));
  page.append(section("memory", "Caches and memory", "How much of the traffic each level keeps from the next.", h("div", { class: "grid" }, places)));
  pairs.forEach(([metric, share], i) => addMetric(charts, places[i], timed, metric, share));
}

function detail(charts: Charts, page: HTMLElement, report: Report): void {
  const place = h("div");
  const others = h("div");
  const names = report.groups.map((g, i): [string, string] => [String(i), g.name]);
  let shown = report.groups[0];
  const fill = () => fillDetail(charts, place, shown, report);
  page.append(section("detail", "One workload in detail", null,
    h("div", { class: "picker" }, select("Workload", names, "0", (i) => {
      shown = report.groups[+i];
      fill();
    })), place, others));
  fill();
  onPrinting((on) => {
    charts.removeIn(others);
    others.replaceChildren();
    if (on) fillOthers(charts, others, report.groups.filter((g) => g !== shown), report);
  });
}

/** On paper nobody chooses a workload: all are there, or it says which are. */
function fillOthers(charts: Charts, parent: HTMLElement, groups: Group[], report: Report): void {
  if (groups.length >= kMostPrinted) {
    parent.append(h("p", { class: "note" }, `${groups.length} other workloads are not printed in detail: choose one in the page before printing.`));
    return;
  }
  for (const group of groups) {
    const place = h("div");
    parent.append(place);
    fillDetail(charts, place, group, report);
  }
}

function build(charts: Charts, page: HTMLElement, report: Report): void {
  const timed = timedPart(report);
  const hasEnergy = timed.groups.some((g) => g.runs.some((run) => Object.keys(run.result.energy_pj ?? {}).length > 0));
  page.replaceChildren(header(report));
  if (report.groups.length === 0) return;
  const ids: [string, string][] = [["summary", "Summary"], ["checks", "Checks"], ["stalls", "Stalls"], ["what-if", "What if"], ["memory", "Caches"], ["served", "Served from"], ["traffic", "Network"], ["energy", "Energy"],
    ["detail", "Detail"], ["mesh", "Mesh"], ["configuration", "Configuration"], ["host", "Host"], ["words", "Glossary"]];
  const traffic = hasTraffic(timed);
  const served = hasServed(timed);
  const meshed = meshedRuns(report.groups[0].runs).length > 0;
  const checked = checkedRuns(report.page.runs).length > 0;
  const absent = [...((report.page.what_if ?? []).length > 0 && timed.groups.length > 0 ? [] : ["what-if"]), ...(checked ? [] : ["checks"]), ...(meshed ? [] : ["mesh"]), ...(traffic ? [] : ["traffic"]), ...(served ? [] : ["served"]), ...(timed.groups.length === 0 ? ["stalls"] : []), ...(timed.groups.length === 0 || report.page.runs.length === 1 ? ["memory"] : []), ...(hasEnergy ? [] : ["energy"])];
  page.append(navigation(ids.filter(([id]) => !absent.includes(id))));
  overview(charts, page, report, timed);
  if (checked) {
    const place = h("div");
    page.append(section("checks", "What checks have found", "Places in kernels where --check saw a race or a load of what nobody had written, the first threads that did it, and how often.", place));
    addChecks(place, report.page.runs);
  }
  if (served) {
    const place = h("div");
    page.append(section("served", "Where loads get their data", "Line accesses of loads by the level that had the data, all of one run or relative to the first policy.", place));
    addServed(charts, place, timed);
  }
  if (traffic) {
    const place = h("div");
    page.append(section("traffic", "Network traffic", "Flits times the links they cross, by what the packets are about; requests and replies together.", place));
    addTraffic(charts, place, timed);
  }
  if (hasEnergy) {
    const place = h("div");
    page.append(section("energy", "Energy", "Energy by component, computed from the counters of each run.", place));
    addEnergy(charts, place, timed);
  }
  detail(charts, page, report);
  page.append(
    section("configuration", "Configuration", "Everything that was set, resolved: read back, it gives the same runs bit for bit. Values that differ between runs are marked.", configTree(report.page.runs.map((run) => ({ label: run.label, config: run.result.config })))),
    section("host", "Speed of the simulation", null, hostTable(report)),
    section("words", "What the words mean", null, glossary(report)));
}

start((page, text) => {
  const charts = new Charts();
  const report = load(text);
  charts.provenance = report.page;
  document.title = `Raddle report: ${[...new Set(report.page.runs.map((run) => run.result.workload.name))].join(", ")}`;
  build(charts, page, report);
  return charts.count;
});
