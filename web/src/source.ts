// At which lines of the kernels warps spend their time, and what they wait for there: of the CUDA source where the PTX names it, else of the PTX.
import { titleOfKernel, type Group, type Run, type SourceLine, type SourceTexts } from "./data";
import { buttons, h, select } from "./dom";
import { digits, percent, whole } from "./format";
import { stallTitle } from "./metrics";
import { table, type Column } from "./table";

export type LinesOf = "source" | "ptx";

export interface SourceRow {
  kernel: string;
  /** "" of a line of the PTX. */
  file: string;
  line: number;
  /** The instruction, or what stands in the file. */
  text: string;
  issued: number;
  threads: number;
  accesses: number;
  memoryLines: number;
  hits: number;
  loads: number;
  /** Warps that looks have seen there, by what they waited for. */
  warps: { [state: string]: number };
  seen: number;
  /** Warps seen anywhere that needed what this line loads. */
  awaited: number;
  /** Warp-cycles: what that many looks stand for. */
  cycles: number;
  /** At most the standard error of `seen` over all warps seen. */
  error: number;
}

/** At most the standard error of a share of the warps seen: looks are independent, and all warps of a look may stand alike, so that the variance
 * of a look's share is at most p (1 - p) (Bhatia and Davis, American Mathematical Monthly 107, 2000). */
export const errorOfShare = (share: number, looks: number): number => Math.sqrt(Math.max(0, share * (1 - share)) / Math.max(1, looks));

export const sourceRuns = (runs: Run[]): Run[] => runs.filter((run) => (run.result.analysis?.source?.looks ?? 0) > 0);

function add(row: SourceRow, line: SourceLine): void {
  row.issued += line.issued;
  row.threads += line.thread_instructions;
  row.memoryLines += line.memory_lines;
  if (line.memory_lines > 0) row.accesses += line.issued;
  row.hits += line.l1d_hits;
  row.awaited += line.awaited;
  row.loads += line.l1d_hits + line.l1d_pending_hits + line.l1d_misses;
  for (const [state, n] of Object.entries(line.warps)) {
    row.warps[state] = (row.warps[state] ?? 0) + n;
    row.seen += n;
  }
}

/** Of all kernels; where warps are longest first, or what they wait for longest. */
export function sourceRows(run: Run, lines: LinesOf, texts: SourceTexts): SourceRow[] {
  const source = run.result.analysis!.source!;
  const rows = new Map<string, SourceRow>();
  for (const [kernel, of] of Object.entries(source.kernels))
    for (const line of of.lines ?? []) {
      const place = lines === "source" && line.source ? line.source : { file: "", line: line.line };
      const key = `${kernel}\n${place.file}\n${place.line}`;
      const text = place.file === "" ? line.instruction ?? "" : texts[place.file]?.[place.line] ?? "";
      const row = rows.get(key) ?? { kernel, ...place, text, issued: 0, threads: 0, accesses: 0, memoryLines: 0, hits: 0, loads: 0, warps: {}, seen: 0, awaited: 0, cycles: 0, error: 0 };
      rows.set(key, row);
      add(row, line);
    }
  const out = [...rows.values()];
  const all = Math.max(1, out.reduce((sum, row) => sum + row.seen, 0));
  for (const row of out) {
    row.cycles = row.seen * run.result.totals.cycles / source.looks;
    row.error = errorOfShare(row.seen / all, source.looks);
  }
  const weight = (row: SourceRow) => Math.max(row.seen, row.awaited);
  return out.sort((a, b) => weight(b) - weight(a));
}

export const rowKey = (row: SourceRow): string => `${row.kernel}\n${row.file}\n${row.line}`;

/** "memory 31 %, ready 3 %": the states of at least a thousandth of all that was seen, three at most. */
export function waitsText(row: SourceRow, all: number): string {
  return Object.entries(row.warps).filter(([, n]) => n >= 0.001 * all).sort((a, b) => b[1] - a[1]).slice(0, 3)
    .map(([state, n]) => `${state === "ready" ? "ready" : stallTitle(state)} ${percent(n / all)}`).join(", ");
}

