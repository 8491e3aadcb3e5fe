// All charts of the page: made, redrawn for the colour scheme, resized, and set for print.
import * as echarts from "echarts/core";
import { BarChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { h } from "./dom";
import { onPrinting } from "./page";
import { escapeXml, keyPicture, kFont, numbersOf, saveButtons, type Numbers, type Picture, type Provenance } from "./save";
import { textWidth } from "./text_width";
import { theme, type Theme } from "./theme";

echarts.use([BarChart, CustomChart, LineChart, GridComponent, LegendComponent, TooltipComponent, CanvasRenderer, SVGRenderer]);

export type Option = echarts.EChartsCoreOption;

/** The parts of ECharts' custom-series interface that are used here. */
export interface RenderApi {
  value: (dimension: number) => number;
  coord: (point: [number, number]) => [number, number];
}
export interface RenderParameters {
  dataIndex: number;
  coordSys: { x: number; y: number; width: number; height: number };
}

interface Chart {
  host: HTMLElement;
  instance: echarts.ECharts;
  settings: ChartSettings;
}

export interface ChartSettings {
  /** Said to those who do not see the chart. */
  label: string;
  height: number | ((width: number) => number);
  build: (t: Theme, width: number) => Option;
  /** Canvas for charts of thousands of shapes; the others are SVG, which prints sharply. */
  canvas?: boolean;
  /** Its first slider is over the cycles of the workload that is shown: such charts are zoomed together. */
  time?: boolean;
  /** What is saved as numbers, where the drawn ones do not say it. */
  numbers?: () => Numbers;
  /** What the value axis says of a drawn number. */
  value?: (n: number) => number;
  /** What the axes show, where the page around the chart says it: a file has no page around it. */
  axes?: () => [x: string, y: string];
}

/** How a drawing without ECharts is saved: `draw` gives it for a width in pixels, or in units of its own. */
export interface DrawingFiles {
  title: string;
  draw: (t: Theme, width: number) => SVGSVGElement;
  numbers: () => Numbers;
}

/** What is drawn without ECharts. */
interface Drawing {
  host: HTMLElement;
  draw: (t: Theme) => void;
}

export class Charts {
  private charts: Chart[] = [];
  private drawings: Drawing[] = [];
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private printing = false;
  private zooming = false;
  /** What saved files say of their making. */
  provenance: Provenance = { command: "", raddle_version: "", date: "" };

  constructor() {
    this.scheme.addEventListener("change", () => this.redraw());
    addEventListener("resize", () => requestAnimationFrame(() => this.redraw()));
    onPrinting((on) => {
      this.printing = on;
      this.redraw();
    });
  }

  get count(): number {
    return this.charts.length;
  }

  /** Adds a chart to `parent`, which must be in the document already. */
  add(parent: HTMLElement, settings: ChartSettings): () => void {
    const host = h("div", { class: "chart", role: "img", "aria-label": settings.label });
    parent.append(host);
    fit(host, settings);
    const instance = echarts.init(host, null, { renderer: settings.canvas ? "canvas" : "svg" });
    const chart = { host, instance, settings };
    this.charts.push(chart);
    if (settings.time) instance.on("datazoom", () => this.zoomLike(chart));
    this.draw(chart);
    parent.append(saveButtons({ title: settings.label, picture: (width) => this.picture(chart, width), shownWidth: () => host.clientWidth,
      numbers: () => settings.numbers?.() ?? this.numbers(chart) }, () => this.provenance));
    return () => this.draw(chart);
  }

  private numbers(chart: Chart): Numbers {
    const numbers = numbersOf(chart.settings.build(theme(false), chart.host.clientWidth) as { [part: string]: unknown }, chart.settings.value, chart.settings.axes?.());
    this.draw(chart);  // building may have changed the page around it
    return numbers;
  }

  /** The part that is shown just now, so wide, light, with the key that stands above it in the page. */
  private picture(chart: Chart, width: number): Picture {
    const { settings, host } = chart;
    const height = typeof settings.height === "number" ? settings.height : settings.height(width);
    const option = settings.build(theme(false), width) as { [part: string]: unknown };
    const shown = chart.instance.getOption() as { dataZoom?: Zoom[]; legend?: { selected?: object }[] };
    const zooms = (option.dataZoom as Zoom[] | undefined)?.map((zoom, i) => ({ ...zoom, show: false, start: shown.dataZoom?.[i]?.start, end: shown.dataZoom?.[i]?.end }));
    const legends = option.legend ? { ...option.legend, selected: shown.legend?.[0]?.selected } : undefined;
    const instance = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
    instance.setOption({ ...base(theme(false)), ...option, textStyle: { fontFamily: kFont, color: theme(false).ink }, ...(zooms && { dataZoom: zooms }), ...(legends && { legend: legends }) });
    const drawn = instance.renderToSVGString();
    instance.dispose();
    const above = [...host.parentElement?.children ?? []].slice(0, [...host.parentElement?.children ?? []].indexOf(host)).reverse().find((e) => e.matches(".chart, .keys"));
    const [x, y] = settings.axes?.() ?? ["", ""];
    const top = y === "" ? 0 : kAxisRow;
    const end = top + height + (x === "" ? 0 : kAxisRow);
    const key = above?.matches(".keys") ? keyPicture(above, width, end, (text) => textWidth(text, 11)) : { content: "", height: 0 };
    this.draw(chart);  // in the page's colours again
    const words = (text: string, at: string) => (text === "" ? "" : `<text ${at} font-size="${Math.min(11, 11 * (width - 8) / textWidth(text, 11)).toFixed(1)}" fill="${theme(false).muted}">${escapeXml(text)}</text>`);
    return { content: words(y, 'x="4" y="12"') + words(x, `x="${width / 2}" y="${end - 5}" text-anchor="middle"`) +
      `<g transform="translate(0 ${top})">${drawn.replace(/^<svg[^>]*>/, "").replace(/<\/svg>\s*$/, "")}</g>${key.content}`, width, height: end + key.height };
  }

  /** The other charts over time show the same cycles. */
  private zoomLike(chart: Chart): void {
    if (this.zooming) return;
    const sliders = chart.instance.getOption().dataZoom as { start: number; end: number }[] | undefined;
    if (!sliders?.[0]) return;
    this.zooming = true;
    const { start, end } = sliders[0];
    for (const other of this.charts.filter((c) => c.settings.time && c !== chart))
      other.instance.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, start, end });
    this.zooming = false;
  }

  /** Draws into `host` now, and whenever its size or the colours change. */
  addDrawing(host: HTMLElement, draw: (t: Theme) => void, files?: DrawingFiles): () => void {
    this.drawings.push({ host, draw });
    draw(this.theme());
    if (files !== undefined)
      host.append(saveButtons({ title: files.title, picture: (width) => pictureOf(files.draw(theme(false), width), width), numbers: files.numbers,
        shownWidth: () => host.clientWidth }, () => this.provenance));
    return () => draw(this.theme());
  }

  /** Takes the charts inside `parent` out, before its content is replaced. */
  removeIn(parent: HTMLElement): void {
    this.drawings = this.drawings.filter((drawing) => !parent.contains(drawing.host));
    const gone = this.charts.filter((chart) => parent.contains(chart.host));
    this.charts = this.charts.filter((chart) => !gone.includes(chart));
    for (const chart of gone) chart.instance.dispose();
  }

  private theme(): Theme {
    return theme(this.scheme.matches && !this.printing);
  }

  private draw(chart: Chart): void {
    const t = this.theme();
    chart.instance.setOption({ ...base(t), ...chart.settings.build(t, chart.host.clientWidth) }, { notMerge: true });
    chart.instance.getZr().flush();
  }

  /** Charts that are not shown just now are left for later: call it after showing them. */
  redraw(): void {
    for (const chart of this.charts.filter((c) => c.host.clientWidth > 0)) {
      fit(chart.host, chart.settings);
      chart.instance.resize();
      this.draw(chart);
    }
    for (const drawing of this.drawings) drawing.draw(this.theme());
  }
}

