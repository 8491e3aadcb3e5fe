// What --check has found: races, and loads of what nobody has written.
import type { Run } from "./data";
import { h } from "./dom";
import { whole } from "./format";
import { table } from "./table";

export const checkedRuns = (runs: Run[]): Run[] => runs.filter((run) => run.result.checks !== undefined);

interface Row {
  run: Run;
  check: string;
  kernel: string;
  text: string;
  times: number;
}

const foundIn = (run: Run): Row[] => (run.result.checks?.findings ?? []).map((f) => ({ run, check: f.check, kernel: f.kernel, text: f.text, times: f.times }));

/** What the table does not say, in sentences. */
export function checkNotes(runs: Run[]): string[] {
  return checkedRuns(runs).flatMap((run) => {
    const { asked, findings, more, shared_memory_left_out: leftOut } = run.result.checks!;
    const who = run.result.workload.name;
    return [
      ...(findings.length === 0 ? [`${who}: looked for ${asked.join(" and ")}, found nothing.`] : []),
      ...(more > 0 ? [`${who}: ${whole(more)} more places.`] : []),
      ...Object.entries(leftOut).map(([kernel, why]) => `${who}: shared memory of kernel ${kernel} was not looked at: ${why}.`),
    ];
  });
}

export function addChecks(parent: HTMLElement, runs: Run[]): void {
  const rows = checkedRuns(runs).flatMap(foundIn);
  parent.append(...checkNotes(runs).map((note) => h("p", { class: "note" }, note)));
  if (rows.length === 0) return;
  parent.append(table<Row>({
    caption: "What checks have found", rows, limit: 50,
    columns: [
      { title: "Workload", value: (r) => r.run.result.workload.name },
      { title: "Check", value: (r) => r.check },
      { title: "Kernel", value: (r) => r.kernel },
      { title: "Found", value: (r) => r.text, className: "words" },
      { title: "Times", value: (r) => r.times, show: (r) => whole(r.times) },
    ],
  }));
}