const kReady = "nothing keeps it from issuing but another warp's turn";

const withError = (share: number, error: number, sign = ""): string => `${sign}${percent(share)} ± ${(100 * error).toFixed(1)}`;

function timeCell(row: SourceRow, all: number): HTMLElement {
  return h("span", { class: "timecell" }, h("span", { class: "timebar", style: `width:${(100 * row.seen / all).toFixed(1)}%` }), withError(row.seen / all, row.error));
}

/** A line under two policies; all numbers are warp-cycles as shares of those under the first. */
export interface LineChange {
  before: number;
  now: number;
  beforeError: number;
  nowError: number;
}

const wholeCycles = (rows: Iterable<SourceRow>): number => [...rows].reduce((sum, row) => sum + row.cycles, 0);

/** `rows`: all of the run; `before`: all under the first policy. */
export function lineChange(row: SourceRow, rows: SourceRow[], before: Map<string, SourceRow>): LineChange {
  const all = Math.max(1, wholeCycles(before.values()));
  const old = before.get(rowKey(row));
  return { before: (old?.cycles ?? 0) / all, now: row.cycles / all, beforeError: old?.error ?? 0, nowError: row.error * wholeCycles(rows) / all };
}

/** The rows, and those that only the first policy has, as nothing was seen there. */
export function withLost(rows: SourceRow[], before: Map<string, SourceRow>): SourceRow[] {
  const known = new Set(rows.map(rowKey));
  const lost = [...before.values()].filter((row) => !known.has(rowKey(row)));
  return [...rows, ...lost.map((row): SourceRow => ({ ...row, issued: 0, threads: 0, accesses: 0, memoryLines: 0, hits: 0, loads: 0, warps: {}, seen: 0, awaited: 0, cycles: 0, error: 0 }))];
}

function changeColumns(run: Run, base: Run, rows: SourceRow[], before: Map<string, SourceRow>): Column<SourceRow>[] {
  const changes = new Map(rows.map((row): [SourceRow, LineChange] => [row, lineChange(row, rows, before)]));
  const of = (row: SourceRow) => changes.get(row)!;
  const unit = "Warp-cycles at the line, as a share of all under the first policy; ± is at most the standard error, in points";
  return [
    { title: base.label, explain: unit, value: (row) => of(row).before, show: (row) => withError(of(row).before, of(row).beforeError) },
    { title: run.label, explain: unit, value: (row) => of(row).now, show: (row) => withError(of(row).now, of(row).nowError) },
    { title: "Difference", explain: "This policy's less the first one's", value: (row) => of(row).now - of(row).before,
      show: (row) => withError(of(row).now - of(row).before, Math.hypot(of(row).beforeError, of(row).nowError), of(row).now > of(row).before ? "+" : "") },
  ];
}

