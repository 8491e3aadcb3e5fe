// Rectangles of custom series, cut to the chart's area.
import type { RenderApi, RenderParameters } from "./charts";

/** From corner to corner in the axes' values, on whole pixels so that neighbours have no seam; one pixel wide at least. `gap`: left free below high ones. */
export function cell(parameters: RenderParameters, api: RenderApi, from: [number, number], to: [number, number], fill: string, gap = 5): object | undefined {
  const { x: left, y: top, width, height } = parameters.coordSys;
  const [x0, y0] = api.coord(from);
  const [x1, y1] = api.coord(to);
  const start = Math.max(Math.round(x0), left);
  const end = Math.min(Math.max(Math.round(x1), Math.round(x0) + 1), left + width);
  const up = Math.max(Math.min(y0, y1), top);
  const down = Math.min(Math.max(y0, y1), top + height);
  if (end <= start || down <= up) return undefined;
  return {
    type: "rect",
    shape: { x: start, y: up, width: end - start, height: Math.max(down - up - (down - up > gap ? 0.6 : 0), 0.3) },
    style: { fill },
  };
}
