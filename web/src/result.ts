// What a result says, as its JSON has it.

import type { Execution, Metrics } from "./catalogue";

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
export type Fields = { [key: string]: Value };

/** Nothing where it is no object. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {};
}

/** What a launch, or the launches of one kernel together, has besides. Older results lack some of it. */
export interface KernelFacts extends Metrics, Partial<Execution> {
  name: string;
  /** The name as its author wrote it, with the types of its parameters. */
  title?: string;
  /** Scheduler-cycles in which one of its warps issued, or was the nearest to ready. */
  stalls?: { [reason: string]: number };
  details?: Fields;
  utilisation?: Utilisation;
}

/** Shares of Peaks in the cycles with a block on an SM. Null: nothing limits that part of the machine. */
export interface Utilisation {
  issue: number;
  l1: number;
  shared: number;
  request: number | null;
  reply: number | null;
  l2: number;
  dram: number | null;
}

/** What the machine could do in a core cycle at most. */
export interface Peaks {
  issue: number;
  l1_lines: number;
  l1_bytes: number;
  shared: number;
  request_bytes: number | null;
  reply_bytes: number | null;
  l2_requests: number;
  dram_bytes: number | null;
}

/** Of the analysis "warps": a window of cycles of one SM (sim/analyses/warps.cpp says what stands where). */
export interface WarpWindow {
  sm: number;
  begin: number;
  end: number;
  instructions: { kernel: string; line: number; instruction?: string; source?: { file: string; line: number } }[];
  warps: { slot: number; scheduler: number; from: number; launch: number; block: number; warp: number }[];
  /** Slot, first cycle, cycle behind the last, state, number of the access or of the issue that it waits for. */
  states: [slot: number, from: number, to: number, state: string, cause?: number][];
  /** Slot, cycle, number of the instruction, number of its access. */
  issues: [slot: number, cycle: number, instruction: number, access?: number][];
  /** Lines: number, cycle at the L1D, outcome, cycle in which the data came. */
  accesses: { issue: number; lines: [line: number, at: number, outcome: string, filled?: number][] }[];
}

/** How many blocks an SM holds as far as one of its resources goes; null: a block takes none of it. */
export interface ResidencyLimit {
  of: string;
  needs: number;
  has: number;
  blocks: number | null;
}

/** What an SM holds of a launch. */
export interface Resident {
  registers_per_thread: number;
  blocks: number;
  warps: number;
  limited_by: string;
  limits?: ResidencyLimit[];
}

export interface Kernel extends KernelFacts {
  grid: number[];
  block: number[];
  stream: number;
  start_cycle: number;
  begin_cycle: number;
  end_cycle: number;
  /** Launched by a kernel; absent: by the host. */
  parent?: unknown;
  resident?: Resident;
}

/** The launches of one kernel together, where there are too many to tell each. Cycles are summed over them. */
export interface KernelSums extends KernelFacts {
  launches: number;
  device_launches: number;
  start_cycle: number;
  end_cycle: number;
  cycles_min: number;
  cycles_mean: number;
  cycles_max: number;
}

export interface PolicyUse {
  name: string;
  parameters: Fields | null;
  statistics: Fields | null;
  /** Of parameters and statistics, by path or by the last part of it. Absent in results of older versions. */
  meaning?: { parameters: Meanings; statistics: Meanings };
}

export interface Meanings { [name: string]: { unit: string; doc: string } }

/** Of a run in which launches like those timed before were estimated. */
export interface Sampling {
  launches_timed: number;
  launches_estimated: number;
  /** Half of the interval of totals.cycles, with that confidence. */
  cycles_half_width: number;
  confidence: number;
  timed_totals: Metrics;
}

export interface Checks {
  asked: string[];
  findings: { check: string; kernel: string; times: number; text: string }[];
  /** Places beyond those. */
  more: number;
  /** Kernels whose shared memory was not looked at, and why. */
  shared_memory_left_out: { [kernel: string]: string };
}

