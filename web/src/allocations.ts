// Which buffers and variables the traffic is for: lines that warps touch, what the caches had of them, and bytes of DRAM.
import { titleOfKernel, type AllocationFigures, type AllocationRow, type Group, type Run } from "./data";
import { buttons, h, select } from "./dom";
import { bytes, percent, whole } from "./format";
import { table, type Column } from "./table";

/** An allocation with the figures of all kernels, or of one. */
export interface TrafficRow {
  of: AllocationRow;
  figures: AllocationFigures;
}

export const allocationRuns = (runs: Run[]): Run[] => runs.filter((run) => (run.result.analysis?.allocations?.rows.length ?? 0) > 0);

export const dramBytes = (f: AllocationFigures): number => f.dram_read_bytes + f.dram_written_bytes;
const l1dLoads = (f: AllocationFigures) => f.l1d_hits + f.l1d_pending_hits + f.l1d_misses;
const l2Requests = (f: AllocationFigures) => f.l2_hits + f.l2_pending_hits + f.l2_misses;
const touchedLines = (f: AllocationFigures) => f.loads + f.stores + f.atomics;

/** Those that the kernel touches ("": any), with most traffic with DRAM first, then with most accesses. */
export function trafficRows(run: Run, kernel: string): TrafficRow[] {
  const rows = run.result.analysis!.allocations!.rows.flatMap((of) => {
    const figures = kernel === "" ? of : of.kernels[kernel];
    return figures === undefined ? [] : [{ of, figures }];
  });
  return rows.sort((a, b) => dramBytes(b.figures) - dramBytes(a.figures) || touchedLines(b.figures) - touchedLines(a.figures));
}

/** Across runs of the same program. */
export const allocationKey = (row: AllocationRow): string => `${row.name}\n${row.address ?? ""}\n${row.bytes ?? ""}`;

/** Figures by allocation of another run, for figuresIn(). */
export function figuresByKey(rows: TrafficRow[]): Map<string, AllocationFigures> {
  return new Map([...rows].flatMap((row): [string, AllocationFigures][] => [[allocationKey({ ...row.of, address: undefined }), row.figures], [allocationKey(row.of), row.figures]]));
}

/** Of the same allocation, or, where addresses are others, of one with its name and size. */
export const figuresIn = (of: Map<string, AllocationFigures>, row: AllocationRow): AllocationFigures | undefined =>
  of.get(allocationKey(row)) ?? of.get(allocationKey({ ...row, address: undefined }));

/** "bfs_expand 2, bfs_advance 1". */
export function argumentsText(run: Run, row: AllocationRow): string {
  return Object.entries(row.arguments ?? {}).flatMap(([kernel, places]) => places.map((place) => `${titleOfKernel(run, kernel)} ${place}`)).join(", ");
}

/** "1.25 MiB less for allocation 2, bfs_expand 2": which allocation most of a kernel's change of DRAM traffic is for; null where none is more than half of it. */
export function mostOfTheChange(run: Run, base: Run, kernel: string): string | null {
  if (allocationRuns([run, base]).length < 2) return null;
  const before = figuresByKey(trafficRows(base, kernel));
  const changes = trafficRows(run, kernel).map((row) => {
    const old = figuresIn(before, row.of);
    return { row, change: dramBytes(row.figures) - (old === undefined ? 0 : dramBytes(old)) };
  });
  const total = changes.reduce((sum, { change }) => sum + change, 0);
  const most = changes.find(({ change }) => change / total > 0.5);
  if (most === undefined) return null;
  const pointers = argumentsText(run, most.row.of);
  return `${bytes(Math.abs(most.change))} ${most.change < 0 ? "less" : "more"} for ${most.row.of.name}${pointers === "" ? "" : `, ${pointers}`}`;
}

function shareCell(share: number): HTMLElement {
  return h("span", { class: "timecell" }, h("span", { class: "timebar", style: `width:${(100 * share).toFixed(1)}%` }), percent(share));
}

