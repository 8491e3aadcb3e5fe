// Launches that kernels made, drawn under the launch that made them: what waits, what runs, where.
import { timedCycles, type Group, type LaunchTree, type Run, type TreeRows } from "./data";
import { tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import { buttons, h, select } from "./dom";
import { escapeHtml, percent, short, whole } from "./format";
import { rampKey, swatch } from "./launchmap";
import type { Numbers } from "./save";
import { kRamp, rampColour, seriesColour, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

export type Nested = Run & { launch_tree: LaunchTree };
export const nestedRuns = (group: Group): Nested[] => group.runs.filter((run): run is Nested => run.launch_tree !== null);

type Colouring = "home" | "sm" | "kernel" | "wait";
export type Home = "host" | "all" | "some" | "none";
const kHomes: { [home in Home]: string } = {
  host: "launched by the host", all: "all blocks on the SM of the block that launched them", some: "some blocks on that SM", none: "all on other SMs",
};

export function homeOf(rows: TreeRows, row: number): Home {
  if (rows.parent[row] === null) return "host";
  if (rows.on_parent_sm[row] === 0) return "none";
  return rows.on_parent_sm[row] === rows.blocks[row] ? "all" : "some";
}

function homeColour(t: Theme, home: Home): string {
  return { host: t.muted, all: seriesColour(t, 2), some: seriesColour(t, 1), none: seriesColour(t, 5) }[home];
}

const lastSm = (rows: TreeRows) => rows.first_sm.reduce((a, b) => Math.max(a, b), 0);

/** Of launches drawn one by one it is told whether all their blocks ran with their parent; of several together, the share. */
const byShare = (tree: LaunchTree, by: Colouring) => by === "home" && tree.bundle !== "launch";

function colours(tree: LaunchTree, by: Colouring, t: Theme): string[] {
  const { rows } = tree;
  const most = Math.log2(1 + rows.mean_wait.reduce((a, b) => Math.max(a, b), 1));  // long waits are few: a step for each doubling
  return rows.kernel.map((kernel, row) => {
    if (by === "kernel") return seriesColour(t, kernel);
    if (by === "home" && !byShare(tree, by)) return homeColour(t, homeOf(rows, row));
    if (rows.parent[row] === null) return t.muted;
    if (by === "home") return rampColour(rows.on_parent_sm[row] / rows.blocks[row]);
    return by === "sm" ? rampColour(rows.first_sm[row] / Math.max(1, lastSm(rows))) : rampColour(Math.log2(1 + rows.mean_wait[row]) / most);
  });
}

function key(tree: LaunchTree, by: Colouring, t: Theme): Node[] {
  const { rows } = tree;
  const line = h("span", { class: "key" }, h("span", { class: "swatch wait" }), "could start, waits for its first block");
  if (by === "sm") return [line, rampKey(kRamp, "first block on SM 0", `SM ${lastSm(rows)}`)];
  if (by === "wait") return [line, rampKey(kRamp, "waited 0", `${whole(rows.mean_wait.reduce((a, b) => Math.max(a, b), 0))} cycles`)];
  if (byShare(tree, by)) return [line, rampKey(kRamp, "no block on the SM of the block that launched it", "all")];
  if (by === "home") {
    const seen = new Set(rows.kernel.map((_kernel, row) => homeOf(rows, row)));
    return [line, ...(Object.keys(kHomes) as Home[]).filter((home) => seen.has(home)).map((home) => swatch(homeColour(t, home), kHomes[home]))];
  }
  return [line, ...rows.kernels.slice(0, 12).map((name, i) => swatch(seriesColour(t, i), name)),
    ...(rows.kernels.length > 12 ? [h("span", { class: "key" }, `and ${rows.kernels.length - 12} more`)] : [])];
}

const plural = (n: number, word: string) => `${whole(n)} ${word}${n === 1 ? "" : word.endsWith("h") ? "es" : "s"}`;

function tip(rows: TreeRows, row: number): string {
  const name = `<b>${escapeHtml(rows.kernels[rows.kernel[row]])}</b>`;
  const which = rows.launches[row] === 1 ? `launch ${rows.first_launch[row]}` : `${plural(rows.launches[row], "launch")}, the first ${rows.first_launch[row]}`;
  const span = `${plural(rows.blocks[row], "block")}, cycles ${whole(rows.first[row])} to ${whole(rows.end[row])}`;
  const parent = rows.parent[row];
  if (parent === null) return `${name} (${which}), by the host<br>${span}`;
  const by = `by ${escapeHtml(rows.kernels[rows.kernel[parent]])} (${rows.launches[parent] === 1 ? "launch" : "launches from"} ${rows.first_launch[parent]}), depth ${rows.depth[row]}`;
  const waited = rows.launches[row] === 1 ? `<b>${whole(rows.longest_wait[row])}</b>`
    : `<b>${whole(rows.mean_wait[row])}</b> on average, ${whole(rows.longest_wait[row])} at most`;
  return `${name} (${which})<br>${by}<br>could start in cycle ${whole(rows.start[row])}, waited ${waited}<br>${span}<br>` +
    `SM ${rows.sms[row]}; ${percent(rows.on_parent_sm[row] / rows.blocks[row])} of the blocks on their parent's`;
}

/** The part of a line that lies in the chart's area, or nothing. */
function line(area: RenderParameters["coordSys"], [x0, y0]: [number, number], [x1, y1]: [number, number], stroke: string): object[] {
  const x = (n: number) => Math.min(Math.max(n, area.x), area.x + area.width);
  const y = (n: number) => Math.min(Math.max(n, area.y), area.y + area.height);
  const gone = Math.max(x0, x1) < area.x || Math.min(x0, x1) > area.x + area.width || Math.max(y0, y1) < area.y || Math.min(y0, y1) > area.y + area.height;
  return gone ? [] : [{ type: "line", shape: { x1: x(x0), y1: y(y0), x2: x(x1), y2: y(y1) }, style: { stroke, lineWidth: 1 }, z2: 0 }];
}

/** A row: from its parent's down at its launch, thin while it waits, a bar while its blocks run. */
function renderer(rows: TreeRows, fills: string[], t: Theme) {
  return (parameters: RenderParameters, api: RenderApi): object => {
    const row = parameters.dataIndex;
    const area = parameters.coordSys;
    const parent = rows.parent[row];
    const middle = api.coord([rows.start[row], row + 0.5]);
    const from = api.coord([rows.first[row], row + 0.1]);
    const to = api.coord([rows.end[row], row + 0.9]);
    const parts = parent === null ? [] : line(area, [middle[0], api.coord([0, parent + 0.9])[1]], middle, t.line);
    parts.push(...line(area, middle, [from[0], middle[1]], t.muted));
    const [left, right] = [Math.max(from[0], area.x), Math.min(Math.max(to[0], from[0] + 1), area.x + area.width)];
    const [up, down] = [Math.max(from[1], area.y), Math.min(Math.max(to[1], from[1] + 0.5), area.y + area.height)];
    if (right > left && down > up)
      parts.push({ type: "rect", shape: { x: left, y: up, width: right - left, height: down - up }, style: { fill: fills[row] }, z2: 1 });
    return { type: "group", children: parts };
  };
}

function option(run: Nested, group: Group, by: Colouring, t: Theme): Option {
  const { rows } = run.launch_tree;
  const count = rows.kernel.length;
  const end = Math.max(...group.runs.map(timedCycles));
  return {
    grid: { left: 60, right: 44, top: 6, bottom: 62 },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => tip(rows, item.dataIndex) },
    xAxis: valueAxis(t, { min: 0, max: end, name: "cycle", nameLocation: "middle", nameGap: 20, splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, max: count, inverse: true, minInterval: 1, name: "launch", nameLocation: "middle", nameGap: 42, splitLine: { show: false },
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => String(rows.first_launch[n] ?? "") } }),
    dataZoom: [
      zoomSlider(t, { xAxisIndex: 0, height: 16, bottom: 4, filterMode: "weakFilter", labelFormatter: (n: number) => short(n) }),
      zoomSlider(t, { yAxisIndex: 0, width: 14, right: 6, filterMode: "weakFilter", labelFormatter: (n: number) => String(Math.round(n)) }),
    ],
    series: [{
      type: "custom", progressive: 0, dimensions: ["start", "end", "row", "below"], encode: { x: [0, 1], y: [2, 3] },
      data: rows.start.map((start, row) => [start, rows.end[row], row, row + 1]),
      renderItem: renderer(rows, colours(run.launch_tree, by, t), t),
    }],
  };
}

