// Every number that a report says in words is recomputed by code of its own (tests/web/sentences.mjs), which the checks of
// real pages in Chromium use too.
import { describe, expect, test } from "vitest";
// @ts-expect-error: plain JavaScript, shared with the checks in Chromium
import { unexplained } from "../../tests/web/sentences.mjs";
// @ts-expect-error: the same
import { addDifferences } from "../../tests/web/invented_difference.mjs";
import { group, type Kernel, type Metrics, type OverSeeds, type PageData, type Run, type WhatIf } from "../src/data";
import { findings } from "../src/findings";

/** Whole numbers, the same in every run (Park and Miller's generator). */
class Random {
  constructor(private state: number) {}
  below(n: number): number {
    this.state = (this.state * 48271) % 2147483647;
    return this.state % n;
  }
}

function counted(r: Random, cycles: number): Metrics {
  const accesses = 1 + r.below(100_000);
  const l2 = 1 + r.below(accesses);
  return { cycles, warp_instructions: 1 + r.below(1_000_000), thread_instructions: 32 + r.below(10_000_000), ipc: 1, l1d_accesses: accesses, l1d_hits: r.below(accesses),
    l1d_hit_rate: 0.5, l1d_mpki: 1, l2_accesses: l2, l2_hits: r.below(l2), l2_hit_rate: 0.5, dram_reads: 1, dram_writes: 1, dram_bytes: r.below(100_000_000), noc_bytes: 1, noc_flit_hops: 1 };
}

const kGap = 2200;

function kernelsOf(r: Random, many: number): Kernel[] {
  let at = 0;
  return Array.from({ length: many }, (_, i) => {
    const begin = at + (i === 0 ? 5000 : kGap + (r.below(8) === 0 ? r.below(50) : 0));
    const end = begin + 1 + r.below(40_000);
    const start = at;
    at = end;
    return { name: `kernel${i % 5}`, grid: [1 + r.below(40), 1, 1], block: [32, 1, 1], stream: 0, start_cycle: start, begin_cycle: begin, end_cycle: end,
      ...counted(r, end - start), details: { loads: r.below(1000), load_mean_cycles: r.below(900) + r.below(100) / 100 } };
  });
}

interface Making { label: string; workload: string; seed: number; tenants?: boolean }

function invented(r: Random, { label, workload, seed, tenants }: Making): Run {
  const kernels = kernelsOf(r, 1 + r.below(9));
  const cycles = kernels[kernels.length - 1].end_cycle;
  const main = ["memory", "lsu", "launch", "idle", "throttled", "issued"][r.below(6)];
  const schedulers = 8;
  // They sum to all scheduler-cycles, as in a real result; four of eight schedulers are the main reason's.
  const most = main === "idle" ? Math.ceil(cycles / 8) : cycles;
  const parts = ["issued", "memory", "lsu", "throttled", "launch"].map((reason): [string, number] => [reason, r.below(most) * (reason === main ? 4 : 1)]);
  const used = parts.reduce((sum, [, n]) => sum + n, 0);
  const stalls: { [reason: string]: number } = Object.fromEntries(parts);
  stalls.idle = schedulers * cycles - used;
  const totals = counted(r, cycles);
  const corun = tenants ? { corun: { weighted_speedup: 0 }, tenants: ["backprop", "cfd"].map((name) => {
    const [ipc, alone] = [10 + r.below(90), 100 + r.below(50)];
    return { name, ipc, ipc_alone: alone, slowdown: alone / ipc };
  }) } : {};
  if (corun.corun) corun.corun.weighted_speedup = corun.tenants!.reduce((sum, t) => sum + t.ipc / t.ipc_alone, 0);
  return {
    label, core_clock_mhz: 1000,
    result: {
      raddle_version: "0", config: { name: "g", sm: { count: 20 }, run: { seed } },
      workload: { name: workload, parameters: { size: "tiny" }, result: ["correct", "unchecked"][r.below(2)] },
      timed: true, totals, kernels, schedulers, stalls, policies: {}, energy_pj: {}, ...corun,
      details: { busy_cycles: r.below(cycles), tail_cycles: r.below(20 * cycles), load_mean_cycles: 1 + r.below(1000), shared_passes: 10 + r.below(50), shared_accesses: 10,
        l1d_refused: { mshr: r.below(100), merge: r.below(100), way: r.below(100), miss_queue: r.below(100) },
        served_l1: r.below(100), served_remote_l1: 0, served_l2: r.below(100), served_memory: r.below(100) },
      host: { wall_seconds: 1, functional_seconds: 1, timing_seconds: 1, peak_rss_bytes: 1, threads: 1 }, state_hash: "0",
    },
    blocks: { total: 0, merged: 1, until: null, launch: [], sm: [], lane: [], first: [], last: [], count: [], start: [], length: [] },
    placement: [], launch_tree: null, mesh: null,
    samples: { interval: 0, start: [], length: [], thread_instructions: [], l1d_accesses: [], l1d_hits: [], dram_bytes: [], warp_cycles: [], throttled_warp_cycles: [],
      sms: { start: [], length: [], ipc: [], l1d_hit_rate: [], warps: [] } },
  } as Run;
}

