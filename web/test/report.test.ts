// What the page computes, without a browser.
import { describe, expect, test } from "vitest";
// @ts-expect-error: plain JavaScript, shared with the data that pages are tried with
import { addDifferences } from "../../tests/web/invented_difference.mjs";
import { allocationKey, allocationRuns, argumentsText, dramBytes, figuresByKey, figuresIn, mostOfTheChange, trafficRows } from "../src/allocations";
import { cells, difference, meanOver, scaleOf } from "../src/sms";
import { checkedRuns, checkNotes } from "../src/checks";
import { leaves } from "../src/config";
import { group, load, kernelTitle, timedCycles, type AllocationFigures, type DifferencePart, type Group, type Kernel, type LaunchEdge, type LaunchTree, type Mesh, type Metrics, type OverSeeds, type PageData, type Run, type Spread, type Waterfall } from "../src/data";
import { byKernel, byReason, changeOfPart, drawnParts, kernelSentence, whatChanged, type Part } from "../src/difference";
import { findings } from "../src/findings";
import { bytes, digits, energy, escapeHtml, list, seconds, short } from "../src/format";
import { speed } from "../src/host";
import { perKernel, perSums, untimed, withoutKernels } from "../src/kernels";
import { bestColouring, colourings } from "../src/timeline";
import { observed } from "../src/observations";
import { flatten, meaningIn } from "../src/matrix";
import { courseOf, columnAt, endOf, shownMoves } from "../src/meshdraw";
import { hasStates, linkName, loads, meshedRuns, meshNote, networkCycles, nodeName, shortName, viewOf, wholeRun, type Meshed } from "../src/mesh";
import { hasMap, whyNoMap } from "../src/launchmap";
import { partColour, seriesDash, seriesFill, theme } from "../src/theme";
import { facts, together } from "../src/meshmap";
import { homeOf, nestedRuns, treeNote } from "../src/launchtree";
import { changeOf, finishShare, predecessors, shares } from "../src/placement";
import { queuePoints } from "../src/queues";
import { binName, waitGroups } from "../src/waits";
import { seedSentences } from "../src/seeds";
import { errorOfShare, lineChange, rowKey, sourceRows, sourceRuns, waitsText, withLost, type SourceRow } from "../src/source";
import { trafficOf } from "../src/traffic";
import { dominant, geometricMean, schedulerCycles, speedup, stallReasons } from "../src/metrics";

function metrics(cycles: number, rest: Partial<Metrics> = {}): Metrics {
  return { cycles, warp_instructions: 10, thread_instructions: 320, ipc: 320 / cycles, l1d_accesses: 100, l1d_hits: 50, l1d_hit_rate: 0.5,
    l1d_mpki: 50, l2_accesses: 50, l2_hits: 20, l2_hit_rate: 0.4, dram_reads: 1, dram_writes: 1, dram_bytes: 64, noc_bytes: 1,
    noc_flit_hops: 1, ...rest };
}

function kernel(name: string, cycles: number, rest: Partial<Metrics> = {}): Kernel {
  return { name, grid: [1, 1, 1], block: [32, 1, 1], stream: 0, start_cycle: 0, begin_cycle: 0, end_cycle: cycles, ...metrics(cycles, rest) };
}

interface Making {
  seed?: number;
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
      raddle_version: "0", config: { name: m.gpu ?? "g", sm: { count: 2 }, ...(m.seed === undefined ? {} : { run: { seed: m.seed } }) },
      workload: { name: m.workload ?? "bfs", parameters: { n: m.n ?? 1 }, result: m.result ?? "correct" },
      timed: cycles > 0, totals: metrics(cycles, { l1d_hit_rate: m.hitRate ?? 0.5 }), kernels: m.kernels ?? [], schedulers: 1,
      stalls: { issued: 40, memory: m.memory ?? 50, idle: 10 }, policies: {}, energy_pj: {},
      host: { wall_seconds: 1, functional_seconds: 1, timing_seconds: 1, peak_rss_bytes: 1, threads: 1 }, state_hash: "0",
    },
    blocks: { total: 0, merged: 1, until: null, launch: [], sm: [], lane: [], first: [], last: [], count: [], start: [], length: [] },
    placement: [], launch_tree: null, mesh: null,
    samples: { interval: 0, start: [], length: [], thread_instructions: [], l1d_accesses: [], l1d_hits: [], dram_bytes: [], warp_cycles: [], throttled_warp_cycles: [],
      sms: { start: [], length: [], ipc: [], l1d_hit_rate: [], warps: [] } },
  };
}

const page = (...runs: Run[]): PageData => ({ raddle_version: "0", command: "", date: "", runs });

describe("traffic by allocation", () => {
  const figures = (loads: number, read: number, written = 0): AllocationFigures =>
    ({ loads, stores: 0, atomics: 0, l1d_hits: 0, l1d_pending_hits: 0, l1d_misses: loads, l2_hits: 0, l2_pending_hits: 0, l2_misses: 0, dram_read_bytes: read, dram_written_bytes: written });
  const counted = (): Run => {
    const made = run(1000);
    made.result.kernels = [{ ...kernel("_Z3addPf", 100), title: "add(float*)" }];
    made.result.analysis = { allocations: { known: true, rows: [
      { name: "allocation 1", address: "0x1000", bytes: 512, sectors: 16, touched_sectors: 4, arguments: { _Z3addPf: [2, 1] }, ...figures(5, 32), kernels: { _Z3addPf: figures(5, 32) } },
      { name: "allocation 2", address: "0x2000", bytes: 512, sectors: 16, touched_sectors: 16, ...figures(9, 10, 40), kernels: { _Z3addPf: figures(4, 0), other: figures(5, 10, 40) } },
      { name: "the rest", ...figures(7, 32), kernels: { other: figures(7, 32) } }] } };
    return made;
  };
  test("stand by their bytes of DRAM, then by their accesses", () => {
    expect(trafficRows(counted(), "").map((row) => row.of.name)).toEqual(["allocation 2", "the rest", "allocation 1"]);
  });
  test("of a kernel are those that it touches, with its figures", () => {
    const rows = trafficRows(counted(), "_Z3addPf");
    expect(rows.map((row) => [row.of.name, row.figures.loads])).toEqual([["allocation 1", 5], ["allocation 2", 4]]);
    expect(rows.map((row) => dramBytes(row.figures))).toEqual([32, 0]);
  });
  test("name the arguments as people count them", () => {
    const made = counted();
    const rows = made.result.analysis!.allocations!.rows;
    expect(argumentsText(made, rows[0])).toBe("add 2, add 1");
    expect(argumentsText(made, rows[2])).toBe("");
    expect(new Set(rows.map(allocationKey)).size).toBe(3);
  });
  test("the allocation that most of a change is for is named, with its arguments", () => {
    const now = counted();
    const rows = now.result.analysis!.allocations!.rows;
    rows[0].kernels._Z3addPf.dram_read_bytes += 300;
    rows[1].kernels._Z3addPf.dram_read_bytes += 100;
    expect(mostOfTheChange(now, counted(), "_Z3addPf")).toBe("300 B more for allocation 1, add 2, add 1");
    rows[1].kernels._Z3addPf.dram_read_bytes += 200;
    expect(mostOfTheChange(now, counted(), "_Z3addPf")).toBe(null);
    expect(mostOfTheChange(counted(), counted(), "_Z3addPf")).toBe(null);
    expect(mostOfTheChange(now, run(1000), "_Z3addPf")).toBe(null);
  });
  test("are there where somebody has looked", () => {
    expect(allocationRuns([run(1000), counted()]).length).toBe(1);
  });
});

