// Where the time of a run goes, kernel by kernel.
import { isCorun, kernelTitle, sampled, type Group, type Kernel, type KernelFacts, type KernelSums, type Metrics, type Run } from "./data";
import { buttons, h } from "./dom";
import { digits, list, percent, ratio, whole } from "./format";
import { clockRatio, kMetrics, kStalls, stallTitle, type Metric } from "./metrics";
import { tenants } from "./sharing";
import { table, type Column } from "./table";

interface Row {
  first: number;
  launches: number;
  kernel: Kernel;
  share: number;
  /** Cycles of the same launches in the first run over cycles here. */
  gain: number | null;
}

const kSummed = ["cycles", "warp_instructions", "thread_instructions", "l1d_accesses", "l1d_hits", "l2_accesses", "l2_hits",
  "dram_bytes"] as const;

function add(into: Kernel, from: Kernel): Kernel {
  const out = { ...into };
  const misses = (m: Metrics) => m.l1d_mpki * m.thread_instructions;
  const allMisses = misses(into) + misses(from);
  for (const field of kSummed) out[field] += from[field];
  out.execution_cycles = (into.execution_cycles ?? 0) + (from.execution_cycles ?? 0);
  out.stalls = Object.fromEntries(Object.entries(into.stalls ?? {}).map(([reason, n]) => [reason, n + (from.stalls?.[reason] ?? 0)]));
  if (JSON.stringify(into.resident) !== JSON.stringify(from.resident)) delete out.resident;
  out.l1d_hit_rate = out.l1d_accesses > 0 ? out.l1d_hits / out.l1d_accesses : 0;
  out.l2_hit_rate = out.l2_accesses > 0 ? out.l2_hits / out.l2_accesses : 0;
  out.l1d_mpki = out.thread_instructions > 0 ? allMisses / out.thread_instructions : 0;
  return out;
}

function perLaunch(run: Run, base: Run): Row[] {
  const all = run.result.kernels.reduce((sum, k) => sum + k.cycles, 0);
  const clocks = clockRatio(run, base);
  return run.result.kernels.map((kernel, i) => {
    const before = base.result.kernels[i];
    const same = before?.name === kernel.name && before.cycles > 0 && kernel.cycles > 0;
    return { first: i, launches: 1, kernel, share: all > 0 ? kernel.cycles / all : 0, gain: same ? before.cycles / kernel.cycles * clocks : null };
  });
}

export function perKernel(run: Run, base: Run): Row[] {
  const rows = new Map<string, Row & { before: number }>();
  for (const row of perLaunch(run, base)) {
    const old = rows.get(row.kernel.name);
    const before = row.gain === null ? NaN : row.gain * row.kernel.cycles;
    if (!old) {
      rows.set(row.kernel.name, { ...row, before });
      continue;
    }
    old.kernel = add(old.kernel, row.kernel);
    old.launches += 1;
    old.share += row.share;
    old.before += before;
    old.gain = Number.isFinite(old.before) && old.kernel.cycles > 0 ? old.before / old.kernel.cycles : null;
  }
  return [...rows.values()];
}

interface SumsRow {
  kernel: KernelSums;
  share: number;
  gain: number | null;
}

/** Of a run with too many launches to tell each: one row per kernel, compared where as many launches stand on the other side. */
export function perSums(run: Run, base: Run): SumsRow[] {
  const sums = run.result.kernels_by_name ?? [];
  const all = sums.reduce((sum, k) => sum + k.cycles, 0);
  const clocks = clockRatio(run, base);
  return sums.map((kernel) => {
    const before = base.result.kernels_by_name?.find((k) => k.name === kernel.name);
    const same = before !== undefined && before.launches === kernel.launches && before.cycles > 0 && kernel.cycles > 0;
    return { kernel, share: all > 0 ? kernel.cycles / all : 0, gain: same ? before.cycles / kernel.cycles * clocks : null };
  });
}

const isSummed = (run: Run) => (run.result.kernels_by_name ?? []).length > 0;

function metricColumn(metric: Metric): Column<{ kernel: Metrics }> {
  return {
    title: metric.title, explain: metric.explain,
    value: (row) => metric.value(row.kernel),
    show: (row) => metric.show(metric.value(row.kernel)!),
  };
}

