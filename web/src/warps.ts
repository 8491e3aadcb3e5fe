// A window of cycles of one SM, warp by warp: what each issues, what keeps it from issuing, and what it waits for. The
// picture of one scheduler beside another.
import { tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import type { Group, Run } from "./data";
import { h } from "./dom";
import { escapeHtml, short, whole } from "./format";
import { stallTitle } from "./metrics";
import type { WarpWindow } from "./result";
import type { Numbers } from "./save";
import { stallColour, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

/** Runs of one group that are drawn below each other; of more, the first. */
const kMostDrawn = 4;

export const kReady = "ready";
export const stateTitle = (state: string) => (state === kReady ? "ready, another goes" : stallTitle(state));

/** A bar of the picture: a warp in a state, or an instruction that is issued. */
export interface Bar {
  row: number;
  from: number;
  to: number;
  state: string;
  /** Number among the window's states or issues. */
  number: number;
}

/** Slots that a warp had in the window, in order of schedulers: the rows. */
export function rowsOf(window: WarpWindow): { slot: number; scheduler: number }[] {
  const used = new Set([...window.states.map((s) => s[0]), ...window.issues.map((i) => i[0])]);
  const scheduler = new Map(window.warps.map((w) => [w.slot, w.scheduler]));
  return [...used].sort((a, b) => a - b).map((slot) => ({ slot, scheduler: scheduler.get(slot) ?? 0 }));
}

/** States first, so that what is issued lies above them. */
export function barsOf(window: WarpWindow): Bar[] {
  const row = new Map(rowsOf(window).map((r, i) => [r.slot, i]));
  return window.states.map((s, number): Bar => ({ row: row.get(s[0])!, from: s[1], to: s[2], state: s[3], number }))
    .concat(window.issues.map((i, number): Bar => ({ row: row.get(i[0])!, from: i[1], to: i[1] + 1, state: "issued", number })));
}

/** Who has the slot in that cycle. */
export function warpAt(window: WarpWindow, slot: number, cycle: number): string {
  const lives = window.warps.filter((w) => w.slot === slot && w.from <= cycle);
  const life = lives[lives.length - 1];
  return life === undefined ? `slot ${slot}` : `warp ${life.warp} of block ${life.block}${life.launch > 0 ? `, launch ${life.launch}` : ""}`;
}

/** "ld.global.f32 (line 48 of spmv)". */
export function instructionOf(window: WarpWindow, number: number): string {
  const of = window.instructions[number];
  const place = of.source ? `${of.source.file.replace(/^.*\//, "")}:${of.source.line}` : `line ${of.line}`;
  return `${of.instruction ?? "instruction"} (${place} of ${of.kernel})`;
}

function issueOf(window: WarpWindow, number: number): string {
  const [slot, cycle, instruction] = window.issues[number];
  return `${instructionOf(window, instruction)} of ${warpAt(window, slot, cycle)}, issued in cycle ${whole(cycle)}`;
}

/** How an access went: lines at the L1D and when the last of their data came. */
export function accessOf(window: WarpWindow, number: number): string {
  const { lines } = window.accesses[number];
  if (lines.length === 0) return "no line of the L1D";
  const count = (what: string) => lines.filter((l) => l[2] === what).length;
  const parts = [["hit", "there"], ["pending_hit", "on the way already"], ["miss", "asked for"], ["forwarded", "past the cache"]]
    .filter(([what]) => count(what) > 0).map(([what, words]) => `${count(what)} ${words}`);
  const came = lines.map((l) => l[3]).filter((at) => at !== undefined);
  const first = Math.min(...lines.map((l) => l[1]));
  return `${lines.length} ${lines.length === 1 ? "line" : "lines"} at the L1D from cycle ${whole(first)}: ${parts.join(", ")}` +
    (came.length > 0 ? `; the last data came in cycle ${whole(Math.max(...came))}` : "");
}

/** What a warp in that state waits for, as far as it is known: backward in time. */
export function causeOf(window: WarpWindow, number: number): string | null {
  const [, , , state, cause] = window.states[number];
  if (cause === undefined) return null;
  if (state === "memory") return `waits for ${issueOf(window, window.accesses[cause].issue)}: ${accessOf(window, cause)}`;
  return `last to arrive: ${issueOf(window, cause)}`;
}

/** What an issue has led to: who waits for it, forward in time. */
export function effectsOf(window: WarpWindow, number: number): string[] {
  const [slot, , , access] = window.issues[number];
  const waits = window.states.filter(([, , , state, cause]) => cause !== undefined &&
    (state === "memory" ? cause === access : state === "barrier" && cause === number));
  const out = access === undefined ? [] : [accessOf(window, access)];
  const total = waits.reduce((sum, w) => sum + w[2] - w[1], 0);
  if (waits.length > 0) {
    const others = new Set(waits.filter((w) => w[0] !== slot).map((w) => w[0])).size;
    out.push(others > 0 ? `${others === 1 ? "another warp has" : `${others} other warps have`} waited for it, ${whole(total)} warp cycles`
      : `its warp has waited for it, ${whole(total)} cycles`);
  }
  return out;
}

/** Warps of the same scheduler that were ready then and not chosen: what the decision was about. */
export function passedOver(window: WarpWindow, number: number): number {
  const [slot, cycle] = window.issues[number];
  const scheduler = new Map(rowsOf(window).map((r) => [r.slot, r.scheduler]));
  return window.states.filter((s) => s[3] === kReady && s[0] !== slot && s[1] < cycle && cycle <= s[2] &&
    scheduler.get(s[0]) === scheduler.get(slot)).length;
}

function tip(window: WarpWindow, bar: Bar): string {
  const rows = rowsOf(window);
  const head = `<b>${escapeHtml(warpAt(window, rows[bar.row].slot, bar.from))}</b> (slot ${rows[bar.row].slot}, scheduler ${rows[bar.row].scheduler})`;
  if (bar.state !== "issued") {
    const cause = causeOf(window, bar.number);
    return `${head}<br>${escapeHtml(stateTitle(bar.state))}: cycles ${whole(bar.from)} to ${whole(bar.to)}, <b>${whole(bar.to - bar.from)}</b>` +
      (cause === null ? "" : `<br>${escapeHtml(cause)}`);
  }
  const lines = [`issues <b>${escapeHtml(instructionOf(window, window.issues[bar.number][2]))}</b> in cycle ${whole(bar.from)}`,
    `${passedOver(window, bar.number)} other warps of its scheduler were ready already`, ...effectsOf(window, bar.number).map(escapeHtml)];
  return [head, ...lines].join("<br>");
}

const colourOf = (t: Theme, state: string) => (state === kReady ? `${t.muted}66` : stallColour(t, state, 0));

function renderer(bars: Bar[], t: Theme) {
  return (parameters: RenderParameters, api: RenderApi) => {
    const { x: left, width } = parameters.coordSys;
    const bar = bars[parameters.dataIndex];
    const issue = bar.state === "issued";
    const [x0, y0] = api.coord([bar.from, bar.row + (issue ? 0.04 : 0.12)]);
    const [x1, y1] = api.coord([bar.to, bar.row + (issue ? 0.96 : 0.88)]);
    const from = Math.max(x0, left);
    const to = Math.min(x1, left + width);
    if (to < from) return undefined;
    return { type: "rect", shape: { x: from, y: Math.min(y0, y1), width: Math.max(to - from, issue ? 0.8 : 0.4), height: Math.abs(y1 - y0) },
      style: { fill: colourOf(t, bar.state) } };
  };
}

function option(window: WarpWindow, bars: Bar[], t: Theme): Option {
  const rows = rowsOf(window);
  return {
    grid: { left: 60, right: 16, top: 6, bottom: 62 },
    tooltip: { ...tooltip(t), extraCssText: "white-space: normal; max-width: 30em", trigger: "item", formatter: (item: { dataIndex: number }) => tip(window, bars[item.dataIndex]) },
    xAxis: valueAxis(t, { min: window.begin, max: window.end, name: "cycle", nameLocation: "middle", nameGap: 20, splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, max: Math.max(1, rows.length), inverse: true, minInterval: 1, name: "warp slot", nameLocation: "middle", nameGap: 38,
      axisLabel: { color: t.muted, fontSize: 10, formatter: (row: number) => (rows[row] === undefined ? "" : String(rows[row].slot)) },
      splitLine: { show: false } }),
    dataZoom: [
      zoomSlider(t, { xAxisIndex: 0, height: 16, bottom: 4, filterMode: "weakFilter", labelFormatter: (n: number) => short(n) }),
      { type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl", filterMode: "weakFilter" },
    ],
    series: [{
      type: "custom", progressive: 0,
      dimensions: ["from", "to", "row"], encode: { x: [0, 1], y: 2 },
      data: bars.map((bar) => [bar.from, bar.to, bar.row]),
      renderItem: renderer(bars, t),
    }],
  };
}

function key(bars: Bar[], t: Theme): Node[] {
  const length = new Map<string, number>();
  for (const bar of bars) length.set(bar.state, (length.get(bar.state) ?? 0) + bar.to - bar.from);
  return [...length].sort((a, b) => b[1] - a[1]).map(([state, cycles]) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = colourOf(t, state);
    return h("span", { class: "key" }, swatch, `${state === "issued" ? "issues" : stateTitle(state)}: ${whole(cycles)}`);
  });
}

function numbers(window: WarpWindow, bars: Bar[]): Numbers {
  const rows = rowsOf(window);
  return { columns: ["slot", "scheduler", "warp", "state", "from", "to", "instruction", "cause"],
    rows: bars.map((bar) => [rows[bar.row].slot, rows[bar.row].scheduler, warpAt(window, rows[bar.row].slot, bar.from), bar.state, bar.from, bar.to,
      bar.state === "issued" ? instructionOf(window, window.issues[bar.number][2]) : null,
      bar.state === "issued" ? null : causeOf(window, bar.number)]) };
}

function addOne(charts: Charts, parent: HTMLElement, run: Run, window: WarpWindow): void {
  const bars = barsOf(window);
  const legendRow = h("div", { class: "keys" });
  parent.append(h("h4", {}, run.label), legendRow);
  if (bars.length === 0) {
    parent.append(h("p", { class: "none" }, `No warp was on SM ${window.sm} in these cycles.`));
    return;
  }
  charts.add(parent, {
    label: `Warps of SM ${window.sm}, cycles ${window.begin} to ${window.end}, ${run.label}`,
    height: Math.min(700, 80 + 12 * rowsOf(window).length),
    canvas: true,
    numbers: () => numbers(window, bars),
    build: (t) => {
      legendRow.replaceChildren(...key(bars, t));
      return option(window, bars, t);
    },
  });
}

export function addWarps(charts: Charts, parent: HTMLElement, group: Group): void {
  const shown = group.runs.flatMap((run): [Run, WarpWindow][] => (run.result.analysis?.warps ? [[run, run.result.analysis.warps]] : []));
  if (shown.length === 0) return;
  const { sm, begin, end } = shown[0][1];
  parent.append(h("h3", {}, `Warps of SM ${sm}, cycle by cycle`),
    h("p", { class: "note" }, `A row is a warp slot, cycles ${whole(begin)} to ${whole(end)}. Colours say what keeps the warp from issuing, ` +
      "a high bar is an instruction that it issues. Rest the pointer on one for what it waits for, or for who waits for it. " +
      "Zoom with the slider, or with Ctrl and the mouse wheel." +
      (shown.length > kMostDrawn ? ` The first ${kMostDrawn} of ${shown.length} runs are drawn.` : "")));
  for (const [run, window] of shown.slice(0, kMostDrawn)) addOne(charts, parent, run, window);
}
