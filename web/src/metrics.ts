// The measures of the report: how each is computed from a run, shown, and explained in plain words.
import { kIssued, kStallTerms, kWords, type Term } from "./catalogue";
import { isCorun, type Group, type Metrics, type Run } from "./data";
import { bytes, digits, percent, ratio, whole } from "./format";

export interface Metric {
  title: string;
  explain: string;
  /** null where the run has no such number (not timed, no accesses). */
  value: (totals: Metrics) => number | null;
  show: (n: number) => string;
}

const per = (part: number, all: number) => (all > 0 ? part / all : null);

const kShow: { [unit: string]: (n: number) => string } = { bytes, ratio: percent, cycles: whole };
const kLess = " Less is better.";

/** In the words of the catalogue, and `more`. `value` is null where there is nothing to show a value of. */
function measure(name: keyof Metrics, value: (t: Metrics) => number | null, more = ""): Metric {
  const { title, unit, meaning } = kWords[name];
  return { title, explain: meaning + more, value, show: kShow[unit] ?? digits };
}

export const kMetrics = {
  cycles: measure("cycles", (t) => (t.cycles > 0 ? t.cycles : null), kLess),
  ipc: measure("ipc", (t) => per(t.thread_instructions, t.cycles)),
  l1d_hit_rate: measure("l1d_hit_rate", (t) => (t.l1d_accesses > 0 ? t.l1d_hit_rate : null)),
  l1d_mpki: measure("l1d_mpki", (t) => (t.thread_instructions > 0 && t.cycles > 0 ? t.l1d_mpki : null), kLess),
  l2_hit_rate: measure("l2_hit_rate", (t) => (t.l2_accesses > 0 ? t.l2_hit_rate : null)),
  dram_bytes: measure("dram_bytes", (t) => (t.cycles > 0 ? t.dram_bytes : null), kLess),
  dram_per_instruction: {
    title: "DRAM bytes per thread instruction",
    explain: "Off-chip traffic for each thread instruction, so that workloads of different length can be compared." + kLess,
    value: (t) => (t.cycles > 0 ? per(t.dram_bytes, t.thread_instructions) : null),
    show: digits,
  },
} satisfies { [name: string]: Metric };

/** Two runs that differ by less count as equally fast, everywhere on the page. */
export const kNotable = 0.02;

export const kSpeedup: Omit<Metric, "value"> = {
  title: "Speed-up",
  explain: "Time of the first policy divided by the time of this one, for the same work. Above 1 is faster.",
  show: ratio,
};

/** What cycles of `base` over cycles of `run` are multiplied by to be a ratio of times. */
export function clockRatio(run: Run, base: Run): number {
  return run.core_clock_mhz > 0 && base.core_clock_mhz > 0 ? run.core_clock_mhz / base.core_clock_mhz : 1;
}

/** Time of `base` over time of `run`; null when either was not timed, or went on to a horizon instead of to the end of its work. */
export function speedup(run: Run, base: Run): number | null {
  const [cycles, before] = [run.result.totals.cycles, base.result.totals.cycles];
  if (isCorun(run) || isCorun(base)) return null;
  return cycles > 0 && before > 0 ? before / cycles * clockRatio(run, base) : null;
}

/** Geometric mean over the groups that have this label; null unless all values are known. */
export function geometricMean(groups: Group[], label: string): number | null {
  const values: number[] = [];
  for (const group of groups) {
    const run = group.runs.find((r) => r.label === label);
    const value = run ? speedup(run, group.runs[0]) : null;
    if (value === null) return null;
    values.push(value);
  }
  if (values.length === 0) return null;
  return Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length);
}

/** What stands at the bottom of the bars comes first; a reason that is not named here comes last. */
const kStacked = ["issued", "memory", "lsu", "dependence", "unit", "throttled", "fetch", "barrier", "fence", "sleep", "launch", "idle"];
const kReasons: { [reason: string]: Term } = { issued: kIssued, ...kStallTerms };

/** In the order in which the bars are stacked. */
export const kStalls: { [reason: string]: Term } =
  Object.fromEntries([...new Set([...kStacked, ...Object.keys(kReasons)])].map((reason) => [reason, kReasons[reason]]));

export function stallReasons(runs: Run[]): string[] {
  const present = new Set(runs.flatMap((run) => Object.keys(run.result.stalls ?? {})));
  const known = Object.keys(kStalls).filter((reason) => present.has(reason));
  return [...known, ...[...present].filter((reason) => !(reason in kStalls))];
}

export function stallTitle(reason: string): string {
  return kStalls[reason]?.title ?? reason;
}

export function schedulerCycles(run: Run): number {
  return Object.values(run.result.stalls ?? {}).reduce((sum, n) => sum + n, 0);
}

/** The largest part of the scheduler-cycles, "issued" among them; null when nothing was counted. */
export function dominant(run: Run): { reason: string; share: number } | null {
  const all = schedulerCycles(run);
  if (all === 0 || !run.result.timed) return null;
  const [reason, cycles] = Object.entries(run.result.stalls).reduce((a, b) => (b[1] > a[1] ? b : a));
  return { reason, share: cycles / all };
}
