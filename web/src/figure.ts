// The figures of a paper as charts: grouped bars, lines on a linear or logarithmic axis, stacked breakdowns. What the
// paper states is a diamond. src/raddle/report/figure_svg.cpp draws the same into files.
import { categoryAxis, legend, shadow, tooltip, valueAxis, type Option } from "./charts";
import { distinct, shownCell } from "./figure_data";
import { digits, escapeHtml, short } from "./format";
import type { Cell, Figure, Series } from "./reproduction_data";
import { textWidth } from "./text_width";
import { seriesColour, seriesDash, seriesFill, type Theme } from "./theme";
import { narrowestTornado, tornadoHeight, tornadoOption } from "./tornado";

export const kStatedName = "stated in the paper";
const kDiamond = "path://M0 -6L6 0L0 6L-6 0Z";
const kMark = "path://M-11 -1H-4L0 -5L4 -1H11V1H4L0 5L-4 1H-11Z";
const kMarkers = ["circle", "rect", "triangle", "path://M0 0H8L4 8Z"];
const kBarGap = "6%";
const kCategoryGap = "20%";
const kLongestName = 150;

const isNumber = (cell: Cell | undefined): cell is number => typeof cell === "number";
export const hasStated = (f: Figure): boolean => f.series.some((s) => s.stated.some((cell) => cell !== null));
export const hasNumbers = (f: Figure): boolean => f.series.some((s) => s.values.some(isNumber) || s.stated.some(isNumber));
export const stacksOf = (f: Figure): string[] => distinct(f.series.map((s) => s.stack));
const partsOf = (f: Figure): string[] => distinct(f.series.map((s) => s.name));
const severalStacks = (f: Figure): boolean => f.type === "stacked" && stacksOf(f).length > 1;

const longest = (names: string[], size = 12): number =>
  Math.ceil(Math.min(kLongestName, Math.max(0, ...names.map((name) => textWidth(name, size)))));

/** Below this width bars and their labels can no longer be told apart. */
export function narrowest(f: Figure): number {
  if (f.type === "tornado") return narrowestTornado(f);
  const bars = severalStacks(f) ? (stacksOf(f).length + 2) * 13 : f.type === "bars" ? f.series.length * 5.5 + 8 : 24;
  return f.type === "lines" ? 0 : 80 + f.x.values.length * bars;
}

function legendNames(f: Figure): string[] {
  const parts = partsOf(f);
  return [...(parts.length > 1 || hasStated(f) ? parts : []), ...(hasStated(f) ? [kStatedName] : [])];
}

/** What the legend will need: ECharts does not tell. */
function legendHeight(f: Figure, width: number): number {
  let rows = 1;
  let x = 0;
  for (const name of legendNames(f)) {
    const w = Math.min(textWidth(name), width - 60) + (f.type === "lines" ? 49 : 33);  // sign, text, gap
    if (x > 0 && x + w - 14 > width - 10) {
      rows++;
      x = 0;
    }
    x += w;
  }
  return x === 0 ? 0 : rows === 1 ? 24 : 28 * rows;
}

/** Names of bars, upright where all of them fit below theirs. */
function standing(f: Figure, width: number): boolean {
  const slots = f.x.values.length * (stacksOf(f).length + 2);
  return longest(stacksOf(f), 11) + 4 <= (width - 72) / Math.max(1, slots);
}

const underBars = (f: Figure, width: number): number => (standing(f, width) ? 20 : longest(stacksOf(f), 11) + 12);

interface Foot {
  rotate: number;
  height: number;
}

function foot(f: Figure, width: number): Foot {
  const names = f.x.values.map(String);
  const label = f.x.label === "" ? 0 : 20;
  if (f.x.scale !== "category") return { rotate: 0, height: 24 + label };
  const wide = longest(names);
  const rotate = wide + 8 > (width - 70) / Math.max(1, names.length) ? 35 : 0;
  const stacks = severalStacks(f) ? underBars(f, width) : 0;
  return { rotate, height: stacks + (rotate ? 16 + 0.6 * wide : 24) + label };
}

/** Of the whole chart, for a plot of always the same height. */
export function figureHeight(f: Figure, width: number): number {
  if (f.type === "tornado") return tornadoHeight(f);
  return Math.ceil(280 + legendHeight(f, width) + 22 + foot(f, width).height);
}