describe("source lines", () => {
  const line = (n: number, warps: { [state: string]: number }, source?: { file: string; line: number }) =>
    ({ line: n, instruction: "ld.global.f32", source, issued: 10, thread_instructions: 160, memory_lines: 80, l1d_hits: 20, l1d_pending_hits: 0, l1d_misses: 60, awaited: 5, warps });
  const profiled = (): Run => {
    const made = run(1000);
    made.result.analysis = { source: { looks: 50, kernels: { k: { file: "a.ptx", lines: [line(4, { memory: 3, ready: 1 }, { file: "/x/a.cu", line: 7 }),
      line(5, { lsu: 16 }, { file: "/x/a.cu", line: 7 }), line(6, {})] } } } };
    return made;
  };
  test("of the source are those of the PTX together", () => {
    const rows = sourceRows(profiled(), "source", { "/x/a.cu": { 7: "sum += in[i];" } });
    expect(rows.map((row) => [row.file, row.line, row.text, row.seen])).toEqual([["/x/a.cu", 7, "sum += in[i];", 20], ["", 6, "ld.global.f32", 0]]);
    expect(rows[0]).toMatchObject({ issued: 20, threads: 320, accesses: 20, memoryLines: 160, hits: 40, loads: 160, awaited: 10, cycles: 400 });
    expect(waitsText(rows[0], 20)).toBe("load/store unit 80.0 %, memory 15.0 %, ready 5.0 %");
  });
  test("of the PTX stand alone, where warps are longest first", () => {
    const rows = sourceRows(profiled(), "ptx", {});
    expect(rows.map((row) => row.line)).toEqual([5, 4, 6]);
    expect(new Set(rows.map(rowKey)).size).toBe(3);
  });
  test("are there where somebody has looked", () => {
    expect(sourceRuns([run(1000), profiled()]).length).toBe(1);
  });
});

describe("placement", () => {
  const place = (launch: number, sm: (number | null)[], stolen: number[] = []) => ({ launch, sm, order: sm.map(() => 0), stolen, finish: [50, null, 100] });
  const grids = (...sizes: number[]) => sizes.map((n) => ({ ...kernel("k", 100), grid: [n, 1, 1] }));
  test("a launch is compared with the last one of its grid", () => {
    const r = { ...run(1, { kernels: grids(2, 3, 2) }), placement: [place(0, [0, 1]), place(1, [0, 1, 2]), place(2, [0, 2])] };
    expect(predecessors(r).map((p) => p?.launch ?? null)).toEqual([null, null, 0]);
    expect([0, 1].map((b) => changeOf(r.placement[2], r.placement[0], b))).toEqual(["stayed", "moved"]);
  });
  test("what was stolen is stolen, wherever it ran before", () => {
    expect(changeOf(place(1, [0, 1], [1]), place(0, [0, 1]), 1)).toBe("stolen");
    expect(changeOf(place(1, [0, 1], [1]), null, 1)).toBe("stolen");
    expect(changeOf(place(1, [0, 1]), place(0, [0, null]), 1)).toBe("first");
  });
  test("shares are of the blocks that were seen", () => {
    const r = { ...run(1, { kernels: grids(4, 4) }), placement: [place(0, [0, 0, 1, null]), place(1, [0, 1, 1, 1], [2])] };
    expect(shares(r)).toEqual({ stayed: 1 / 7, moved: 1 / 7, stolen: 1 / 7, first: 4 / 7 });
  });
  test("finish is relative to the launch, and nothing without a block or a time", () => {
    const r = { ...run(1, { kernels: [{ ...kernel("k", 1), begin_cycle: 20, end_cycle: 120 }, { ...kernel("k", 1), begin_cycle: 7, end_cycle: 7 }] }) };
    expect([0, 1, 2, 3].map((sm) => finishShare(r, place(0, [0]), sm))).toEqual([0.3, null, 0.8, null]);
    expect(finishShare(r, place(1, [0]), 0)).toBeNull();
    expect(finishShare(r, place(9, [0]), 0)).toBeNull();
  });
});

/** A row of three nodes: SM 0, SM 1, and a slice with its controller. Links: 0>1, 1>0, 1>2, 2>1. */
const threeNodes: Mesh = {
  columns: 3, rows: 1, sms: [0, 1], slices: [2], controllers: [2], from: [0, 1, 1, 2], to: [1, 0, 2, 1],
  start: [0, 100], length: [100, 50],
  requests: [[10, 0, 20, 0], [5, 0, 5, 0]], replies: [[0, 40, 0, 60], [0, 20, 0, 45]],
  issued: [[500, 0], [200, 0]], memory: [[250, 0], [500, 800]], idle: [[0, 1000], [0, 200]],
  relaxed: [[1000, 0], [400, 0]], critical: [[0, 300], [600, 0]],
  moved: [0, 9], moves: [[], [0, 1, 2, 1, 0, 7]],
};
const meshed = (rest: Partial<Mesh> = {}): Meshed => ({ ...run(150), mesh: { ...threeNodes, ...rest } });
const stateless = () => meshed({ relaxed: [], critical: [], moved: [0, 0], moves: [[], []] });

