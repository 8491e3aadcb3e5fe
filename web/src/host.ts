// What the simulation itself cost on the computer it ran on.
import { timedTotals, type Report, type Run } from "./data";
import { bytes, seconds, short } from "./format";
import { table } from "./table";

interface Row {
  name: string;
  run: Run;
}

/** Warp instructions simulated in a second of timing (of executing, where nothing was timed). */
export function speed(run: Run): number | null {
  const { host, timed } = run.result;
  const totals = timedTotals(run);
  const time = timed ? host.timing_seconds : host.functional_seconds;
  return time > 0 && totals.warp_instructions > 0 ? totals.warp_instructions / time : null;
}

export function hostTable(report: Report): HTMLElement {
  const host = (row: Row) => row.run.result.host;
  return table<Row>({
    caption: "Cost of the simulation on the host",
    rows: report.groups.flatMap((g) => g.runs.map((run) => ({ name: g.name, run }))),
    startsGroup: (row) => report.groups.some((g) => g.runs.length > 1 && g.runs[0] === row.run),
    limit: 12,
    columns: [
      { title: "Workload", value: (row) => row.name },
      { title: "Policy", value: (row) => row.run.label },
      { title: "Warp instructions", value: (row) => timedTotals(row.run).warp_instructions,
        show: (row) => short(timedTotals(row.run).warp_instructions) },
      { title: "Warp instructions per second", explain: "Simulated warp instructions per second of timing",
        value: (row) => speed(row.run), show: (row) => short(speed(row.run)!) },
      { title: "Timing", explain: "Time the timing model took", value: (row) => host(row).timing_seconds,
        show: (row) => seconds(host(row).timing_seconds) },
      { title: "Executing", explain: "Time the functional machine took; done once for all policies of a workload",
        value: (row) => host(row).functional_seconds, show: (row) => seconds(host(row).functional_seconds) },
      { title: "Wall clock", explain: "From the start to the end of the workload, all its policies together when they shared one execution",
        value: (row) => host(row).wall_seconds, show: (row) => seconds(host(row).wall_seconds) },
      { title: "Peak memory", explain: "Largest resident size of the process so far", value: (row) => host(row).peak_rss_bytes,
        show: (row) => bytes(host(row).peak_rss_bytes) },
      { title: "Threads", value: (row) => host(row).threads },
      { title: "State hash", explain: "Equal for runs that are equal in everything but the host's speed", value: (row) => row.run.result.state_hash },
    ],
  });
}
