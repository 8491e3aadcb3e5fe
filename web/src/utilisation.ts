// How much of the machine's peaks a run used, as the program has computed it, and the words for that.
import { fields, timedTotals, type Group, type Peaks, type Run, type Utilisation } from "./data";
import { percent } from "./format";

export type Measured = Run & { result: { utilisation: Utilisation; peaks: Peaks } };

/** With times and peaks: others have none to tell. */
export const measuredRuns = (group: Group): Measured[] => group.runs.filter((run): run is Measured =>
  run.result.timed && run.result.totals.cycles > 0 && run.result.utilisation !== undefined && run.result.peaks !== undefined);

export type Part = keyof Utilisation;
export const kParts: { [part in Part]: { title: string; explain: string } } = {
  issue: { title: "Issue", explain: "Scheduler-cycles in which a warp instruction was issued." },
  l1: { title: "L1D", explain: "Line accesses of loads, stores and atomics that the load/store units took. Loads that bypass the L1D are not in it." },
  shared: { title: "Shared memory", explain: "Cycles in which the banks of shared memory were taken." },
  request: { title: "Network to L2", explain: "Flits from SMs to the L2." },
  reply: { title: "Network to SMs", explain: "Flits from the L2 to SMs." },
  l2: { title: "L2", explain: "Requests that the slices have looked up." },
  dram: { title: "DRAM", explain: "Bytes read and written." },
};
export const kPartNames = Object.keys(kParts) as Part[];

/** A detail of the launches that were timed; 0 where there is none. */
export function detail(run: Run, name: string): number {
  const value = run.result.details?.[name];
  return typeof value === "number" ? value : 0;
}

/** Bytes of packets in that direction, headers with them. */
export function packetBytes(run: Run, direction: "request" | "reply"): number {
  return Object.values(fields(fields(run.result.details?.noc)[direction])).reduce((sum: number, kind) => {
    const bytes = fields(kind).bytes;
    return sum + (typeof bytes === "number" ? bytes : 0);
  }, 0);
}

/** Core cycles in which a block was on an SM. */
export const worked = (run: Run): number => detail(run, "busy_cycles");

/** Line accesses of loads that use the L1D, of stores and atomics. */
export const l1Lines = (run: Run): number => timedTotals(run).l1d_accesses + detail(run, "l1d_stores") + detail(run, "atomics");

/** The parts in order of their share of the peak, those without a limit left out. */
export function ranked(utilisation: Utilisation): { part: Part; share: number }[] {
  return kPartNames.flatMap((part) => {
    const share = utilisation[part];
    return share === null ? [] : [{ part, share }];
  }).sort((a, b) => b.share - a.share);
}

/** What comes nearest to its peak. */
export function nearest(run: Measured): string {
  const [first, second] = ranked(run.result.utilisation);
  if (first.share === 0) return `Under ${run.label} nothing was used.`;
  return `Under ${run.label} ${kParts[first.part].title} comes nearest to its peak: ${percent(first.share)}` +
    `${second.share > 0 ? `; then ${kParts[second.part].title}, ${percent(second.share)}` : ""}.`;
}
