// Shares of peaks in words, the memory path, the roofline and what limits occupancy, from numbers made by hand.
import { describe, expect, test } from "vitest";
import { occupancyRows, placesOfKernels, placesOfRun, roof } from "../src/bounds";
import type { Kernel, Metrics, Run, Utilisation } from "../src/data";
import { amounts, kStages, pathNumbers, wrapped } from "../src/memorypath";
import { l1Lines, measuredRuns, nearest, packetBytes, ranked, type Measured } from "../src/utilisation";

const totals: Metrics = { cycles: 2000, warp_instructions: 4000, thread_instructions: 100_000, ipc: 50, l1d_accesses: 700, l1d_hits: 350, l1d_hit_rate: 0.5, l1d_mpki: 3,
  l2_accesses: 300, l2_hits: 100, l2_hit_rate: 1 / 3, dram_reads: 6, dram_writes: 2, dram_bytes: 4096, noc_bytes: 0, noc_flit_hops: 0 };
const use: Utilisation = { issue: 0.5, l1: 0.25, shared: 0, request: 0.1, reply: 0.2, l2: 0.05, dram: 0.4 };

function run(label = "lrr", utilisation: Partial<Utilisation> = {}): Measured {
  return { label, core_clock_mhz: 1000, blocks: {}, samples: {}, placement: [], launch_tree: null, mesh: null, result: {
    timed: true, totals, config: { dram: { model: "banks" } }, kernels: [], stalls: {},
    utilisation: { ...use, ...utilisation }, peaks: { issue: 8, l1_lines: 4, l1_bytes: 512, shared: 4, request_bytes: 64, reply_bytes: 80, l2_requests: 4, dram_bytes: 20 },
    details: { busy_cycles: 1000, l1d_stores: 200, atomics: 100, l1d_pending_hits: 40, shared_accesses: 0, shared_passes: 0, load_mean_lsu_cycles: 3.5, load_mean_queue_cycles: 0.001,
      l2_mean_queue_cycles: 12, dram_mean_queue_cycles: 7, dram_row_hit_rate: 0.75, dram_written_bytes: 1024,
      noc: { request: { read: { bytes: 800 }, write: { bytes: 200 }, ports: 4 }, reply: { read: { bytes: 3000 } } } },
  } } as unknown as Measured;
}

describe("shares of peaks", () => {
  test("are of runs with times and peaks", () => {
    const old = { ...run(), result: { ...run().result, peaks: undefined } } as unknown as Run;
    expect(measuredRuns({ name: "w", runs: [old, run("gto")] }).map((one) => one.label)).toEqual(["gto"]);
  });
  test("stand in order, without what has no limit", () => {
    expect(ranked({ ...use, dram: null }).map((one) => one.part)).toEqual(["issue", "l1", "reply", "request", "l2", "shared"]);
  });
  test("are told by the two nearest", () => {
    expect(nearest(run())).toBe("Under lrr Issue comes nearest to its peak: 50.0 %; then DRAM, 40.0 %.");
    expect(nearest(run("gto", { issue: 0, l1: 0, request: null, reply: null, l2: 0, dram: 0 }))).toBe("Under gto nothing was used.");
  });
  test("count lines and packets as the program does", () => {
    expect(l1Lines(run())).toBe(1000);
    expect(packetBytes(run(), "request")).toBe(1000);
    expect(packetBytes(run(), "reply")).toBe(3000);
  });
});

