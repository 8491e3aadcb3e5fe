// Bar charts over all workloads: speed-ups, and any measure side by side for the policies.
import * as echarts from "echarts/core";
import { MarkLineComponent } from "echarts/components";
import type { Report } from "./data";
import { categoryAxis, legend, moreLegend, shadow, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { escapeHtml, kNone, ratio } from "./format";
import { geometricMean, speedup, type Metric } from "./metrics";
import { seriesFill, type Theme } from "./theme";

echarts.use([MarkLineComponent]);

const kMostLabelledBars = 36;
/** Names are set at an angle where they would run into each other. */
function axisLabel(t: Theme, names: string[], width: number): object {
  const room = width / names.length / 7;  // letters
  const crowded = names.some((name, i) => i > 0 && (name.length + names[i - 1].length) / 2 + 1 > room);
  return { color: t.ink, fontSize: 12, interval: 0, rotate: crowded ? 30 : 0 };
}

interface TooltipItem {
  axisValue: string;
  seriesName: string;
  marker: string;
  value: number | string;
}

function rows(items: TooltipItem[], show: (n: number) => string): string {
  const lines = items.map((item) =>
    `${item.marker} ${escapeHtml(item.seriesName)}: <b>${typeof item.value === "number" ? show(item.value) : kNone}</b>`);
  return `<b>${escapeHtml(items[0].axisValue)}</b><br>${lines.join("<br>")}`;
}

/** Room above and below "no change", so that a difference of a per cent does not look like a landslide. */
function speedupRange(values: number[]): { min: number; max: number; interval: number } {
  const low = Math.min(-0.05, ...values);
  const high = Math.max(0.05, ...values);
  const interval = [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find((step) => (high - low) / step <= 7) ?? 50;
  return { min: Math.floor(low * 1.04 / interval) * interval, max: Math.ceil(high * 1.04 / interval) * interval, interval };
}

function speedupOption(report: Report, t: Theme, width: number): Option {
  const { groups, labels } = report;
  const withMean = groups.length > 1;
  const names = groups.map((g) => g.name).concat(withMean ? ["geo. mean"] : []);
  const others = labels.filter((label) => groups.some((g) => g.runs.some((r, i) => i > 0 && r.label === label)));
  const value = (label: string): (number | string)[] => {
    const each = groups.map((g) => {
      const run = g.runs.find((r, i) => i > 0 && r.label === label);
      return run ? speedup(run, g.runs[0]) : null;
    });
    return (withMean ? [...each, geometricMean(groups, label)] : each).map((s) => (s === null ? "-" : s - 1));
  };
  const data = others.map(value);
  const numbers = data.flat().filter((v): v is number => typeof v === "number");
  const labelled = numbers.length <= kMostLabelledBars;
  return {
    grid: { left: 8, right: 12, top: 34 + moreLegend(others, width), bottom: 10, containLabel: true },
    legend: legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t),
      formatter: (items: TooltipItem[]) => rows(items, (n) => ratio(n + 1)) },
    xAxis: categoryAxis(t, names, { axisLabel: axisLabel(t, names, width), axisLine: { onZero: false, lineStyle: { color: t.muted } } }),
    yAxis: valueAxis(t, { ...speedupRange(numbers),
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => ratio(n + 1) } }),
    series: others.map((label, i) => ({
      type: "bar", name: label, data: data[i], barMaxWidth: 34, barGap: "8%",
      itemStyle: seriesFill(t, labels.indexOf(label)),
      label: { show: labelled, fontSize: 11, color: t.ink,
        formatter: (item: { value: number | string }) => typeof item.value === "number" ? ratio(item.value + 1) : "" },
      markLine: i > 0 ? undefined : { silent: true, symbol: "none", data: [{ yAxis: 0 }], label: { show: false },
        lineStyle: { color: t.ink, type: "solid", width: 1 } },
    })).map((series) => outsideLabels(series)),
  };
}

/** Labels above bars that go up and below bars that go down. */
function outsideLabels<S extends { data: (number | string)[]; label: object }>(series: S): object {
  return {
    ...series,
    label: { ...series.label, position: "top" },
    data: series.data.map((value) => typeof value === "number" && value < -0.005
      ? { value, label: { position: "bottom" } } : value),
  };
}

export function addSpeedups(charts: Charts, parent: HTMLElement, report: Report): void {
  charts.add(parent, {
    label: "Speed-up of each policy over the first one, per workload; the numbers are in the table below",
    height: (width) => 270 + moreLegend(report.labels.slice(1), width),
    value: (n) => n + 1,
    axes: () => ["", `speed-up over ${[...new Set(report.groups.map((g) => g.runs[0].label))].join(", ")}`],
    build: (t, width) => speedupOption(report, t, width),
  });
}

function metricOption(report: Report, metric: Metric, share: boolean, t: Theme, width: number): Option {
  const names = report.groups.map((g) => g.name);
  const alone = report.labels.length === 1;
  return {
    grid: { left: 8, right: 8, top: alone ? 10 : 30 + moreLegend(report.labels, width), bottom: 10, containLabel: true },
    legend: alone ? undefined : legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t),
      formatter: (items: TooltipItem[]) => rows(items, metric.show) },
    xAxis: categoryAxis(t, names, { axisLabel: axisLabel(t, names, width) }),
    yAxis: valueAxis(t, { min: 0, ...(share ? { max: 1, interval: 0.25 } : { splitNumber: 4 }),
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => share ? `${Math.round(100 * n)} %` : String(+n.toPrecision(6)) } }),
    series: report.labels.map((label, i) => ({
      type: "bar", name: label, barMaxWidth: 30, barGap: "8%",
      itemStyle: seriesFill(t, i),
      data: report.groups.map((g) => {
        const run = g.runs.find((r) => r.label === label);
        return (run ? metric.value(run.result.totals) : null) ?? "-";
      }),
    })),
  };
}

/** `share`: the measure lies between 0 and 1. */
export function addMetric(charts: Charts, parent: HTMLElement, report: Report, metric: Metric, share: boolean): void {
  charts.add(parent, {
    label: `${metric.title} per workload and policy. ${metric.explain}`,
    height: (width) => 210 + (report.labels.length === 1 ? 0 : moreLegend(report.labels, width)),
    axes: () => ["", metric.title],
    build: (t, width) => metricOption(report, metric, share, t, width),
  });
}