function frame(f: Figure, t: Theme, width: number): Option {
  const top = legendHeight(f, width) + 26;
  const unit = f.y.unit === "" ? f.y.label : f.y.label === "" ? f.y.unit : `${f.y.label} (${f.y.unit})`;
  return {
    grid: { left: 56, right: 16, top, bottom: foot(f, width).height },
    legend: legend(t, { data: legendNames(f).map((name) => ({ name, ...(name === kStatedName ? { icon: f.type === "lines" ? kDiamond : kMark, itemStyle: { color: t.ink } } : {}) })),
      itemWidth: f.type === "lines" ? 30 : 14, icon: f.type === "lines" ? undefined : "roundRect", selectedMode: f.type === "lines",
      textStyle: { color: t.ink, fontSize: 12, width: width - 60, overflow: "truncate" } }),
    yAxis: valueAxis(t, { name: unit, nameLocation: "end", nameGap: 12, nameTextStyle: { color: t.muted, fontSize: 12, align: "left", padding: [0, 0, 0, -48] },
      axisLine: { onZero: false },  // the logarithm of 1 is 0
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => (Math.abs(n) >= 1e4 ? short(n) : String(+n.toPrecision(6))) } }),
  };
}

function xName(f: Figure, t: Theme, gap: number): object {
  return { name: f.x.label, nameLocation: "middle", nameGap: gap, nameTextStyle: { color: t.muted, fontSize: 12 } };
}

// --- tooltips --------------------------------------------------------------------------------------------------------

interface TooltipItem {
  dataIndex: number;
  seriesIndex: number;
  seriesName: string;
  marker: string;
}

function line(marker: string, name: string, value: Cell, stated: Cell): string {
  const paper = stated === null ? "" : ` (paper: ${escapeHtml(shownCell(stated))})`;
  return `${marker} ${escapeHtml(name)}: <b>${escapeHtml(shownCell(value))}</b>${paper}`;
}

/** A line for each item that has a number at x value `i`, under the x value. */
function tip(f: Figure, i: number, items: TooltipItem[], of: (item: TooltipItem) => Series | undefined, more: string[] = []): string {
  const lines = items.flatMap((item) => {
    const s = of(item);
    return s && (s.values[i] !== null || s.stated[i] !== null) ? [line(item.marker, s.name, s.values[i], s.stated[i])] : [];
  });
  const heading = [f.x.label, String(f.x.values[i]), ...more].filter((word) => word !== "").join(" ");
  return `<b>${escapeHtml(heading)}</b><br>${lines.join("<br>")}`;
}

// --- the paper's numbers over bars -----------------------------------------------------------------------------------

/** The parts of ECharts' custom-series interface that are used here. */
interface RenderApi {
  value: (dimension: number) => number;
  coord: (point: [number, number]) => [number, number];
  barLayout: (options: object) => { offsetCenter: number; width: number }[];
}

/** A line with a diamond at `value` on bar `bar` of `bars` in category `category`. */
function marks(t: Theme, points: [category: number, value: number, bar: number][], bars: number, layout: object): object {
  return {
    type: "custom", name: kStatedName, z: 10, silent: true, itemStyle: { color: t.ink }, data: points, encode: { x: 0, y: 1 },
    renderItem: (_parameters: unknown, api: RenderApi) => {
      const [x, y] = api.coord([api.value(0), api.value(1)]);
      const { offsetCenter, width } = api.barLayout({ count: bars, ...layout })[api.value(2)];
      const cx = x + offsetCenter;
      const half = width / 2 + 1;
      const stroke = (colour: string, lineWidth: number) =>
        ({ type: "line", shape: { x1: cx - half, y1: y, x2: cx + half, y2: y }, style: { stroke: colour, lineWidth } });
      return { type: "group", children: [stroke(t.paper, 4), stroke(t.ink, 1.6),
        { type: "polygon", shape: { points: [[cx, y - 5], [cx + 5, y], [cx, y + 5], [cx - 5, y]] }, style: { fill: t.paper, stroke: t.ink, lineWidth: 1.6 } }] };
    },
  };
}

// --- bars ------------------------------------------------------------------------------------------------------------

const kBarLayout = { barGap: kBarGap, barCategoryGap: kCategoryGap, barMaxWidth: 46 };