/** A line of the PTX, and where it was written if the PTX says that. */
export interface SourceLine {
  line: number;
  instruction?: string;
  source?: { file: string; line: number };
  issued: number;
  thread_instructions: number;
  memory_lines: number;
  l1d_hits: number;
  l1d_pending_hits: number;
  l1d_misses: number;
  /** Warps seen elsewhere that needed what it loads. */
  awaited: number;
  /** Warps seen there, by what they waited for. */
  warps: { [state: string]: number };
}

export interface AllocationFigures {
  /** Lines of memory that instructions of warps touch, one by one. */
  loads: number;
  stores: number;
  atomics: number;
  l1d_hits: number;
  l1d_pending_hits: number;
  l1d_misses: number;
  l2_hits: number;
  l2_pending_hits: number;
  l2_misses: number;
  dram_read_bytes: number;
  dram_written_bytes: number;
}

export interface AllocationRow extends AllocationFigures {
  name: string;
  /** None of local memory and of the rest. */
  address?: string;
  bytes?: number;
  /** Of it, and of these those that the L2 was asked for. */
  sectors?: number;
  touched_sectors?: number;
  /** How many there were of this place and size, one after another, where there was more than one. */
  times?: number;
  /** Kernels that the host launched with pointers into it: as which arguments, from 1. */
  arguments?: { [kernel: string]: number[] };
  kernels: { [name: string]: AllocationFigures };
}

/** `known`: somebody has said what is allocated. */
export interface Allocations {
  known: boolean;
  rows: AllocationRow[];
}

export interface SourceProfile {
  looks: number;
  kernels: { [name: string]: { file: string; lines?: SourceLine[] } };
}

/** Of files that the PTX names: text of lines, by number. */
export interface SourceTexts { [file: string]: { [line: string]: string } }

export interface Result {
  raddle_version: string;
  config: Fields;
  workload: { name: string; parameters: Fields | null; result: string; difference?: string };
  timed: boolean;
  /** What kernels such as these were off by on a real GPU of this machine; of timed runs. */
  silicon?: { measured: boolean; text: string };
  /** Of the host, executed but not timed: --first-launches. */
  launches_left_out?: number;
  /** Where launches could be estimated: `totals` and `energy_pj` are of all launches, the rest of those that were timed. */
  sampling?: Sampling;
  totals: Metrics;
  details?: Fields;
  /** Absent in results of older versions. */
  utilisation?: Utilisation;
  peaks?: Peaks;
  kernels: Kernel[];
  /** In place of kernels, which is empty, when there are many. */
  kernels_by_name?: KernelSums[];
  schedulers: number;
  stalls: { [reason: string]: number };
  /** Of a co-run. */
  tenants?: { name: string; slowdown?: number | null; kernels_completed?: number }[];
  corun?: { weighted_speedup?: number | null };
  policies: { [level: string]: PolicyUse } | null;
  energy_pj: { [component: string]: number } | null;
  analysis?: { source?: SourceProfile; allocations?: Allocations; warps?: WarpWindow };
  /** When --check asked for any. */
  checks?: Checks;
  host: {
    wall_seconds: number;
    functional_seconds: number;
    timing_seconds: number;
    peak_rss_bytes: number;
    threads: number;
  };
  state_hash: string;
}

/** Bars of the block timeline, one array per member. `last` and `count` are empty when merged is 1. */
export interface Blocks {
  total: number;
  merged: number;
  until: number | null;
  launch: number[];
  sm: number[];
  lane: number[];
  first: number[];
  last: number[];
  count: number[];
  start: number[];
  length: number[];
}

export interface Samples {
  interval: number;
  start: number[];
  length: number[];
  thread_instructions: number[];
  l1d_accesses: number[];
  l1d_hits: number[];
  dram_bytes: number[];
  warp_cycles: number[];
  throttled_warp_cycles: number[];
  sms: SmsOverTime;
}

/** By column of time and SM: means. Empty without samples. */
export interface SmsOverTime {
  start: number[];
  length: number[];
  ipc: number[][];
  /** null: no access. */
  l1d_hit_rate: (number | null)[][];
  /** With instructions left. */
  warps: number[][];
  /** Of these, those that a throttle policy lets load; only where one has held some back. */
  allowed?: number[][];
}

