// Sentences a reader can take away, each computed from the numbers beside it. They say what goes together;
// they do not claim a cause that was not measured.
import { isCorun, type Group, type Report, type Run } from "./data";
import { kernelSentence, reasonSentence, whatChanged } from "./difference";
import { digits, list, percent, ratio } from "./format";
import { dominant, geometricMean, kNotable, speedup, stallTitle } from "./metrics";
import { observed } from "./observations";
import { overSeeds, seedSentences } from "./seeds";
import { tenants } from "./sharing";
import { wouldBring } from "./whatif";

const kMostSentences = 8;
/** Policies whose mean is told: the fastest, and the slowest. */
const kMostMeans = 3;
/** Workloads of one reason that are told one by one. */
const kMostObserved = 3;

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

/** What sharing the GPU costs each tenant, and what it gives together. */
function shared(run: Run): string | null {
  const all = tenants(run);
  if (all.length === 0 || all.some((tenant) => tenant.slowdown === null)) return null;
  const scheme = run.result.policies?.scheme?.name ?? "none";
  const weighted = run.result.corun?.weighted_speedup;
  return `With scheme ${scheme}, ${list(all.map((tenant) => `${tenant.name} runs ${ratio(1 / tenant.slowdown!)} as fast as alone`))}` +
    `${typeof weighted === "number" ? `: a weighted speed-up of ${digits(weighted)} (the sum; ${all.length} where nobody disturbs anybody)` : ""}.`;
}

function overall(report: Report, label: string): string | null {
  const { groups } = report;
  if (overSeeds(report).length > 0) return null;  // a group is a seed then
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

interface Contrast {
  size: number;
  text: string;
}

function contrast(group: Group, run: Run): Contrast | null {
  const base = group.runs[0];
  const value = speedup(run, base);
  if (value === null || Math.abs(value - 1) < kNotable) return null;
  const how = value > 1 ? `${ratio(value)} as fast as` : `only ${ratio(value)} as fast as`;
  const cycles = kernelSentence(run, base);
  const more = [reasonSentence(run, base), whatChanged(run, base)].filter((s) => s !== null);
  const text = `${group.name}: ${run.label} is ${how} ${base.label}${cycles === null ? "" : ` (${cycles})`}${more.map((s) => `${s.startsWith("although") ? "," : ";"} ${s}`).join("")}.`;
  return { size: Math.abs(Math.log(value)), text };
}

function shortened(names: string[]): string[] {
  return names.length <= 5 ? names : [...names.slice(0, 4), `${names.length - 4} others`];
}

function bottleneck(report: Report): string[] {
  const { groups } = report;
  const byReason = new Map<string, { group: Group; share: number }[]>();
  for (const group of groups) {
    const top = dominant(group.runs[0]);
    if (top) byReason.set(top.reason, [...(byReason.get(top.reason) ?? []), { group, share: top.share }]);
  }
  const base = groups[0].runs[0].label;
  return [...byReason].sort((a, b) => b[1].length - a[1].length).map(([reason, of]) => {
    const said = of.length > kMostObserved ? [] : of.flatMap(({ group }) => {
      const text = [observed(group.runs[0], reason), wouldBring(report.page.what_if ?? [], group.runs[0], reason)].filter((part) => part !== null).join("; ");
      return text === "" ? [] : [of.length > 1 ? `${group.name}: ${text}` : text];
    });
    return `Under ${base}, ${reason === "issued" ? "issuing" : `"${stallTitle(reason)}"`} takes the largest part of the scheduler-cycles of ` +
      `${list(shortened(of.map(({ group, share }) => `${group.name} (${percent(share)})`)))}${said.length > 0 ? `: ${said.join(". ")}` : ""}.`;
  });
}

/** Means over the workloads of the fastest policies and the slowest. */
function means(report: Report): string[] {
  const first = report.groups[0].runs[0].label;
  const all = report.labels.filter((label) => label !== first).map((label) => ({ mean: geometricMean(report.groups, label) ?? 0, text: overall(report, label) }))
    .filter((one): one is { mean: number; text: string } => one.text !== null);
  if (all.length <= kMostMeans) return all.map((one) => one.text);
  all.sort((a, b) => b.mean - a.mean);
  return [...all.slice(0, kMostMeans - 1), all[all.length - 1]].map((one) => one.text);
}

export function findings(report: Report): string[] {
  if (report.groups.length === 0) return ["The report holds no runs."];
  const out = [checks(report)];
  const first = report.groups[0].runs[0].label;
  out.push(...means(report), ...seedSentences(report), ...report.page.runs.map(shared).filter((s): s is string => s !== null));
  const contrasts = report.groups.flatMap((g) => g.runs.slice(1).map((run) => contrast(g, run)))
    .filter((c): c is Contrast => c !== null).sort((a, b) => b.size - a.size);
  const limits = bottleneck(report).slice(0, 2);
  const room = Math.max(1, kMostSentences - out.length - limits.length);
  out.push(...contrasts.slice(0, room).map((c) => c.text), ...limits);
  const several = report.groups.some((g) => g.runs.length > 1);
  if (several && contrasts.length === 0 && report.page.runs.every((run) => run.result.timed && !isCorun(run)))
    out.push(`No policy differs from ${first} by more than ${percent(kNotable)} on any workload.`);
  return out;
}
