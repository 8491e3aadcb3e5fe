// What the page computes, without a browser.
import { describe, expect, test } from "vitest";
import { leaves } from "../src/config";
import { group, load, type Kernel, type Metrics, type PageData, type Run } from "../src/data";
import { findings } from "../src/findings";
import { bytes, digits, energy, escapeHtml, list, seconds, short } from "../src/format";
import { perKernel } from "../src/kernels";
import { flatten } from "../src/matrix";
import { dominant, geometricMean, schedulerCycles, speedup, stallReasons } from "../src/metrics";

function metrics(cycles: number, rest: Partial<Metrics> = {}): Metrics {
  return { cycles, warp_instructions: 10, thread_instructions: 320, ipc: 320 / cycles, l1d_accesses: 100, l1d_hits: 50, l1d_hit_rate: 0.5,
    l1d_mpki: 50, l2_accesses: 50, l2_hits: 20, l2_hit_rate: 0.4, dram_reads: 1, dram_writes: 1, dram_bytes: 64, noc_bytes: 1,
    noc_flit_hops: 1, ...rest };
}

function kernel(name: string, cycles: number, rest: Partial<Metrics> = {}): Kernel {
  return { name, grid: [1, 1, 1], block: [32, 1, 1], stream: 0, start_cycle: 0, ...metrics(cycles, rest) };
}

interface Making {
  label?: string;
  workload?: string;
  n?: number;
  gpu?: string;
  result?: string;
  memory?: number;
  hitRate?: number;
  kernels?: Kernel[];
}

function run(cycles: number, m: Making = {}): Run {
  return {
    label: m.label ?? "lrr", core_clock_mhz: 1000,
    result: {
      raddle_version: "0", config: { name: m.gpu ?? "g", sm: { count: 2 } },
      workload: { name: m.workload ?? "bfs", parameters: { n: m.n ?? 1 }, result: m.result ?? "correct" },
      timed: cycles > 0, totals: metrics(cycles, { l1d_hit_rate: m.hitRate ?? 0.5 }), kernels: m.kernels ?? [], schedulers: 1,
      stalls: { issued: 40, memory: m.memory ?? 50, idle: 10 }, policies: {}, energy_pj: {},
      host: { wall_seconds: 1, functional_seconds: 1, timing_seconds: 1, peak_rss_bytes: 1, threads: 1 }, state_hash: "0",
    },
    blocks: { total: 0, merged: 1, until: null, launch: [], sm: [], lane: [], first: [], last: [], count: [], start: [], length: [] },
    samples: { interval: 0, start: [], length: [], thread_instructions: [], l1d_accesses: [], l1d_hits: [], dram_bytes: [] },
  };
}

const page = (...runs: Run[]): PageData => ({ raddle_version: "0", command: "", date: "", runs });

describe("grouping", () => {
  test("runs of the same work form a group, in the order given", () => {
    const report = group(page(run(1), run(2, { label: "gto" }), run(3, { workload: "nn" }), run(4, { workload: "nn", label: "gto" })));
    expect(report.groups.map((g) => [g.name, g.runs.map((r) => r.label)])).toEqual([["bfs", ["lrr", "gto"]], ["nn", ["lrr", "gto"]]]);
    expect(report.labels).toEqual(["lrr", "gto"]);
  });
  test("parameters and machines that differ make groups of their own and are named", () => {
    expect(group(page(run(1), run(2, { n: 7 }))).groups.map((g) => g.name)).toEqual(["bfs n=1", "bfs n=7"]);
    expect(group(page(run(1), run(2, { gpu: "h" }))).groups.map((g) => g.name)).toEqual(["bfs on g", "bfs on h"]);
  });
  test("the very same run twice stays two rows", () => {
    expect(group(page(run(1), run(1))).groups.length).toBe(2);
  });
  test("the unfilled page is told apart from broken data", () => {
    expect(() => load("/*DATA*/")).toThrow("--report");
    expect(() => load("{")).toThrow(SyntaxError);
    expect(load('{"runs":[]}').groups).toEqual([]);
  });
});

