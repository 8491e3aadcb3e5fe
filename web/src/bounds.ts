// What a workload comes near to: shares of the machine's peaks, the roofline of each level of memory, and what keeps more warps
// off an SM.
import { isCorun, kernelTitle, timedTotals, type Group, type Kernel, type KernelSums, type ResidencyLimit, type Run } from "./data";
import { categoryAxis, legend, moreLegend, shadow, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { buttons, h } from "./dom";
import { digits, escapeHtml, percent, whole } from "./format";
import type { Numbers } from "./save";
import { table, type Column } from "./table";
import { seriesColour, seriesFill, type Theme } from "./theme";
import { kPartNames, kParts, measuredRuns, nearest, worked, type Measured, type Part } from "./utilisation";

// --- shares of peaks -------------------------------------------------------------------------------------------------

function usesOption(runs: Measured[], labels: string[], t: Theme, width: number): Option {
  const names = runs.map((run) => run.label);
  return {
    grid: { left: 16, right: 44, top: runs.length > 1 ? 30 + moreLegend(names, width) : 6, bottom: 8, containLabel: true },
    legend: runs.length > 1 ? legend(t) : undefined,
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t), valueFormatter: (n: number | string) => (typeof n === "number" ? percent(n) : "no limit") },
    xAxis: valueAxis(t, { min: 0, max: 1, splitNumber: width < 560 ? 2 : 5, axisLabel: { color: t.muted, fontSize: 11, hideOverlap: true, formatter: (n: number) => `${Math.round(100 * n)} %` } }),
    yAxis: categoryAxis(t, kPartNames.map((part) => kParts[part].title), { inverse: true }),
    series: runs.map((run) => ({
      type: "bar", name: run.label, barMaxWidth: 12, barGap: "10%", itemStyle: seriesFill(t, labels.indexOf(run.label)),
      label: { show: runs.length <= 4, position: "right", fontSize: 10.5, color: t.ink, formatter: (item: { value: number | string }) => (typeof item.value === "number" ? percent(item.value) : "no limit") },
      data: kPartNames.map((part) => run.result.utilisation[part] ?? "-"),
    })),
  };
}

// --- roofline --------------------------------------------------------------------------------------------------------

export type Level = "l1" | "l2" | "dram";
export const kLevels: { [level in Level]: string } = { l1: "L1D", l2: "L2", dram: "DRAM" };
const kSymbols: { [level in Level]: string } = { l1: "circle", l2: "diamond", dram: "triangle" };
export type Count = "warp" | "thread";
const kCounts: { [count in Count]: string } = { warp: "warp instructions", thread: "thread instructions" };
const kWarp = 32;
/** Kernels that are drawn: those with most cycles. */
const kMostKernels = 12;

/** Of a run or one of its kernels, at a level that something went over. */
export interface Place {
  name: string;
  level: Level;
  /** Instructions per byte. */
  intensity: number;
  /** Instructions per core cycle. */
  rate: number;
  /** Of what the level could do. */
  share: number;
}

interface Counts {
  warp_instructions: number;
  thread_instructions: number;
}

/** The L2 is told by the direction of the network that has less room. */
function partOf(of: Measured["result"]["utilisation"], level: Level): Part {
  return level === "l2" ? ((of.request ?? 0) > (of.reply ?? 0) ? "request" : "reply") : level;
}

function peakOf(run: Measured, part: Part): number | null {
  const { peaks } = run.result;
  return part === "l1" ? peaks.l1_bytes : part === "request" ? peaks.request_bytes : part === "reply" ? peaks.reply_bytes : peaks.dram_bytes;
}

function place(run: Measured, name: string, counts: Counts, cycles: number, of: Measured["result"]["utilisation"], level: Level, count: Count): Place | null {
  const part = partOf(of, level);
  const [share, peak] = [of[part], peakOf(run, part)];
  const rate = cycles > 0 ? (count === "warp" ? counts.warp_instructions : counts.thread_instructions) / cycles : 0;
  if (share === null || peak === null || share === 0 || rate === 0) return null;
  return { name, level, intensity: rate / (share * peak), rate, share };
}