function barOption(f: Figure, t: Theme, width: number): Option {
  const below = foot(f, width);
  const points = f.series.flatMap((s, bar) => s.stated.flatMap((value, i): [number, number, number][] => (isNumber(value) ? [[i, value, bar]] : [])));
  return {
    ...frame(f, t, width),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t),
      formatter: (items: TooltipItem[]) => tip(f, items[0].dataIndex, items, (item) => f.series[item.seriesIndex]) },
    xAxis: categoryAxis(t, f.x.values.map(String), { ...xName(f, t, below.height - 18),
      axisLabel: { color: t.ink, fontSize: 12, interval: 0, rotate: below.rotate, width: kLongestName, overflow: "truncate" } }),
    series: [...f.series.map((s, i) => ({
      type: "bar", name: s.name, ...kBarLayout, itemStyle: seriesFill(t, i), data: s.values.map((value) => (isNumber(value) ? value : "-")),
    })), marks(t, points, f.series.length, kBarLayout)],
  };
}

// --- stacks ----------------------------------------------------------------------------------------------------------

/** A place on the axis: a bar, or nothing between two x values. */
interface Slot {
  i: number;
  stack: string | null;
}

function slotsOf(f: Figure): Slot[] {
  const stacks = stacksOf(f);
  return f.x.values.flatMap((_x, i): Slot[] => {
    const bars = stacks.map((stack) => ({ i, stack }));
    return severalStacks(f) ? [{ i, stack: null }, ...bars, { i, stack: null }] : bars;
  });
}

/** Where the tops of the stated parts are: on what lies below them here. */
function statedTops(f: Figure, slots: Slot[]): [number, number, number][] {
  return slots.flatMap(({ i, stack }, slot) => {
    let base = 0;
    return f.series.filter((s) => s.stack === stack).flatMap((s): [number, number, number][] => {
      const stated = s.stated[i];
      const at = base;
      base += isNumber(s.values[i]) ? (s.values[i] as number) : 0;
      return isNumber(stated) ? [[slot, at + stated, 0]] : [];
    });
  });
}

function stackTip(f: Figure, slot: Slot, items: TooltipItem[]): string {
  if (slot.stack === null) return "";
  const part = (name: string) => f.series.find((s) => s.stack === slot.stack && s.name === name);
  const sum = f.series.filter((s) => s.stack === slot.stack).reduce((total, s) => total + (isNumber(s.values[slot.i]) ? (s.values[slot.i] as number) : 0), 0);
  return `${tip(f, slot.i, items.slice().reverse(), (item) => part(item.seriesName), slot.stack === "" ? [] : ["·", slot.stack])}<br>together: <b>${digits(sum)}</b>`;
}

function stackOption(f: Figure, t: Theme, width: number): Option {
  const below = foot(f, width);
  const slots = slotsOf(f);
  const several = severalStacks(f);
  const layout = { barCategoryGap: several ? "8%" : "38%", barMaxWidth: 60 };
  const under = several ? underBars(f, width) : 0;
  const names = categoryAxis(t, f.x.values.map(String), { ...xName(f, t, below.height - under - 18), position: "bottom", offset: under,
    axisLine: { show: !several, lineStyle: { color: t.muted } },
    axisLabel: { color: t.ink, fontSize: 12, interval: 0, rotate: below.rotate, width: kLongestName, overflow: "truncate" } });
  const bars = categoryAxis(t, slots.map((_slot, i) => String(i)), { position: "bottom", axisLabel: { color: t.muted, fontSize: 11, interval: 0, rotate: standing(f, width) ? 0 : 90,
    formatter: (_name: string, i: number) => slots[i].stack ?? "", width: kLongestName, overflow: "truncate" } });
  return {
    ...frame(f, t, width),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t), formatter: (items: TooltipItem[]) => stackTip(f, slots[items[0].dataIndex], items) },
    xAxis: several ? [bars, { ...names, axisPointer: { show: false } }] : names,
    series: [...partsOf(f).map((name, p) => ({
      type: "bar", stack: "all", name, ...layout, itemStyle: { ...seriesFill(t, p), borderColor: t.paper, borderWidth: 0.5 },
      data: slots.map(({ i, stack }) => {
        const value = f.series.find((s) => s.stack === stack && s.name === name)?.values[i];
        return isNumber(value) ? value : "-";
      }),
    })), marks(t, statedTops(f, slots), 1, layout)],
  };
}

// --- lines -----------------------------------------------------------------------------------------------------------