describe("measures", () => {
  test("speed-up is a ratio of times", () => {
    expect(speedup(run(50), run(100))).toBe(2);
    expect(speedup({ ...run(50), core_clock_mhz: 500 }, run(100))).toBe(1);
    expect(speedup(run(0), run(100))).toBeNull();
  });
  test("the geometric mean needs every workload", () => {
    const two = group(page(run(100), run(50, { label: "gto" }), run(100, { workload: "nn" }), run(200, { workload: "nn", label: "gto" })));
    expect(geometricMean(two.groups, "gto")).toBeCloseTo(1);
    expect(geometricMean(group(page(run(100), run(50, { label: "gto" }), run(100, { workload: "nn" }))).groups, "gto")).toBeNull();
  });
  test("stall reasons keep a fixed order, unknown ones come last", () => {
    const strange = run(1);
    strange.result.stalls = { gremlins: 1, idle: 1, issued: 1 };
    expect(stallReasons([strange])).toEqual(["issued", "idle", "gremlins"]);
    expect(schedulerCycles(strange)).toBe(3);
    expect(dominant(run(1))).toEqual({ reason: "memory", share: 0.5 });
    expect(dominant(run(0))).toBeNull();
  });
});

describe("findings", () => {
  test("a wrong result comes first", () => {
    expect(findings(group(page(run(100), run(90, { label: "gto", result: "wrong" }))))[0]).toContain("1 of 2 runs gave a wrong result");
  });
  test("a speed-up is told with what went along with it", () => {
    const text = findings(group(page(run(100), run(50, { label: "gto", memory: 10, hitRate: 0.75 })))).join(" ");
    expect(text).toContain("gto is 2.00× as fast as lrr; all of the scheduler-cycles saved are \"memory\", and the L1D hit rate rises from 50.0 % to 75.0 %");
  });
  test("small differences are not made much of", () => {
    expect(findings(group(page(run(1000), run(995, { label: "gto" })))).join(" ")).toContain("No policy differs from lrr by more than 2.0 %");
  });
  test("nothing run is said so", () => {
    expect(findings(group(page()))).toEqual(["The report holds no runs."]);
  });
});

describe("kernels", () => {
  test("launches of one kernel add up", () => {
    const base = run(1, { kernels: [kernel("a", 100), kernel("b", 100), kernel("a", 300)] });
    const fast = run(1, { kernels: [kernel("a", 100, { l1d_hits: 100, l1d_mpki: 0 }), kernel("b", 50), kernel("a", 100)] });
    const [a, b] = perKernel(fast, base);
    expect([a.launches, a.kernel.cycles, a.gain, a.kernel.l1d_hit_rate, a.kernel.l1d_mpki]).toEqual([2, 200, 2, 0.75, 25]);
    expect([b.launches, b.share, b.gain]).toEqual([1, 0.2, 2]);
  });
  test("launches that do not correspond are not compared", () => {
    expect(perKernel(run(1, { kernels: [kernel("a", 1)] }), run(1, { kernels: [kernel("b", 1)] }))[0].gain).toBeNull();
  });
});

test("the configuration lists each distinct value with its runs", () => {
  const all = leaves([run(1), run(1, { label: "gto", gpu: "h" })]);
  expect(all.map((leaf) => [leaf.path, leaf.values.map(([shown, runs]) => [shown, runs.length])])).toEqual(
    [["name", [["g", 1], ["h", 1]]], ["sm.count", [["2", 2]]]]);
  expect(flatten({ a: { b: [1, 2] }, c: null })).toEqual([["a.b", [1, 2]], ["c", null]]);
});

test("numbers are written for people", () => {
  expect([0, 0.5, 1.234, 12.34, 1234, 2e7].map(digits)).toEqual(["0", "0.500", "1.23", "12.3", "1,234", "2.00e+7"]);
  expect([short(1500), bytes(2048), seconds(0.0021), energy(3e9)]).toEqual(["1.50 k", "2.00 KiB", "2.10 ms", "3.00 mJ"]);
  expect(list(["a", "b", "c"])).toBe("a, b and c");
  expect(escapeHtml("<img src=x onerror='1'>")).not.toMatch(/[<>']/);
});
