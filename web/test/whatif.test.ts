// What changes of the machine bring, in words and as a table.
import { describe, expect, test } from "vitest";
import type { Run, WhatIf } from "../src/data";
import { wouldBring } from "../src/whatif";

const run = (label: string) => ({ label, result: { workload: { name: "bfs", parameters: { n: 1 } } } }) as unknown as Run;
const spread = (mean: number) => ({ mean, deviation: 0, min: mean, max: mean, low: null, high: null });
const of = (item: string, gto: number, parameters = { n: 1 }): WhatIf => ({ workload: "bfs", parameters, item, changes: {}, stream: "same", instructions: 1,
  policies: [{ policies: "gto", speedup: spread(gto) }], order: ["gto"], order_as_it_is: ["gto"], turned: [] });

describe("what a change would bring", () => {
  const all = [of("l2=x2", 1.088), of("mshr=x2", 0.876), of("sms=x2", 1.5), of("l2=x2", 9, { n: 2 }), of("sm.l1d.ways=x2+clock=x2", 1.25)];
  test("stands beside the reason that it concerns, of the work and the policy", () => {
    expect(wouldBring(all, run("gto"), "memory")).toBe("timed on other machines it is with l2=x2 1.09× as fast, with mshr=x2 0.88× as fast and with sm.l1d.ways=x2+clock=x2 1.25× as fast");
    expect(wouldBring(all, run("gto"), "lsu")).toBe("timed on other machines it is with mshr=x2 0.88× as fast and with sm.l1d.ways=x2+clock=x2 1.25× as fast");
    expect(wouldBring(all, run("gto"), "idle")).toBe("timed on other machines it is with sms=x2 1.50× as fast");
  });
  test("is not said where nothing was asked", () => {
    expect(wouldBring(all, run("gto"), "launch")).toBeNull();
    expect(wouldBring(all, run("lrr"), "memory")).toBeNull();
    expect(wouldBring([], run("gto"), "memory")).toBeNull();
  });
});
