// A figure's numbers: as a table, and those of one place.
import { digits, kNone, whole } from "./format";
import type { Cell, Figure, Series } from "./reproduction_data";

const isNumber = (cell: Cell | undefined): cell is number => typeof cell === "number";
export const hasStated = (f: Figure): boolean => f.series.some((s) => s.stated.some((cell) => cell !== null));
export const hasNumbers = (f: Figure): boolean => f.series.some((s) => s.values.some(isNumber) || s.stated.some(isNumber));
export const stacksOf = (f: Figure): string[] => [...new Set(f.series.map((s) => s.stack))];

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

/** What is under the pointer. */
export interface Spot {
  heading: string;
  lines: { series: number; name: string; value: string; paper: string; at: string }[];
  together: string;
}

/** The numbers at column or row `place` of the drawing; stacks have a column for each stack of each x. */
export function spot(f: Figure, place: number): Spot {
  const stacks = f.type === "stacked" ? stacksOf(f) : [];
  const i = stacks.length > 0 ? Math.floor(place / stacks.length) : place;
  const stack = stacks[place % stacks.length];
  const here = f.series.map((s, series) => ({ ...s, series })).filter((s) => stack === undefined || s.stack === stack);
  const lines = here.filter((s) => s.values[i] !== null || s.stated[i] !== null).map((s) => ({
    series: s.series, name: s.name, value: shownCell(s.values[i]), paper: s.stated[i] === null ? "" : shownCell(s.stated[i]), at: s.at[i] ?? "" }));
  const sum = here.map((s) => s.values[i]).filter(isNumber).reduce((total, value) => total + value, 0);
  return { heading: [f.x.label, String(f.x.values[i]), ...(stack ? ["·", stack] : [])].filter((word) => word !== "").join(" "),
    lines: stack === undefined ? lines : lines.reverse(), together: stack === undefined ? "" : digits(sum) };
}