const kBundles: { [bundle in LaunchTree["bundle"]]: string } = {
  launch: "A row is a launch",
  siblings: "There are too many to draw each: a row holds the launches of one kernel by one block",
  path: "There are too many to draw each: a row holds the launches of one kernel by all launches of its parent's row",
};

export function treeNote(run: Nested): string {
  const tree = run.launch_tree;
  const deepest = tree.edges.reduce((depth, edge) => Math.max(depth, edge.depth), 0);
  const parts = [`Kernels made ${plural(tree.launches, "launch")}, nested ${deepest} deep. ${kBundles[tree.bundle]}. Each stands under the row that made it: ` +
    "a line while it waits for its first block, a bar from there to the end of its last. Host launches without descendants are left out."];
  if (tree.rows_left_out > 0) parts.push(`${whole(tree.rows_left_out)} rows are left out.`);
  return parts.join(" ");
}

export function treeNumbers(rows: TreeRows): Numbers {
  return { columns: ["kernel", "first_launch", "launches", "depth", "parent_row", "blocks", "on_parent_sm", "start", "first_block", "end"],
    rows: rows.kernel.map((kernel, i) => [rows.kernels[kernel], rows.first_launch[i], rows.launches[i], rows.depth[i], rows.parent[i], rows.blocks[i],
      rows.on_parent_sm[i], rows.start[i], rows.first[i], rows.end[i]]) };
}

/** Nothing where no kernel of the group launched one. */
export function addLaunchTree(charts: Charts, parent: HTMLElement, group: Group): void {
  const shown = nestedRuns(group);
  if (shown.length === 0) return;
  let run = shown[0];
  let by: Colouring = "home";
  const text = h("p", { class: "note" });
  const keys = h("div", { class: "keys" });
  parent.append(h("h3", {}, "Launch tree"), text, h("div", { class: "choices" },
    buttons("Policy", shown.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
      run = shown[+i];
      redraw();
    }),
    select("Colour by", [["home", "parent's SM or another"], ["sm", "SM"], ["kernel", "kernel"], ["wait", "wait"]], by, (value) => {
      by = value as Colouring;
      redraw();
    })), keys);
  const rows = Math.max(...shown.map((r) => r.launch_tree.rows.kernel.length));
  const redraw = charts.add(parent, {
    label: `Launch tree of ${group.name}: launches by kernels under the launch that made them, over time`,
    height: Math.min(620, Math.max(200, 90 + 11 * rows)),
    canvas: true,
    numbers: () => treeNumbers(run.launch_tree.rows),
    build: (t) => {
      text.textContent = treeNote(run);
      keys.replaceChildren(...key(run.launch_tree, by, t));
      return option(run, group, by, t);
    },
  });
}