const isPlace = (one: Place | null): one is Place => one !== null;
const levels = Object.keys(kLevels) as Level[];

export function placesOfRun(run: Measured, count: Count): Place[] {
  return levels.map((level) => place(run, run.label, timedTotals(run), worked(run), run.result.utilisation, level, count)).filter(isPlace);
}

/** Launches of a kernel stand alone; of many launches, kernels do. */
export function placesOfKernels(run: Measured, count: Count): Place[] {
  const all: (Kernel | KernelSums)[] = [...run.result.kernels, ...(run.result.kernels_by_name ?? [])];
  return all.filter((kernel) => kernel.utilisation !== undefined).sort((a, b) => (b.execution_cycles ?? 0) - (a.execution_cycles ?? 0)).slice(0, kMostKernels)
    .flatMap((kernel) => levels.map((level) => place(run, kernelTitle(kernel), kernel, kernel.execution_cycles ?? 0, kernel.utilisation!, level, count)).filter(isPlace));
}

/** What limits the level's rate at that intensity. */
export function roof(run: Measured, level: Level, count: Count): { slope: number | null; flat: number } {
  const { peaks } = run.result;
  const l2 = peaks.request_bytes === null || peaks.reply_bytes === null ? null : Math.max(peaks.request_bytes, peaks.reply_bytes);
  return { slope: level === "l1" ? peaks.l1_bytes : level === "l2" ? l2 : peaks.dram_bytes, flat: peaks.issue * (count === "thread" ? kWarp : 1) };
}

const decade = (n: number, way: (n: number) => number) => 10 ** way(Math.log10(n));

function rooflineOption(runs: Measured[], shown: Level[], places: Place[], names: string[], colours: number[], count: Count, t: Theme, width: number): Option {
  const mine = places.filter((one) => shown.includes(one.level));
  const roofs = shown.map((level) => ({ level, ...roof(runs[0], level, count) }));
  const ridges = roofs.flatMap((one) => (one.slope === null ? [] : [one.flat / one.slope]));
  const x0 = decade(Math.min(...mine.map((one) => one.intensity), ...ridges) / 2, Math.floor);
  const x1 = decade(Math.max(...mine.map((one) => one.intensity), ...ridges) * 2, Math.ceil);
  const top = decade(roofs[0].flat * 1.2, Math.ceil);
  const bottom = decade(Math.min(...mine.map((one) => one.rate), top) / 2, Math.floor);
  const axis = { type: "log", minorSplitLine: { show: false }, nameLocation: "middle", axisLine: { show: true, lineStyle: { color: t.muted } } };
  return {
    grid: { left: 62, right: 20, top: 34 + moreLegend([...names, ...shown], width), bottom: 44 },
    legend: legend(t, { icon: undefined, data: names }),
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { data: { place?: Place } }) => {
      const one = item.data.place;
      return one === undefined ? "" : `<b>${escapeHtml(one.name)}</b>, ${kLevels[one.level]}<br>${digits(one.rate)} ${kCounts[count]} a cycle<br>${digits(one.intensity)} a byte<br>${percent(one.share)} of the peak there`;
    } },
    xAxis: valueAxis(t, { ...axis, min: x0, max: x1, name: `${kCounts[count]} per byte`, nameGap: 24, axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => String(+n.toPrecision(3)) } }),
    yAxis: valueAxis(t, { ...axis, min: bottom, max: top, name: `${kCounts[count]} per cycle`, nameGap: 44, axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => String(+n.toPrecision(3)) } }),
    series: [
      ...roofs.map(({ level, slope, flat }) => {
        const start = slope === null ? flat : Math.max(bottom, slope * x0);
        const from = slope === null ? x0 : Math.max(x0, bottom / slope);
        const name = { show: true, formatter: kLevels[level], position: "right", distance: 8, offset: [0, 10], color: t.muted, fontSize: 11 };
        return { type: "line", name: `roof of ${kLevels[level]}`, symbolSize: 0.1, silent: true, itemStyle: { color: t.muted }, lineStyle: { color: t.muted, width: 1.3, type: level === "dram" ? "solid" : level === "l2" ? "dashed" : "dotted" },
          data: [{ value: [from, Math.min(flat, start)], label: name }, ...(slope === null ? [] : [[flat / slope, flat]]), [x1, flat]] };
      }),
      ...names.map((name, i) => ({ type: "line", name, lineStyle: { width: 0, opacity: 0 }, itemStyle: { color: seriesColour(t, colours[i]) }, symbolSize: 10, connectNulls: false,
        data: mine.filter((one) => one.name === name).map((one) => ({ value: [one.intensity, one.rate], symbol: kSymbols[one.level], place: one })) })),
    ],
  };
}

