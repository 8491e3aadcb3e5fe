// What the program writes into the page (src/raddle/report/report.cpp), and its grouping for display.
import type { Metrics } from "./catalogue";
import { pageData } from "./page";
import type { Blocks, Fields, LaunchTree, Mesh, Placement, Result, Samples, SourceTexts, TenantUse, Value } from "./result";

export type { Metrics } from "./catalogue";
export * from "./result";

/** What A and B have of something; `sums`: of many that are together in it, how many differ. */
export interface DifferencePart {
  name: string;
  title: string;
  a: number;
  b: number;
  /** At most the standard error of b - a, where it is sampled. */
  error?: number;
  sums?: number;
}

/** Parts sum to a and to b. */
export interface Waterfall {
  a: number;
  b: number;
  parts: DifferencePart[];
}

/** Of one kernel: cycles by what schedulers did and by line, SM-cycles of refusals, bytes and misses by allocation. */
export interface KernelDifference {
  name: string;
  title: string;
  schedulers: Waterfall;
  refused: Waterfall;
  dram_bytes: Waterfall | null;
  l1d_misses: Waterfall | null;
  lines: Waterfall | null;
}

/** From another run of the same work, A, to this one, B (src/raddle/report/difference.h). */
export interface Difference {
  /** A, into the page's runs. */
  base: number;
  /** Why there is nothing else. */
  why?: string;
  /** Absent of co-runs. */
  kernels?: Waterfall;
  schedulers?: Waterfall;
  of_kernels?: KernelDifference[];
  looks?: [number, number];
  notes?: string[];
}

export interface Run {
  label: string;
  core_clock_mhz: number;
  result: Result;
  blocks: Blocks;
  /** Of the first launches, as many as the page holds. */
  placement: Placement[];
  /** Null: no kernel launched one. */
  launch_tree: LaunchTree | null;
  samples: Samples;
  /** Of co-runs; null where it was not recorded. */
  tenant_use?: TenantUse | null;
  /** Null: the machine has none, or no samples were taken. */
  mesh: Mesh | null;
  /** From the first run of the same work; absent of that. */
  difference?: Difference;
}

/** Of several seeds of one work: the mean, the ends of its 95 % interval (Student's t), and how far single seeds lie apart. */
export interface Spread {
  mean: number;
  /** Standard deviation of a sample. */
  deviation: number;
  min: number;
  max: number;
  /** Null of one seed. */
  low: number | null;
  high: number | null;
}

/** The runs of one work that differ in nothing but the seed (src/raddle/report/seeds.h). */
export interface OverSeeds {
  workload: string;
  parameters: Fields | null;
  policies: string;
  /** What the speed-ups are over: the first policy, with the same seed. */
  over: string;
  seeds: number[];
  /** The work does not use the seed. */
  same_input: boolean;
  /** The mean is the arithmetic one. */
  cycles: Spread;
  /** The mean is the geometric one, its interval that of the logarithms. */
  speedup: Spread;
  /** "faster", "not told apart by 3 seeds, flips within the spread"; "" of the first policy. */
  verdict: string;
  flips: boolean;
}

/** What a change of the machine brings to one work (src/raddle/report/what_if.h). */
export interface WhatIf {
  workload: string;
  parameters: Fields | null;
  /** "l2=x2", "l2=x2+dram=ideal". */
  item: string;
  /** By path of the configuration. */
  changes: { [path: string]: { from: Value; to: Value } };
  /** "same": timed on the op stream that was there; "anew": executed again; "recorded": on a recording. */
  stream: string;
  /** Warp instructions over those on the machine as it is. */
  instructions: number;
  /** Each over itself, with the same seed, on the machine as it is. */
  policies: { policies: string; speedup: Spread }[];
  /** The fastest first. */
  order: string[];
  order_as_it_is: string[];
  /** The first is the faster as it is, the second with the change. */
  turned: [string, string][];
}

export interface PageData {
  raddle_version: string;
  /** "" where it was not built in a checkout. */
  commit?: string;
  command: string;
  date: string;
  runs: Run[];
  source_texts?: SourceTexts;
  /** Of a page drawn from kept files: which, what is not in them, what is not alike in them. */
  kept?: string[];
  /** Absent in pages of older versions. */
  over_seeds?: OverSeeds[];
  what_if?: WhatIf[];
}