function whatIf(r: Random, workload: string, labels: string[]): WhatIf {
  const speedup = () => ({ mean: 0.5 + r.below(200) / 100, deviation: 0, min: 0, max: 0, low: null, high: null });
  return { workload, parameters: { size: "tiny" }, item: ["l2=x2", "mshr=x0.5", "sms=x2", "launch=0", "l1d=x2+dram=ideal"][r.below(5)], changes: {}, stream: "same", instructions: 1,
    policies: labels.map((policies) => ({ policies, speedup: speedup() })), order: labels, order_as_it_is: labels, turned: [] };
}

/** As the program computes it; three seeds have a t of 4.303. */
function seedsOf(runs: Run[], workload: string, policies: string, over: string): OverSeeds {
  const of = (label: string) => runs.filter((run) => run.label === label && run.result.workload.name === workload).map((run) => run.result.totals.cycles);
  const ratios = of(policies).map((cycles, i) => of(over)[i] / cycles);
  const logs = ratios.map(Math.log);
  const middle = logs.reduce((sum, n) => sum + n, 0) / logs.length;
  const half = 4.303 * Math.sqrt(logs.reduce((sum, n) => sum + (n - middle) ** 2, 0) / (logs.length - 1) / logs.length);
  const [min, max] = [Math.min(...ratios), Math.max(...ratios)];
  const speedup = { mean: Math.exp(middle), deviation: 0, low: Math.exp(middle - half), high: Math.exp(middle + half), min, max };
  const verdict = speedup.low > 1 ? "faster" : speedup.high < 1 ? "slower" : "not told apart by 3 seeds";
  return { workload, parameters: { size: "tiny" }, policies, over, seeds: [1, 2, 3], same_input: false, cycles: speedup, speedup, verdict, flips: min < 1 && max > 1 };
}

function pageOf(r: Random): PageData {
  const labels = ["lrr", "gto", "ccws"].slice(0, 1 + r.below(3));
  const works = ["bfs", "kmeans", "nn"].slice(0, 1 + r.below(3));
  const seeds = r.below(3) === 0 ? [1, 2, 3] : [1];
  const tenants = r.below(5) === 0;
  const runs = works.flatMap((workload) => labels.flatMap((label) => seeds.map((seed) => invented(r, { label, workload, seed, tenants }))));
  addDifferences(runs);
  const what_if = r.below(2) === 0 && !tenants ? works.map((workload) => whatIf(r, workload, labels)) : [];
  return { raddle_version: "0", command: "", date: "", runs, what_if, over_seeds: seeds.length > 1 && !tenants ? works.flatMap((w) => labels.map((label) => seedsOf(runs, w, label, labels[0]))) : [] };
}

describe("what a page says in words", () => {
  test("are numbers that its data give, on pages of every kind", () => {
    const told: string[] = [];
    for (let n = 1; n <= 150; n++) {
      const page = pageOf(new Random(n * 7919));
      const sentences = findings(group(page));
      told.push(...sentences);
      expect(unexplained(sentences, page)).toEqual([]);
    }
    // All kinds were among them.
    for (const part of ["seeds:", "geometric mean of", "fewer on", "more on", "on their way were", "launches have fewer blocks", "hit rate falls", "DRAM traffic rises", "a load takes",
      "of the cycles in which the L1D took no access", "passes on average", "weighted speed-up", "had no reference", "others", "timed on other machines it is with"])
      expect(told.some((sentence) => sentence.includes(part)), part).toBe(true);
  }, 60_000);
  test("is complained of where a number is another", () => {
    const page = pageOf(new Random(7919));
    const sentences = findings(group(page));
    const spoiled = sentences.map((s) => s.replace(/\d(?=[^\d]*$)/, (d) => String((+d + 1) % 10)));
    expect(unexplained(spoiled, page).length).toBeGreaterThan(0);
    expect(unexplained(["In 929.3 % of the difference."], page).length).toBe(2);
  });
});
