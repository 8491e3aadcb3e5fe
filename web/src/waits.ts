// How long launches by kernels waited between their launch and their first block: how many waited how long, who made them, which waited longest.
import type { DeviceLaunch, Group, LaunchEdge } from "./data";
import { categoryAxis, legend, shadow, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { buttons, h, select } from "./dom";
import { escapeHtml, percent, short, whole } from "./format";
import { nestedRuns, type Nested } from "./launchtree";
import { table, type Column } from "./table";
import { partColour, type Theme } from "./theme";

export type Grouping = "edge" | "parent" | "depth";

export interface WaitGroup {
  name: string;
  launches: number;
  /** Waits::bins of the launches. */
  bins: number[];
}

const nameOf: { [by in Grouping]: (edge: LaunchEdge) => string } = {
  edge: (edge) => `${edge.parent} > ${edge.child}`,
  parent: (edge) => edge.parent,
  depth: (edge) => `depth ${edge.depth}`,
};

const kMostGroups = 12;

/** In order of appearance; beyond the colours there are, the smallest together. */
export function waitGroups(edges: LaunchEdge[], by: Grouping): WaitGroup[] {
  const add = (into: WaitGroup, launches: number, bins: number[]) => {
    into.launches += launches;
    bins.forEach((n, b) => { into.bins[b] = (into.bins[b] ?? 0) + n; });
  };
  const groups = new Map<string, WaitGroup>();
  for (const edge of edges) {
    const name = nameOf[by](edge);
    const group = groups.get(name) ?? { name, launches: 0, bins: [] };
    groups.set(name, group);
    add(group, edge.launches, edge.waits.bins);
  }
  const all = [...groups.values()];
  if (all.length <= kMostGroups) return all;
  const largest = new Set([...all].sort((a, b) => b.launches - a.launches).slice(0, kMostGroups - 1));
  const others: WaitGroup = { name: `${all.length - largest.size} others`, launches: 0, bins: [] };
  for (const group of all) if (!largest.has(group)) add(others, group.launches, group.bins);
  return [...all.filter((group) => largest.has(group)), others];
}

/** "0", "1", "2–3", "4–7", ... */
export function binName(bin: number): string {
  if (bin < 2) return String(bin);
  const [from, to] = [2 ** (bin - 1), 2 ** bin - 1];
  return bin > 13 ? `${short(from)}–${short(to)}` : `${whole(from)}–${whole(to)}`;
}

interface TooltipItem {
  axisValue: string;
  seriesName: string;
  marker: string;
  value: number;
}

function tip(items: TooltipItem[]): string {
  const lines = items.filter((item) => item.value > 0).map((item) => `${item.marker} ${escapeHtml(item.seriesName)}: <b>${whole(item.value)}</b>`);
  return `<b>waited ${escapeHtml(items[0].axisValue)} cycles</b><br>${lines.length > 0 ? lines.join("<br>") : "no launch"}`;
}

function option(run: Nested, by: Grouping, t: Theme): Option {
  const groups = waitGroups(run.launch_tree.edges, by);
  const bins = Math.max(...groups.map((g) => g.bins.length));
  const first = Math.min(...groups.map((g) => g.bins.findIndex((n) => n > 0)));
  const places = Array.from({ length: bins - first }, (_n, i) => first + i);
  return {
    grid: { left: 8, right: 12, top: 34, bottom: 28, containLabel: true },
    legend: { ...legend(t), type: "scroll" },
    tooltip: { ...tooltip(t), trigger: "axis", axisPointer: shadow(t), formatter: tip },
    xAxis: categoryAxis(t, places.map(binName), { name: "cycles waited", nameLocation: "middle", nameGap: 24, nameTextStyle: { color: t.muted, fontSize: 11 } }),
    yAxis: valueAxis(t, { min: 0, minInterval: 1, axisLabel: { color: t.muted, fontSize: 11, formatter: short } }),
    series: groups.map((g, i) => ({
      type: "bar", stack: "launches", name: g.name, barMaxWidth: 60, itemStyle: { color: partColour(t, i) },
      data: places.map((bin) => g.bins[bin] ?? 0),
    })),
  };
}

const code = (text: string) => h("code", {}, text);

function edgeColumns(): Column<LaunchEdge>[] {
  const cycles = (title: string, explain: string, of: (edge: LaunchEdge) => number): Column<LaunchEdge> =>
    ({ title, explain, value: of, show: (edge) => whole(of(edge)) });
  return [
    { title: "Parent", explain: "Kernel that launches", value: (edge) => edge.parent, show: (edge) => code(edge.parent) },
    { title: "Child", explain: "Kernel that is launched", value: (edge) => edge.child, show: (edge) => code(edge.child) },
    { title: "Depth", explain: "Launches above the child", value: (edge) => edge.depth },
    cycles("Launches", "Made by blocks of the parent", (edge) => edge.launches),
    cycles("Blocks", "Of these launches", (edge) => edge.blocks),
    { title: "On parent's SM", explain: "Share of the blocks that ran on the SM of the block that had launched them",
      value: (edge) => edge.on_parent_sm / edge.blocks, show: (edge) => percent(edge.on_parent_sm / edge.blocks) },
    cycles("Median wait", "Cycles between launch and first block, half of the launches waited no longer", (edge) => edge.waits.median),
    cycles("Mean wait", "Cycles between launch and first block", (edge) => edge.waits.mean),
    cycles("of it for an entry", "Until the launch had an entry of the kernel distributor; after it, for room on an SM", (edge) => edge.mean_entry_wait),
    cycles("90 % within", "Nine of ten launches waited no longer", (edge) => edge.waits.p90),
    cycles("Longest wait", "Cycles", (edge) => edge.waits.longest),
  ];
}

function launchColumns(): Column<DeviceLaunch>[] {
  return [
    { title: "#", explain: "Number of the launch, from 0 in order of launching", value: (l) => l.launch },
    { title: "Kernel", value: (l) => l.kernel, show: (l) => code(l.kernel) },
    { title: "Depth", explain: "Launches above it", value: (l) => l.depth },
    { title: "Made by", explain: "Launch and block that made it, and where that block ran", value: (l) => `launch ${l.parent}, block ${l.parent_block} on SM ${l.parent_sm}` },
    { title: "Could start at", explain: "Cycle in which its parent had launched it and what it must come after was complete", value: (l) => l.start, show: (l) => whole(l.start) },
    { title: "Wait", explain: "Cycles until its first block started", value: (l) => l.wait, show: (l) => whole(l.wait) },
    { title: "of it for an entry", explain: "Until it had an entry of the kernel distributor", value: (l) => l.entry_wait, show: (l) => whole(l.entry_wait) },
    { title: "Blocks", value: (l) => l.blocks, show: (l) => whole(l.blocks) },
    { title: "On parent's SM", explain: "Blocks that ran on the SM of the block that made it", value: (l) => l.on_parent_sm, show: (l) => whole(l.on_parent_sm) },
    { title: "SMs", explain: "Where its blocks ran", value: (l) => l.sms, numeric: false },
  ];
}

/** Nothing where no kernel of the group launched one. */
export function addWaits(charts: Charts, parent: HTMLElement, group: Group): void {
  const shown = nestedRuns(group);
  if (shown.length === 0) return;
  let run = shown[0];
  let by: Grouping = "edge";
  const tables = h("div");
  const fill = () => {
    const { edges, longest, launches } = run.launch_tree;
    tables.replaceChildren(
      table({ caption: `Launches by kernels of ${group.name} under ${run.label}`, columns: edgeColumns(), rows: edges, limit: 24, className: "launches" }),
      h("h3", {}, longest.length < launches ? `The ${longest.length} launches that waited longest` : "Launches, the longest wait first"),
      table({ caption: `Launches of ${group.name} that waited longest under ${run.label}`, columns: launchColumns(), rows: longest, limit: 10, className: "launches" }));
  };
  parent.append(h("h3", {}, "Waits between launch and first block"),
    h("p", { class: "note" }, "A launch by a kernel waits for an entry of the kernel distributor and then for room on an SM. Counted from the cycle in which " +
      "only that keeps it from running: its parent has made the launch, and what it must come after is complete. Each bar is twice as wide in cycles as the one before."),
    h("div", { class: "choices" },
      buttons("Policy", shown.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
        run = shown[+i];
        redraw();
        fill();
      }),
      select("Group by", [["edge", "parent and child"], ["parent", "parent kernel"], ["depth", "depth"]], by, (value) => {
        by = value as Grouping;
        redraw();
      })));
  const redraw = charts.add(parent, {
    label: `Launches by kernels of ${group.name} by how long they waited for their first block; the numbers are in the table below`,
    height: 240,
    build: (t) => option(run, by, t),
  });
  parent.append(tables);
  fill();
}
