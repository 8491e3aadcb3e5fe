// Who ran where and when: every thread block as a bar, SMs from top to bottom, cycles from left to right.
import { configNumber, isCorun, kernelTitle, timedCycles, type Group, type Run } from "./data";
import { tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import { buttons, h, select } from "./dom";
import { escapeHtml, short, whole } from "./format";
import type { Numbers } from "./save";
import { kRamp, partColour, rampColour, seriesColour, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

export type Colouring = "kernel" | "launch" | "block";

function kernelName(run: Run, launch: number): string {
  const kernel = run.result.kernels[launch];
  return kernel ? kernelTitle(kernel) : `launch ${launch}`;
}

/** What tells the most: kernels if there are several, else launches, else the order of the blocks. */
export function bestColouring(run: Run): Colouring {
  const { kernels } = run.result;
  if (new Set(kernels.map((k) => k.name)).size > 1) return "kernel";
  return kernels.length > 1 ? "launch" : "block";
}

/** Which kernel a block of a tenant is of is not told. */
export function colourings(run: Run): [value: Colouring, text: string][] {
  const all: [Colouring, string][] = [["kernel", "kernel"], ["launch", "launch"], ["block", "place in the grid"]];
  return isCorun(run) ? all.filter(([value]) => value !== "kernel") : all;
}

function colours(run: Run, by: Colouring, t: Theme): (bar: number) => string {
  const { launch, first } = run.blocks;
  if (by === "launch") return (bar) => seriesColour(t, launch[bar]);
  if (by === "block") {
    const most = new Map<number, number>();
    for (let i = 0; i < first.length; i++) most.set(launch[i], Math.max(most.get(launch[i]) ?? 1, first[i]));
    return (bar) => rampColour(first[bar] / most.get(launch[bar])!);
  }
  const names = [...new Set(run.result.kernels.map((k) => k.name))];
  const numbers = new Map(names.map((name, i) => [name, i]));
  return (bar) => partColour(t, numbers.get(run.result.kernels[launch[bar]]?.name ?? "") ?? 0);
}

/** What a colour stands for, as elements above the chart. */
function key(run: Run, by: Colouring, t: Theme): Node[] {
  const item = (colour: string, text: string) => {
    const swatch = h("span", { class: "swatch" });
    swatch.style.background = colour;
    return h("span", { class: "key" }, swatch, text);
  };
  if (by === "block") {
    const ramp = h("span", { class: "ramp" });
    ramp.style.background = `linear-gradient(90deg, ${kRamp.join(", ")})`;
    return [h("span", { class: "key" }, "first block of the grid ", ramp, " last block")];
  }
  if (by === "launch") return [h("span", { class: "key" }, "neighbouring launches differ in colour")];
  const byName = new Map(run.result.kernels.map((k) => [k.name, kernelTitle(k)]));
  const names = [...byName.values()];
  return names.slice(0, 12).map((name, i) => item(partColour(t, i), name))
    .concat(names.length > 12 ? [h("span", { class: "key" }, `and ${names.length - 12} more`)] : []);
}

interface Shape {
  sms: number;
  lanes: number;
  end: number;
}

function shapeOf(run: Run, group: Group): Shape {
  const { sm, lane } = run.blocks;
  let lanes = 1;
  let last = 0;
  for (let i = 0; i < sm.length; i++) {
    lanes = Math.max(lanes, lane[i] + 1);
    last = Math.max(last, sm[i]);
  }
  const sms = Math.max(last + 1, configNumber(run, "sm.count") ?? 0);
  return { sms, lanes, end: Math.max(...group.runs.map((r) => timedCycles(r))) };
}

function renderer(shape: Shape, colour: (bar: number) => string) {
  return (parameters: RenderParameters, api: RenderApi) => {
    const { x: left, y: top, width, height } = parameters.coordSys;
    const sm = api.value(2);
    const margin = 0.06;
    const laneHeight = (1 - 2 * margin) / shape.lanes;
    const y = sm + margin + api.value(3) * laneHeight;
    const [x0, y0] = api.coord([api.value(0), y]);
    const [x1, y1] = api.coord([api.value(1), y + laneHeight]);
    const from = Math.max(x0, left);
    const to = Math.min(x1, left + width);
    const up = Math.max(Math.min(y0, y1), top);
    const down = Math.min(Math.max(y0, y1), top + height);
    if (to < from || down <= up) return undefined;
    const gap = x1 - x0 > 3 ? 0.6 : 0;
    return {
      type: "rect",
      shape: { x: from, y: up, width: Math.max(to - from - gap, 0.4), height: Math.max(down - up - (down - up > 3 ? 0.6 : 0), 0.3) },
      style: { fill: colour(parameters.dataIndex) },
    };
  };
}

function tip(run: Run, bar: number): string {
  const b = run.blocks;
  const end = b.start[bar] + b.length[bar];
  const blocks = b.merged > 1 && b.count[bar] > 1
    ? `${b.count[bar]} blocks, ${b.first[bar]} to ${b.last[bar]}` : `block ${b.first[bar]}`;
  return `<b>${escapeHtml(kernelName(run, b.launch[bar]))}</b> (launch ${b.launch[bar]})<br>${blocks} on SM ${b.sm[bar]}<br>` +
    `cycles ${whole(b.start[bar])} to ${whole(end)}: <b>${whole(b.length[bar])}</b>`;
}

function option(run: Run, group: Group, by: Colouring, t: Theme): Option {
  const b = run.blocks;
  const shape = shapeOf(run, group);
  return {
    grid: { left: 52, right: 44, top: 6, bottom: 62 },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => tip(run, item.dataIndex) },
    xAxis: valueAxis(t, { min: 0, max: shape.end, name: "cycle", nameLocation: "middle", nameGap: 20, splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, max: shape.sms, inverse: true, minInterval: 1, name: "SM", nameLocation: "middle", nameGap: 34,
      splitLine: { show: shape.sms <= 40, lineStyle: { color: t.line } } }),
    dataZoom: [
      zoomSlider(t, { xAxisIndex: 0, height: 16, bottom: 4, filterMode: "weakFilter", labelFormatter: (n: number) => short(n) }),
      zoomSlider(t, { yAxisIndex: 0, width: 14, right: 6, filterMode: "weakFilter", labelFormatter: (n: number) => String(Math.round(n)) }),
      { type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl", filterMode: "weakFilter" },
    ],
    series: [{
      type: "custom", progressive: 0,  // all in one frame: zrender 5.6 trips when a chart goes away between two
      dimensions: ["start", "end", "sm", "lane"], encode: { x: [0, 1], y: 2 },
      data: b.start.map((start, i) => [start, start + b.length[i], b.sm[i], b.lane[i]]),
      renderItem: renderer(shape, colours(run, by, t)),
    }],
  };
}

function note(run: Run): string {
  const b = run.blocks;
  const parts = [`${whole(b.total)} thread blocks. Each bar is a block; blocks resident together on one SM lie below each other. ` +
    "Empty space is an SM without work. Zoom with the sliders, or with Ctrl and the mouse wheel; drag to move."];
  if (b.merged > 1) parts.push(`To keep the page small, up to ${b.merged} blocks that followed each other are drawn as one bar.`);
  if (b.until !== null) parts.push(`Only blocks that started before cycle ${whole(b.until)} are shown.`);
  return parts.join(" ");
}

function numbers(run: Run): Numbers {
  const b = run.blocks;
  return { columns: ["kernel", "launch", "first_block", "blocks", "sm", "lane", "start", "end"],
    rows: b.start.map((start, i) => [kernelName(run, b.launch[i]), b.launch[i], b.first[i], b.count[i] ?? 1, b.sm[i], b.lane[i], start, start + b.length[i]]) };
}

export function addTimeline(charts: Charts, parent: HTMLElement, group: Group): void {
  parent.append(h("h3", {}, "Thread blocks on the SMs"));
  const shown = group.runs.filter((run) => run.blocks.start.length > 0);
  if (shown.length === 0) {
    parent.append(h("p", { class: "none" }, "No thread blocks were recorded for these runs."));
    return;
  }
  let run = shown[0];
  let by = bestColouring(run);
  const text = h("p", { class: "note" });
  const legendRow = h("div", { class: "keys" });
  const options = shown.map((r, i): [string, string] => [String(i), r.label]);
  parent.append(text, h("div", { class: "choices" },
    buttons("Policy", options, String(shown.indexOf(run)), (i) => {
      run = shown[+i];
      redraw();
    }),
    select("Colour by", colourings(run), by, (value) => {
      by = value as Colouring;
      redraw();
    })), legendRow);
  const height = Math.min(620, Math.max(260, 90 + 9 * shapeOf(run, group).sms));
  const redraw = charts.add(parent, {
    label: `Thread blocks of ${group.name} on the SMs over time`,
    height,
    canvas: true,
    time: true,
    numbers: () => numbers(run),
    build: (t) => {
      text.textContent = note(run);
      legendRow.replaceChildren(...key(run, by, t));
      return option(run, group, by, t);
    },
  });
}