/** The name as its author wrote it; the whole of it, as the linker knows it, on hover. */
function nameColumn<Row extends { kernel: KernelFacts }>(): Column<Row> {
  return { title: "Kernel", value: (row) => kernelTitle(row.kernel),
    show: (row) => h("code", { title: `${row.kernel.title ?? ""} ${row.kernel.name}`.trim() }, kernelTitle(row.kernel)) };
}

function largest(kernel: KernelFacts): { reason: string; share: number } | null {
  const parts = Object.entries(kernel.stalls ?? {});
  const all = parts.reduce((sum, [, n]) => sum + n, 0);
  if (all === 0) return null;
  const [reason, n] = parts.reduce((a, b) => (b[1] > a[1] ? b : a));
  return { reason, share: n / all };
}

/** Time with a block on an SM, IPC in it, and what its scheduler-cycles went to. */
function executionColumns<Row extends { kernel: KernelFacts }>(): Column<Row>[] {
  const cycles = (row: Row) => row.kernel.execution_cycles ?? null;
  return [
    { title: "Executing", explain: "Of the cycles, those from the start of the first block to the end of the last one: what profilers call the time of a kernel",
      value: cycles, show: (row) => whole(cycles(row)!) },
    { title: "IPC executing", explain: "Thread instructions per cycle from the first block to the last one",
      value: (row) => (cycles(row) ? row.kernel.thread_instructions / cycles(row)! : null), show: (row) => digits(row.kernel.thread_instructions / cycles(row)!) },
    { title: "Largest share", explain: "Of the scheduler-cycles in which one of its warps issued or was the nearest to ready",
      value: (row) => largest(row.kernel)?.share ?? null,
      show: (row) => {
        const top = largest(row.kernel)!;
        return h("span", { title: kStalls[top.reason]?.explain ?? "" }, `${stallTitle(top.reason)} ${percent(top.share)}`);
      } },
  ];
}

const kOccupancy: Column<Row> = {
  title: "Warps per SM", explain: "Warps that fit on an SM at once, and what keeps more out",
  value: (row) => row.kernel.resident?.warps ?? null,
  show: (row) => `${row.kernel.resident!.warps} (${row.kernel.resident!.limited_by})`,
};

/** Cycles of launches, not of the GPU: those of launches that overlap are in each. */
const kLaunchCycles: Metric = { ...kMetrics.cycles,
  explain: "From when nothing but the launch itself kept it from running to when the end of its last block was heard of: launch latency is in it, and launches that overlap count each" };

const dims = (d: number[]) => d.join("×").replace(/(×1)+$/, "");

function columns(each: boolean, compared: boolean): Column<Row>[] {
  const out: Column<Row>[] = [
    { title: "#", explain: "Number of the launch, from 0 in order of launching", value: (row) => row.first },
    nameColumn<Row>(),
  ];
  if (each)
    out.push({ title: "Stream", value: (row) => row.kernel.stream },
      { title: "Starts at", explain: "Cycle of the launch", value: (row) => row.kernel.start_cycle, show: (row) => whole(row.kernel.start_cycle) });
  else out.push({ title: "Launches", value: (row) => row.launches });
  out.push(
    { title: each ? "Grid" : "First grid", explain: "Thread blocks of the launch", value: (row) => dims(row.kernel.grid) },
    { title: "Block", explain: "Threads of a block", value: (row) => dims(row.kernel.block) },
    metricColumn(kLaunchCycles),
    { title: "Share", explain: "Of the cycles of all kernels", value: (row) => row.share, show: (row) => percent(row.share) });
  if (compared)
    out.push({ title: "Speed-up", explain: "Time of the same launches under the first policy over the time here",
      value: (row) => row.gain, show: (row) => ratio(row.gain!) });
  out.push(...executionColumns<Row>(), ...[kMetrics.l1d_hit_rate, kMetrics.l2_hit_rate, kMetrics.dram_bytes].map(metricColumn), kOccupancy);
  return out;
}

