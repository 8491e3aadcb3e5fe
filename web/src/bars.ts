// Bar charts over all workloads: speed-ups, and any measure side by side for the policies.
import type { Report } from "./data";
import { categoryAxis, legend, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { escapeHtml, kNone, ratio } from "./format";
import { geometricMean, speedup, type Metric } from "./metrics";
import { seriesColour, type Theme } from "./theme";

const kMostLabelledBars = 36;
/** Long names are set at an angle once there are many of them. */
const axisLabel = (t: Theme, names: string[]) => {
  const letters = names.reduce((sum, name) => sum + name.length, 0);
  return { color: t.ink, fontSize: 12, interval: 0, rotate: letters > 110 ? 30 : 0, hideOverlap: false };
};

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
function speedupRange(values: number[]): { min: number; max: number } {
  const step = 0.05;
  const low = Math.min(-step, ...values);
  const high = Math.max(step, ...values);
  return { min: Math.floor(low * 1.1 / step) * step, max: Math.ceil(high * 1.1 / step) * step };
}

function speedupOption(report: Report, t: Theme): Option {
  const { groups, labels } = report;
  const withMean = groups.length > 1;
  const names = groups.map((g) => g.name).concat(withMean ? ["geometric mean"] : []);
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
    grid: { left: 8, right: 8, top: 34, bottom: 4, containLabel: true },
    legend: legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: { type: "shadow" },
      formatter: (items: TooltipItem[]) => rows(items, (n) => ratio(n + 1)) },
    xAxis: categoryAxis(t, names, { axisLabel: axisLabel(t, names), axisLine: { onZero: false, lineStyle: { color: t.muted } } }),
    yAxis: valueAxis(t, { ...speedupRange(numbers),
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => ratio(n + 1) } }),
    series: others.map((label, i) => ({
      type: "bar", name: label, data: data[i], barMaxWidth: 34, barGap: "8%",
      itemStyle: { color: seriesColour(t, labels.indexOf(label)) },
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
    data: series.data.map((value) => typeof value === "number" && value < 0
      ? { value, label: { position: "bottom" } } : value),
  };
}

export function addSpeedups(charts: Charts, parent: HTMLElement, report: Report): void {
  charts.add(parent, {
    label: "Speed-up of each policy over the first one, per workload; the numbers are in the table below",
    height: 270,
    build: (t) => speedupOption(report, t),
  });
}

function metricOption(report: Report, metric: Metric, share: boolean, t: Theme): Option {
  const names = report.groups.map((g) => g.name);
  const alone = report.labels.length === 1;
  return {
    grid: { left: 8, right: 8, top: alone ? 10 : 30, bottom: 4, containLabel: true },
    legend: alone ? undefined : legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: { type: "shadow" },
      formatter: (items: TooltipItem[]) => rows(items, metric.show) },
    xAxis: categoryAxis(t, names, { axisLabel: axisLabel(t, names.concat(names)) }),
    yAxis: valueAxis(t, { min: 0, ...(share ? { max: 1, interval: 0.25 } : { splitNumber: 4 }),
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => share ? `${Math.round(100 * n)} %` : String(+n.toPrecision(6)) } }),
    series: report.labels.map((label, i) => ({
      type: "bar", name: label, barMaxWidth: 30, barGap: "8%",
      itemStyle: { color: seriesColour(t, i) },
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
    height: 210,
    build: (t) => metricOption(report, metric, share, t),
  });
}
