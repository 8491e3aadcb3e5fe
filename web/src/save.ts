// A chart as files: a drawing of a column's width ready for print, its numbers, and a PDF. Each file says what it was made
// by. PDF is what the browser prints of the drawing alone: it has the fonts, and no library has to travel in every page.
import type { PageData } from "./data";
import { h } from "./dom";
import { save } from "./drawing";

/** What files say of their making. */
export type Provenance = Pick<PageData, "command" | "raddle_version" | "commit" | "date">;

/** The numbers of a chart, a row each. */
export interface Numbers {
  columns: string[];
  rows: (string | number | null)[][];
}

/** Of a drawing's content, in pixels of 1/96 inch. */
export interface Picture {
  content: string;
  width: number;
  height: number;
}

export interface Saved {
  title: string;
  /** In black on white, whatever the page's colours. */
  picture: (width: number) => Picture;
  numbers: () => Numbers;
  /** Of the chart in the page, in pixels. */
  shownWidth: () => number;
}

/** One column and two of a page in print. */
export const kColumns = { one: 84, two: 174 };
export const kPixelsOfMillimetre = 96 / 25.4;
export const kFont = "Helvetica, Arial, 'Liberation Sans', sans-serif";

/** In order; what is not known is left out. */
export function provenance(of: Provenance): [name: string, value: string][] {
  const all: [string, string][] = [["command", of.command], ["program", `Raddle ${of.raddle_version}`], ["commit", of.commit ?? ""], ["date", of.date]];
  return all.filter(([, value]) => value !== "");
}

export function escapeXml(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, " ").replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

const rounded = (n: number) => String(+n.toFixed(3));

