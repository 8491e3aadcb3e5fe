// A window of warps: its rows, what a wait is for and what an issue has led to.
import { describe, expect, test } from "vitest";
import type { WarpWindow } from "../src/result";
import { accessOf, barsOf, causeOf, effectsOf, passedOver, rowsOf, warpAt } from "../src/warps";

const window: WarpWindow = {
  sm: 3, begin: 100, end: 200,
  instructions: [{ kernel: "k", line: 7, instruction: "ld.global.f32" }, { kernel: "k", line: 9, instruction: "bar.sync" }],
  warps: [{ slot: 0, scheduler: 0, from: 90, launch: 0, block: 4, warp: 0 }, { slot: 9, scheduler: 1, from: 90, launch: 0, block: 4, warp: 1 },
    { slot: 1, scheduler: 0, from: 90, launch: 0, block: 5, warp: 0 }, { slot: 0, scheduler: 0, from: 180, launch: 1, block: 6, warp: 2 }],
  states: [[0, 100, 110, "ready"], [0, 110, 150, "memory", 0], [1, 100, 130, "ready"], [9, 100, 160, "barrier", 1], [0, 150, 160, "barrier", 1]],
  issues: [[0, 110, 0, 0], [0, 151, 1]],
  accesses: [{ issue: 0, lines: [[5, 112, "miss", 148], [6, 113, "hit"]] }],
};

describe("a window of warps", () => {
  test("has a row for each slot, schedulers one after another, and issues above states", () => {
    expect(rowsOf(window)).toEqual([{ slot: 0, scheduler: 0 }, { slot: 1, scheduler: 0 }, { slot: 9, scheduler: 1 }]);
    const bars = barsOf(window);
    expect(bars).toHaveLength(7);
    expect(bars[3]).toEqual({ row: 2, from: 100, to: 160, state: "barrier", number: 3 });
    expect(bars[6]).toEqual({ row: 0, from: 151, to: 152, state: "issued", number: 1 });
  });
  test("knows who has a slot when", () => {
    expect(warpAt(window, 0, 179)).toBe("warp 0 of block 4");
    expect(warpAt(window, 0, 180)).toBe("warp 2 of block 6, launch 1");
    expect(warpAt(window, 5, 180)).toBe("slot 5");
  });
  test("says what a warp waits for", () => {
    expect(causeOf(window, 1)).toBe("waits for ld.global.f32 (line 7 of k) of warp 0 of block 4, issued in cycle 110: " +
      "2 lines at the L1D from cycle 112: 1 there, 1 asked for; the last data came in cycle 148");
    expect(causeOf(window, 3)).toBe("last to arrive: bar.sync (line 9 of k) of warp 0 of block 4, issued in cycle 151");
    expect(causeOf(window, 0)).toBeNull();
    expect(accessOf({ ...window, accesses: [{ issue: 0, lines: [] }] }, 0)).toBe("no line of the L1D");
  });
  test("says what an issue has led to, and who was passed over", () => {
    expect(effectsOf(window, 0)).toEqual([accessOf(window, 0), "its warp has waited for it, 40 cycles"]);
    expect(effectsOf(window, 1)).toEqual(["another warp has waited for it, 70 warp cycles"]);
    expect(passedOver(window, 0)).toBe(1);
    expect(passedOver(window, 1)).toBe(0);
  });
});
