// What crosses the network and where loads find their data, from the details of the results.
import { kServedTerms } from "./catalogue";
import { fields, type Report, type Run } from "./data";
import type { Charts } from "./charts";
import { short } from "./format";
import { addShares } from "./stacked";
import { partColour } from "./theme";

const kLevels = Object.entries(kServedTerms).map(([level, term]): [counter: string, title: string] => [`served_${level}`, term.title]);

const number = (value: unknown) => (typeof value === "number" ? value : 0);

/** Flit-hops of both networks by kind of packet, in the order of the result. */
export function trafficOf(run: Run): Map<string, number> {
  const out = new Map<string, number>();
  const noc = fields(run.result.details?.noc);
  for (const direction of ["request", "reply"])
    for (const [kind, counts] of Object.entries(fields(noc[direction])))
      if ("flit_hops" in fields(counts)) out.set(kind, (out.get(kind) ?? 0) + number(fields(counts).flit_hops));
  return out;
}

const runsOf = (report: Report) => report.groups.flatMap((g) => g.runs);
const sum = (numbers: Iterable<number>) => [...numbers].reduce((a, b) => a + b, 0);

export function hasTraffic(report: Report): boolean {
  return runsOf(report).some((run) => sum(trafficOf(run).values()) > 0);
}

export function addTraffic(charts: Charts, place: HTMLElement, report: Report): void {
  const present = (kind: string) => runsOf(report).some((run) => (trafficOf(run).get(kind) ?? 0) > 0);
  const parts = [...new Set(runsOf(report).flatMap((run) => [...trafficOf(run).keys()]))].filter(present);
  addShares(charts, place, report, {
    label: "Network traffic in flit-hops by kind of packet, per run",
    parts,
    title: (part) => part.replace(/_/g, " "),
    colour: (t, part) => partColour(t, parts.indexOf(part)),
    amount: (run, part) => trafficOf(run).get(part) ?? 0,
    whole: (run) => sum(trafficOf(run).values()),
    show: short,
  }, "relative");
}

const served = (run: Run, level: string) => number(run.result.details?.[level]);
const allServed = (run: Run) => sum(kLevels.map(([level]) => served(run, level)));

export function hasServed(report: Report): boolean {
  return runsOf(report).some((run) => allServed(run) > 0);
}

export function addServed(charts: Charts, place: HTMLElement, report: Report): void {
  addShares(charts, place, report, {
    label: "Loads by the level that had their data, per run",
    parts: kLevels.map(([level]) => level).filter((level) => runsOf(report).some((run) => served(run, level) > 0)),
    title: (part) => kLevels.find(([level]) => level === part)![1],
    colour: (t, part) => partColour(t, kLevels.findIndex(([level]) => level === part)),
    amount: served,
    whole: allServed,
  }, "share");
}
