// What each SM does over time: a row per SM, a colour per mean; of one run, or of one less another.
import { configNumber, timedCycles, type Group, type Run } from "./data";
import { tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import { h, select } from "./dom";
import { digits, percent, short, whole } from "./format";
import { cell } from "./rect";
import type { SmsOverTime } from "./result";
import type { Numbers } from "./save";
import { kRamp, rampColour, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

type Measure = "ipc" | "l1d_hit_rate" | "warps" | "allowed";

const kMeasures: { [name in Measure]: { title: string; explain: string; show: (n: number) => string } } = {
  ipc: { title: "IPC", explain: "thread instructions of the SM per cycle", show: digits },
  l1d_hit_rate: { title: "L1D hit rate", explain: "share of the accesses to its L1D that hit; empty: there were none", show: percent },
  warps: { title: "Warps", explain: "warps on the SM that have instructions left", show: digits },
  allowed: { title: "Warps allowed", explain: "warps with instructions left that the throttle policy lets load; few keep the cache for few, and at the end of a kernel few are left", show: digits },
};

/** Parts of the time of a difference: runs have columns of their own, of other lengths. */
export const kTiles = 200;

export type Cell = [start: number, end: number, sm: number, value: number];

const columnsOf = (run: Run, measure: Measure): (number | null)[][] => run.samples.sms[measure] ?? [];
const has = (run: Run, measure: Measure) => columnsOf(run, measure).length > 0;

/** None where nothing was, which stays empty. */
export function cells(run: Run, measure: Measure): Cell[] {
  const { start, length } = run.samples.sms;
  return columnsOf(run, measure).flatMap((column, i) => column.flatMap((n, sm): Cell[] =>
    (n === null || (n === 0 && measure !== "l1d_hit_rate") ? [] : [[start[i], start[i] + length[i], sm, n]])));
}

/** The mean of an SM over [from, to), by the parts of columns in it; null where nothing is known. */
export function meanOver(sms: SmsOverTime, columns: (number | null)[][], sm: number, from: number, to: number): number | null {
  let sum = 0;
  let known = 0;
  for (let i = 0; i < columns.length; i++) {
    const part = Math.min(to, sms.start[i] + sms.length[i]) - Math.max(from, sms.start[i]);
    const value = columns[i][sm];
    if (part <= 0 || value === null) continue;
    sum += value * part;
    known += part;
  }
  return known > 0 ? sum / known : null;
}

/** The second less the first; a run that is over does nothing, and hits nothing. */
export function difference(first: Run, second: Run, measure: Measure): Cell[] {
  const end = Math.max(timedCycles(first), timedCycles(second));
  const sms = Math.max(0, ...[first, second].map((run) => columnsOf(run, measure)[0]?.length ?? 0));
  const out: Cell[] = [];
  for (let tile = 0; tile < kTiles; tile++) {
    const from = end * tile / kTiles;
    const to = end * (tile + 1) / kTiles;
    for (let sm = 0; sm < sms; sm++) {
      const [a, b] = [first, second].map((run) => meanOver(run.samples.sms, columnsOf(run, measure), sm, from, to));
      if (measure === "l1d_hit_rate" && (a === null || b === null)) continue;
      const value = (b ?? 0) - (a ?? 0);
      if (value !== 0) out.push([Math.round(from), Math.round(to), sm, value]);
    }
  }
  return out;
}

/** The end of the scale of colours, for all runs alike: all there can be where that is known. */
export function scaleOf(group: Group, measure: Measure): number {
  if (measure === "l1d_hit_rate") return 1;
  const seen = Math.max(1e-9, ...group.runs.flatMap((run) => columnsOf(run, measure).map((column) => Math.max(0, ...column.map((n) => n ?? 0)))));
  return measure === "ipc" ? seen : configNumber(group.runs[0], "sm.warps") ?? seen;
}

interface Shown {
  measure: Measure;
  cells: Cell[];
  sms: number;
  end: number;
  /** Of the colours; of a difference to both sides. */
  scale: number;
  differs: boolean;
}

const lessAndMore = (t: Theme) => [t.states.critical, t.paper, t.states.relaxed];

function colourOf(shown: Shown, value: number, t: Theme): string {
  return shown.differs ? rampColour((value / shown.scale + 1) / 2, lessAndMore(t)) : rampColour(value / shown.scale);
}

function option(shown: Shown, t: Theme): Option {
  const { show, title } = kMeasures[shown.measure];
  return {
    grid: { left: 52, right: 44, top: 6, bottom: 62 },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => {
      const [start, end, sm, value] = shown.cells[item.dataIndex];
      const words = shown.differs && value > 0 ? `+${show(value)}` : value < 0 ? `-${show(-value)}` : show(value);
      return `SM ${sm}, cycles ${whole(start)} to ${whole(end)}<br>${title}: <b>${words}</b>`;
    } },
    xAxis: valueAxis(t, { min: 0, max: shown.end, name: "cycle", nameLocation: "middle", nameGap: 20, splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, max: shown.sms, inverse: true, minInterval: 1, name: "SM", nameLocation: "middle", nameGap: 34, splitLine: { show: false } }),
    dataZoom: [zoomSlider(t, { xAxisIndex: 0, height: 16, bottom: 4, filterMode: "weakFilter", labelFormatter: (n: number) => short(n) })],
    series: [{
      type: "custom", progressive: 0, dimensions: ["start", "end", "sm", "value"], encode: { x: [0, 1], y: 2 }, data: shown.cells,
      renderItem: (parameters: RenderParameters, api: RenderApi) =>
        cell(parameters, api, [api.value(0), api.value(2)], [api.value(1), api.value(2) + 1], colourOf(shown, api.value(3), t)),
    }],
  };
}

/** What the colours stand for. */
function key(shown: Shown, t: Theme): Node {
  const { show } = kMeasures[shown.measure];
  const ramp = h("span", { class: "ramp" });
  ramp.style.background = `linear-gradient(90deg, ${(shown.differs ? lessAndMore(t) : kRamp).join(", ")})`;
  return h("span", { class: "key" }, shown.differs ? `-${show(shown.scale)} ` : "0 ", ramp, ` ${shown.differs ? "+" : ""}${show(shown.scale)}`);
}

function numbers(shown: Shown): Numbers {
  return { columns: ["start", "end", "sm", shown.measure], rows: shown.cells };
}

function shownOf(group: Group, runs: Run[], measure: Measure, view: string): Shown {
  const [first, second] = view.split("-").map((i) => runs[+i]);
  const differs = second !== undefined;
  const all = differs ? difference(second, first, measure) : cells(first, measure);
  const scale = differs ? all.reduce((most, c) => Math.max(most, Math.abs(c[3])), 1e-9) : scaleOf(group, measure);
  return { measure, cells: all, sms: columnsOf(first, measure)[0].length,
    end: Math.max(...group.runs.map(timedCycles)), scale, differs };
}

/** Nothing where no run of the group was sampled. */
export function addSms(charts: Charts, parent: HTMLElement, group: Group): void {
  const runs = group.runs.filter((run) => has(run, "ipc"));
  if (runs.length === 0) return;
  const place = h("div");
  parent.append(h("h3", {}, "SMs over time"), place);
  let measure: Measure = runs.some((run) => has(run, "allowed")) ? "allowed" : "ipc";
  let view = String(Math.max(0, runs.findIndex((run) => has(run, measure))));
  const note = h("p", { class: "note" });
  const choices = h("div", { class: "choices" });
  const keys = h("div", { class: "keys" });
  place.append(note, choices, keys);
  const offer = () => {
    const measures = (Object.keys(kMeasures) as Measure[]).filter((name) => runs.some((run) => has(run, name)));
    const shown = runs.map((run, i): [string, string, Run] => [String(i), run.label, run]).filter(([, , run]) => has(run, measure));
    const views = shown.map(([i, label]): [string, string] => [i, label])
      .concat(shown.slice(1).map(([i, label]): [string, string] => [`${i}-${shown[0][0]}`, `${label} less ${shown[0][1]}`]));
    if (!views.some(([value]) => value === view)) view = views[0][0];
    choices.replaceChildren(
      select("Measure", measures.map((name): [string, string] => [name, kMeasures[name].title]), measure, (name) => {
        measure = name as Measure;
        offer();
        redraw();
      }),
      select("Of", views, view, (value) => {
        view = value;
        redraw();
      }));
  };
  offer();
  const redraw = charts.add(place, {
    label: `What each SM of ${group.name} does over time`,
    height: Math.min(480, Math.max(200, 90 + 8 * columnsOf(runs[0], "ipc")[0].length)),
    canvas: true,
    time: true,
    numbers: () => numbers(shownOf(group, runs, measure, view)),
    build: (t) => {
      const shown = shownOf(group, runs, measure, view);
      note.textContent = `A row is an SM, a colour the mean of a stretch of time: ${kMeasures[measure].explain}. ` +
        (shown.differs ? "A difference is over equal parts of the longer run; a run that is over does nothing." : "Empty: nothing.");
      keys.replaceChildren(key(shown, t));
      return option(shown, t);
    },
  });
}
