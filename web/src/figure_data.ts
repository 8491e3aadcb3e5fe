// A figure's numbers as a table and as CSV (src/raddle/report/figure_csv.cpp writes the same).
import { digits, kNone, whole } from "./format";
import type { Cell, Figure, Series } from "./reproduction_data";

export function distinct(names: string[]): string[] {
  return [...new Set(names)];
}

export function shownCell(cell: Cell): string {
  if (cell === null) return kNone;
  if (typeof cell === "string") return cell;
  return Number.isInteger(cell) && Math.abs(cell) < 1e15 ? whole(cell) : digits(cell);
}

/** A number somebody wrote down: as he wrote it. */
export function given(n: number | null): string {
  return n === null ? kNone : Math.abs(n) >= 1e4 ? shownCell(n) : String(+n.toPrecision(6));
}

export interface FigureColumn {
  title: string;
  /** The paper's numbers rather than ours. */
  stated: boolean;
  cells: Cell[];
}

export function columns(f: Figure): FigureColumn[] {
  const name = (s: Series) => (s.stack === "" ? s.name : `${s.stack} / ${s.name}`);
  return f.series.flatMap((s) => {
    const ours = { title: name(s), stated: false, cells: s.values };
    return s.stated.some((cell) => cell !== null) ? [ours, { title: `${name(s)} (stated)`, stated: true, cells: s.stated }] : [ours];
  });
}

const quoted = (text: string): string => (/[,"\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** As the program writes it: with an exponent of two digits below 1e-4 and from 1e16 on. */
function written(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "string") return cell;
  const [mantissa, exponent] = cell.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 16) return String(cell);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

export function csv(f: Figure): string {
  const all = columns(f);
  const rows = [[f.x.label === "" ? "x" : f.x.label, ...all.map((c) => c.title)],
    ...f.x.values.map((x, i) => [written(x), ...all.map((c) => written(c.cells[i]))])];
  return rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");
}