/** Of the x values those that can be written without touching each other. */
export function ticks(values: number[], along: (x: number) => number, width: number,
                      measure: (text: string) => number = (text) => textWidth(text, 11)): number[] {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const range = along(sorted[sorted.length - 1]) - along(sorted[0]);
  let free = -Infinity;
  return sorted.filter((x) => {
    const at = range > 0 ? (along(x) - along(sorted[0])) / range * width : width / 2;
    const half = measure(xText(x)) / 2;
    if (at - half < free) return false;
    free = at + half + 8;
    return true;
  });
}

/** 500 k and 20 M, but 4096. */
export function xText(x: number): string {
  const round = Math.abs(x) >= 1e4 && [1e9, 1e6, 1e3].some((unit) => Math.abs(x) >= unit && x % (unit / 100) === 0);
  if (!round) return String(x);
  const [unit, name] = ([[1e9, "G"], [1e6, "M"], [1e3, "k"]] as const).find(([u]) => Math.abs(x) >= u && x % (u / 100) === 0)!;
  return `${+(x / unit).toPrecision(6)} ${name}`;
}

function lineAxis(f: Figure, t: Theme, width: number): object {
  const name = xName(f, t, 26);
  if (f.x.scale === "category") return categoryAxis(t, f.x.values.map(String), { ...name, ...xName(f, t, foot(f, width).height - 18),
    axisLabel: { color: t.ink, fontSize: 12, interval: 0, rotate: foot(f, width).rotate, width: kLongestName, overflow: "truncate" } });
  const along = f.x.scale === "log" ? Math.log : (x: number) => x;
  const values = f.x.values as number[];
  const marked = ticks(values, along, width - 100).map(along);
  const [low, high] = [Math.min(...values.map(along)), Math.max(...values.map(along))];
  const room = (high - low || 1) * 0.025;
  return valueAxis(t, { ...name, min: low - room, max: high + room, splitLine: { show: false }, axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } },
    axisTick: { show: true, customValues: values.map(along), lineStyle: { color: t.muted } },
    axisLabel: { color: t.muted, fontSize: 11, customValues: marked, formatter: (at: number) => xText(nearest(values, along, at)) } });
}

/** The x value drawn at `at`. */
function nearest(values: number[], along: (x: number) => number, at: number): number {
  return values.reduce((best, x) => (Math.abs(along(x) - at) < Math.abs(along(best) - at) ? x : best), values[0]);
}

function lineOption(f: Figure, t: Theme, width: number): Option {
  const numeric = f.x.scale !== "category";
  const along = f.x.scale === "log" ? Math.log : (x: number) => x;
  const place = (i: number) => (numeric ? along(f.x.values[i] as number) : i);
  const points = (cells: Cell[]) => cells.map((value, i) => [place(i), isNumber(value) ? value : "-"]);
  const order = (item: TooltipItem) => f.series[item.seriesIndex];
  return {
    ...frame(f, t, width),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: { type: "line", lineStyle: { color: t.muted }, label: { show: false } },
      formatter: (items: TooltipItem[]) => tip(f, items[0].dataIndex, items.filter((item) => item.seriesIndex < f.series.length), order) },
    xAxis: lineAxis(f, t, width),
    series: [
      ...f.series.map((s, i) => ({
        type: "line", name: s.name, symbol: kMarkers[i % kMarkers.length], symbolSize: 7, connectNulls: false, z: 3,
        lineStyle: { width: 2, type: seriesDash(t, i) }, itemStyle: { color: seriesColour(t, i) }, data: points(s.values),
      })),
      ...f.series.map((s, i) => ({
        type: "line", name: s.name, symbol: kDiamond, symbolSize: 12, lineStyle: { opacity: 0 }, z: 10, silent: true,
        itemStyle: { color: seriesColour(t, i), borderColor: t.ink, borderWidth: 1.6 }, data: s.stated.some(isNumber) ? points(s.stated) : [],
      })),
      { type: "line", name: kStatedName, data: [], symbol: kDiamond, itemStyle: { color: t.ink } },
    ],
  };
}

export function figureOption(f: Figure, t: Theme, width: number): Option {
  if (f.type === "lines") return lineOption(f, t, width);
  if (f.type === "tornado") return tornadoOption(f, t);
  return f.type === "stacked" ? stackOption(f, t, width) : barOption(f, t, width);
}
