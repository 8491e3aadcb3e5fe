// Tenants that share the GPU: how much each is slowed down, what each uses of network and DRAM over time against what a scheme
// has given it, the blocks each has on an SM, and the way of a scheme over combinations of two tenants' blocks.
import { configNumber, type Fields, type Group, type Run } from "./data";
import { fields } from "./data";
import { legend, tooltip, valueAxis, type Charts, type Option } from "./charts";
import { buttons, h } from "./dom";
import { digits, escapeHtml, short, whole } from "./format";
import { seriesColour, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

type Level = "noc" | "dram" | "blocks";

interface Tenant {
  name: string;
  slowdown: number | null;
}

/** What a scheme had set for one tenant. Shares are parts of all that is sustainable; null: no limit. */
export interface PhaseTenant {
  blocks: number;
  noc: number | null;
  dram: number | null;
}

export interface Phase {
  name: string;
  start: number;
  end: number;
  prior: number;
  goal: number;
  tenants: PhaseTenant[];
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** "backprop" twice would be one line in a legend. */
export function tenants(run: Run): Tenant[] {
  const list = (run.result.tenants ?? []).map((tenant) => ({ name: tenant.name, slowdown: tenant.slowdown ?? null }));
  return list.map((tenant, i) =>
    ({ ...tenant, name: list.some((other, j) => j !== i && other.name === tenant.name) ? `${tenant.name} (${i + 1})` : tenant.name }));
}

/** In order; none where the scheme keeps no such record. */
export function phases(run: Run): Phase[] {
  const scheme = run.result.policies?.scheme;
  const count = tenants(run).length;
  const units = number(scheme?.parameters?.units);
  if (units === 0) return [];
  const share = (value: unknown) => (number(value) > 0 ? number(value) / units : null);
  return Object.entries(fields(scheme?.statistics?.phases)).map(([name, value]) => {
    const phase = fields(value);
    const end = number(phase.end_cycle);
    return {
      name: name.replace(/^\d+_/, "").replace(/_/g, " "),
      start: number(phase.start_cycle),
      end: end > 0 ? end : run.result.totals.cycles,
      prior: number(phase.prior),
      goal: number(phase.goal),
      tenants: Array.from({ length: count }, (_, t) => {
        const of: Fields = fields(phase[`tenant_${t}`]);
        return { blocks: number(of.blocks), noc: share(of.noc_share), dram: share(of.dram_share) };
      }),
    };
  });
}

/** Combinations of blocks in the order in which they were set, each once in a row. */
export function path(run: Run): { blocks: [number, number]; phase: Phase }[] {
  const out: { blocks: [number, number]; phase: Phase }[] = [];
  for (const phase of phases(run)) {
    const blocks: [number, number] = [phase.tenants[0].blocks, phase.tenants[1].blocks];
    const last = out[out.length - 1];
    if (last !== undefined && last.blocks[0] === blocks[0] && last.blocks[1] === blocks[1]) last.phase = phase;
    else out.push({ blocks, phase });
  }
  return out;
}

const kLevels: { [level in Level]: { title: string; explain: string } } = {
  noc: { title: "Network", explain: "Replies of the L2 to each tenant, in percent of what the network can move at most." },
  dram: { title: "DRAM", explain: "Bytes between DRAM and the L2 for each tenant, in percent of what all channels can move at most." },
  blocks: { title: "Blocks", explain: "Thread blocks of each tenant on an SM, mean over all SMs at the end of each interval." },
};

/** Of the peak, in percent, or blocks of an SM. */
function limit(run: Run, phase: Phase, tenant: number, level: Level): number | null {
  const of = phase.tenants[tenant];
  if (level === "blocks") return of.blocks;
  const share = of[level];
  const sustainable = number(run.result.policies?.scheme?.parameters?.[`${level}_percent`]);
  return share === null ? null : share * sustainable;
}

function values(run: Run, tenant: number, level: Level): number[] {
  const use = run.tenant_use!.tenants[tenant];
  const sms = configNumber(run, "sm.count") ?? 1;
  return level === "blocks" ? use.blocks.map((n) => n / sms) : use[level];
}

function line(run: Run, tenant: number, level: Level): [number, number][] {
  const { start, length } = run.tenant_use!;
  const of = values(run, tenant, level);
  const out = of.map((value, i): [number, number] => [start[i], value]);
  const last = start.length - 1;
  return last < 0 ? out : [...out, [start[last] + length[last], of[last]]];
}

/** Steps; gaps where there is no limit. */
function limits(run: Run, tenant: number, level: Level): [number, number | null][] {
  return phases(run).flatMap((phase): [number, number | null][] => {
    const value = limit(run, phase, tenant, level);
    return [[phase.start, value], [phase.end, value]];
  });
}

function tip(run: Run, level: Level, cycle: number): string {
  const { start, length } = run.tenant_use!;
  const i = start.findIndex((from, k) => from <= cycle && cycle < from + length[k]);
  const phase = phases(run).find((p) => p.start <= cycle && cycle < p.end);
  const lines = tenants(run).map((tenant, t) => {
    const now = i < 0 ? "" : digits(values(run, t, level)[i]);
    const most = phase === undefined ? null : limit(run, phase, t, level);
    return `${escapeHtml(tenant.name)}: <b>${now}</b>${most === null ? "" : ` of ${digits(most)}`}`;
  });
  return `<b>cycle ${whole(cycle)}</b>${phase === undefined ? "" : `, ${escapeHtml(phase.name)}`}<br>${lines.join("<br>")}`;
}

function overTime(run: Run, level: Level, t: Theme): Option {
  const all = tenants(run);
  return {
    grid: { left: 8, right: 20, top: 34, bottom: 44, containLabel: true },
    legend: legend(t),
    tooltip: { ...tooltip(t), trigger: "axis", formatter: (items: { axisValue: number }[]) => tip(run, level, items[0].axisValue) },
    xAxis: valueAxis(t, { min: 0, max: run.result.totals.cycles, splitLine: { show: false }, axisLine: { show: true, lineStyle: { color: t.muted } },
      axisLabel: { color: t.muted, fontSize: 11, formatter: short, showMaxLabel: false } }),
    yAxis: valueAxis(t, { min: 0, axisLabel: { color: t.muted, fontSize: 11, formatter: level === "blocks" ? undefined : (n: number) => `${n} %` } }),
    dataZoom: [zoomSlider(t, { height: 16, bottom: 6, labelFormatter: (n: number) => short(n), filterMode: "none" })],
    series: all.flatMap((tenant, i) => [
      { type: "line", step: "end", name: tenant.name, showSymbol: false, lineStyle: { width: 1.4 },
        itemStyle: { color: seriesColour(t, i) }, data: line(run, i, level) },
      ...(phases(run).length === 0 ? [] : [{
        type: "line", name: `${tenant.name}, most`, showSymbol: false, connectNulls: false, silent: true,
        lineStyle: { width: 1.2, type: "dashed" }, itemStyle: { color: seriesColour(t, i) }, data: limits(run, i, level) }]),
    ]),
  };
}

function addOverTime(charts: Charts, parent: HTMLElement, run: Run): void {
  let level: Level = "noc";
  const note = h("p", { class: "note" });
  const explain = () => {
    const dashed = phases(run).length === 0 ? "" : " Dashed: the most that the scheme lets it have; gaps: no limit.";
    note.textContent = `${kLevels[level].explain} Intervals of ${whole(run.tenant_use!.interval)} cycles.${dashed}`;
  };
  explain();
  const names = Object.entries(kLevels).map(([name, l]): [string, string] => [name, l.title]);
  parent.append(note, h("div", { class: "choices" }, buttons("Show", names, "noc", (name) => {
    level = name as Level;
    explain();
    redraw();
  })));
  const redraw = charts.add(parent, {
    label: "What each tenant uses over time",
    height: 290,
    axes: () => ["cycle", kLevels[level].title],
    build: (t) => overTime(run, level, t),
  });
}

function slowdowns(run: Run, t: Theme): Option {
  const all = tenants(run);
  return {
    grid: { left: 8, right: 40, top: 6, bottom: 26, containLabel: true },
    tooltip: { ...tooltip(t), trigger: "item" },
    xAxis: valueAxis(t, { min: 0 }),
    yAxis: { type: "category", inverse: true, data: all.map((tenant) => tenant.name), axisLabel: { color: t.ink }, axisTick: { show: false } },
    series: [{
      type: "bar", barMaxWidth: 22,
      data: all.map((tenant, i) => ({ value: tenant.slowdown, itemStyle: { color: seriesColour(t, i) } })),
      label: { show: true, position: "right", color: t.ink, formatter: (item: { value: number | null }) => (item.value === null ? "" : digits(item.value)) },
    }],
  };
}

function plane(run: Run, t: Theme): Option {
  const way = path(run);
  const names = tenants(run).map((tenant) => tenant.name);
  const most = (k: 0 | 1) => Math.max(...way.map((step) => step.blocks[k])) + 1;
  const axis = (k: 0 | 1) => valueAxis(t, { min: 0, max: most(k), minInterval: 1, name: `blocks of ${names[k]}`, nameLocation: "middle",
    nameGap: k === 0 ? 24 : 30, nameTextStyle: { color: t.muted } });
  return {
    grid: { left: 52, right: 24, top: 16, bottom: 44 },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => {
      const { blocks, phase } = way[item.dataIndex];
      const goal = phase.goal > 0 ? `, speedup ${digits(phase.goal)}` : "";
      const prior = phase.prior > 0 ? `, priority ${digits(phase.prior)}` : "";
      return `<b>(${blocks[0]}, ${blocks[1]})</b> from cycle ${whole(phase.start)}: ${escapeHtml(phase.name)}${prior}${goal}`;
    } },
    xAxis: axis(0),
    yAxis: axis(1),
    series: [{
      type: "line", symbol: "circle", symbolSize: 9, data: way.map((step) => step.blocks),
      lineStyle: { width: 1.4, color: seriesColour(t, 0) }, itemStyle: { color: seriesColour(t, 0) },
      label: { show: true, position: "top", color: t.ink, formatter: (item: { dataIndex: number }) => String(item.dataIndex + 1) },
    }],
  };
}

/** Nothing where no run of the group had tenants. */
export function addSharing(charts: Charts, parent: HTMLElement, group: Group): void {
  const run = group.runs.find((r) => (r.result.tenants ?? []).length > 0);
  if (run === undefined) return;
  const place = h("div", { class: "sharing" });
  parent.append(h("h3", {}, "Tenants"), place);
  if (tenants(run).some((tenant) => tenant.slowdown !== null)) {
    place.append(h("p", { class: "note" }, "Slowdown of each tenant: its instructions per cycle alone, by those it has here. 1: it notices nothing of the others."));
    charts.add(place, { label: "Slowdown of each tenant", axes: () => ["", "slowdown"], height: 40 + 34 * tenants(run).length, build: (t) => slowdowns(run, t) });
  }
  if (run.tenant_use) addOverTime(charts, place, run);
  if (tenants(run).length !== 2 || path(run).length === 0) return;
  place.append(h("p", { class: "note" }, "Combinations of blocks on an SM in the order in which the scheme set them; the last one stayed."));
  charts.add(place, { label: "Way of the scheme over combinations of blocks", height: 300, build: (t) => plane(run, t) });
}