describe("the memory path", () => {
  const stage = (title: string) => kStages.find((one) => one.title === title)!;
  test("says bytes, bytes a cycle and the share of the peak", () => {
    expect(amounts(stage("Load/store units"), run())).toBe("125 KiB, 128 B a cycle, 25.0 % of the peak");
    expect(amounts(stage("Network to the L2"), run())).toBe("1000 B, 1.00 B a cycle, 10.0 % of the peak".replace("1000", "1,000"));
    expect(amounts(stage("Network to the SMs"), run("a", { reply: null }))).toBe("2.93 KiB, 3.00 B a cycle, no limit");
    expect(amounts(stage("L1D"), run())).toBe("");
  });
  test("deals DRAM's share out to what is read and what is written", () => {
    expect(stage("Written to DRAM").share(run())).toBeCloseTo(0.1);
    expect(stage("Read from DRAM").share(run())).toBeCloseTo(0.3);
    expect(stage("Read from DRAM").bytes(run())).toBe(3072);
    expect(stage("Read from DRAM").share(run("a", { dram: null }))).toBe(null);
  });
  test("says hits and queues where something waits", () => {
    expect(stage("L1D").facts(run())).toEqual(["50.0 % hits of 700 line accesses", "40 joined a miss"]);
    expect(stage("L2").facts(run())).toEqual(["33.3 % hits of 300 requests", "12.0 cycles in its queue"]);
    expect(stage("DRAM").facts(run())).toEqual(["75.0 % row hits", "7.00 memory cycles in its queue"]);
    expect(stage("Network to the L2").facts(run())).toEqual([]);
    expect(stage("Shared memory").facts(run())).toEqual(["no accesses"]);
  });
  test("is saved with a row for each stage of each run", () => {
    const numbers = pathNumbers([run("a"), run("b")]);
    expect(numbers.rows.length).toBe(2 * kStages.length);
    expect(numbers.rows[2].slice(0, 6)).toEqual(["a", "Load/store units", "way", 128_000, 128, 0.25]);
  });
  test("wraps words into the room there is", () => {
    expect(wrapped("aa bb ccc d", 5, (text) => text.length)).toEqual(["aa bb", "ccc d"]);
    expect(wrapped("longer b", 3, (text) => text.length)).toEqual(["longer", "b"]);
  });
});

describe("the roofline", () => {
  test("places a run under the roof by the share of the level's peak", () => {
    const made = run();
    for (const count of ["warp", "thread"] as const)
      for (const place of placesOfRun(made, count)) {
        const { slope } = roof(made, place.level, count);
        const part = place.level === "l2" ? 80 / 80 * use.reply! : place.level === "l1" ? use.l1 : use.dram!;
        expect(place.rate / (slope! * place.intensity)).toBeCloseTo(part);
      }
    expect(placesOfRun(made, "warp").map((place) => [place.level, place.rate])).toEqual([["l1", 4], ["l2", 4], ["dram", 4]]);
    expect(placesOfRun(made, "warp")[2].intensity).toBeCloseTo(4000 / 8000);
  });
  test("has no place where nothing went, and no roof where nothing limits", () => {
    expect(placesOfRun(run("a", { dram: 0, reply: null, request: null }), "warp").map((place) => place.level)).toEqual(["l1"]);
    const free = run();
    free.result.peaks = { ...free.result.peaks, dram_bytes: null };
    expect(roof(free, "dram", "thread")).toEqual({ slope: null, flat: 256 });
  });
  test("of kernels goes by their own cycles from first to last block", () => {
    const made = run();
    made.result.kernels = [{ ...totals, name: "k", warp_instructions: 100, execution_cycles: 50, utilisation: { ...use, l1: 0, reply: 0, request: 0.5 } } as unknown as Kernel,
      { ...totals, name: "old", execution_cycles: 90 } as unknown as Kernel];
    expect(placesOfKernels(made, "warp").map((place) => [place.name, place.level, place.rate, place.share])).toEqual([["k", "l2", 2, 0.5], ["k", "dram", 2, 0.4]]);
  });
});

describe("what limits occupancy", () => {
  const kernel = (name: string, warps: number, limits = true): Kernel => ({ ...totals, name, grid: [1, 1, 1], block: [64, 1, 1],
    resident: { registers_per_thread: 32, blocks: warps / 2, warps, limited_by: "warps", ...(limits ? { limits: [{ of: "warps", needs: 2, has: 32, blocks: 16 }] } : {}) } } as unknown as Kernel);
  test("is told once of launches that ask the same", () => {
    const made = run();
    made.result.kernels = [kernel("a", 32), kernel("a", 32), kernel("a", 16), kernel("b", 32), kernel("old", 8, false)];
    expect(occupancyRows(made).map((row) => [row.kernel.name, row.launches])).toEqual([["a", 2], ["a", 1], ["b", 1]]);
  });
});
