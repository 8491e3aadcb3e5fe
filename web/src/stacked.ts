// Horizontal stacked bars, one per run under the name of its workload: stall reasons, energy.
import type { Report, Run } from "./data";
import { categoryAxis, legend, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { escapeHtml } from "./format";
import type { Theme } from "./theme";

export interface Stack {
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
export function stackRows(report: Report): Row[] {
  const alone = report.groups.every((g) => g.runs.length === 1);
  return report.groups.flatMap((g): Row[] => {
    if (alone) return [{ text: g.name, heading: true, run: g.runs[0] }];
    return [{ text: g.name, heading: true, run: null },
      ...g.runs.map((run) => ({ text: run.label, heading: false, run }))];
  });
}

const kRowHeight = 21;
export function stackHeight(report: Report): number {
  return 64 + kRowHeight * stackRows(report).length;
}

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

function stackOption(report: Report, stack: Stack, t: Theme): Option {
  const rows = stackRows(report);
  return {
    grid: { left: 8, right: 26, top: 40, bottom: 4, containLabel: true },
    legend: legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: { type: "shadow" },
      formatter: (items: TooltipItem[]) => tip(rows, stack, items) },
    xAxis: valueAxis(t, { min: 0, max: stack.max, axisLabel: { color: t.muted, fontSize: 11, formatter: stack.axis } }),
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

/** Returns what redraws the chart after `stack` gives other values. */
export function addStack(charts: Charts, parent: HTMLElement, report: Report, stack: () => Stack): () => void {
  return charts.add(parent, {
    label: stack().label,
    height: stackHeight(report),
    build: (t) => stackOption(report, stack(), t),
  });
}