/** The same work under several policies; the first run is what the others are compared with. */
export interface Group {
  name: string;
  runs: Run[];
}

export interface Report {
  page: PageData;
  groups: Group[];
  /** Labels of all runs, in order of first appearance. */
  labels: string[];
}

/** Do tenants share the GPU up to a horizon? `kernels` is empty then, whatever ran, and every run has the same cycles. */
export const isCorun = (run: Run): boolean => (run.result.tenants ?? []).length > 0;

/** A kernel's name without the types of its parameters, for tables and legends. */
export function kernelTitle(kernel: { name: string; title?: string } | undefined): string {
  const title = kernel?.title ?? kernel?.name ?? "?";
  if (!title.endsWith(")")) return title;
  let depth = 0;
  for (let i = title.length - 1; i > 0; i--) {
    if (title[i] === ")") depth++;
    if (title[i] === "(" && --depth === 0) return title.slice(0, i);
  }
  return title;
}

/** The same of a kernel of the run. */
export function titleOfKernel(run: Run, name: string): string {
  return kernelTitle([...run.result.kernels, ...(run.result.kernels_by_name ?? [])].find((k) => k.name === name) ?? { name });
}

export function gpuName(run: Run): string {
  const name = run.result.config?.name;
  return typeof name === "string" && name !== "" ? name : "unnamed GPU";
}

/** config.sm.l1d.size_kib and the like; null when there is no such number. */
export function configNumber(run: Run, path: string): number | null {
  let at: Value | undefined = run.result.config;
  for (const key of path.split("."))
    at = at !== null && typeof at === "object" && !Array.isArray(at) ? (at as Fields)[key] : undefined;
  return typeof at === "number" ? at : null;
}

/** Of its input; null in results without a configuration. */
export function seedOf(run: Run): number | null {
  return configNumber(run, "run.seed");
}

/** Runs with the same are of the same work on the same input. */
function workKey(run: Run): string {
  return JSON.stringify([run.result.workload.name, run.result.workload.parameters, seedOf(run)]);
}

/** "nodes=1024 degree=8": parameters in which this run differs from others of its workload. */
function distinguishing(run: Run, others: Run[]): string {
  const parameters = run.result.workload.parameters ?? {};
  const differs = (key: string) => others.some(
    (o) => JSON.stringify(o.result.workload.parameters?.[key]) !== JSON.stringify(parameters[key]));
  return Object.keys(parameters).filter(differs).map((key) => `${key}=${parameters[key]}`).join(" ");
}

export function group(page: PageData): Report {
  const labels = [...new Set(page.runs.map((run) => run.label))];
  const seen = new Set<string>();
  const repeated = page.runs.some((run) => {
    const key = workKey(run) + run.label;
    return seen.size === seen.add(key).size;
  });
  const byKey = new Map<string, Run[]>();
  for (const run of page.runs) {
    let key = workKey(run) + (repeated ? gpuName(run) : "");
    while (byKey.get(key)?.some((other) => other.label === run.label)) key += "'";
    byKey.set(key, [...(byKey.get(key) ?? []), run]);
  }
  // A difference is from the first run of the group, or none.
  for (const runs of byKey.values())
    for (const run of runs) if (run.difference && page.runs[run.difference.base] !== runs[0]) delete run.difference;
  const groups = [...byKey.values()].map((runs) => {
    const same = page.runs.filter((r) => r.result.workload.name === runs[0].result.workload.name);
    const parts = [runs[0].result.workload.name, distinguishing(runs[0], same)];
    if (same.some((other) => seedOf(other) !== seedOf(runs[0]))) parts.push(`seed ${seedOf(runs[0])}`);
    if (repeated) parts.push("on " + gpuName(runs[0]));
    return { name: parts.filter((part) => part !== "").join(" "), runs };
  });
  return { page, groups, labels };
}

/** Reads the page's data element. Throws an Error a reader can understand. */
export function load(text: string): Report {
  return group(pageData(text, "--report FILE.html") as PageData);
}

/** Were launches estimated? */
export const sampled = (run: Run): boolean => (run.result.sampling?.launches_estimated ?? 0) > 0;

/** Of the launches that were timed, as everything but `totals` and `energy_pj` is. */
export const timedTotals = (run: Run): Metrics => run.result.sampling?.timed_totals ?? run.result.totals;

/** The end of everything that is shown over time. */
export const timedCycles = (run: Run): number => timedTotals(run).cycles;
