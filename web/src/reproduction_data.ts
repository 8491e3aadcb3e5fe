// The reproduction document (schema 1) that the laboratory writes and src/raddle/report/document.cpp has checked.
// What may be left out or null there is filled in here, so that the rest of the page need not ask.
import type { Fields } from "./data";

export type Status = "pass" | "refuted" | "fail" | "incomplete" | "tested_elsewhere" | "no_verdict";
export type Verdict = "pass" | "refuted" | "fail" | "not_run";
/** Texts occur in tables only; null was not measured. */
export type Cell = number | string | null;

export interface Series {
  name: string;
  /** Stacked only: the bar of each x of which this is a part. */
  stack: string;
  values: Cell[];
  /** Tornado only, least and most: what the constant is there, one per x. */
  at: string[];
  /** The paper's numbers, one per x; all null when it states none. */
  stated: Cell[];
}

export interface Figure {
  title: string;
  type: "bars" | "lines" | "stacked" | "table" | "tornado";
  x: { label: string; scale: "category" | "linear" | "log"; values: (string | number)[] };
  y: { label: string; unit: string };
  series: Series[];
  /** The figure and its numbers as the program writes them into files: a drawing, and CSV. */
  svg: string;
  csv: string;
}

/** What makes a shape impossible under any policy, where its verdict is pass. */
export interface TrendBound {
  statement: string;
  text: string;
  assumes: string;
  verdict: Verdict;
  detail: string;
}

/** What no policy can exceed. */
export interface NumberBound {
  value: number | null;
  is: "at_most" | "at_least";
  text: string;
  assumes: string;
}

export interface Shape {
  statement: string;
  text: string;
  verdict: Verdict;
  detail: string;
  bound: TrendBound | null;
}

export interface Stated {
  what: string;
  paper: number | null;
  ours: number | null;
  bounds: [low: number | null, high: number | null];
  within: boolean | null;
  /** The bound excludes all that would count as the paper's number. */
  refuted: boolean;
  bound: NumberBound | null;
}

export interface Runs {
  total: number;
  done: number;
  failed: number;
  failures: { cell: string; error: string }[];
}

export interface Experiment {
  id: string;
  title: string;
  kind: string;
  priority: number | null;
  /** Where in the paper. */
  source: string;
  claim: string;
  status: Status;
  /** Names of the tests that stand for runs. */
  tested_by: string[];
  tests: Record<string, string>;  // how they came out, where they were run
  figures: Figure[];
  shapes: Shape[];
  stated: Stated[];
  explanation: string;
  counters: { columns: string[]; rows: Cell[][] };
  runs: Runs;
  settings: Fields;
  wall_seconds: number;
}

export interface Reproduction {
  raddle_version: string;
  commit: string;
  /** Of the program that made the page. */
  page_version: string;
  date: string;
  command: string;
  scale: string;
  paper: { id: string; title: string; reference: string; notes: string };
  machine: { name: string; config: Fields };
  experiments: Experiment[];
  /** The file of the index of papers beside the page; empty when there is none. */
  index_page: string;
}

/** Some member may be absent or null at any depth. */
type Loose<T> = T extends (infer Item)[] ? Loose<Item>[] : T extends object ? { [K in keyof T]?: Loose<T[K]> | null } : T;

function series(s: Loose<Series>, length: number): Series {
  const nothing: Cell[] = Array.from({ length }, () => null);
  return { name: s.name ?? "", stack: s.stack ?? "", values: s.values ?? nothing, at: (s.at ?? []) as string[], stated: s.stated ?? nothing };
}

function figure(f: Loose<Figure>): Figure {
  const values = f.x?.values ?? [];
  return {
    title: f.title ?? "", type: f.type ?? "table",
    x: { label: f.x?.label ?? "", scale: f.x?.scale ?? "category", values },
    y: { label: f.y?.label ?? "", unit: f.y?.unit ?? "" },
    series: (f.series ?? []).map((s) => series(s, values.length)), svg: f.svg ?? "", csv: f.csv ?? "",
  };
}