function sumsColumns(compared: boolean): Column<SumsRow>[] {
  const cycles = (title: string, explain: string, of: (k: KernelSums) => number): Column<SumsRow> =>
    ({ title, explain, value: (row) => of(row.kernel), show: (row) => whole(of(row.kernel)) });
  const out: Column<SumsRow>[] = [
    nameColumn<SumsRow>(),
    { title: "Launches", value: (row) => row.kernel.launches, show: (row) => whole(row.kernel.launches) },
    { title: "By kernels", explain: "Launches that kernels made", value: (row) => row.kernel.device_launches, show: (row) => whole(row.kernel.device_launches) },
    cycles("Cycles", "Summed over the launches, also where they overlap", (k) => k.cycles),
    cycles("Shortest", "Cycles of the shortest launch", (k) => k.cycles_min),
    cycles("Mean", "Cycles of the mean launch", (k) => Math.round(k.cycles_mean)),
    cycles("Longest", "Cycles of the longest launch", (k) => k.cycles_max),
    { title: "Share", explain: "Of the cycles of all kernels", value: (row) => row.share, show: (row) => percent(row.share) },
  ];
  if (compared)
    out.push({ title: "Speed-up", explain: "Time of the same launches under the first policy over the time here",
      value: (row) => row.gain, show: (row) => ratio(row.gain!) });
  out.push(...executionColumns<SumsRow>(), ...[kMetrics.l1d_hit_rate, kMetrics.l2_hit_rate, kMetrics.dram_bytes].map(metricColumn));
  return out;
}

/** What is said of launches that were executed but not timed; null when all were. */
export function untimed(run: Run): string | null {
  const others = run.result.launches_left_out ?? 0;
  const { sampling, totals } = run.result;
  const said = [
    others === 0 ? "" : `Timed are the first launches of the host; ${whole(others)} more were executed only.`,
    !sampling || !sampled(run) ? "" : `${whole(sampling.launches_timed)} launches of the host were timed, ${whole(sampling.launches_estimated)} like them estimated: ` +
      `${whole(totals.cycles)} cycles ± ${percent(sampling.cycles_half_width / totals.cycles)}, with ${percent(sampling.confidence)} confidence. Cycles, rates and traffic ` +
      "of the whole run, and its energy, are extrapolated; kernels, stalls and everything over time are of the launches that were timed.",
  ].filter((text) => text !== "");
  return said.length === 0 ? null : said.join(" ");
}

/** What there is to say where no launch is told: of tenants only how many kernels of each completed is counted. */
export function withoutKernels(group: Group): string[] {
  const coruns = group.runs.filter(isCorun);
  if (coruns.length === 0) return ["Nothing was launched."];
  return coruns.map((run) => {
    const names = tenants(run);
    const counts = run.result.tenants!.flatMap((tenant, i) => (tenant.kernels_completed === undefined ? [] : [`${whole(tenant.kernels_completed)} of ${names[i].name}`]));
    const all = counts.length > 0 ? `Kernels that completed: ${list(counts)}. ` : "";
    return `${group.runs.length > 1 ? `${run.label}: ` : ""}${all}Launches of tenants are not told one by one.`;
  });
}

export function addKernels(parent: HTMLElement, group: Group): void {
  parent.append(h("h3", {}, "Kernels"));
  const base = group.runs[0];
  const others = untimed(base);
  if (others !== null) parent.append(h("p", {}, others));
  if (group.runs.every((run) => run.result.kernels.length === 0 && !isSummed(run))) {
    parent.append(...withoutKernels(group).map((text) => h("p", { class: "none" }, text)));
    return;
  }
  let run = base;
  const repeats = run.result.kernels.length > new Set(run.result.kernels.map((k) => k.name)).size;
  let each = run.result.kernels.length <= 12;
  const place = h("div");
  const caption = () => `Kernels of ${group.name} under ${run.label}`;
  const fill = () => place.replaceChildren(isSummed(run) ? table({
    caption: caption(),
    columns: sumsColumns(group.runs.length > 1),
    rows: perSums(run, base),
    limit: 40,
    className: "kernels",
  }) : table({
    caption: caption(),
    columns: columns(each, group.runs.length > 1),
    rows: each ? perLaunch(run, base) : perKernel(run, base),
    limit: 40,
    className: "kernels",
  }));
  const labels = group.runs.map((r, i): [string, string] => [String(i), r.label]);
  parent.append(h("div", { class: "choices" },
    buttons("Policy", labels, String(group.runs.indexOf(run)), (i) => {
      run = group.runs[+i];
      fill();
    }),
    repeats && buttons("Rows", [["each", "each launch"], ["sum", "summed by kernel"]], each ? "each" : "sum", (value) => {
      each = value === "each";
      fill();
    })), place);
  fill();
}