function placesNumbers(places: Place[], count: Count): Numbers {
  return { columns: ["of", "level", `${kCounts[count]} per byte`, `${kCounts[count]} per cycle`, "share of the level's peak"],
    rows: places.map((one) => [one.name, kLevels[one.level], one.intensity, one.rate, one.share]) };
}

function addRoofline(charts: Charts, parent: HTMLElement, group: Group, runs: Measured[], labels: string[]): void {
  let count: Count = "warp";
  let level: Level | "all" = "all";
  let of = "runs";
  const note = h("p", { class: "note" });
  parent.append(h("h3", {}, "Roofline"), note, h("div", { class: "choices" },
    buttons("Count", Object.entries(kCounts) as [Count, string][], count, (value) => {
      count = value as Count;
      redraw();
    }),
    buttons("Level", [["all", "all"], ...Object.entries(kLevels)], level, (value) => {
      level = value as Level | "all";
      redraw();
    }),
    buttons("Points", [["runs", "whole runs"], ...runs.map((run, i): [string, string] => [String(i), `kernels under ${run.label}`])], of, (value) => {
      of = value;
      redraw();
    })));
  const places = () => (of === "runs" ? runs.flatMap((run) => placesOfRun(run, count)) : placesOfKernels(runs[+of], count));
  const redraw = charts.add(parent, {
    label: `Roofline of ${group.name}: instructions per cycle over instructions per byte of each level of memory`,
    height: 340,
    numbers: () => placesNumbers(places(), count),
    build: (t, width) => {
      const all = places();
      const names = [...new Set(all.map((one) => one.name))];
      const most = of === "runs" ? 0 : runs[+of].result.kernels.length + (runs[+of].result.kernels_by_name?.length ?? 0);
      note.textContent = "Below the slanted line of a level its bandwidth is not the limit yet, below the flat one the schedulers are not: the farther below both, the more is lost to waiting. " +
        `Circles are of the L1D, diamonds of the L2 (the direction of the network with less room), triangles of DRAM; lines are dotted, dashed and solid. ` +
        `${most > kMostKernels ? `Only the ${kMostKernels} ${runs[+of].result.kernels.length > 0 ? "launches" : "kernels"} with most cycles are shown.` : ""}`;
      const shown = level === "all" ? levels : [level];
      return rooflineOption(of === "runs" ? runs : [runs[+of]], shown, all, names, names.map((name, i) => (of === "runs" ? labels.indexOf(name) : i)), count, t, width);
    },
  });
}

// --- occupancy -------------------------------------------------------------------------------------------------------

interface Row {
  kernel: Kernel;
  /** Launches alike in all that is told. */
  launches: number;
}

/** Launches of a kernel that ask the same of an SM together, in order of the first. */
export function occupancyRows(run: Run): Row[] {
  const rows = new Map<string, Row>();
  for (const kernel of run.result.kernels) {
    if (kernel.resident?.limits === undefined) continue;
    const key = JSON.stringify([kernel.name, kernel.block, kernel.resident]);
    const row = rows.get(key) ?? { kernel, launches: 0 };
    row.launches += 1;
    rows.set(key, row);
  }
  return [...rows.values()];
}

function limitCell(limit: ResidencyLimit, limited: string): Node {
  const text = limit.blocks === null ? "none" : `${whole(limit.blocks)} (${whole(limit.needs)} of ${whole(limit.has)})`;
  return limit.of === limited ? h("b", {}, text) : h("span", {}, text);
}