/** Which SM ran which block of a launch. By block: sm (null: not seen) and order, the number of its SM's blocks that started before. */
export interface Placement {
  launch: number;
  sm: (number | null)[];
  order: number[];
  /** Blocks that their SM took from another. */
  stolen: number[];
  /** By SM: cycle in which its last block ended. */
  finish: (number | null)[];
}

/** What several launches waited, in cycles. bins[0]: waits of 0 cycles, bins[b]: of 2^(b-1) to 2^b - 1. */
export interface Waits {
  mean: number;
  median: number;
  p90: number;
  longest: number;
  bins: number[];
}

/** Launches of one kernel by blocks of another, at one depth. */
export interface LaunchEdge {
  parent: string;
  child: string;
  depth: number;
  launches: number;
  blocks: number;
  /** Blocks that ran on the SM of the block that had launched them. */
  on_parent_sm: number;
  /** Part of the mean wait: until the launch had an entry of the kernel distributor. */
  mean_entry_wait: number;
  waits: Waits;
}

/** One launch by a kernel. */
export interface DeviceLaunch {
  launch: number;
  kernel: string;
  parent: number;
  parent_block: number;
  parent_sm: number;
  depth: number;
  start: number;
  wait: number;
  entry_wait: number;
  blocks: number;
  on_parent_sm: number;
  sms: string;
}

/** Rows of the launch tree, one array per member, each row before its children. What a row stands for: LaunchTree.bundle. */
export interface TreeRows {
  /** Names; the member `kernel` has numbers into it. */
  kernels: string[];
  kernel: number[];
  /** Row; null: launched by the host. */
  parent: (number | null)[];
  depth: number[];
  first_launch: number[];
  launches: number[];
  blocks: number[];
  on_parent_sm: number[];
  start: number[];
  /** Cycle in which the first block started. */
  first: number[];
  end: number[];
  mean_wait: number[];
  longest_wait: number[];
  /** Of the block that started first; says nothing of the host's launches. */
  first_sm: number[];
  sms: string[];
}

/** Launches that wait for their first block, mean of each interval. */
export interface LaunchQueue {
  /** Cycles. */
  interval: number;
  waiting: number[];
  /** Made by the blocks of one SM: of the SM with most. */
  longest_of_an_sm: number[];
}

export interface LaunchTree {
  /** That kernels made. */
  launches: number;
  edges: LaunchEdge[];
  /** Those that waited longest. */
  longest: DeviceLaunch[];
  /** A row is a launch, the launches of a kernel by one block, or those by all launches of a row. */
  bundle: "launch" | "siblings" | "path";
  rows_left_out: number;
  rows: TreeRows;
  queue: LaunchQueue;
}

/** The mesh over time. Nodes are counted row by row; arrays of arrays are [column of time][link or SM]. */
export interface Mesh {
  columns: number;
  rows: number;
  /** Node of each. */
  sms: number[];
  slices: number[];
  controllers: number[];
  /** Nodes that each link joins. */
  from: number[];
  to: number[];
  start: number[];
  length: number[];
  /** Flits over each link. */
  requests: number[][];
  replies: number[][];
  /** Of each SM's scheduler-cycles, in thousandths; memory: lost to memory or a busy load/store unit, idle: without a warp. */
  issued: number[][];
  memory: number[][];
  idle: number[][];
  /** Of each SM's time, in thousandths; empty where the migrate policy knows no states. */
  relaxed: number[][];
  critical: number[][];
  /** Warps that moved in the column, and [SM, SM that took them, how many, ...] of the pairs with most. */
  moved: number[];
  moves: number[][];
}

/** What each tenant used over time: noc and dram in percent of the peak, blocks on all SMs. */
export interface TenantUse {
  interval: number;
  start: number[];
  length: number[];
  tenants: { name: string; ipc: number[]; noc: number[]; dram: number[]; blocks: number[] }[];
}
