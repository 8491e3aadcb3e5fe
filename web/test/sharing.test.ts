import { describe, expect, it } from "vitest";
import type { Run } from "../src/data";
import { path, phases, tenants } from "../src/sharing";

function phase(start: number, end: number, blocks: [number, number], more: object = {}) {
  return { start_cycle: start, end_cycle: end, prior: 0, goal: 0, tenant_0: { blocks: blocks[0], noc_share: 0, dram_share: 0, ...more }, tenant_1: { blocks: blocks[1], noc_share: 10, dram_share: 5 } };
}

function run(statistics: object, names = ["backprop", "cfd"]): Run {
  return {
    label: "", core_clock_mhz: 1800,
    result: {
      totals: { cycles: 900 }, tenants: names.map((name, i) => ({ name, slowdown: i === 0 ? 1.5 : null })),
      policies: { scheme: { name: "ccbp", parameters: { units: 20, noc_percent: 60, dram_percent: 70 }, statistics: { phases: statistics } } },
    },
  } as unknown as Run;
}

const kRecord = {
  "00_warm_up": phase(0, 100, [4, 7]),
  "01_sample": phase(100, 200, [4, 7]),
  "02_try": phase(200, 300, [6, 3], { noc_share: 4 }),
  "03_hold": phase(300, 0, [7, 2]),
};

describe("tenants that share the GPU", () => {
  it("are told apart when they are the same program", () => {
    expect(tenants(run({}, ["bfs", "bfs"])).map((t) => t.name)).toEqual(["bfs (1)", "bfs (2)"]);
    expect(tenants(run({}))).toEqual([{ name: "backprop", slowdown: 1.5 }, { name: "cfd", slowdown: null }]);
  });
  it("have shares of what is sustainable, or no limit", () => {
    const all = phases(run(kRecord));
    expect(all.map((p) => p.name)).toEqual(["warm up", "sample", "try", "hold"]);
    expect(all[0].tenants[0].noc).toBeNull();
    expect(all[0].tenants[1]).toEqual({ blocks: 7, noc: 0.5, dram: 0.25 });
    expect(all[2].tenants[0].noc).toBe(0.2);
  });
  it("keep the last phase to the end of the run", () => {
    expect(phases(run(kRecord))[3].end).toBe(900);
  });
  it("have no phases under a scheme that keeps no record", () => {
    const other = run({});
    other.result.policies!.scheme.parameters = {};
    expect(phases(other)).toEqual([]);
    expect(path(other)).toEqual([]);
  });
  it("have a path with each combination once in a row", () => {
    expect(path(run(kRecord)).map((step) => step.blocks)).toEqual([[4, 7], [6, 3], [7, 2]]);
  });
});
