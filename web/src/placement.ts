// Which SM ran which block, launch by launch, and what became of that in the next launch: what block schedulers that reuse
// data between kernels are about.
import type { Group, Placement, Run } from "./data";
import type { Charts } from "./charts";
import { percent } from "./format";
import { addLaunchMap, launchTip, rampKey, swatch, type MapCell } from "./launchmap";
import { kRamp, rampColour, seriesColour, type Theme } from "./theme";

export type Change = "stayed" | "moved" | "stolen" | "first";
const kChanges: { [change in Change]: string } = {
  stayed: "ran on the same SM in the launch before", moved: "ran on another SM", stolen: "stolen from another SM", first: "no launch before has this grid",
};

const grid = (run: Run, p: Placement) => JSON.stringify(run.result.kernels[p.launch]?.grid);

/** The last launch before that has the same grid, by row. */
export function predecessors(run: Run): (Placement | null)[] {
  const last = new Map<string, Placement>();
  return run.placement.map((p) => {
    const before = last.get(grid(run, p)) ?? null;
    last.set(grid(run, p), p);
    return before;
  });
}

export function changeOf(p: Placement, before: Placement | null, block: number): Change {
  if (p.stolen.includes(block)) return "stolen";
  if (before === null || before.sm[block] === null) return "first";
  return before.sm[block] === p.sm[block] ? "stayed" : "moved";
}

/** Shares of the blocks of which there is a launch before; stolen ones all. */
export function shares(run: Run): { [change in Change]: number } {
  const counts = { stayed: 0, moved: 0, stolen: 0, first: 0 };
  const before = predecessors(run);
  run.placement.forEach((p, row) => p.sm.forEach((sm, block) => {
    if (sm !== null) counts[changeOf(p, before[row], block)] += 1;
  }));
  const all = Math.max(1, counts.stayed + counts.moved + counts.stolen + counts.first);
  return { stayed: counts.stayed / all, moved: counts.moved / all, stolen: counts.stolen / all, first: counts.first / all };
}

const sms = (run: Run) => Math.max(1, ...run.placement.map((p) => p.finish.length));

function changeColour(t: Theme, change: Change): string {
  return { stayed: seriesColour(t, 4), moved: seriesColour(t, 1), stolen: seriesColour(t, 5), first: t.line }[change];
}

function cells(run: Run, by: string, t: Theme): MapCell[] {
  const before = predecessors(run);
  const most = Math.max(1, sms(run) - 1);
  return run.placement.flatMap((p, row) => {
    const count = new Map<number, number>();
    for (const sm of p.sm) if (sm !== null) count.set(sm, (count.get(sm) ?? 0) + 1);
    return p.sm.flatMap((sm, block): MapCell[] => {
      if (sm === null) return [];
      const change = changeOf(p, before[row], block);
      const colour = by === "sm" ? rampColour(sm / most)
        : by === "order" ? rampColour(p.order[block] / Math.max(1, count.get(sm)! - 1)) : changeColour(t, change);
      const was = before[row]?.sm[block];
      return [{ column: block, row, colour, value: by === "sm" ? sm : by === "order" ? p.order[block] : change, tip: () => `${launchTip(run, p)}block ${block} on SM <b>${sm}</b>, number ${p.order[block] + 1} of its ${count.get(sm)}<br>` +
        `${kChanges[change]}${was === undefined || was === null ? "" : ` (launch ${before[row]!.launch}: SM ${was})`}` }];
    });
  });
}

function key(run: Run, by: string, t: Theme): Node[] {
  if (by === "sm") return [rampKey(kRamp, "SM 0", `SM ${sms(run) - 1}`)];
  if (by === "order") return [rampKey(kRamp, "first on its SM", "last")];
  const part = shares(run);
  return (Object.keys(kChanges) as Change[]).filter((c) => part[c] > 0).map((c) => swatch(changeColour(t, c), `${kChanges[c]}: ${percent(part[c])}`));
}

export function addPlacement(charts: Charts, parent: HTMLElement, group: Group): void {
  addLaunchMap(charts, parent, group, {
    title: "Blocks on SMs, launch by launch",
    columnName: "block",
    columns: (run) => Math.max(1, ...run.placement.map((p) => p.sm.length)),
    colourings: [["sm", "SM"], ["order", "order on the SM"], ["change", "what changed"]],
    note: () => "A row is a launch, a column a block of the grid. Columns of one colour: blocks stay on their SM from launch to launch, " +
      "so that they can find their own data in its L1. The order of blocks on their SM shows whether the last become the first; the change, which moved or were stolen.",
    key, cells,
  });
}

/** How far into its launch an SM's last block ended, 0 to 1; null without a block or a time. */
export function finishShare(run: Run, p: Placement, sm: number): number | null {
  const kernel = run.result.kernels[p.launch];
  const end = p.finish[sm];
  if (end === null || end === undefined || !kernel || kernel.end_cycle <= kernel.begin_cycle) return null;
  return Math.min(1, (end - kernel.begin_cycle) / (kernel.end_cycle - kernel.begin_cycle));
}

function finishCells(run: Run): MapCell[] {
  return run.placement.flatMap((p, row) => p.finish.flatMap((end, sm): MapCell[] => {
    const share = finishShare(run, p, sm);
    if (share === null) return [];
    const left = run.result.kernels[p.launch].end_cycle - end!;
    return [{ column: sm, row, colour: rampColour(share), value: share, tip: () => `${launchTip(run, p)}SM ${sm}: last block ended after <b>${percent(share)}</b> of the launch, ` +
      `${left.toLocaleString("en-US")} cycles before its end` }];
  }));
}

function finishNote(run: Run): string {
  const all = run.placement.flatMap((p) => p.finish.map((_end, sm) => finishShare(run, p, sm))).filter((share): share is number => share !== null);
  const mean = all.reduce((sum, share) => sum + share, 0) / Math.max(1, all.length);
  return "When the last block of each SM ended, as a share of the launch's time: dark SMs stood idle while the bright ones worked on. " +
    `Under ${run.label} SMs that got a block finish after ${percent(mean)} on average, the earliest after ${percent(Math.min(1, ...all))}.`;
}

export function addFinish(charts: Charts, parent: HTMLElement, group: Group): void {
  addLaunchMap(charts, parent, group, {
    title: "When each SM finished",
    columnName: "SM",
    columns: sms,
    colourings: [["finish", ""]],
    note: finishNote,
    key: () => [rampKey(kRamp, "at once", "with the launch")],
    cells: finishCells,
  });
}
