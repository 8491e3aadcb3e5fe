// How many launches by kernels waited for their first block, over time: one line per policy.
import { timedCycles, type Group, type LaunchQueue } from "./data";
import { legend, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { buttons, h } from "./dom";
import { digits, escapeHtml, short, whole } from "./format";
import { nestedRuns, type Nested } from "./launchtree";
import { seriesColour, seriesDash, type Theme } from "./theme";

type Which = "waiting" | "longest_of_an_sm";

/** Steps: every interval is drawn as wide as it is. */
export function queuePoints(queue: LaunchQueue, which: Which, cycles: number): [number, number][] {
  const values = queue[which];
  const out = values.map((value, i): [number, number] => [i * queue.interval, value]);
  if (out.length > 0) out.push([cycles, values[values.length - 1]]);
  return out;
}

function tip(runs: Nested[], which: Which, cycle: number): string {
  const lines = runs.map((run) => {
    const value = run.launch_tree.queue[which][Math.floor(cycle / run.launch_tree.queue.interval)];
    return `${escapeHtml(run.label)}: <b>${value === undefined ? "done" : digits(value)}</b>`;
  });
  return `<b>cycle ${whole(cycle)}</b><br>${lines.join("<br>")}`;
}

function option(runs: Nested[], labels: string[], which: Which, t: Theme): Option {
  return {
    grid: { left: 8, right: 20, top: 34, bottom: 8, containLabel: true },
    legend: legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", formatter: (items: { axisValue: number }[]) => tip(runs, which, items[0].axisValue) },
    xAxis: valueAxis(t, { min: 0, max: Math.max(...runs.map(timedCycles)), splitLine: { show: false },
      axisLine: { show: true, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, axisLabel: { color: t.muted, fontSize: 11, formatter: short } }),
    series: runs.map((run) => ({
      type: "line", step: "end", name: run.label, showSymbol: false, lineStyle: { width: 1.4, type: seriesDash(t, labels.indexOf(run.label)) },
      itemStyle: { color: seriesColour(t, labels.indexOf(run.label)) },
      data: queuePoints(run.launch_tree.queue, which, timedCycles(run)),
    })),
  };
}

/** Nothing where no kernel of the group launched one. */
export function addQueues(charts: Charts, parent: HTMLElement, group: Group, labels: string[]): void {
  const runs = nestedRuns(group);
  if (runs.length === 0) return;
  let which: Which = "waiting";
  parent.append(h("h3", {}, "Launches that wait, over time"),
    h("p", { class: "note" }, "Launches by kernels whose first block has not started: all of them, or those made by the blocks of one SM, " +
      "of the SM with most. Mean of each interval."),
    h("div", { class: "choices" }, buttons("Count", [["waiting", "all"], ["longest_of_an_sm", "of one SM"]], which, (value) => {
      which = value as Which;
      redraw();
    })));
  const redraw = charts.add(parent, {
    label: `Launches by kernels of ${group.name} that wait, over time, one line per policy`,
    height: 240,
    axes: () => ["cycle", "launches that wait"],
    build: (t) => option(runs, labels, which, t),
  });
}
