// Figures as files, from the page, without a network: always in light colours and with their title.
import * as echarts from "echarts/core";
import { TitleComponent } from "echarts/components";
import { base } from "./charts";
import { figureHeight, figureOption, narrowest } from "./figure";
import type { Figure } from "./reproduction_data";
import { theme } from "./theme";

echarts.use([TitleComponent]);

const kWidth = 760;

/** A chart of its own, beside the page's: as wide as a file should be, whatever the window. */
function withChart<T>(f: Figure, renderer: "svg" | "canvas", use: (chart: echarts.ECharts) => T): T {
  const t = theme(false);
  const width = Math.max(kWidth, narrowest(f));
  const inner = width - 32;
  const heading = 40;
  const host = document.createElement("div");
  const chart = echarts.init(host, null, { renderer, width, height: figureHeight(f, inner) + heading + 8 });
  const option = figureOption(f, t, inner) as { grid: { left: number; right: number; top: number; bottom: number }; legend: object };
  chart.setOption({ ...base(t), ...option, backgroundColor: t.paper,
    title: { text: f.title, left: 14, top: 12, textStyle: { fontSize: 15, color: t.ink, width: inner, overflow: "truncate" } },
    legend: { ...option.legend, top: heading, left: 12 },
    grid: { ...option.grid, left: option.grid.left + 10, top: option.grid.top + heading, bottom: option.grid.bottom + 8 } });
  chart.getZr().flush();
  try {
    return use(chart);
  } finally {
    chart.dispose();
  }
}

export function svgOf(f: Figure): string {
  return withChart(f, "svg", (chart) => `${(chart as unknown as { renderToSVGString: () => string }).renderToSVGString()}\n`);
}

export function pngOf(f: Figure): Promise<Blob> {
  return withChart(f, "canvas", (chart) => new Promise((resolve, reject) => {
    const drawn = chart.getRenderedCanvas({ pixelRatio: 2, backgroundColor: theme(false).paper });
    drawn.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser makes no PNG"))), "image/png");
  }));
}

export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