describe("mesh", () => {
  const close = (numbers: number[], to: number[]) => numbers.forEach((n, i) => expect(n).toBeCloseTo(to[i], 12));
  test("only runs on a mesh have one", () => {
    expect(meshedRuns([run(1), meshed(), meshed({ start: [] })])).toHaveLength(1);
    expect([hasStates(meshed().mesh), hasStates(stateless().mesh)]).toEqual([true, false]);
  });
  test("a span sums flits and warps, and takes means over time", () => {
    const all = viewOf(threeNodes, wholeRun(threeNodes));
    expect([all.start, all.cycles, all.moved]).toEqual([0, 150, 9]);
    expect(all.requests).toEqual([15, 0, 25, 0]);
    expect(all.replies).toEqual([0, 60, 0, 105]);
    close(all.parts.issued, [0.4, 0]);
    close(all.parts.other, [0.6 - (25 + 25) / 150, 0]);
    close(all.parts.critical, [0.2, 0.2]);
    close(all.parts.neutral, [0, 1 - 0.2]);
    expect(all.moves).toEqual([{ from: 1, to: 0, warps: 7 }, { from: 0, to: 1, warps: 2 }]);
    const last = viewOf(threeNodes, { first: 1, end: 2 });
    expect([last.start, last.cycles]).toEqual([100, 50]);
    expect(last.parts.relaxed).toEqual([0.4, 0]);
    expect(viewOf(stateless().mesh, { first: 0, end: 1 }).parts.critical).toBeUndefined();
  });
  test("the load of a link is flits over network cycles", () => {
    const view = viewOf(threeNodes, wholeRun(threeNodes));
    expect(loads(meshed(), view, "replies")).toEqual([0, 0.4, 0, 0.7]);
    expect(loads(meshed(), view, "requests")[2]).toBeCloseTo(25 / 150);
    expect(loads(meshed(), view, "both")[3]).toBe(0.35);
    const fast = { ...meshed(), result: { ...meshed().result, config: { noc: { clock_mhz: 2000 } } } };
    expect(networkCycles(fast)).toBe(2);
    expect(loads(fast, view, "replies")[3]).toBe(0.35);
  });
  test("nodes and links have names", () => {
    expect(nodeName(threeNodes, 2)).toBe("L2 slice 0 and memory controller 0");
    expect(nodeName({ ...threeNodes, sms: [0, 1, 2] }, 2)).toBe("SM 2, L2 slice 0 and memory controller 0");
    expect(nodeName({ ...threeNodes, slices: [], controllers: [] }, 2)).toBe("router 2");
    expect(shortName({ ...threeNodes, slices: [] }, 2)).toBe("MC 0");
    expect(linkName(threeNodes, 3)).toBe("L2 0 → SM 1");
  });
  test("the note names what is most, by states where there are some", () => {
    expect(meshNote(meshed())).toBe("SMs are critical 20.0 % of the time and relaxed 40.0 %; SM 0 is critical most, 20.0 %. " +
      "The busiest link carries replies, L2 0 → SM 1: a flit in 70.0 % of its cycles, 2.55 times the mean of all. 9 warps moved, most from SM 1 to SM 0 (7).");
    expect(meshNote(stateless())).toContain("SMs issue in 20.0 % of their schedulers' cycles and wait for memory in 30.0 %; SM 0 waits most, 33.3 %.");
    expect(meshNote(stateless())).not.toContain("moved");
    const apart = (nodes: string) => ({ ...meshed(), result: { ...meshed().result, config: { noc: { mesh: { memory_nodes: nodes } } } } });
    expect([meshNote(apart("0,2")), meshNote(apart(""))].map((note) => note.includes("not on the links"))).toEqual([true, false]);
    expect(meshNote(meshed({ critical: [[0, 0], [0, 0]] }))).toContain("hardly ever critical");
    expect(meshNote(meshed({ requests: [[0, 0, 0, 0], [0, 0, 0, 0]], replies: [[0, 0, 0, 0], [0, 0, 0, 0]] }))).toContain("Nothing crossed a link.");
  });
  test("all arrows between neighbours are drawn, of the others the first", () => {
    const wide = { ...threeNodes, columns: 100, sms: Array.from({ length: 100 }, (_, i) => i) };
    const far = Array.from({ length: 80 }, (_, i) => ({ from: 0, to: i + 2, warps: 100 - i }));
    const drawn = shownMoves(wide, [...far, { from: 5, to: 6, warps: 1 }]);
    expect(drawn).toHaveLength(41);
    expect(drawn[40]).toEqual({ from: 5, to: 6, warps: 1 });
    expect(drawn[39].to).toBe(41);
  });
  test("the course has the columns' means and busiest links", () => {
    const of = courseOf(meshed(), { cores: "states", networks: "replies", top: 1 });
    expect(of.busiest).toEqual([0.6, 0.9]);
    expect(of.parts[0]).toEqual({ relaxed: 0.5, critical: 0.15, neutral: 0.35 });
    expect(endOf(meshed())).toBe(150);
  });
  test("a place in the course is a column", () => {
    const at = (x: number) => columnAt(meshed(), x, 92 + 2 + 300, 300);
    expect([at(0), at(93), at(191), at(193), at(390)]).toEqual([0, 0, 0, 1, 1]);
  });
  test("before something is pointed at all is told together", () => {
    const rows = together(meshed(), viewOf(threeNodes, { first: 1, end: 2 })).rows;
    expect(rows[0]).toEqual(["critical: few MSHRs free", "30.0 %"]);
    expect(rows.slice(-2)).toEqual([["flits on a link", "5.0 % requests, 32.5 % replies"], ["warps that moved", "9"]]);
    expect(together(stateless(), viewOf(stateless().mesh, { first: 1, end: 2 })).rows).toHaveLength(5);
  });
  test("what is pointed at is told in numbers", () => {
    const view = viewOf(threeNodes, { first: 1, end: 2 });
    const of = (kind: "node" | "link" | "move", index: number) => facts(meshed(), view, { kind, index });
    expect(of("link", 3)).toEqual({ title: "L2 slice 0 and memory controller 0 to SM 1",
      rows: [["requests", "0 flits, in 0.0 % of the cycles"], ["replies", "45 flits, in 90.0 % of the cycles"]] });
    expect(of("move", 0)).toEqual({ title: "SM 1 to SM 0", rows: [["warps that moved", "7"]] });
    const sm = of("node", 0);
    expect(sm.title).toBe("SM 0 (column 0, row 0)");
    expect(sm.rows).toContainEqual(["critical: few MSHRs free", "60.0 %"]);
    expect(sm.rows).toContainEqual(["waits for memory", "50.0 %"]);
    expect(sm.rows).toContainEqual(["warps sent away, taken in", "2, 7"]);
    expect(sm.rows).toContainEqual(["SM 0 → SM 1", "10.0 % requests, 0.0 % replies"]);
    expect(facts(meshed(), { ...view, moved: 10 }, { kind: "node", index: 0 }).rows).toContainEqual(["warps sent away, taken in, at least", "2, 7"]);
    expect(of("node", 2).rows).toEqual([["L2 0 → SM 1", "0.0 % requests, 90.0 % replies"]]);
  });
});