function experiment(e: Loose<Experiment>): Experiment {
  const { runs } = e;
  return {
    id: e.id ?? "", title: e.title ?? "", kind: e.kind ?? "", priority: e.priority ?? null, source: e.source ?? "", claim: e.claim ?? "",
    status: e.status ?? "incomplete", tested_by: e.tested_by ?? [], tests: Object.fromEntries(Object.entries(e.tests ?? {}).filter((test): test is [string, string] => typeof test[1] === "string")),
    figures: (e.figures ?? []).map(figure),
    shapes: (e.shapes ?? []).map((s) => ({ statement: s.statement ?? "", text: s.text ?? "", verdict: s.verdict ?? "not_run", detail: s.detail ?? "",
      bound: s.bound ? { statement: s.bound.statement ?? "", text: s.bound.text ?? "", assumes: s.bound.assumes ?? "", verdict: s.bound.verdict ?? "not_run", detail: s.bound.detail ?? "" } : null })),
    stated: (e.stated ?? []).map((s) => ({ what: s.what ?? "", paper: s.paper ?? null, ours: s.ours ?? null,
      bounds: [s.bounds?.[0] ?? null, s.bounds?.[1] ?? null], within: (s.ours ?? null) === null ? null : s.within ?? null,
      refuted: s.refuted ?? false, bound: s.bound ? { value: s.bound.value ?? null, is: s.bound.is ?? "at_most", text: s.bound.text ?? "", assumes: s.bound.assumes ?? "" } : null })),
    explanation: e.explanation ?? "",
    counters: { columns: e.counters?.columns ?? [], rows: (e.counters?.rows ?? []) as Cell[][] },
    runs: { total: runs?.total ?? 0, done: runs?.done ?? 0, failed: runs?.failed ?? 0,
      failures: (runs?.failures ?? []).map((f) => ({ cell: f.cell ?? "", error: f.error ?? "" })) },
    settings: (e.settings ?? {}) as Fields,
    wall_seconds: e.wall_seconds ?? 0,
  };
}

export function complete(d: Loose<Reproduction>): Reproduction {
  return {
    raddle_version: d.raddle_version ?? "", commit: d.commit ?? "", page_version: d.page_version ?? "", date: d.date ?? "", command: d.command ?? "", scale: d.scale ?? "",
    paper: { id: d.paper?.id ?? "", title: d.paper?.title ?? "", reference: d.paper?.reference ?? "", notes: d.paper?.notes ?? "" },
    machine: { name: d.machine?.name ?? "", config: (d.machine?.config ?? {}) as Fields },
    experiments: (d.experiments ?? []).map(experiment),
    index_page: d.index_page ?? "",
  };
}

export interface Counts {
  pass: number;
  refuted: number;
  fail: number;
  incomplete: number;
  tested_elsewhere: number;
  no_verdict: number;
}

/** A row that the paper does not have: shown, but it counts for nothing. */
export const isOurs = (e: Experiment): boolean => e.kind === "study";

/** The choice of the page that shows it. */
export const shownWith = (e: Experiment): string => (isOurs(e) ? "ours" : e.status);

/** Of the paper's rows. */
export function countStatuses(experiments: Experiment[]): Counts {
  const counts: Counts = { pass: 0, refuted: 0, fail: 0, incomplete: 0, tested_elsewhere: 0, no_verdict: 0 };
  for (const e of experiments) if (!isOurs(e)) counts[e.status]++;
  return counts;
}

/** "Raddle 0.1.0+1f0c... (commit 5b8a6fde0123)". */
export function madeBy(made: { raddle_version: string; commit?: string | null }): string {
  return `Raddle ${made.raddle_version}${made.commit ? ` (commit ${made.commit})` : ""}`;
}

/** What to say where another program than the page's has made the numbers; "" elsewhere. */
export function olderProgram(made: { raddle_version: string }, page_version: string): string {
  return made.raddle_version === "" || page_version === "" || made.raddle_version === page_version ? ""
    : `made by an older program (${made.raddle_version}); today's is ${page_version} and may give other numbers`;
}
