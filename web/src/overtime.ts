// Activity over time: one line per policy of a workload.
import { configNumber, timedCycles, type Group, type Run, type Samples } from "./data";
import { legend, moreLegend, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { buttons, h } from "./dom";
import { digits, escapeHtml, kNone, percent, short, whole } from "./format";
import { seriesColour, seriesDash, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

interface Measure {
  title: string;
  explain: string;
  value: (s: Samples, i: number, run: Run) => number | null;
  show: (n: number) => string;
}

const kMeasures: { [name: string]: Measure } = {
  ipc: {
    title: "IPC",
    explain: "Thread instructions per cycle of the whole GPU, averaged over each sampling interval.",
    value: (s, i) => s.thread_instructions[i] / s.length[i],
    show: digits,
  },
  l1d: {
    title: "L1D hit rate",
    explain: "Share of first-level data-cache accesses of each interval that hit. Gaps: no access in that time.",
    value: (s, i) => (s.l1d_accesses[i] > 0 ? s.l1d_hits[i] / s.l1d_accesses[i] : null),
    show: percent,
  },
  dram: {
    title: "DRAM bytes per cycle",
    explain: "Off-chip bandwidth used in each interval, in bytes per core cycle.",
    value: (s, i) => s.dram_bytes[i] / s.length[i],
    show: digits,
  },
  warps: {
    title: "Warps allowed",
    explain: "Warps of an SM that have instructions left and that the throttle policy, if there is one, lets load: " +
      "the mean over all SMs and the interval.",
    value: (s, i, run) => (s.warp_cycles[i] - s.throttled_warp_cycles[i]) / s.length[i] / (configNumber(run, "sm.count") ?? 1),
    show: digits,
  },
};

/** Steps: every interval is drawn as wide as it is. */
function points(run: Run, measure: Measure): [number, number | null][] {
  const s = run.samples;
  const out: [number, number | null][] = [];
  for (let i = 0; i < s.start.length; i++)
    if (s.length[i] > 0) out.push([s.start[i], measure.value(s, i, run)]);
  const last = s.start.length - 1;
  if (out.length > 0) out.push([s.start[last] + s.length[last], out[out.length - 1][1]]);
  return out;
}

/** What each run did at that cycle: samples of different runs need not begin at the same cycles. */
function tip(group: Group, measure: Measure, cycle: number): string {
  const lines = group.runs.map((run) => {
    const s = run.samples;
    const i = s.start.findIndex((start, k) => start <= cycle && cycle < start + s.length[k]);
    const value = i < 0 ? null : measure.value(s, i, run);
    const shown = i < 0 ? "done" : value === null ? kNone : measure.show(value);
    return `${escapeHtml(run.label)}: <b>${shown}</b>`;
  });
  return `<b>cycle ${whole(cycle)}</b><br>${lines.join("<br>")}`;
}

function option(group: Group, labels: string[], measure: Measure, t: Theme, width: number): Option {
  const end = Math.max(...group.runs.map(timedCycles));
  return {
    grid: { left: 52, right: 44, top: 34 + moreLegend(group.runs.map((run) => run.label), width), bottom: 44 },  // the time axis of the blocks below
    legend: legend(t, { icon: undefined, itemWidth: 26 }),  // a line as it is drawn: colours come back dashed
    tooltip: { ...tooltip(t), trigger: "axis", formatter: (items: { axisValue: number }[]) => tip(group, measure, items[0].axisValue) },
    xAxis: valueAxis(t, { min: 0, max: end, splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: t.muted } },
      axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0,
      axisLabel: { color: t.muted, fontSize: 11, formatter: measure.show === percent ? (n: number) => `${Math.round(100 * n)} %` : undefined } }),
    dataZoom: [zoomSlider(t, { height: 16, bottom: 6, labelFormatter: (n: number) => short(n), filterMode: "none" })],
    series: group.runs.map((run) => ({
      type: "line", step: "end", name: run.label, showSymbol: false, connectNulls: false,
      lineStyle: { width: 1.4, type: seriesDash(t, labels.indexOf(run.label)) }, itemStyle: { color: seriesColour(t, labels.indexOf(run.label)) },
      data: points(run, measure),
    })),
  };
}

export function addOverTime(charts: Charts, parent: HTMLElement, group: Group, labels: string[]): void {
  const sampled = group.runs.filter((run) => run.samples.start.length > 0);
  parent.append(h("h3", {}, "Over time"));
  if (sampled.length === 0) {
    parent.append(h("p", { class: "none" }, "These runs were made without samples, so there is no course over time to show."));
    return;
  }
  let measure = kMeasures.ipc;
  const note = h("p", { class: "note" });
  const explain = () => {
    note.textContent = `${measure.explain} Samples every ${whole(sampled[0].samples.interval)} cycles. ` +
      "Where a line ends, that run was done; the gap between the ends is the time saved.";
  };
  explain();
  const names = Object.entries(kMeasures).map(([name, m]): [string, string] => [name, m.title]);
  parent.append(note, h("div", { class: "choices" }, buttons("Show", names, "ipc", (name) => {
    measure = kMeasures[name];
    explain();
    redraw();
  })));
  const redraw = charts.add(parent, {
    label: `Activity over time of ${group.name}, one line per policy`,
    height: (width) => 270 + moreLegend(group.runs.map((run) => run.label), width),
    time: true,
    axes: () => ["cycle", measure.title],
    build: (t, width) => option(group, labels, measure, t, width),
  });
}
