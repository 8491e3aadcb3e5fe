// The measures of the report: how each is computed from a run, shown, and explained in plain words.
import type { Group, Metrics, Run } from "./data";
import { bytes, digits, percent, ratio, whole } from "./format";

export interface Metric {
  title: string;
  explain: string;
  /** null where the run has no such number (not timed, no accesses). */
  value: (totals: Metrics) => number | null;
  show: (n: number) => string;
}

const per = (part: number, all: number) => (all > 0 ? part / all : null);

export const kMetrics = {
  cycles: {
    title: "Cycles",
    explain: "Core-clock cycles from the first launch to the end of the last kernel, launch latency among them. Less is better.",
    value: (t) => (t.cycles > 0 ? t.cycles : null),
    show: whole,
  },
  ipc: {
    title: "IPC",
    explain: "Thread instructions finished per core cycle by the whole GPU: how busy the machine really was. " +
      "An instruction of a warp with 32 active threads counts 32.",
    value: (t) => per(t.thread_instructions, t.cycles),
    show: digits,
  },
  l1d_hit_rate: {
    title: "L1D hit rate",
    explain: "Share of load accesses to the first-level data caches that found their data there. " +
      "Loads that joined a miss already under way count as no hit.",
    value: (t) => (t.l1d_accesses > 0 ? t.l1d_hit_rate : null),
    show: percent,
  },
  l1d_mpki: {
    title: "L1D MPKI",
    explain: "First-level data-cache misses per thousand thread instructions: how often the program's work " +
      "has to wait for the memory beyond the SM. Less is better.",
    value: (t) => (t.thread_instructions > 0 && t.cycles > 0 ? t.l1d_mpki : null),
    show: digits,
  },
  l2_hit_rate: {
    title: "L2 hit rate",
    explain: "Share of accesses to the shared second-level cache (reads, writes, atomics) that found their line there. " +
      "What misses goes to DRAM.",
    value: (t) => (t.l2_accesses > 0 ? t.l2_hit_rate : null),
    show: percent,
  },
  dram_bytes: {
    title: "DRAM traffic",
    explain: "Bytes read from and written to off-chip memory. Less is better: each costs time and energy.",
    value: (t) => (t.cycles > 0 ? t.dram_bytes : null),
    show: bytes,
  },
  dram_per_instruction: {
    title: "DRAM bytes per thread instruction",
    explain: "Off-chip traffic for each thread instruction, so that workloads of different length can be compared. " +
      "Less is better.",
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

/** Time of `base` over time of `run`; null when either was not timed. */
export function speedup(run: Run, base: Run): number | null {
  const time = (r: Run) => r.result.totals.cycles / (r.core_clock_mhz > 0 ? r.core_clock_mhz : 1);
  if (!(run.result.totals.cycles > 0) || !(base.result.totals.cycles > 0)) return null;
  return time(base) / time(run);
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

export interface StallReason {
  title: string;
  explain: string;
}

/** In the order in which the bars are stacked. */
export const kStalls: { [reason: string]: StallReason } = {
  issued: {
    title: "issued",
    explain: "the scheduler issued a warp instruction",
  },
  memory: {
    title: "memory",
    explain: "every warp that could be next waits for data on its way from memory (caches or DRAM)",
  },
  lsu: {
    title: "load/store unit",
    explain: "operands are there, but the load/store unit takes nothing more (its queue, miss registers or ports are full)",
  },
  dependence: {
    title: "dependence",
    explain: "the next instruction needs the result of an arithmetic instruction that is still being computed",
  },
  unit: {
    title: "unit busy",
    explain: "operands are there, but the execution unit or the operand collectors are still taken by earlier instructions",
  },
  throttled: {
    title: "throttled",
    explain: "operands and unit are there, but the throttle policy does not let the warp issue",
  },
  fetch: {
    title: "fetch",
    explain: "the next instruction is not there yet: a jump has emptied the warp's buffer, or the instruction cache missed",
  },
  barrier: {
    title: "barrier",
    explain: "all resident warps wait for others of their block at a barrier",
  },
  fence: {
    title: "fence",
    explain: "waits until earlier memory operations are visible to others",
  },
  sleep: {
    title: "sleep",
    explain: "the warps sleep of their own will (nanosleep)",
  },
  launch: {
    title: "launch",
    explain: "no block is on any SM and a launch is on its way to one: the machine's launch latency, not the program's work",
  },
  idle: {
    title: "no warp",
    explain: "the scheduler holds no warp, and not because a launch is on its way: other SMs still work on a launch (its tail), or the host has launched nothing",
  },
};

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