/** The whole file. Its units are pixels, its size is in millimetres: `wide`, or as large as the pixels are. */
export function svgFile(picture: Picture, title: string, of: Provenance, wide = picture.width / kPixelsOfMillimetre): string {
  const { width, height } = picture;
  const metadata = provenance(of).map(([name, value]) => `\n  <dc:description>${escapeXml(`${name}: ${value}`)}</dc:description>`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${rounded(wide)}mm" ` +
    `height="${rounded(wide * height / width)}mm" viewBox="0 0 ${rounded(width)} ${rounded(height)}" font-family="${kFont}">\n` +
    `<title>${escapeXml(title)}</title>\n<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ` +
    `xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description rdf:about="">${metadata}\n</rdf:Description></rdf:RDF></metadata>\n` +
    `<rect width="${rounded(width)}" height="${rounded(height)}" fill="#ffffff"/>\n${picture.content}\n</svg>\n`;
}

function cell(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** The whole file: what it is and was made by in lines that begin with #, then names of columns, then rows. */
export function csvFile(numbers: Numbers, title: string, of: Provenance): string {
  const head: [string, string][] = [["title", title], ...provenance(of)];
  return [...head.map(([name, value]) => `# ${name}: ${value.replace(/\s+/g, " ")}`), ...[numbers.columns, ...numbers.rows].map((row) => row.map(cell).join(","))]
    .map((line) => `${line}\n`).join("");
}

/** "Speed-up of each policy, per workload; the numbers" -> "speed-up-of-each-policy-per-workload". */
export function fileName(title: string): string {
  const name = title.split(/[.;] /)[0].toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/-+/g, "-").replace(/^-|-$/g, "");
  return name.slice(0, 70).replace(/-$/, "") || "chart";
}

// --- numbers of a chart's option -------------------------------------------------------------------------------------

type Item = number | string | null | undefined | { value: number | string | null };
interface Axis { type?: string; name?: string; data?: string[]; axisLabel?: { formatter?: unknown } }
interface Series { name?: string; dimensions?: string[]; data: Item[] | (number | null)[][] }

const numberOf = (item: Item): number | null => {
  const value = typeof item === "object" && item !== null ? item.value : item;
  return typeof value === "number" ? value : null;
};

/** Names of a category axis as they are shown. */
function categories(axis: Axis): string[] {
  const { formatter } = axis.axisLabel ?? {};
  return axis.data!.map((name) => (typeof formatter === "function" ? String(formatter(name)).replace(/^\{\w+\|(.*)\}$/, "$1") : name));
}

/** A row for each category. One without numbers is the heading of those below it, and stands before them then. */
function byCategory(axis: Axis, series: Series[]): Numbers {
  const names = categories(axis);
  const values = names.map((_name, i) => series.map((s) => numberOf(s.data[i] as Item)));
  const isHeading = (i: number) => values[i].every((value) => value === null) && i + 1 < names.length;
  const headed = names.some((_name, i) => isHeading(i)) && isHeading(0);
  let heading = "";
  const rows = names.flatMap((name, i): Numbers["rows"] => {
    if (!headed) return [[name, ...values[i]]];
    if (!isHeading(i)) return [[heading, name, ...values[i]]];
    heading = name;
    return [];
  });
  return { columns: [...(headed ? ["workload"] : []), "name", ...series.map((s) => s.name ?? "value")], rows };
}

/** What is drawn. `value`: what an axis says of a number; `axes`: what they are called where the chart itself does not say it. */
export function numbersOf(option: { [part: string]: unknown }, value: (n: number) => number = (n) => n, axes: [x: string, y: string] = ["", ""]): Numbers {
  const series = option.series as Series[];
  const [x, y] = [option.xAxis, option.yAxis] as Axis[];
  const axis = [x, y].find((a) => a?.type === "category");
  if (axis !== undefined) {
    const numbers = byCategory(axis, series);
    return { ...numbers, rows: numbers.rows.map((row) => row.map((n) => (typeof n === "number" ? value(n) : n))) };
  }
  if (series.length === 1 && series[0].dimensions !== undefined) return { columns: series[0].dimensions, rows: series[0].data as (number | null)[][] };
  return { columns: ["series", x?.name || axes[0] || "x", y?.name || axes[1] || "y"], rows: series.flatMap((s) => (s.data as (number | null)[][]).map((point) => [s.name ?? "", ...point])) };
}

// --- keys of colours, which stand in the page above some charts -------------------------------------------------------

const kKeyRow = 18;

/** Colours of "linear-gradient(90deg, #46327e, rgb(1, 2, 3))". */
export function gradientColours(background: string): string[] {
  return background.match(/#[0-9a-f]{3,8}\b|rgba?\([^)]*\)/gi) ?? [];
}

/** Draws what the page's element says, in rows from `top` on. */
export function keyPicture(keys: Element, width: number, top: number, textWidth: (text: string) => number): { content: string; height: number } {
  let [at, row, content] = [0, 0, ""];
  [...keys.querySelectorAll<HTMLElement>(".key")].forEach((key, n) => {
    const mark = key.querySelector<HTMLElement>(".swatch, .ramp");
    const colours = mark === null ? [] : gradientColours(mark.style.background);
    const long = mark?.className.includes("ramp") ? 60 : mark === null ? 0 : 12;
    const [before, after] = mark === null ? ["", key.textContent ?? ""] : [mark.previousSibling?.textContent ?? "", mark.nextSibling?.textContent ?? ""].map((text) => text.trim());
    const wide = textWidth(before) + (before === "" ? 0 : 5) + long + (long === 0 ? 0 : 5) + textWidth(after) + 16;
    if (at > 0 && at + wide > width) [at, row] = [0, row + 1];
    const y = top + row * kKeyRow;
    const words = (x: number, text: string) => (text === "" ? "" : `<text x="${rounded(x)}" y="${y + 12}" font-size="11" fill="#1d2733">${escapeXml(text)}</text>`);
    const from = at + (before === "" ? 0 : textWidth(before) + 5);
    const id = `key-${n}`;
    const fill = colours.length > 1 ? `url(#${id})` : colours[0] ?? "none";
    const ramp = colours.length > 1 ? `<linearGradient id="${id}">${colours.map((colour, i) => `<stop offset="${rounded(i / (colours.length - 1))}" stop-color="${colour}"/>`).join("")}</linearGradient>` : "";
    content += ramp + words(at, before) + (long === 0 ? "" : `<rect x="${rounded(from)}" y="${y + 2}" width="${long}" height="11" rx="2" fill="${fill}"/>`) + words(from + (long === 0 ? 0 : long + 5), after);
    at += wide;
  });
  return { content, height: content === "" ? 0 : (row + 1) * kKeyRow + 4 };
}

// --- buttons ---------------------------------------------------------------------------------------------------------

type Width = "one" | "two" | "screen";
const kWidths: { [width in Width]: string } = { one: `${kColumns.one} mm`, two: `${kColumns.two} mm`, screen: "as here" };
let chosen: Width = "two";

const millimetres = (of: Saved) => (chosen === "screen" ? Math.max(200, of.shownWidth()) / kPixelsOfMillimetre : kColumns[chosen]);
const drawn = (of: Saved) => of.picture(Math.round(millimetres(of) * kPixelsOfMillimetre));
const svgOf = (of: Saved, from: Provenance) => svgFile(drawn(of), of.title, from, millimetres(of));

/** Prints the drawing and nothing else, on paper of its size; the browser's dialog writes it to a PDF. */
function print(of: Saved, from: Provenance): void {
  const holder = h("div", { class: "only-figure" });
  holder.innerHTML = svgOf(of, from);
  const size = ["width", "height"].map((side) => holder.firstElementChild!.getAttribute(side)).join(" ");
  const rules = h("style", {}, `@page { size: ${size}; margin: 0; }`);
  const title = document.title;
  const done = () => {
    removeEventListener("afterprint", done);
    holder.remove();
    rules.remove();
    document.documentElement.classList.remove("figure");
    document.title = title;
  };
  addEventListener("afterprint", done);
  document.head.append(rules);
  document.body.append(holder);
  document.documentElement.classList.add("figure");
  document.title = [of.title, ...provenance(from).map(([, value]) => value)].join(" · ");  // the PDF's
  window.print();
}

/** Buttons that save a chart; every chart has some. */
export function saveButtons(of: Saved, from: () => Provenance): HTMLElement {
  const name = fileName(of.title);
  const button = (format: string, press: () => void) =>
    h("button", { type: "button", class: "save", "aria-label": `Save "${of.title}" as ${format}`, onclick: press }, format);
  const file = (format: string, type: string, content: () => string) =>
    button(format.toUpperCase(), () => save(`${name}.${format}`, new Blob([content()], { type })));
  const widths = h("select", { class: "save-width", "aria-label": "Width of saved drawings", onchange: (event) => {
    chosen = (event.target as HTMLSelectElement).value as Width;
    for (const other of document.querySelectorAll<HTMLSelectElement>("select.save-width")) other.value = chosen;
  } }, (Object.keys(kWidths) as Width[]).map((width) => h("option", { value: width, selected: width === chosen }, kWidths[width])));
  return h("div", { class: "saves", role: "group", "aria-label": `Save: ${of.title}` }, widths,
    file("svg", "image/svg+xml", () => svgOf(of, from())),
    file("csv", "text/csv", () => csvFile(of.numbers(), of.title, from())),
    button("PDF", () => print(of, from())));
}