function columns(run: Run, all: number, several: boolean, changes: Column<SourceRow>[]): Column<SourceRow>[] {
  const title = (name: string) => titleOfKernel(run, name);
  const mean = (sum: number, of: number) => (of > 0 ? sum / of : null);
  const out: Column<SourceRow>[] = [
    { title: "Time", explain: "Share of the warps seen, at random moments, that stood at this line: its next instruction is of it; ± is at most its standard error, in points", value: (row) => row.seen / all, show: (row) => timeCell(row, all) },
    { title: "Waiting for", explain: `What kept them there, as shares of all warps seen; a wait for memory stands where the data is needed. Ready: ${kReady}`, className: "words", value: (row) => waitsText(row, all),
      show: (row) => h("span", { title: Object.entries(row.warps).map(([s, n]) => `${s}: ${percent(n / all)}`).join("\n") }, waitsText(row, all)) },
  ];
  out.push({ title: "Awaited", explain: "Share of the warps seen, wherever they stood, that needed what this line loads", value: (row) => (row.awaited > 0 ? row.awaited / all : null),
    show: (row) => percent(row.awaited / all) });
  out.push(...changes);
  if (several) out.push({ title: "Kernel", value: (row) => title(row.kernel), show: (row) => h("code", {}, title(row.kernel)) });
  out.push(
    { title: "Line", value: (row) => row.line, show: (row) => (row.file === "" ? String(row.line) : h("span", { title: row.file }, `${row.file.replace(/.*\//, "")}:${row.line}`)) },
    { title: "What", className: "words", value: (row) => row.text || null, show: (row) => h("code", {}, row.text) },
    { title: "Executed", explain: "Machine instructions, by warps", value: (row) => row.issued, show: (row) => whole(row.issued) },
    { title: "Lanes", explain: "Threads that took part, mean", value: (row) => mean(row.threads, row.issued), show: (row) => digits(row.threads / row.issued) },
    { title: "Lines of memory", explain: "By access of global or local memory, mean: 1 is the fewest for 4 bytes a thread", value: (row) => mean(row.memoryLines, row.accesses), show: (row) => digits(row.memoryLines / row.accesses) },
    { title: "L1D hits", explain: "Loads of lines that the L1D had", value: (row) => mean(row.hits, row.loads), show: (row) => percent(row.hits / row.loads) });
  return out;
}

/** Kernels in order of their heaviest lines. */
function kernelsOf(rows: SourceRow[]): string[] {
  return [...new Set(rows.map((row) => row.kernel))];
}

export function addSource(parent: HTMLElement, group: Group, texts: SourceTexts): void {
  const runs = sourceRuns(group.runs);
  if (runs.length === 0) return;
  const hasSource = runs.some((run) => Object.values(run.result.analysis!.source!.kernels).some((k) => (k.lines ?? []).some((line) => line.source)));
  let run = runs[0];
  let lines: LinesOf = hasSource ? "source" : "ptx";
  let kernel = "";
  const place = h("div");
  const fill = () => {
    const before = run === runs[0] ? null : new Map(sourceRows(runs[0], lines, texts).map((row): [string, SourceRow] => [rowKey(row), row]));
    const seen = sourceRows(run, lines, texts);
    const rows = before === null ? seen : withLost(seen, before);
    const all = rows.reduce((sum, row) => sum + row.seen, 0);
    const names = kernelsOf(rows);
    const changes = before === null ? [] : changeColumns(run, runs[0], rows, before);
    place.replaceChildren(table({
      caption: `Source lines of ${group.name} under ${run.label}`,
      columns: columns(run, Math.max(1, all), names.length > 1, changes),
      rows: kernel === "" ? rows : rows.filter((row) => row.kernel === kernel),
      limit: 20,
      className: "kernels",
    }));
  };
  const first = sourceRows(run, lines, texts);
  const labels = runs.map((r, i): [string, string] => [String(i), r.label]);
  parent.append(h("h3", {}, "Source lines"),
    h("p", {}, `Where warps spend their time, seen in ${whole(run.result.analysis!.source!.looks)} looks at all of them; executions, lanes, lines and hits are exact.` +
      (hasSource ? "" : " Lines are those of the PTX: nvcc -lineinfo would name those of the CUDA source.")),
    h("div", { class: "choices" },
      buttons("Policy", labels, "0", (i) => {
        run = runs[+i];
        fill();
      }),
      hasSource && buttons("Lines", [["source", "of the source"], ["ptx", "of the PTX"]], lines, (value) => {
        lines = value as LinesOf;
        fill();
      }),
      kernelsOf(first).length > 1 && select("Kernel", [["", "all"], ...kernelsOf(first).map((name): [string, string] => [name, titleOfKernel(run, name)])], "", (name) => {
        kernel = name;
        fill();
      })), place);
  fill();
}
