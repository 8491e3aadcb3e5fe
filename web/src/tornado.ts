// A tornado: how far each constant moves one number, the widest bar first. src/raddle/report/tornado.cpp draws the same
// into files.
import { categoryAxis, shadow, tooltip, valueAxis, type Option, type RenderApi, type RenderParameters } from "./charts";
import { shownCell } from "./figure_data";
import { escapeHtml } from "./format";
import type { Cell, Figure } from "./reproduction_data";
import { textWidth } from "./text_width";
import { seriesColour, type Theme } from "./theme";

const kRow = 28;
const kBar = 16;
const kLongestName = 230;
const kNameSize = 12;
const kEndSize = 11;
const kShortestAxis = 160;

interface Room {
  names: number;  // of the constants, left of the bars
  ends: number;   // for a constant's value, on both sides of the bars
}

const widest = (texts: string[], size: number): number => Math.ceil(Math.max(0, ...texts.map((text) => textWidth(text, size))));

function room(f: Figure): Room {
  return { names: Math.min(kLongestName, widest(f.x.values.map(String), kNameSize)), ends: 8 + widest([0, 2].flatMap((s) => f.series[s]?.at ?? []), kEndSize) };
}

const left = (r: Room): number => 10 + r.names + 8 + r.ends;
const right = (r: Room): number => r.ends + 16;

function unitOf(f: Figure): string {
  return f.y.unit === "" ? f.y.label : f.y.label === "" ? f.y.unit : `${f.y.label} (${f.y.unit})`;
}

/** Below this width the bars leave no room for the words around them. */
export function narrowestTornado(f: Figure): number {
  const r = room(f);
  return left(r) + right(r) + Math.max(kShortestAxis, textWidth(unitOf(f)));
}

export const tornadoHeight = (f: Figure): number => 70 + kRow * f.x.values.length;

const number = (cell: Cell | undefined): number | null => (typeof cell === "number" ? cell : null);

/** The ends of bar `i`; null when the number is missing there. */
export function reach(f: Figure, i: number): { least: number; most: number } | null {
  const least = number(f.series[0]?.values[i]);
  const most = number(f.series[2]?.values[i]);
  return least === null || most === null ? null : { least, most };
}

function tip(f: Figure, i: number): string {
  const end = (s: number) => {
    const series = f.series[s];
    const at = series.at[i] ? ` at ${escapeHtml(series.at[i])}` : "";
    return `${escapeHtml(series.name)}: <b>${escapeHtml(shownCell(series.values[i]))}</b>${at}`;
  };
  return `<b>${escapeHtml(String(f.x.values[i]))}</b><br>${[0, 1, 2].map(end).join("<br>")}`;
}

const text = (t: Theme, x: number, y: number, words: string, align: string) =>
  ({ type: "text", style: { text: words, x, y, align, verticalAlign: "middle", fill: t.muted, fontSize: kEndSize } });

/** The bar of each constant, with the constant's values at its ends. */
function bars(f: Figure, t: Theme): object {
  const points = f.x.values.flatMap((_x, i): [number, number, number][] => {
    const ends = reach(f, i);
    return ends === null ? [] : [[ends.least, i, ends.most]];
  });
  return {
    type: "custom", data: points, encode: { x: [0, 2], y: 1 },
    renderItem: (_parameters: unknown, api: RenderApi) => {
      const i = api.value(1);
      const [from, y] = api.coord([api.value(0), i]);
      const [to] = api.coord([api.value(2), i]);
      return { type: "group", children: [
        { type: "rect", shape: { x: from, y: y - kBar / 2, width: Math.max(to - from, 1), height: kBar }, style: { fill: seriesColour(t, 0) } },
        text(t, from - 5, y, f.series[0].at[i] ?? "", "right"), text(t, to + 5, y, f.series[2].at[i] ?? "", "left")] };
    },
  };
}

/** Where the number is with all constants as declared. */
function baseLine(t: Theme, base: number | null): object {
  return {
    type: "custom", silent: true, data: base === null ? [] : [[base, 0]], encode: { x: 0, y: 1 },
    renderItem: (parameters: RenderParameters, api: RenderApi) => {
      const [x] = api.coord([api.value(0), 0]);
      const { y, height } = parameters.coordSys;
      return { type: "line", shape: { x1: x, y1: y, x2: x, y2: y + height }, style: { stroke: t.ink, lineWidth: 1.6 } };
    },
  };
}

export function tornadoOption(f: Figure, t: Theme): Option {
  const base = number(f.series[1]?.values[0]);
  const ends = f.x.values.flatMap((_x, i) => {
    const bar = reach(f, i);
    return bar === null ? [] : [bar.least, bar.most];
  });
  const all = base === null ? ends : [...ends, base];
  const [low, high] = all.length > 0 ? [Math.min(...all), Math.max(...all)] : [0, 1];
  const [min, max] = low < high ? [low, high] : [low - 0.5, high + 0.5];
  const r = room(f);
  return {
    grid: { left: left(r), right: right(r), top: 8, bottom: 46, containLabel: false },
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: { ...shadow(t), axis: "y" }, formatter: (items: { dataIndex: number }[]) => tip(f, items[0].dataIndex) },
    xAxis: valueAxis(t, { name: unitOf(f), nameLocation: "middle", nameGap: 28, min, max,
      axisLabel: { color: t.muted, fontSize: 11, showMinLabel: false, showMaxLabel: false, hideOverlap: true, formatter: (n: number) => String(+n.toPrecision(3)) } }),
    yAxis: categoryAxis(t, f.x.values.map(String), { inverse: true, axisLabel: { color: t.ink, fontSize: kNameSize, interval: 0, margin: 8 + r.ends, width: kLongestName, overflow: "truncate" } }),
    series: [bars(f, t), baseLine(t, base)],
  };
}