const edge = (parent: string, child: string, depth: number, bins: number[], launches = bins.reduce((sum, n) => sum + n, 0)): LaunchEdge => ({
  parent, child, depth, launches, blocks: 2 * launches, on_parent_sm: launches, mean_entry_wait: 0,
  waits: { mean: 1, median: 1, p90: 1, longest: 1, bins },
});

/** A host's launch with three children: on their parent's SM, partly, not. */
const nested = (rest: Partial<LaunchTree> = {}): LaunchTree => ({
  launches: 3, edges: [edge("p", "c", 1, [3])], longest: [], bundle: "launch", rows_left_out: 0,
  rows: { kernels: ["p", "c"], kernel: [0, 1, 1, 1], parent: [null, 0, 0, 0], depth: [0, 1, 1, 1], first_launch: [0, 1, 2, 3], launches: [1, 1, 1, 1],
    blocks: [4, 2, 2, 2], on_parent_sm: [0, 2, 1, 0], start: [0, 10, 20, 30], first: [0, 15, 25, 30], end: [90, 50, 60, 70], mean_wait: [0, 5, 5, 0],
    longest_wait: [0, 5, 5, 0], first_sm: [0, 0, 0, 1], sms: ["", "0", "0-1", "1"] },
  queue: { interval: 40, waiting: [0.25, 0, 1], longest_of_an_sm: [0.25, 0, 1] },
  ...rest,
});

describe("launch tree", () => {
  test("only runs whose kernels launch have one", () => {
    const with_tree = { ...run(1, { label: "gto" }), launch_tree: nested() };
    expect(nestedRuns(group(page(run(1), with_tree)).groups[0]).map((r) => r.label)).toEqual(["gto"]);
  });
  test("a row says whether it ran where its parent did", () => {
    expect([0, 1, 2, 3].map((row) => homeOf(nested().rows, row))).toEqual(["host", "all", "some", "none"]);
  });
  test("the note says what a row is and what is missing", () => {
    const note = (rest: Partial<LaunchTree>) => treeNote({ ...run(1), launch_tree: nested(rest) });
    expect(note({})).toContain("Kernels made 3 launches, nested 1 deep. A row is a launch");
    expect(note({})).not.toContain("rows are left out");
    expect(note({ launches: 1 })).toContain("made 1 launch,");
    expect(note({ bundle: "siblings", rows_left_out: 1200 })).toContain("by one block");
    expect(note({ bundle: "path", rows_left_out: 1200 })).toContain("1,200 rows are left out");
  });
});

describe("waits", () => {
  const edges = [edge("p", "c", 1, [1, 0, 2]), edge("p", "d", 1, [4]), edge("c", "d", 2, [0, 1, 0, 7])];
  test("are summed by parent and child, parent, or depth", () => {
    expect(waitGroups(edges, "edge").map((g) => [g.name, g.launches])).toEqual([["p > c", 3], ["p > d", 4], ["c > d", 8]]);
    expect(waitGroups(edges, "parent")).toEqual([{ name: "p", launches: 7, bins: [5, 0, 2] }, { name: "c", launches: 8, bins: [0, 1, 0, 7] }]);
    expect(waitGroups(edges, "depth").map((g) => g.name)).toEqual(["depth 1", "depth 2"]);
  });
  test("groups beyond the colours are summed, and none is lost", () => {
    const many = Array.from({ length: 24 }, (_n, i) => edge(`k${i}`, "c", 1, [i + 1]));
    const groups = waitGroups(many, "parent");
    expect(groups.length).toBe(12);
    expect(groups[11]).toEqual({ name: "13 others", launches: 91, bins: [91] });
    expect(groups.reduce((sum, g) => sum + g.launches, 0)).toBe(300);
  });
  test("a bar is named by the cycles it stands for", () => {
    expect([0, 1, 2, 3, 11, 14].map(binName)).toEqual(["0", "1", "2–3", "4–7", "1,024–2,047", "8.19 k–16.4 k"]);
  });
});

describe("queues of launches", () => {
  test("are steps up to the end of the run, which need not end an interval", () => {
    expect(queuePoints(nested().queue, "waiting", 90)).toEqual([[0, 0.25], [40, 0], [80, 1], [90, 1]]);
    expect(queuePoints({ interval: 1, waiting: [], longest_of_an_sm: [] }, "waiting", 0)).toEqual([]);
  });
});

describe("traffic", () => {
  test("sums both networks by kind, and is empty without details", () => {
    const r = run(1);
    expect(trafficOf(r).size).toBe(0);
    r.result.details = { noc: { request: { read: { flit_hops: 3 }, ports: 8 }, reply: { read: { flit_hops: 4 }, write: { flit_hops: 5 } } } };
    expect([...trafficOf(r)]).toEqual([["read", 7], ["write", 5]]);
  });
});

