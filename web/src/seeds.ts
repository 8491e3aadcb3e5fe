// Several seeds: each makes an input of its own, so runs are compared within a seed. What is said of the seeds together is
// the mean of those ratios and how far they lie apart (src/raddle/report/seeds.h computes the same for the terminal).
import { seedOf, type Report, type Run } from "./data";
import { h } from "./dom";
import { kNone, list, ratio, whole } from "./format";
import { speedup } from "./metrics";
import { table } from "./table";

export interface Spread {
  mean: number;
  /** Standard deviation of a sample. */
  deviation: number;
  min: number;
  max: number;
}

/** The runs of one work that differ in nothing but the seed. */
export interface OverSeeds {
  work: string;
  label: string;
  base: string;
  seeds: number[];
  /** The mean is the arithmetic one. */
  cycles: Spread;
  /** Over the first run of the same seed; the mean is the geometric one. Null where something was not timed. */
  speedup: Spread | null;
}

function spread(values: number[], mean: number): Spread {
  const middle = values.reduce((sum, n) => sum + n, 0) / values.length;
  const squares = values.reduce((sum, n) => sum + (n - middle) ** 2, 0);
  return { mean, deviation: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0, min: Math.min(...values), max: Math.max(...values) };
}

const workOf = (run: Run) => JSON.stringify([run.result.workload.name, run.result.workload.parameters]);
const titleOf = (run: Run, report: Report) => {
  const key = workOf(run);
  const alike = report.page.runs.some((other) => workOf(other) !== key && other.result.workload.name === run.result.workload.name);
  const parameters = Object.entries(run.result.workload.parameters ?? {}).map(([name, value]) => `${name}=${value}`);
  return [run.result.workload.name, ...(alike ? parameters : [])].join(" ");
};

/** Nothing where no work has several seeds. */
export function overSeeds(report: Report): OverSeeds[] {
  const out = new Map<string, { run: Run; base: Run }[]>();
  for (const group of report.groups)
    for (const run of group.runs) {
      const key = JSON.stringify([workOf(run), run.label]);
      out.set(key, [...(out.get(key) ?? []), { run, base: group.runs[0] }]);
    }
  return [...out.values()].filter((pairs) => new Set(pairs.map(({ run }) => seedOf(run))).size > 1).map((pairs): OverSeeds => {
    const cycles = pairs.map(({ run }) => run.result.totals.cycles);
    const ratios = pairs.map(({ run, base }) => speedup(run, base)).filter((s): s is number => s !== null);
    return {
      work: titleOf(pairs[0].run, report), label: pairs[0].run.label, base: pairs[0].base.label,
      seeds: pairs.map(({ run }) => seedOf(run)!),
      cycles: spread(cycles, cycles.reduce((sum, n) => sum + n, 0) / cycles.length),
      speedup: ratios.length < pairs.length ? null : spread(ratios, Math.exp(ratios.reduce((sum, n) => sum + Math.log(n), 0) / ratios.length)),
    };
  });
}

const deviationText = (n: number) => n.toFixed(3);

export function seedSentences(report: Report): string[] {
  return overSeeds(report).filter((of) => of.label !== of.base && of.speedup !== null).map((of) => {
    const { mean, deviation, min, max } = of.speedup!;
    const turns = min < 1 && max > 1 ? "; with some seeds it is faster, with others slower" : "";
    return `${of.work} with ${of.seeds.length} seeds: ${of.label} is ${ratio(mean)} as fast as ${of.base} in the geometric mean ` +
      `(standard deviation ${deviationText(deviation)}), from ${ratio(min)} to ${ratio(max)}${turns}.`;
  });
}

export function addSeeds(parent: HTMLElement, report: Report): void {
  const rows = overSeeds(report);
  if (rows.length === 0) return;
  const of = (show: (s: Spread) => string) => (row: OverSeeds) => (row.speedup === null ? kNone : show(row.speedup));
  parent.append(h("h3", {}, "Over the seeds"),
    h("p", { class: "note" }, "A seed makes a workload's input and every random choice: speed-ups are over the first policy with the same seed, and cycles of different seeds may be of different work."),
    table<OverSeeds>({
      caption: "Mean and spread over the seeds", rows, limit: 60,
      startsGroup: (row) => row.label === row.base,
      columns: [
        { title: "Workload", value: (row) => row.work },
        { title: "Policy", value: (row) => row.label },
        { title: "Mean cycles", explain: "Arithmetic mean over the seeds", value: (row) => row.cycles.mean, show: (row) => whole(row.cycles.mean) },
        { title: "Speed-up", explain: "Geometric mean over the seeds", value: (row) => row.speedup?.mean ?? null, show: of((s) => ratio(s.mean)) },
        { title: "±", explain: "Standard deviation of the speed-ups of single seeds", value: (row) => row.speedup?.deviation ?? null, show: of((s) => deviationText(s.deviation)) },
        { title: "Min", value: (row) => row.speedup?.min ?? null, show: of((s) => ratio(s.min)) },
        { title: "Max", value: (row) => row.speedup?.max ?? null, show: of((s) => ratio(s.max)) },
        { title: "Seeds", value: (row) => list(row.seeds.map(String)) },
      ],
    }));
}
