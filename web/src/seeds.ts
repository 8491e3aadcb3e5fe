// Several seeds: each makes an input of its own, so runs are compared within a seed. What is said of the seeds together, the
// mean, its interval and how far single seeds lie apart, the program has computed (src/raddle/report/seeds.h).
import type { OverSeeds, Report } from "./data";
import { categoryAxis, tooltip, valueAxis, type Charts, type Option, type RenderApi, type RenderParameters } from "./charts";
import { h } from "./dom";
import { escapeHtml, list, ratio, whole } from "./format";
import { table } from "./table";
import { seriesColour, type Theme } from "./theme";

/** Nothing where no work has several seeds. */
export function overSeeds(report: Report): OverSeeds[] {
  return report.page.over_seeds ?? [];
}

/** The work's name, with its parameters where another of that name is on the page. */
function titleOf(of: OverSeeds, all: OverSeeds[]): string {
  const key = JSON.stringify(of.parameters);
  const alike = all.some((other) => other.workload === of.workload && JSON.stringify(other.parameters) !== key);
  const parameters = Object.entries(of.parameters ?? {}).map(([name, value]) => `${name}=${value}`);
  return [of.workload, ...(alike ? parameters : [])].join(" ");
}

const isBase = (of: OverSeeds) => of.policies === of.over;
const intervalOf = (of: OverSeeds) => (of.speedup.low === null || of.speedup.high === null ? null : `${ratio(of.speedup.low)} to ${ratio(of.speedup.high)}`);

export function seedSentences(report: Report): string[] {
  const all = overSeeds(report);
  return all.filter((of) => !isBase(of)).map((of) => {
    const { mean, min, max } = of.speedup;
    const turns = of.flips ? "; with some seeds it is faster, with others slower, so the verdict flips within the spread" : "";
    const open = of.verdict.startsWith("not told apart") ? "; the interval holds 1, so these seeds do not tell the two apart" : "";
    const same = of.same_input ? "; every seed gave the same input" : "";
    return `${titleOf(of, all)} with ${of.seeds.length} seeds: ${of.policies} is ${ratio(mean)} as fast as ${of.over} in the geometric mean ` +
      `(95 % interval by Student's t: ${intervalOf(of) ?? "none"}), single seeds from ${ratio(min)} to ${ratio(max)}${turns || open}${same}.`;
  });
}

const kRow = 26;

/** Around the point of a mean: a thick line over the interval, a thin one over all seeds. */
function whiskers(rows: OverSeeds[], colours: string[]) {
  return (_: RenderParameters, api: RenderApi): object => {
    const i = api.value(0);
    const { mean, low, high, min, max } = rows[i].speedup;
    const at = (value: number) => api.coord([value, i]);
    const line = (from: number, to: number, lineWidth: number, opacity: number) => {
      const [[x1, y], [x2]] = [at(from), at(to)];
      return { type: "line", shape: { x1, y1: y, x2, y2: y }, style: { stroke: colours[i], lineWidth, opacity } };
    };
    const cap = (value: number) => {
      const [x, y] = at(value);
      return { type: "line", shape: { x1: x, y1: y - 6, x2: x, y2: y + 6 }, style: { stroke: colours[i], lineWidth: 2 } };
    };
    const [cx, cy] = at(mean);
    const ends = low === null || high === null ? [] : [line(low, high, 2, 1), cap(low), cap(high)];
    return { type: "group", children: [line(min, max, 7, 0.35), ...ends, { type: "circle", shape: { cx, cy, r: 4.5 }, style: { fill: colours[i] } }] };
  };
}