function limitColumn(of: string, title: string): Column<Row> {
  const find = (row: Row) => row.kernel.resident!.limits!.find((limit) => limit.of === of);
  return { title, explain: `Blocks that an SM could hold as far as its ${of} go; in brackets what a block takes of what an SM has. What limits stands out.`,
    value: (row) => find(row)?.blocks ?? (find(row) ? Number.MAX_SAFE_INTEGER : null), show: (row) => limitCell(find(row)!, row.kernel.resident!.limited_by) };
}

function addOccupancy(parent: HTMLElement, group: Group, runs: Measured[]): void {
  parent.append(h("h3", {}, "What limits occupancy"));
  const filled = runs.filter((run) => occupancyRows(run).length > 0);
  if (filled.length === 0) {
    parent.append(h("p", { class: "none" }, runs.every(isCorun) ? "Launches of tenants are not told one by one." : "The launches are too many to be told one by one, or of a program that says no limits."));
    return;
  }
  // Runs that differ in their policies only say the same.
  const told = (run: Run) => JSON.stringify(occupancyRows(run).map(({ kernel, launches }) => [kernel.name, kernel.block, kernel.resident, launches]));
  const distinct = filled.filter((run, i) => filled.findIndex((other) => told(other) === told(run)) === i);
  let run = distinct[0];
  const where = h("div");
  const warps = (row: Row) => row.kernel.resident!.limits!.find((limit) => limit.of === "warps")!.has;
  const fill = () => where.replaceChildren(table<Row>({ caption: `What limits occupancy in ${group.name} under ${run.label}`, rows: occupancyRows(run), limit: 20, columns: [
    { title: "Kernel", value: (row) => kernelTitle(row.kernel), show: (row) => h("code", {}, kernelTitle(row.kernel)) },
    { title: "Launches", value: (row) => row.launches },
    { title: "Block", explain: "Threads of a block", value: (row) => row.kernel.block.filter((n, i) => n > 1 || i === 0).join("×") },
    { title: "Registers/thread", value: (row) => row.kernel.resident!.registers_per_thread },
    { title: "Warps of an SM", explain: "That it holds of this launch at once, and of how many it could", value: (row) => row.kernel.resident!.warps,
      show: (row) => `${row.kernel.resident!.warps} (${percent(row.kernel.resident!.warps / warps(row))})` },
    limitColumn("threads", "Threads"), limitColumn("warps", "Warps"), limitColumn("registers", "Registers"), limitColumn("shared memory", "Shared memory"), limitColumn("block slots", "Block slots"),
  ] }));
  parent.append(h("p", { class: "note" }, "Blocks that an SM holds at once are as many as the scarcest of its resources allows. Where a grid has fewer blocks for each SM, they are fewer."),
    h("div", { class: "choices" }, buttons("Policy", distinct.map((one, i): [string, string] => [String(i), one.label]), "0", (i) => {
      run = distinct[+i];
      fill();
    })), where);
  fill();
}

/** Nothing where no run says how much of the machine it used. */
export function addBounds(charts: Charts, parent: HTMLElement, group: Group, labels: string[]): void {
  const runs = measuredRuns(group);
  if (runs.length === 0) return;
  parent.append(h("h3", {}, "Shares of the machine's peaks"),
    h("p", { class: "note" }, `In the cycles with a block on an SM. ${kPartNames.map((part) => `${kParts[part].title}: ${kParts[part].explain}`).join(" ")}`),
    h("ul", { class: "says" }, runs.map((run) => h("li", {}, nearest(run)))));
  charts.add(parent, {
    label: `Shares of the machine's peaks that ${group.name} uses`,
    height: (width) => 40 + (runs.length > 1 ? 30 + moreLegend(runs.map((run) => run.label), width) : 0) + kPartNames.length * Math.max(22, 8 + 13 * runs.length),
    axes: () => ["", "share of the peak"],
    build: (t, width) => usesOption(runs, labels, t, width),
  });
  addRoofline(charts, parent, group, runs, labels);
  addOccupancy(parent, group, runs);
}