function columns(run: Run, base: Run, rows: TrafficRow[], before: Map<string, AllocationFigures> | null): Column<TrafficRow>[] {
  const all = rows.reduce((sum, row) => sum + dramBytes(row.figures), 0);
  const part = (n: number, of: number) => (of > 0 ? n / of : null);
  const count = (title: string, explain: string, of: (f: AllocationFigures) => number, show: (n: number) => string): Column<TrafficRow> =>
    ({ title, explain, value: (row) => of(row.figures) || null, show: (row) => show(of(row.figures)) });
  const rate = (title: string, explain: string, hits: (f: AllocationFigures) => number, of: (f: AllocationFigures) => number): Column<TrafficRow> =>
    ({ title, explain, value: (row) => part(hits(row.figures), of(row.figures)), show: (row) => percent(hits(row.figures) / of(row.figures)) });
  const old = (row: TrafficRow) => {
    const of = before === null ? undefined : figuresIn(before, row.of);
    return of === undefined ? 0 : dramBytes(of);
  };
  const change = (row: TrafficRow) => dramBytes(row.figures) - old(row);
  const out: Column<TrafficRow>[] = [
    { title: "Allocation", explain: "Allocation N is the Nth that the program made, ×M: M of the same place and size, one after another; rest the pointer on one for its address. The rest: what kernels allocate, and parameters of their launches", value: (row) => row.of.name,
      show: (row) => h("span", { title: row.of.address ?? "" }, `${row.of.name}${row.of.times === undefined ? "" : ` (×${row.of.times})`}`) },
    { title: "Argument of", explain: "Kernels that the host launched with a pointer into it, and as which argument", className: "words", value: (row) => argumentsText(run, row.of) || null,
      show: (row) => h("code", {}, argumentsText(run, row.of)) },
    { title: "Size", value: (row) => row.of.bytes ?? null, show: (row) => bytes(row.of.bytes!) },
    { title: "Touched", explain: "Share of its sectors that the L2 was asked for, in the whole run", value: (row) => part(row.of.touched_sectors ?? 0, row.of.sectors ?? 0), show: (row) => percent(row.of.touched_sectors! / row.of.sectors!) },
    { title: "DRAM", explain: "Share of all bytes read from and written to DRAM", value: (row) => part(dramBytes(row.figures), all), show: (row) => shareCell(dramBytes(row.figures) / all) },
    count("Read", "From DRAM", (f) => f.dram_read_bytes, bytes),
    count("Written", "To DRAM; what the L2 still holds at the end is not", (f) => f.dram_written_bytes, bytes),
  ];
  if (before !== null)
    out.push({ title: base.label, explain: "Bytes of DRAM under the first policy; exact", value: old, show: (row) => bytes(old(row)) },
      { title: run.label, explain: "Bytes of DRAM under this policy; exact", value: (row) => dramBytes(row.figures), show: (row) => bytes(dramBytes(row.figures)) },
      { title: "Difference", explain: "This policy's bytes less the first one's", value: change, show: (row) => (change(row) === 0 ? "0" : `${change(row) > 0 ? "+" : "−"}${bytes(Math.abs(change(row)))}`) });
  out.push(
    count("Loads", "Lines that loads of warps touch", (f) => f.loads, whole),
    rate("L1D hits", "Loads of lines that the L1D had", (f) => f.l1d_hits, l1dLoads),
    count("Stores", "Lines that stores of warps touch", (f) => f.stores, whole),
    count("Atomics", "Lines that atomics of warps touch", (f) => f.atomics, whole),
    rate("L2 hits", "Requests that the L2 had all sectors for", (f) => f.l2_hits, l2Requests));
  return out;
}

export function addAllocations(parent: HTMLElement, group: Group): void {
  const runs = allocationRuns(group.runs);
  if (runs.length === 0) return;
  let run = runs[0];
  let kernel = "";
  const place = h("div");
  const fill = () => {
    const rows = trafficRows(run, kernel);
    const before = run === runs[0] ? null : figuresByKey(trafficRows(runs[0], kernel));
    place.replaceChildren(table({
      caption: `Traffic of ${group.name} by allocation under ${run.label}`,
      columns: columns(run, runs[0], rows, before),
      rows,
      limit: 20,
      className: "kernels",
    }));
  };
  const kernels = [...new Set(runs[0].result.analysis!.allocations!.rows.flatMap((row) => Object.keys(row.kernels)))];
  parent.append(h("h3", {}, "Traffic by allocation"),
    h("p", {}, "Which buffers and variables accesses of memory are for. All counts are exact." +
      (runs[0].result.analysis!.allocations!.known ? "" : " What was allocated is not known here: a trace, or a recording made before recordings said it.")),
    h("div", { class: "choices" },
      buttons("Policy", runs.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
        run = runs[+i];
        fill();
      }),
      kernels.length > 1 && select("Kernel", [["", "all"], ...kernels.map((name): [string, string] => [name, titleOfKernel(run, name)])], "", (name) => {
        kernel = name;
        fill();
      })), place);
  fill();
}