function option(rows: OverSeeds[], all: OverSeeds[], labels: string[], t: Theme): Option {
  const several = new Set(rows.map((of) => titleOf(of, all))).size > 1;
  const ends = rows.flatMap(({ speedup: s }) => [s.min, s.max, s.low ?? s.min, s.high ?? s.max]);
  const [least, most] = [Math.min(0.95, ...ends), Math.max(1.05, ...ends)];
  const interval = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find((step) => (most - least) / step <= 9) ?? 50;
  return {
    grid: { left: 8, right: 16, top: 6, bottom: 24, containLabel: true },
    tooltip: { ...tooltip(t), trigger: "item", formatter: (item: { dataIndex: number }) => {
      const of = rows[item.dataIndex];
      return `<b>${escapeHtml(`${titleOf(of, all)}, ${of.policies}`)}</b><br>mean ${ratio(of.speedup.mean)}<br>95 % interval ${intervalOf(of) ?? "none"}<br>` +
        `single seeds ${ratio(of.speedup.min)} to ${ratio(of.speedup.max)}<br>${escapeHtml(of.verdict)}`;
    } },
    xAxis: valueAxis(t, { min: Math.floor(least / interval) * interval, max: Math.ceil(most / interval) * interval, interval,
      axisLabel: { color: t.muted, fontSize: 11, formatter: (n: number) => ratio(n) } }),
    yAxis: categoryAxis(t, rows.map((of) => (several ? `${titleOf(of, all)}, ${of.policies}` : of.policies)), { inverse: true }),
    series: [{
      type: "custom", data: rows.map((of, i) => [i, of.speedup.mean]), encode: { x: 1, y: 0 },
      renderItem: whiskers(rows, rows.map((of) => seriesColour(t, Math.max(0, labels.indexOf(of.policies))))),
      markLine: { silent: true, symbol: "none", data: [{ xAxis: 1 }], label: { show: false }, lineStyle: { color: t.ink, type: "solid", width: 1 } },
    }],
  };
}

/** Works and policies that are drawn; the table has all. */
const kMostDrawn = 60;

export function addSeeds(charts: Charts, parent: HTMLElement, report: Report): void {
  const rows = overSeeds(report);
  if (rows.length === 0) return;
  const compared = rows.filter((of) => !isBase(of)).slice(0, kMostDrawn);
  parent.append(h("h3", {}, "Over the seeds"),
    h("p", { class: "note" }, "A seed makes a workload's input and every random choice: speed-ups are over the first policy with the same seed, and cycles of different seeds may be of different work. " +
      "Drawn are the geometric mean, its 95 % interval (Student's t, of the logarithms), and as a broad line all that single seeds gave. An interval that holds 1 tells no winner."));
  if (compared.length > 0)
    charts.add(parent, {
      label: "Speed-up of each policy over the first with the same seed: mean, 95 % interval and range; the numbers are in the table below",
      height: 34 + kRow * compared.length,
      build: (t) => option(compared, rows, report.labels, t),
    });
  parent.append(table<OverSeeds>({
    caption: "Mean and spread over the seeds", rows, limit: 60,
    startsGroup: isBase,
    columns: [
      { title: "Workload", value: (of) => titleOf(of, rows) },
      { title: "Policy", value: (of) => of.policies },
      { title: "Mean cycles", explain: "Arithmetic mean over the seeds", value: (of) => of.cycles.mean, show: (of) => whole(of.cycles.mean) },
      { title: "Speed-up", explain: "Geometric mean over the seeds", value: (of) => of.speedup.mean, show: (of) => ratio(of.speedup.mean) },
      { title: "Low", explain: "Lower end of the mean's 95 % interval (Student's t)", value: (of) => of.speedup.low, show: (of) => ratio(of.speedup.low!) },
      { title: "High", explain: "Upper end of the mean's 95 % interval (Student's t)", value: (of) => of.speedup.high, show: (of) => ratio(of.speedup.high!) },
      { title: "Min", value: (of) => of.speedup.min, show: (of) => ratio(of.speedup.min) },
      { title: "Max", value: (of) => of.speedup.max, show: (of) => ratio(of.speedup.max) },
      { title: "Seeds", value: (of) => list(of.seeds.map(String)) },
      { title: "Verdict", explain: "Faster or slower where the interval leaves 1 out; it flips where single seeds say otherwise", value: (of) => of.verdict },
    ],
  }));
}
