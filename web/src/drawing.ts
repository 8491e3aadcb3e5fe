// Figures as the program has drawn them (src/raddle/report/figure_svg.cpp), set into the page: in the page's colours, with
// the numbers under the pointer, and series of lines that can be put aside in the legend.
import { h, svg } from "./dom";
import { spot } from "./figure_data";
import type { Figure } from "./reproduction_data";
import { theme, type Theme } from "./theme";

/** How much larger than in a file it may become, where there is room. */
const kMostZoom = 1.2;

const attribute = (element: Element, name: string): number[] => (element.getAttribute(name) ?? "").split(" ").filter((word) => word !== "").map(Number);

const coloursOf = (t: Theme): string[] => [t.ink, t.muted, t.line, t.paper, ...t.series];

/** Drawings are light; the rules that show them in the dark. */
export function darkRules(): string {
  const dark = coloursOf(theme(true));
  const rules = coloursOf(theme(false)).flatMap((light, i) => ["fill", "stroke"].map((property) => `:root:not(.printing) .drawing [${property}="${light}"] { ${property}: ${dark[i]}; }`));
  return `@media screen and (prefers-color-scheme: dark) {\n${rules.join("\n")}\n}`;
}

function parsed(text: string): SVGSVGElement {
  const { documentElement } = new DOMParser().parseFromString(text, "image/svg+xml");
  if (documentElement.localName !== "svg") throw new Error("a figure of this page is no drawing");
  return document.importNode(documentElement, true) as unknown as SVGSVGElement;
}

/** Hatches have names; those of a page differ. */
function rename(picture: SVGSVGElement, name: string): void {
  for (const pattern of picture.querySelectorAll("pattern")) {
    const own = `${name}-${pattern.id}`;
    for (const shape of picture.querySelectorAll(`[fill="url(#${pattern.id})"]`)) shape.setAttribute("fill", `url(#${own})`);
    pattern.id = own;
  }
}

/** Pressing a series in the legend of lines takes it out of the drawing, or puts it back. */
function choosable(picture: SVGSVGElement): void {
  for (const entry of picture.querySelectorAll<SVGGElement>("[data-legend]")) {
    entry.classList.add("choosable");
    entry.addEventListener("click", () => {
      const away = entry.classList.toggle("away");
      for (const shapes of picture.querySelectorAll<SVGGElement>(`[data-series="${entry.dataset.legend}"]`)) shapes.style.display = away ? "none" : "";
    });
  }
}

/** The colour of a series in the legend, as the drawing has it. */
function swatch(f: Figure, series: number): HTMLElement {
  const part = f.type === "stacked" ? [...new Set(f.series.map((s) => s.name))].indexOf(f.series[series].name) : series;
  const { series: colours } = theme(false);
  return h("span", { class: "drawing" }, svg("svg", { width: 10, height: 10, "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, rx: 2, fill: colours[part % colours.length] })) as unknown as HTMLElement);
}

function tip(f: Figure, place: number): Node[] {
  const { heading, lines, together } = spot(f, place);
  return [h("b", {}, heading), ...lines.map((line) => h("div", {}, f.type !== "tornado" && swatch(f, line.series), ` ${line.name}: `, h("b", {}, line.value),
    line.at !== "" && ` at ${line.at}`, line.paper !== "" && ` (paper: ${line.paper})`)),
  ...(together === "" ? [] : [h("div", {}, "together: ", h("b", {}, together))])];
}

/** Shows what is under the pointer, and marks it. */
function watch(f: Figure, host: HTMLElement, picture: SVGSVGElement): void {
  const rows = picture.hasAttribute("data-rows");
  const centres = attribute(picture, rows ? "data-rows" : "data-columns");
  const [left, top, width, height] = attribute(picture, "data-plot");
  if (centres.length === 0) return;
  const [start, length] = rows ? [top, height] : [left, width];
  const sorted = [...centres].sort((a, b) => a - b);
  const mark = svg("rect", { class: "mark" });
  const words = h("div", { class: "tip", hidden: true });
  picture.append(mark);
  host.append(words);
  const hide = () => {
    mark.style.display = "none";
    words.hidden = true;
  };
  hide();
  picture.addEventListener("pointerleave", hide);
  picture.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM()!.inverse());
    if (at.x < left || at.x > left + width || at.y < top || at.y > top + height) return hide();
    const along = rows ? at.y : at.x;
    const place = centres.reduce((best, centre, i) => (Math.abs(centre - along) < Math.abs(centres[best] - along) ? i : best), 0);
    const i = sorted.indexOf(centres[place]);
    const from = Math.max(start, i > 0 ? (sorted[i - 1] + sorted[i]) / 2 : start);
    const to = Math.min(start + length, i + 1 < sorted.length ? (sorted[i] + sorted[i + 1]) / 2 : start + length);
    const box = rows ? { x: left, y: from, width, height: to - from } : { x: from, y: top, width: to - from, height };
    for (const [name, value] of Object.entries(box)) mark.setAttribute(name, String(value));
    mark.style.display = "";
    words.replaceChildren(...tip(f, place));
    words.hidden = false;
    const frame = host.getBoundingClientRect();
    const x = event.clientX - frame.left;
    words.style.left = `${x + 14 + words.offsetWidth > frame.width ? Math.max(0, x - 14 - words.offsetWidth) : x + 14}px`;
    words.style.top = `${Math.max(0, Math.min(event.clientY - frame.top + 14, frame.height - words.offsetHeight))}px`;
  });
}

/** The drawing without its title, which the page has as a heading. `name` is that of no other drawing of the page. */
export function drawing(f: Figure, name: string, label: string): HTMLElement {
  const picture = parsed(f.svg);
  const [, , width, height] = attribute(picture, "viewBox");
  const [head] = attribute(picture, "data-head");
  picture.setAttribute("viewBox", `0 ${head} ${width} ${height - head}`);
  for (const unwanted of ["width", "height", "role"]) picture.removeAttribute(unwanted);
  picture.querySelector("title")?.remove();  // would be shown wherever the pointer rests
  picture.style.maxWidth = `${Math.round(width * kMostZoom)}px`;
  rename(picture, name);
  if (f.type === "lines") choosable(picture);
  const host = h("div", { class: "chart drawing", role: "img", "aria-label": label });
  host.style.minWidth = `${Math.round(Math.max(width * 0.75, width - 260))}px`;
  host.append(picture);
  watch(f, host, picture);
  return host;
}

// --- files -----------------------------------------------------------------------------------------------------------

/** Twice the size of the drawing, as screens and printers want it. */
export async function pngOf(f: Figure): Promise<Blob> {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(f.svg)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * picture.width;
  canvas.height = 2 * picture.height;
  canvas.getContext("2d")!.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser makes no PNG"))), "image/png"));
}

export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
