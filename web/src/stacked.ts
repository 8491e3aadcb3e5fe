// Horizontal stacked bars, one per run under the name of its workload: stall reasons, energy.
import type { Report, Run } from "./data";
import { categoryAxis, legend, legendRows, shadow, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { buttons, h } from "./dom";
import { escapeHtml, percent } from "./format";
import type { Theme } from "./theme";

interface Stack {
  label: string;
  parts: string[];
  title: (part: string) => string;
  colour: (t: Theme, part: string) => string;
  value: (run: Run, part: string) => number;
  show: (n: number) => string;
  axis: (n: number) => string;
  /** Upper end of the axis; left open when absent. */
  max?: number;
}

interface Row {
  text: string;
  heading: boolean;
  run: Run | null;
}

/** A heading per workload where there is more than one run of it. */
function stackRows(report: Report): Row[] {
  const alone = report.groups.every((g) => g.runs.length === 1);
  return report.groups.flatMap((g): Row[] => {
    if (alone) return [{ text: g.name, heading: true, run: g.runs[0] }];
    return [{ text: g.name, heading: true, run: null },
      ...g.runs.map((run) => ({ text: run.label, heading: false, run }))];
  });
}

const kRowHeight = 21;
const kMostRows = 38;

interface TooltipItem {
  dataIndex: number;
  seriesName: string;
  marker: string;
  value: number | string;
}

function tip(rows: Row[], stack: Stack, items: TooltipItem[]): string {
  const row = rows[items[0].dataIndex];
  if (row.run === null) return "";
  const lines = items.filter((item) => typeof item.value === "number" && item.value > 0)
    .map((item) => `${item.marker} ${escapeHtml(item.seriesName)}: <b>${stack.show(item.value as number)}</b>`);
  return `<b>${escapeHtml(`${row.run.result.workload.name} · ${row.run.label}`)}</b><br>${lines.join("<br>")}`;
}

/** Room for the row labels; ECharts does not measure labels of two weights. */
function widest(rows: Row[]): number {
  const pen = document.createElement("canvas").getContext("2d")!;
  return Math.ceil(Math.max(0, ...rows.map((row) => {
    pen.font = `${row.heading ? "bold " : ""}12px system-ui, sans-serif`;
    return pen.measureText(row.text).width;
  })));
}

const partRows = (stack: Stack, width: number) => legendRows(stack.parts.map((part) => stack.title(part)), width, 10 + 5 + 9, 11.5);

const kLegendRow = 21;

function stackOption(report: Report, stack: Stack, t: Theme, width: number): Option {
  const rows = stackRows(report);
  return {
    grid: { left: 14 + widest(rows), right: 26, top: 19 + kLegendRow * partRows(stack, width), bottom: 24 },
    legend: legend(t, { itemGap: 9, itemWidth: 10, itemHeight: 10, textStyle: { color: t.ink, fontSize: 11.5 } }),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t),
      formatter: (items: TooltipItem[]) => tip(rows, stack, items) },
    xAxis: valueAxis(t, { min: 0, max: stack.max, splitNumber: width < 560 ? 2 : 5, axisLabel: { color: t.muted, fontSize: 11, formatter: stack.axis, hideOverlap: true } }),
    yAxis: categoryAxis(t, rows.map((_row, i) => String(i)), {
      inverse: true,
      axisLine: { show: false },
      axisLabel: {
        interval: 0,
        formatter: (i: string) => rows[+i].heading ? `{heading|${rows[+i].text}}` : rows[+i].text,
        rich: { heading: { fontWeight: "bold", color: t.ink, fontSize: 12 } },
        color: t.ink, fontSize: 12,
      },
    }),
    series: stack.parts.map((part) => ({
      type: "bar", stack: "all", name: stack.title(part), barWidth: 15,
      itemStyle: { color: stack.colour(t, part), borderColor: t.paper, borderWidth: 0.5 },
      data: rows.map((row) => (row.run ? stack.value(row.run, part) : "-")),
    })),
  };
}

/** Parts of the report whose charts fit a printed page each. */
function pages(report: Report): Report[] {
  const out: Report[] = [];
  for (const group of report.groups) {
    const last = out[out.length - 1];
    const longer = last ? { ...last, groups: [...last.groups, group] } : null;
    if (longer !== null && stackRows(longer).length <= kMostRows) out[out.length - 1] = longer;
    else out.push({ ...report, groups: [group] });
  }
  return out;
}

/** The longest bar, rounded up to a round number: the common end of the axes of several charts. */
function longest(report: Report, stack: Stack): number {
  const sums = report.groups.flatMap((g) => g.runs.map((run) => stack.parts.reduce((sum, part) => sum + stack.value(run, part), 0)));
  const most = Math.max(...sums);
  if (most <= 0) return 1;
  const step = 10 ** Math.floor(Math.log10(most)) / 5;
  return Math.ceil(most / step - 1e-9) * step;
}

/** Returns what redraws the charts after `stack` gives other values. */
function addStack(charts: Charts, parent: HTMLElement, report: Report, stack: () => Stack): () => void {
  const parts = pages(report);
  const redraws = parts.map((part) => charts.add(parent, {
    label: stack().label,
    height: (width) => 43 + kLegendRow * partRows(stack(), width) + kRowHeight * stackRows(part).length,
    axes: () => ["", stack().label],
    build: (t, width) => {
      const s = stack();
      return stackOption(part, parts.length > 1 ? { ...s, max: s.max ?? longest(report, s) } : s, t, width);
    },
  }));
  return () => redraws.forEach((redraw) => redraw());
}

/** Parts of a whole that each run has. */
export interface Parts extends Pick<Stack, "label" | "parts" | "title" | "colour"> {
  amount: (run: Run, part: string) => number;
  whole: (run: Run) => number;
  /** How amounts are written; absent: they are shown as shares only. */
  show?: (n: number) => string;
}

export type Measure = "share" | "relative" | "amount";
const kMeasures: { [measure in Measure]: string } = {
  amount: "amounts", share: "shares of each run", relative: "length relative to the first policy",
};

function shareStack(report: Report, of: Parts, measure: Measure): Stack {
  const { label, parts, title, colour } = of;
  if (measure === "amount") return { label, parts, title, colour, value: of.amount, show: of.show!, axis: of.show! };
  const base = new Map<Run, Run>();
  for (const g of report.groups) for (const run of g.runs) base.set(run, measure === "relative" ? g.runs[0] : run);
  return {
    label, parts, title, colour,
    value: (run, part) => of.amount(run, part) / Math.max(1, of.whole(base.get(run)!)),
    show: percent,
    axis: (n) => `${Math.round(100 * n)} %`,
    max: measure === "share" ? 1 : undefined,
  };
}

/** Bars of each run's parts, as the reader chooses; relative to the first of its group only where there are several. */
export function addShares(charts: Charts, parent: HTMLElement, report: Report, of: Parts, first: Measure): void {
  const several = report.groups.some((g) => g.runs.length > 1);
  const choices = (Object.keys(kMeasures) as Measure[]).filter((m) => (m !== "amount" || of.show !== undefined) && (m !== "relative" || several));
  let measure = choices.includes(first) ? first : choices[0];
  if (choices.length > 1)
    parent.append(h("div", { class: "choices" }, buttons("Bars show", choices.map((m) => [m, kMeasures[m]]), measure, (value) => {
      measure = value as Measure;
      redraw();
    })));
  const redraw = addStack(charts, parent, report, () => shareStack(report, of, measure));
}
