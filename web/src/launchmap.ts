// A map with a row per launch, one below the other: what consecutive launches of a run did alike shows as columns.
import { isCorun, kernelTitle, type Group, type Placement, type Run } from "./data";
import { tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import { buttons, h, select } from "./dom";
import { escapeHtml, whole } from "./format";
import { cell } from "./rect";
import { theme, type Theme } from "./theme";
import { zoomSlider } from "./zoom";

export interface MapCell {
  column: number;
  row: number;
  colour: string;
  /** What the colour stands for. */
  value: number | string;
  /** HTML. */
  tip: () => string;
}

export interface LaunchMap {
  title: string;
  columnName: string;
  columns: (run: Run) => number;
  /** What the colours can show: value and text. One: no choice. */
  colourings: [value: string, text: string][];
  note: (run: Run) => string;
  key: (run: Run, by: string, t: Theme) => Node[];
  cells: (run: Run, by: string, t: Theme) => MapCell[];
}

/** A colour and what it stands for. */
export function swatch(colour: string, text: string): HTMLElement {
  const mark = h("span", { class: "swatch" });
  mark.style.background = colour;
  return h("span", { class: "key" }, mark, text);
}

export function rampKey(colours: string[], from: string, to: string): HTMLElement {
  const ramp = h("span", { class: "ramp" });
  ramp.style.background = `linear-gradient(90deg, ${colours.join(", ")})`;
  return h("span", { class: "key" }, `${from} `, ramp, ` ${to}`);
}

/** "<b>name</b> (launch 3)<br>" */
export function launchTip(run: Run, p: Placement): string {
  return `<b>${escapeHtml(kernelTitle(run.result.kernels[p.launch]))}</b> (launch ${p.launch})<br>`;
}

function option(map: LaunchMap, run: Run, by: string, t: Theme): Option {
  const cells = map.cells(run, by, t);
  const columns = map.columns(run);
  const rows = run.placement.length;
  return {
    grid: { left: 60, right: 44, top: 6, bottom: 62 },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => cells[item.dataIndex].tip() },
    xAxis: valueAxis(t, { min: 0, max: columns, minInterval: 1, name: map.columnName, nameLocation: "middle", nameGap: 20, splitLine: { show: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: t.muted } }, axisLabel: { color: t.muted, fontSize: 11, showMaxLabel: false, formatter: (n: number) => (Number.isInteger(n) ? whole(n) : "") } }),
    yAxis: valueAxis(t, { min: 0, max: rows, inverse: true, minInterval: 1, name: "launch", nameLocation: "middle", nameGap: 42, splitLine: { show: false },
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => String(run.placement[n]?.launch ?? "") } }),
    dataZoom: [
      zoomSlider(t, { xAxisIndex: 0, height: 16, bottom: 4, filterMode: "weakFilter", labelFormatter: (n: number) => whole(n) }),
      zoomSlider(t, { yAxisIndex: 0, width: 14, right: 6, filterMode: "weakFilter", labelFormatter: (n: number) => String(Math.round(n)) }),
    ],
    series: [{
      type: "custom", progressive: 0, dimensions: ["from", "to", "row", "end"], encode: { x: [0, 1], y: [2, 3] },
      data: cells.map((c) => [c.column, c.column + 1, c.row, c.row + 1]),
      renderItem: (parameters: RenderParameters, api: RenderApi) =>
        cell(parameters, api, [api.value(0), api.value(2)], [api.value(1), api.value(3)], cells[parameters.dataIndex].colour, 8),
    }],
  };
}

/** Why a run with blocks has no map. */
export function whyNoMap(run: Run): string {
  if (isCorun(run)) return "launches of tenants are not told one by one";
  if (run.result.kernels.length === 0) return "its launches are too many to be told one by one";
  return `its first launch alone has more blocks than this page holds (${whole(run.blocks.total)} blocks in all launches)`;
}

/** Without the kernels of its launches a row has neither a name nor a time. */
export const hasMap = (run: Run): boolean => run.placement.length > 0 && !isCorun(run);

/** Nothing where no run of the group has blocks. */
export function addLaunchMap(charts: Charts, parent: HTMLElement, group: Group, map: LaunchMap): void {
  const shown = group.runs.filter(hasMap);
  if (shown.length === 0) {
    const without = group.runs.find((r) => r.blocks.total > 0);
    if (without) parent.append(h("h3", {}, map.title), h("p", { class: "none" }, `Not drawn for ${group.name}: ${whyNoMap(without)}.`));
    return;
  }
  let run = shown[0];
  let by = map.colourings[0][0];
  const text = h("p", { class: "note" });
  const keys = h("div", { class: "keys" });
  parent.append(h("h3", {}, map.title), text, h("div", { class: "choices" },
    buttons("Policy", shown.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
      run = shown[+i];
      redraw();
    }),
    map.colourings.length > 1 ? select("Colour by", map.colourings, by, (value) => {
      by = value;
      redraw();
    }) : null), keys);
  const redraw = charts.add(parent, {
    label: `${map.title} in ${group.name}`,
    height: Math.min(560, Math.max(170, 90 + 13 * Math.max(...shown.map((r) => r.placement.length)))),
    canvas: true,
    numbers: () => ({ columns: ["launch", map.columnName, by], rows: map.cells(run, by, theme(false)).map((c) => [run.placement[c.row].launch, c.column, c.value]) }),
    build: (t) => {
      const all = run.result.kernels.length;
      text.textContent = map.note(run) + (run.placement.length < all ? ` Only the first ${run.placement.length} of ${all} launches are shown.` : "");
      keys.replaceChildren(...map.key(run, by, t));
      return option(map, run, by, t);
    },
  });
}