describe("grouping", () => {
  test("runs of the same work form a group, in the order given", () => {
    const report = group(page(run(1), run(2, { label: "gto" }), run(3, { workload: "nn" }), run(4, { workload: "nn", label: "gto" })));
    expect(report.groups.map((g) => [g.name, g.runs.map((r) => r.label)])).toEqual([["bfs", ["lrr", "gto"]], ["nn", ["lrr", "gto"]]]);
    expect(report.labels).toEqual(["lrr", "gto"]);
  });
  test("seeds are inputs of their own: ratios are within a seed, then mean and spread", () => {
    const report = group(page(run(1000, { seed: 1 }), run(500, { seed: 1, label: "gto" }), run(4000, { seed: 2 }), run(5000, { seed: 2, label: "gto" })));
    expect(report.groups.map((g) => g.name)).toEqual(["bfs seed 1", "bfs seed 2"]);
    expect(report.labels).toEqual(["lrr", "gto"]);
    const spread = (mean: number, low: number, high: number, min: number, max: number) => ({ mean, deviation: 0, low, high, min, max });
    const of = (policies: string, speedup: Spread, verdict: string): OverSeeds => ({ workload: "bfs", parameters: { n: 1 }, policies, over: "lrr", seeds: [1, 2],
      same_input: false, cycles: spread(2750, 1, 2, 1, 2), speedup, verdict, flips: speedup.min < 1 && speedup.max > 1 });
    report.page.over_seeds = [of("lrr", spread(1, 1, 1, 1, 1), ""), of("gto", spread(1.265, 0.1, 20, 0.8, 2), "not told apart by 2 seeds, flips within the spread"),
      of("two", spread(1.05, 0.99, 1.11, 1.01, 1.09), "not told apart by 2 seeds"), of("ccws", spread(1.5, 1.4, 1.6, 1.45, 1.55), "faster")];
    const text = (policy: string, numbers: string, single: string, rest: string) => `bfs with 2 seeds: ${policy} is ${numbers.split(" ")[0]} as fast as lrr in the geometric mean ` +
      `(95 % interval by Student's t: ${numbers.split(" ").slice(1).join(" ")}), single seeds from ${single}${rest}.`;
    expect(seedSentences(report)).toEqual([
      text("gto", "1.26× 0.10× to 20.0×", "0.80× to 2.00×", "; with some seeds it is faster, with others slower, so the verdict flips within the spread"),
      text("two", "1.05× 0.99× to 1.11×", "1.01× to 1.09×", "; the interval holds 1, so these seeds do not tell the two apart"),
      text("ccws", "1.50× 1.40× to 1.60×", "1.45× to 1.55×", "")]);
    expect(findings(report).some((text) => text.includes("geometric mean of 2 workloads"))).toBe(false);
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

describe("source lines under two policies", () => {
  const seen = (label: string, cycles: number, looks: number, lines: [number, number][]): Run => {
    const made = run(cycles, { label });
    made.result.analysis = { source: { looks, kernels: { k: { file: "x.ptx", lines: lines.map(([line, warps]) => ({ line, issued: 1, thread_instructions: 1, memory_lines: 0,
      l1d_hits: 0, l1d_pending_hits: 0, l1d_misses: 0, awaited: 0, warps: { memory: warps } })) } } } };
    return made;
  };
  test("the error is that of looks in which all warps stand alike", () => {
    expect([errorOfShare(0.5, 100), errorOfShare(0, 9), errorOfShare(1, 9), errorOfShare(0.5, 0)]).toEqual([0.05, 0, 0, 0.5]);
    expect(sourceRows(seen("lrr", 1000, 100, [[1, 75], [2, 25]]), "ptx", {})[0].error).toBeCloseTo(Math.sqrt(0.1875 / 100), 12);
  });
  test("all numbers are shares of the warp-cycles under the first, also of lines that are gone", () => {
    const before = new Map(sourceRows(seen("lrr", 1000, 100, [[1, 75], [2, 25]]), "ptx", {}).map((row): [string, SourceRow] => [rowKey(row), row]));
    const own = sourceRows(seen("gto", 500, 50, [[1, 50]]), "ptx", {});
    const rows = withLost(own, before);
    const changes = rows.map((row) => [row.line, lineChange(row, rows, before)] as const);
    expect(changes.map(([line, of]) => [line, of.before, of.now])).toEqual([[1, 0.75, 0.5], [2, 0.25, 0]]);
    expect([changes[0][1].nowError, changes[1][1].nowError]).toEqual([0, 0]);
    expect(changes[1][1].beforeError).toBeCloseTo(Math.sqrt(0.1875 / 100), 12);
  });
});

test("an allocation at another address is the one of its name and size", () => {
  const figures = (read: number): AllocationFigures => ({ loads: 0, stores: 0, atomics: 0, l1d_hits: 0, l1d_pending_hits: 0, l1d_misses: 0, l2_hits: 0, l2_pending_hits: 0, l2_misses: 0,
    dram_read_bytes: read, dram_written_bytes: 0 });
  const row = (name: string, address: string, bytes: number, read: number) => ({ name, address, bytes, ...figures(read), kernels: {} });
  const known = figuresByKey([row("x", "0x1", 4, 1), row("x", "0x2", 4, 2), row("y", "0x3", 8, 3)].map((of) => ({ of, figures: of })));
  expect([row("x", "0x1", 4, 0), row("x", "0x2", 4, 0), row("y", "0x9", 8, 0), row("y", "0x9", 9, 0)].map((of) => figuresIn(known, of)?.dram_read_bytes)).toEqual([1, 2, 3, undefined]);
});

describe("findings", () => {
  test("a wrong result comes first", () => {
    expect(findings(group(page(run(100), run(90, { label: "gto", result: "wrong" }))))[0]).toContain("1 of 2 runs gave a wrong result");
  });
  test("a speed-up is told with what went along with it", () => {
    const slow = [kernel("_Z1aPf", 60, { l2_hits: 5, dram_bytes: 4096 }), kernel("b", 40)].map((k) => ({ ...k, title: k.name.startsWith("_Z") ? "a(float*)" : k.name }));
    const fast = [{ ...kernel("_Z1aPf", 5, { l2_hits: 40, dram_bytes: 1024 }), title: "a(float*)" }, kernel("b", 45)];
    const parts = [["a", 60, 5], ["b", 40, 45]].map(([title, a, b]) => ({ name: String(title), title: String(title), a: +a, b: +b }));
    const now: Run = { ...run(50, { label: "gto", kernels: fast }), difference: { base: 0, kernels: { a: 100, b: 50, parts } } };
    const text = findings(group(page(run(100, { kernels: slow }), now))).join(" ");
    expect(text).toContain("gto is 2.00× as fast as lrr (50 cycles fewer: a −55 and b +5); in a the L2 hit rate rises from 10.0 % to 80.0 % and DRAM traffic falls from 4.00 KiB to 1.00 KiB.");
  });
  test("what speaks against the result is told as that, and where schedulers lose", () => {
    const before = run(100, { kernels: [kernel("a", 100, { l1d_hits: 10, l1d_accesses: 100, dram_bytes: 1024 })] });
    const now = run(200, { label: "gto", kernels: [kernel("a", 200, { l1d_hits: 60, l1d_accesses: 100, dram_bytes: 4096 })] });
    before.result.stalls = { issued: 60, memory: 40, throttled: 0 };
    now.result.stalls = { issued: 60, memory: 30, throttled: 110 };
    for (const one of [before, now]) one.result.schedulers = 1;
    addDifferences([before, now]);
    const text = findings(group(page(before, now))).join(" ");
    expect(text).toContain("only 0.50× as fast as");
    expect(text).toContain("of the schedulers' cycles 110 more on \"throttled\", all together 100 more");
    expect(text).toContain("DRAM traffic rises from 1.00 KiB to 4.00 KiB, although the L1D hit rate rises from 10.0 % to 60.0 %");
  });
  test("a launch with fewer blocks than SMs is told as that", () => {
    const small = run(100);
    small.result.stalls = { issued: 10, idle: 90 };
    small.result.config = { name: "g", sm: { count: 80 } };
    small.result.details = { busy_cycles: 100, tail_cycles: 7600 };
    small.result.kernels = [{ ...kernel("a", 100), grid: [2, 1, 1] }];
    expect(findings(group(page(small))).join(" ")).toContain("1 of 1 launch has fewer blocks than the GPU has SMs (80)");
  });
  test("small differences are not made much of", () => {
    expect(findings(group(page(run(1000), run(995, { label: "gto" })))).join(" ")).toContain("No policy differs from lrr by more than 2.0 %");
  });
  test("no remedy is named, and a launch on its way is the machine's", () => {
    const launched = run(100);
    launched.result.stalls = { issued: 10, memory: 20, launch: 70 };
    launched.result.config = { name: "g", sm: { count: 2 }, launch_latency_cycles: 5000 };
    launched.result.kernels = [kernel("a", 100)];
    const text = findings(group(page(launched))).join(" ");
    expect(text).toContain("\"launch\" takes the largest part of the scheduler-cycles of bfs (70.0 %): in 70 cycles no block was on any SM and a launch was on its way, 70 for each of the 1 launch; on their way were 1 launch 0 cycles.");
    expect(text).not.toMatch(/would help|too small/);
  });
  test("who refused accesses is what the counters say", () => {
    const full = run(100);
    full.result.stalls = { issued: 10, lsu: 90 };
    full.result.details = { l1d_refused: { mshr: 100, merge: 0, way: 300, miss_queue: 1 } };
    expect(findings(group(page(full))).join(" ")).toContain("of the cycles in which the L1D took no access, 74.8 % because every way of the set waited for its data and 24.9 % because no MSHR was free.");
  });
  test("of many policies the means of the fastest two and the slowest are told", () => {
    const labels = ["a", "b", "c", "d", "e"];
    const runs = ["bfs", "nn"].flatMap((workload) => [run(100, { workload }), ...labels.map((label, i) => run(100 - 10 * i, { workload, label }))]);
    const text = findings(group(page(...runs)));
    expect(text.filter((s) => s.includes("geometric mean")).map((s) => s.split(" ")[0])).toEqual(["e", "d", "a"]);
    expect(text.length).toBeLessThanOrEqual(8);
  });
  test("nothing run is said so", () => {
    expect(findings(group(page()))).toEqual(["The report holds no runs."]);
  });
});

describe("differences", () => {
  const part = (title: string, a: number, b: number, sums?: number): DifferencePart => ({ name: title, title, a, b, ...(sums === undefined ? {} : { sums }) });
  const whole = (...parts: DifferencePart[]): Waterfall => ({ a: parts.reduce((sum, p) => sum + p.a, 0), b: parts.reduce((sum, p) => sum + p.b, 0), parts });
  const base = run(1000, { kernels: [kernel("a", 600), kernel("b", 300)] });
  const other: Run = { ...run(900, { label: "gto", memory: 40, kernels: [kernel("a", 450), kernel("b", 350)] }),
    difference: { base: 0, kernels: whole(part("a", 600, 450), part("b", 300, 350), part("no launch under way", 100, 100)), schedulers: whole(part("memory", 500, 400), part("issued", 500, 500)) } };
  const sum = (parts: Part[]) => parts.reduce((all, one) => all + changeOfPart(one), 0);
  test("are what the data say, and sum to the whole", () => {
    const parts = byKernel(other, base);
    expect(parts.map((one) => [one.title, changeOfPart(one)])).toEqual([["a", -150], ["b", 50], ["no launch under way", 0]]);
    expect(sum(parts)).toBe(-100);
    expect(byReason(other, base).map((one) => [one.title, one.before, one.now])).toEqual([["memory", 500, 400], ["issued", 500, 500]]);
    expect([byKernel(run(900), base), byReason(run(900), base)]).toEqual([[], []]);
  });
  test("runs of different clocks are not compared in words", () => {
    expect(byKernel({ ...other, core_clock_mhz: 500 }, base)).toEqual([]);
    expect(byReason({ ...other, core_clock_mhz: 500 }, base)).toEqual([]);
  });
  test("the sentence's numbers sum to the one before them", () => {
    const parts = whole(part("13 other kernels", 70, 57, 2), part("k0", 100, 10), part("k2", 70, 30), part("k1", 10, 20), part("k3", 45, 40));
    const many: Run = { ...run(157, { label: "gto", kernels: [kernel("k0", 1), kernel("k1", 1)] }), difference: { base: 0, kernels: parts } };
    expect(kernelSentence(many, run(295))).toBe("138 cycles fewer: k0 −90, k2 −40, k1 +10 and 3 others −18");
  });
  test("each bar begins where the one before it ends, and the last is the whole", () => {
    expect(drawnParts(whole(part("a", 10, 4), part("b", 1, 9))).map((one) => [one.title, one.from, one.to])).toEqual([["a", 0, -6], ["b", -6, 2], ["together", 0, 2]]);
  });
  test("from another run than the group's first are not shown", () => {
    const page_ = page({ ...base, label: "x" }, { ...other, difference: { base: 1 } }, { ...other, label: "y", difference: { base: 0 } });
    expect(group(page_).groups[0].runs.map((one) => one.difference?.base)).toEqual([undefined, undefined, 0]);
  });
});

describe("names and colours", () => {
  test("a kernel's parameters are left out, and only they", () => {
    expect(kernelTitle({ name: "_Z4fillILi3EEvPfi", title: "fill<3>(float*, int)" })).toBe("fill<3>");
    expect(kernelTitle({ name: "x", title: "(anonymous namespace)::step(void (*)())" })).toBe("(anonymous namespace)::step");
    expect(kernelTitle({ name: "vecadd" })).toBe("vecadd");
    expect(kernelTitle(undefined)).toBe("?");
  });
  test("no two of thirty policies look alike", () => {
    for (const dark of [false, true]) {
      const t = theme(dark);
      const all = Array.from({ length: 30 }, (_, i) => i);
      expect(new Set(all.map((i) => JSON.stringify(seriesFill(t, i)))).size).toBe(30);
      expect(new Set(all.map((i) => JSON.stringify([seriesFill(t, i).color, seriesDash(t, i)]))).size).toBe(30);
      expect(new Set(all.map((i) => partColour(t, i))).size).toBe(30);
    }
  });
});

test("a map that is not drawn says why", () => {
  const many = run(100, { kernels: [kernel("a", 100)] });
  many.blocks.total = 65536;
  expect(whyNoMap(many)).toContain("65,536 blocks");
  expect(whyNoMap(run(100))).toContain("too many to be told one by one");
});

describe("a co-run, whose launches are not told", () => {
  const corun = (label: string, completed?: number): Run => {
    const made = run(100, { label });
    made.result.tenants = [{ name: "bfs", kernels_completed: completed }, { name: "bfs", kernels_completed: completed }];
    made.blocks.total = 40;
    made.placement = [{ launch: 0, sm: [0], order: [0], stolen: [], finish: [90] }];
    return made;
  };
  test("has no map of launches, and the page says why", () => {
    expect(hasMap(corun("ccbp"))).toBe(false);
    expect(hasMap({ ...run(100, { kernels: [kernel("a", 100)] }), placement: corun("").placement })).toBe(true);
    expect(whyNoMap(corun("ccbp"))).toBe("launches of tenants are not told one by one");
  });
  test("is not one in which nothing was launched", () => {
    const groupOf = (...runs: Run[]) => group(page(...runs)).groups[0];
    expect(withoutKernels(groupOf(corun("ccbp", 1020)))).toEqual(["Kernels that completed: 1,020 of bfs (1) and 1,020 of bfs (2). Launches of tenants are not told one by one."]);
    expect(withoutKernels(groupOf(corun("none", 3), corun("ccbp", 4)))[1]).toMatch(/^ccbp: Kernels that completed: 4 of/);
    expect(withoutKernels(groupOf(corun("ccbp")))).toEqual(["Launches of tenants are not told one by one."]);
    expect(withoutKernels(groupOf(run(0)))).toEqual(["Nothing was launched."]);
  });
  test("does not say when SMs had no block of a launch", () => {
    const idle = (made: Run): Run => {
      made.result.config = { sm: { count: 4 } };
      made.result.details = { busy_cycles: 100, tail_cycles: 0 };
      made.result.stalls = { idle: 300 };
      made.result.schedulers = 4;
      return made;
    };
    expect(observed(idle(run(100)), "idle")).toMatch(/no block while others/);
    expect(observed(idle(corun("none")), "idle")).toBeNull();
  });
  test("is not taken apart by kernel", () => {
    const [base, other] = [corun("none"), corun("ccbp")];
    other.difference = { base: 0, schedulers: { a: 5, b: 7, parts: [{ name: "memory", title: "memory", a: 5, b: 7 }] } };
    expect(byKernel(other, base)).toEqual([]);
    expect(byReason(other, base).length).toBe(1);
    expect(bestColouring(base)).toBe("block");
    expect(colourings(base).map(([value]) => value)).toEqual(["launch", "block"]);
    expect(colourings(run(1))).toHaveLength(3);
  });
  test("is neither faster nor as fast as another: all end at the horizon", () => {
    const [base, other] = [corun("none"), corun("ccbp")];
    expect(speedup(other, base)).toBeNull();
    expect(findings(group(page(base, other))).join(" ")).not.toMatch(/No policy differs|as fast as/);
    expect(findings(group(page(run(100), run(100, { label: "gto" })))).join(" ")).toContain("No policy differs");
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
  test("a speed-up is one of time", () => {
    const base = run(1, { kernels: [kernel("a", 100)] });
    const fast = run(1, { kernels: [kernel("a", 110)] });
    fast.core_clock_mhz = 2 * base.core_clock_mhz;
    expect(perKernel(fast, base)[0].gain).toBeCloseTo(200 / 110);
    expect(speedup(fast, base)).toBeCloseTo(2);
  });
  test("launches that were executed only are told", () => {
    const left = run(1);
    left.result.launches_left_out = 7;
    expect(untimed(left)).toContain("7 more");
    expect(untimed(run(1))).toBeNull();
  });
  test("what is extrapolated is told, and is not taken apart by kernel", () => {
    const [all, some] = [run(1), run(1)];
    some.result.sampling = { launches_timed: 8, launches_estimated: 12, cycles_half_width: some.result.totals.cycles / 100, confidence: 0.95,
      timed_totals: { ...some.result.totals, cycles: some.result.totals.cycles / 2, warp_instructions: some.result.totals.warp_instructions / 4 } };
    expect(untimed(some)).toContain("8 launches of the host were timed, 12 like them estimated");
    expect(untimed(some)).toContain("± 1.0 %");
    expect(timedCycles(some)).toBe(some.result.totals.cycles / 2);
    expect(timedCycles(all)).toBe(all.result.totals.cycles);
    expect(speed(some)).toBe(speed(all)! / 4);
    for (const one of [all, some]) one.result.details = { busy_cycles: timedCycles(one), tail_cycles: 0 };
    expect(observed(some, "idle")).not.toContain("no block was on any SM");
    expect([byKernel(some, all), byReason(some, all), whatChanged(some, all)]).toEqual([[], [], null]);
    some.result.sampling.launches_estimated = 0;
    expect(untimed(some)).toBeNull();
  });
  test("launches summed by kernel are compared where there are as many", () => {
    const sums = (name: string, launches: number, cycles: number) => ({ name, launches, device_launches: 0, start_cycle: 0, end_cycle: cycles, cycles_min: 1,
      cycles_mean: cycles / launches, cycles_max: cycles, ...metrics(cycles) });
    const many = (...kernels: ReturnType<typeof sums>[]) => {
      const r = run(1);
      return { ...r, result: { ...r.result, kernels_by_name: kernels } };
    };
    const rows = perSums(many(sums("a", 900, 300), sums("b", 4, 100)), many(sums("b", 5, 100), sums("a", 900, 600)));
    expect(rows.map((row) => [row.kernel.name, row.share, row.gain])).toEqual([["a", 0.75, 2], ["b", 0.25, null]]);
    expect(perSums(many(sums("a", 9, 3)), run(1))[0].gain).toBeNull();
    expect(perSums(run(1), run(1))).toEqual([]);
  });
  test("launches that do not correspond are not compared", () => {
    expect(perKernel(run(1, { kernels: [kernel("a", 1)] }), run(1, { kernels: [kernel("b", 1)] }))[0].gain).toBeNull();
  });
});

test("the configuration lists each distinct value with its runs", () => {
  const all = leaves([run(1), run(1, { label: "gto", gpu: "h" })].map((r) => ({ label: r.label, config: r.result.config })));
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

describe("SMs over time", () => {
  const [first, second] = [run(100), run(50)];
  first.samples.sms = { start: [0, 60], length: [60, 40], ipc: [[4, 2.5], [0, 7]], l1d_hit_rate: [[0.5, null], [0, 1]], warps: [[1, 1], [1, 1]] };
  second.samples.sms = { start: [0], length: [50], ipc: [[6, 2.5]], l1d_hit_rate: [[1, 1]], warps: [[2, 2]], allowed: [[1, 2]] };
  test("every column has a cell for each SM that did something", () => {
    expect(cells(first, "ipc")).toEqual([[0, 60, 0, 4], [0, 60, 1, 2.5], [60, 100, 1, 7]]);
    expect(cells(first, "l1d_hit_rate")).toEqual([[0, 60, 0, 0.5], [60, 100, 0, 0], [60, 100, 1, 1]]);
    expect(cells(first, "allowed")).toEqual([]);
  });
  test("a mean is over the parts of columns that are known", () => {
    const { sms } = first.samples;
    expect(meanOver(sms, sms.ipc, 0, 30, 90)).toBe(2);
    expect(meanOver(sms, sms.l1d_hit_rate, 1, 30, 90)).toBe(1);
    expect(meanOver(sms, sms.l1d_hit_rate, 1, 0, 60)).toBeNull();
  });
  test("a difference is over equal parts of the longer run, and one that is over does nothing", () => {
    const all = difference(first, second, "ipc");
    const at = (cycle: number, sm: number) => all.find((c) => c[0] <= cycle && cycle < c[1] && c[2] === sm)?.[3];
    expect([at(10, 0), at(10, 1), at(55, 0), at(80, 1)]).toEqual([2, undefined, -4, -7]);
    expect(difference(first, second, "l1d_hit_rate").every((c) => c[1] <= 50 && c[2] === 0)).toBe(true);
  });
  test("colours end at the slots of an SM, where known, and at all hits", () => {
    const group = { name: "g", runs: [first, second] } as unknown as Group;
    expect([scaleOf(group, "ipc"), scaleOf(group, "l1d_hit_rate"), scaleOf(group, "warps")]).toEqual([7, 1, 2]);
    first.result.config = { name: "g", sm: { count: 2, warps: 32 } };
    expect(scaleOf(group, "warps")).toBe(32);
  });
});

describe("what policies count is explained", () => {
  const use = (name: string, unit: string, doc: string) => ({ name, parameters: null, statistics: null,
    meaning: { parameters: {}, statistics: { held: { unit, doc }, "late.held": { unit: "", doc: "too late" } } } });
  const [gto, lrr] = [use("gto", "cycles", "waited"), use("lrr", "cycles", "waited")];
  test("by its name, by its path where that means something else", () => {
    expect(meaningIn([gto, lrr], "statistics", "early.held")).toBe("cycles: waited");
    expect(meaningIn([gto, lrr], "statistics", "late.held")).toBe("too late");
    expect(meaningIn([gto], "statistics", "unknown")).toBeUndefined();
    expect(meaningIn([undefined, { name: "old", parameters: null, statistics: null }], "statistics", "held")).toBeUndefined();
  });
  test("for each policy where they differ", () => {
    expect(meaningIn([gto, use("swl", "", "not admitted")], "statistics", "held")).toBe("gto: cycles: waited; swl: not admitted");
  });
});

test("what checks left out or did not find is said", () => {
  const [plain, clean, racing] = [run(100), run(100), run(100)];
  clean.result.checks = { asked: ["races", "uninitialised"], findings: [], more: 0, shared_memory_left_out: {} };
  racing.result.checks = { asked: ["races"], findings: [{ check: "races", kernel: "k", times: 2, text: "..." }], more: 1200, shared_memory_left_out: { tile: "it copies in bulk" } };
  expect(checkedRuns([plain, clean, racing])).toEqual([clean, racing]);
  const name = plain.result.workload.name;
  expect(checkNotes([plain, clean])).toEqual([`${name}: looked for races and uninitialised, found nothing.`]);
  expect(checkNotes([racing])).toEqual([`${name}: 1,200 more places.`, `${name}: shared memory of kernel tile was not looked at: it copies in bulk.`]);
});
