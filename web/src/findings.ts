// Sentences a reader can take away, each computed from the numbers beside it. They say what goes together;
// they do not claim a cause that was not measured.
import type { Group, Report, Run } from "./data";
import { list, percent, ratio } from "./format";
import { dominant, geometricMean, kStalls, speedup, stallReasons, stallTitle } from "./metrics";

/** Below this, two runs count as equally fast. */
const kNotable = 0.02;
const kMostSentences = 6;

function checks(report: Report): string {
  const runs = report.page.runs;
  const wrong = runs.filter((run) => run.result.workload.result === "wrong");
  const unchecked = runs.filter((run) => run.result.workload.result === "unchecked").length;
  if (wrong.length > 0)
    return `${wrong.length} of ${runs.length} runs gave a wrong result: do not trust their timing ` +
      `(${list([...new Set(wrong.map((run) => run.result.workload.name))])}).`;
  if (unchecked === runs.length) return "No result was checked against a reference.";
  if (runs.length === 1) return "The result was checked against a CPU reference and is correct.";
  const rest = unchecked > 0 ? `; ${unchecked} had no reference to check against` : "";
  return `${runs.length - unchecked} of ${runs.length} runs were checked against a CPU reference and are correct${rest}.`;
}

function overall(report: Report, label: string): string | null {
  const { groups } = report;
  const base = groups[0].runs[0].label;
  const mean = geometricMean(groups, label);
  if (groups.length < 2 || mean === null || groups.some((g) => g.runs[0].label !== base)) return null;
  const each = groups.map((g) => ({
    name: g.name,
    value: speedup(g.runs.find((r) => r.label === label)!, g.runs[0])!,
  })).sort((a, b) => b.value - a.value);
  const best = each[0];
  const worst = each[each.length - 1];
  const word = Math.abs(mean - 1) < kNotable ? "about as fast as" : mean > 1 ? "faster than" : "slower than";
  return `${label} is ${word} ${base}: ${ratio(mean)} in the geometric mean of ${groups.length} workloads, ` +
    `from ${ratio(worst.value)} (${worst.name}) to ${ratio(best.value)} (${best.name}).`;
}

/** The reason whose scheduler-cycles changed most in the direction of the total. */
function mainChange(run: Run, base: Run): string | null {
  const change = (reason: string) => (run.result.stalls[reason] ?? 0) - (base.result.stalls[reason] ?? 0);
  const reasons = stallReasons([run, base]).filter((reason) => reason !== "issued");
  const total = reasons.reduce((sum, reason) => sum + change(reason), 0);
  if (total === 0) return null;
  const sign = Math.sign(total);
  const top = reasons.reduce((a, b) => (sign * change(b) > sign * change(a) ? b : a));
  const share = change(top) / total;
  return `${share > 0.995 ? "all" : percent(share)} of the scheduler-cycles ${total < 0 ? "saved" : "added"} are "${stallTitle(top)}"`;
}

function hitRateChange(run: Run, base: Run): string | null {
  const [now, before] = [run.result.totals, base.result.totals];
  if (now.l1d_accesses === 0 || Math.abs(now.l1d_hit_rate - before.l1d_hit_rate) < 0.01) return null;
  const word = now.l1d_hit_rate > before.l1d_hit_rate ? "rises" : "falls";
  return `the L1D hit rate ${word} from ${percent(before.l1d_hit_rate)} to ${percent(now.l1d_hit_rate)}`;
}

interface Contrast {
  size: number;
  text: string;
}

function contrast(group: Group, run: Run): Contrast | null {
  const base = group.runs[0];
  const value = speedup(run, base);
  if (value === null || Math.abs(value - 1) < kNotable) return null;
  const how = value > 1 ? `${ratio(value)} as fast as` : `only ${ratio(value)} as fast as`;
  const why = [mainChange(run, base), hitRateChange(run, base)].filter((s) => s !== null);
  const because = why.length > 0 ? `; ${why.join(", and ")}` : "";
  return { size: Math.abs(Math.log(value)), text: `${group.name}: ${run.label} is ${how} ${base.label}${because}.` };
}

function shortened(names: string[]): string[] {
  return names.length <= 5 ? names : [...names.slice(0, 4), `${names.length - 4} others`];
}

function bottleneck(groups: Group[]): string[] {
  const byReason = new Map<string, string[]>();
  for (const group of groups) {
    const top = dominant(group.runs[0]);
    if (!top) continue;
    const name = `${group.name} (${percent(top.share)})`;
    byReason.set(top.reason, [...(byReason.get(top.reason) ?? []), name]);
  }
  const base = groups[0].runs[0].label;
  return [...byReason].sort((a, b) => b[1].length - a[1].length).map(([reason, names]) =>
    `Under ${base}, ${reason === "issued" ? "issuing" : `"${stallTitle(reason)}"`} takes the largest part of the scheduler-cycles of ${list(shortened(names))}: ` +
    `${kStalls[reason]?.conclude ?? "see the breakdown below"}.`);
}

export function findings(report: Report): string[] {
  if (report.groups.length === 0) return ["The report holds no runs."];
  const out = [checks(report)];
  const first = report.groups[0].runs[0].label;
  for (const label of report.labels) {
    const sentence = label === first ? null : overall(report, label);
    if (sentence !== null) out.push(sentence);
  }
  const contrasts = report.groups.flatMap((g) => g.runs.slice(1).map((run) => contrast(g, run)))
    .filter((c): c is Contrast => c !== null).sort((a, b) => b.size - a.size);
  const limits = bottleneck(report.groups).slice(0, 2);
  const room = Math.max(1, kMostSentences - out.length - limits.length);
  out.push(...contrasts.slice(0, room).map((c) => c.text), ...limits);
  const several = report.groups.some((g) => g.runs.length > 1);
  if (several && contrasts.length === 0 && report.page.runs.every((run) => run.result.timed))
    out.push(`No policy differs from ${first} by more than ${percent(kNotable)} on any workload.`);
  return out;
}
