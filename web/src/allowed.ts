// How many warps of each SM a throttle policy let load, over time: a row per SM, a colour per mean.
import { configNumber, timedCycles, type Group, type Run } from "./data";
import { tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import { buttons, h } from "./dom";
import { digits, short, whole } from "./format";
import { cell } from "./rect";
import { zoomSlider } from "./zoom";
import { kRamp, rampColour, type Theme } from "./theme";

/** The end of the scale of colours: the slots of an SM, or the most that was seen. */
export function mostWarps(run: Run): number {
  const seen = Math.max(1, ...run.samples.allowed.warps.map((column) => Math.max(...column)));
  return configNumber(run, "sm.warps") ?? seen;
}

/** Rows [start, end, sm, warps] for the chart; none where no warp was allowed, which stays empty. */
export function cells(run: Run): [number, number, number, number][] {
  const { start, length, warps } = run.samples.allowed;
  return warps.flatMap((column, i) => column.flatMap((n, sm): [number, number, number, number][] =>
    (n > 0 ? [[start[i], start[i] + length[i], sm, n]] : [])));
}

function renderer(most: number) {
  return (parameters: RenderParameters, api: RenderApi) =>
    cell(parameters, api, [api.value(0), api.value(2)], [api.value(1), api.value(2) + 1], rampColour(api.value(3) / most));
}

function option(run: Run, end: number, t: Theme): Option {
  const data = cells(run);
  const sms = run.samples.allowed.warps[0].length;
  return {
    grid: { left: 52, right: 44, top: 6, bottom: 62 },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => {
      const [start, end, sm, warps] = data[item.dataIndex];
      return `SM ${sm}, cycles ${whole(start)} to ${whole(end)}<br><b>${digits(warps)}</b> warps allowed`;
    } },
    xAxis: valueAxis(t, { min: 0, max: end, name: "cycle", nameLocation: "middle", nameGap: 20, splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, max: sms, inverse: true, minInterval: 1, name: "SM", nameLocation: "middle", nameGap: 34, splitLine: { show: false } }),
    dataZoom: [zoomSlider(t, { xAxisIndex: 0, height: 16, bottom: 4, filterMode: "weakFilter", labelFormatter: (n: number) => short(n) })],
    series: [{
      type: "custom", progressive: 0, dimensions: ["start", "end", "sm", "warps"], encode: { x: [0, 1], y: 2 },
      data, renderItem: renderer(mostWarps(run)),
    }],
  };
}

/** Nothing where no run of the group was throttled. */
export function addAllowed(charts: Charts, parent: HTMLElement, group: Group): void {
  const throttled = group.runs.filter((run) => run.samples.allowed.start.length > 0);
  if (throttled.length === 0) return;
  let run = throttled[0];
  const ramp = h("span", { class: "ramp" });
  ramp.style.background = `linear-gradient(90deg, ${kRamp.join(", ")})`;
  const most = h("span");
  parent.append(h("h3", {}, "Warps allowed on each SM"),
    h("p", { class: "note" }, "How many warps with instructions left the throttle policy let load, mean over each column. " +
      "Few: the SM's cache is kept for few warps; at the end of a kernel also because few are left. Empty: the SM has no such warp."),
    h("div", { class: "choices" }, buttons("Policy", throttled.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
      run = throttled[+i];
      redraw();
    })),
    h("div", { class: "keys" }, h("span", { class: "key" }, "1 warp ", ramp, most)));
  const redraw = charts.add(parent, {
    label: `Warps allowed on each SM over time in ${group.name}`,
    height: Math.min(480, Math.max(200, 90 + 8 * run.samples.allowed.warps[0].length)),
    canvas: true,
    time: true,
    build: (t) => {
      most.textContent = ` ${mostWarps(run)} warps`;
      return option(run, Math.max(...group.runs.map(timedCycles)), t);
    },
  });
}
