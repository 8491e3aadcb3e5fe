// The table of every run: one row per workload and policy.
import { isCorun, type Group, type Report, type Run } from "./data";
import { h } from "./dom";
import { percent, ratio } from "./format";
import { dominant, kMetrics, kNotable, kSpeedup, kStalls, speedup, stallTitle, type Metric } from "./metrics";
import { table, type Column } from "./table";

interface Row {
  group: Group;
  run: Run;
}

const kBadges: { [result: string]: [text: string, explain: string] } = {
  correct: ["✓ correct", "The result agrees with a CPU reference."],
  wrong: ["✗ wrong", "The result differs from the CPU reference."],
  unchecked: ["unchecked", "There is no reference to check the result against."],
};

export function badge(run: Run): HTMLElement {
  const { result, difference } = run.result.workload;
  const [text, explain] = kBadges[result] ?? [result, ""];
  return h("span", { class: `badge ${result}`, title: difference ? `${explain} ${difference}` : explain }, text);
}

function speedupCell(row: Row): Node {
  const value = speedup(row.run, row.group.runs[0]) ?? 1;
  const sense = value > 1 + kNotable ? "faster" : value < 1 - kNotable ? "slower" : "same";
  return h("span", { class: sense }, ratio(value));
}

function metricColumn(metric: Metric): Column<Row> {
  return {
    title: metric.title,
    explain: metric.explain,
    value: (row) => metric.value(row.run.result.totals),
    show: (row) => metric.show(metric.value(row.run.result.totals)!),
  };
}

const kDominant: Column<Row> = {
  title: "Largest share",
  explain: "What the schedulers spent most of their cycles on: issuing, or one reason for not issuing.",
  value: (row) => {
    const top = dominant(row.run);
    return top ? `${stallTitle(top.reason)} ${percent(top.share)}` : null;
  },
  show: (row) => {
    const top = dominant(row.run)!;
    return h("span", { title: kStalls[top.reason]?.explain ?? "" }, `${stallTitle(top.reason)} ${percent(top.share)}`);
  },
};

export function summaryTable(report: Report): HTMLElement {
  const several = report.groups.some((g) => g.runs.length > 1);
  const columns: Column<Row>[] = [
    { title: "Workload", value: (row) => row.group.name },
    { title: "Policy", value: (row) => row.run.label },
    { title: "Result", explain: "Whether the simulated program computed the right answer.",
      value: (row) => row.run.result.workload.result, show: (row) => badge(row.run) },
    metricColumn(kMetrics.cycles),
  ];
  if (report.groups.some((g) => g.runs.length > 1 && !g.runs.some(isCorun)))
    columns.push({ title: kSpeedup.title, explain: kSpeedup.explain,
      value: (row) => speedup(row.run, row.group.runs[0]), show: speedupCell });
  columns.push(metricColumn(kMetrics.ipc), metricColumn(kMetrics.l1d_hit_rate), metricColumn(kMetrics.l1d_mpki),
    metricColumn(kMetrics.l2_hit_rate), metricColumn(kMetrics.dram_bytes), kDominant);
  return table({
    caption: "Every run: workload, policy and the main measures",
    columns,
    rows: report.groups.flatMap((group) => group.runs.map((run) => ({ group, run }))),
    startsGroup: (row) => several && row.run === row.group.runs[0],
    limit: 40,
    className: "summary",
  });
}