/** Room for the name of an axis in a file. */
const kAxisRow = 17;

interface Zoom {
  start?: number;
  end?: number;
}

/** A drawing in units of its own, scaled to the width. */
function pictureOf(drawing: SVGSVGElement, width: number): Picture {
  const [, , wide, high] = drawing.getAttribute("viewBox")!.split(" ").map(Number);
  return { content: `<g transform="scale(${width / wide})">${drawing.innerHTML}</g>`, width, height: width * high / wide };
}

function fit(host: HTMLElement, settings: ChartSettings): void {
  const { height } = settings;
  host.style.height = `${typeof height === "number" ? height : height(host.clientWidth)}px`;
}

export function base(t: Theme): Option {
  return {
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif", color: t.ink },
  };
}

export function tooltip(t: Theme): object {
  return {
    confine: true,
    backgroundColor: t.paper,
    borderColor: t.line,
    textStyle: { color: t.ink, fontSize: 12 },
  };
}

/** Marks the row or column under the pointer. */
export function shadow(t: Theme): object {
  return { type: "shadow", shadowStyle: { color: `${t.muted}22` } };
}

/** Rows that a legend of these names takes in `width` pixels: ECharts does not tell. */
export function legendRows(names: string[], width: number, item = 12 + 5 + 14, size = 12): number {
  let rows = 1;
  let x = 0;
  for (const name of names) {
    const w = textWidth(name, size) + item;
    if (x > 0 && x + w > width - 10) {
      rows++;
      x = 0;
    }
    x += w;
  }
  return rows;
}

/** Room that the rows behind the first need above a chart. */
const kLegendRow = 26;
export function moreLegend(names: string[], width: number): number {
  return kLegendRow * (legendRows(names, width) - 1);
}

export function legend(t: Theme, rest: object = {}): object {
  return {
    top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 14, icon: "roundRect",
    textStyle: { color: t.ink, fontSize: 12 }, inactiveColor: t.muted, ...rest,
  };
}

export function valueAxis(t: Theme, rest: object = {}): object {
  return {
    type: "value",
    axisLabel: { color: t.muted, fontSize: 11 },
    nameTextStyle: { color: t.muted, fontSize: 11 },
    splitLine: { lineStyle: { color: t.line } },
    ...rest,
  };
}

export function categoryAxis(t: Theme, data: string[], rest: object = {}): object {
  return {
    type: "category", data,
    axisLabel: { color: t.ink, fontSize: 12, interval: 0 },
    axisLine: { lineStyle: { color: t.muted } },
    axisTick: { show: false },
    ...rest,
  };
}
