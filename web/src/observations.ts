// What the counters say about the reason for which schedulers lose most. No remedies: a remedy is known to help only when
// it has been run.
import { kRefusalTerms, kServedTerms } from "./catalogue";
import { configNumber, fields, timedCycles, type Run } from "./data";
import { digits, list, percent, whole } from "./format";
import { schedulerCycles } from "./metrics";

const number = (value: unknown) => (typeof value === "number" ? value : 0);

/** "a 60.0 %, b 40.0 %": the parts from the largest down, those of less than a hundredth left out. */
function shares(parts: [name: string, amount: number][]): string {
  const all = parts.reduce((sum, [, amount]) => sum + amount, 0);
  return list(parts.filter(([, amount]) => amount >= all / 100).sort((a, b) => b[1] - a[1])
    .map(([name, amount]) => `${percent(amount / all)} ${name}`));
}

/** Which resource of the L1D, or which bank conflicts, kept the load/store unit. */
function refused(run: Run): string | null {
  const details = fields(run.result.details);
  const causes = Object.entries(fields(details.l1d_refused)).map(([cause, n]): [string, number] => [`because ${kRefusalTerms[cause]?.explain ?? cause}`, number(n)])
    .filter(([, n]) => n > 0);
  const passes = number(details.shared_passes) / Math.max(1, number(details.shared_accesses));
  const conflicts = passes > 1.05 ? `an access to shared memory takes ${digits(passes)} passes on average` : null;
  const l1d = causes.length > 0 ? `of the cycles in which the L1D took no access, ${shares(causes)}` : null;
  return [l1d, conflicts].filter((s) => s !== null).join("; ") || null;
}

/** Where loads had their data from, and how long they took. */
function waited(run: Run): string | null {
  const details = fields(run.result.details);
  const served = Object.entries(kServedTerms).map(([level, term]): [string, number] => [`from ${term.explain}`, number(details[`served_${level}`])]);
  if (served.every(([, n]) => n === 0)) return null;
  return `a load takes ${digits(number(details.load_mean_cycles))} cycles on average; of the lines, ${shares(served)}`;
}

function launches(run: Run): string | null {
  const latency = configNumber(run, "launch_latency_cycles");
  const many = run.result.kernels.length || (run.result.kernels_by_name ?? []).reduce((sum, k) => sum + k.launches, 0);
  const host = many - (run.launch_tree?.launches ?? 0);
  if (latency === null || host <= 0) return null;
  return `${whole(host)} ${host === 1 ? "launch" : "launches"}${host < many ? " of the host" : ""}, and the machine's launch latency is ${whole(latency)} cycles`;
}

function empty(run: Run): string | null {
  const { result } = run;
  const cycles = timedCycles(run);
  const sms = configNumber(run, "sm.count");
  const details = fields(result.details);
  if (sms === null || typeof details.busy_cycles !== "number") return null;
  const launch = (result.stalls.launch ?? 0) / Math.max(1, result.schedulers);
  const nobody = cycles - details.busy_cycles - launch;
  const parts = [`in ${percent(number(details.tail_cycles) / (cycles * sms))} of the SMs' cycles an SM had no block while others still worked on the same launch`];
  const small = result.kernels.filter((k) => k.grid.reduce((all, n) => all * n, 1) < sms).length;
  if (small > 0) parts.push(`${whole(small)} of ${whole(result.kernels.length)} ${result.kernels.length === 1 ? "launch has" : "launches have"} fewer blocks than the GPU has SMs (${whole(sms)})`);
  if (nobody > cycles / 100) parts.push(`in ${percent(nobody / cycles)} of the cycles no block was on any SM and no launch on its way`);
  return parts.join("; ");
}

const kObserved: { [reason: string]: (run: Run) => string | null } = { lsu: refused, memory: waited, launch: launches, idle: empty };

/** Null where no counter says more about that reason. */
export function observed(run: Run, reason: string): string | null {
  return schedulerCycles(run) > 0 ? kObserved[reason]?.(run) ?? null : null;
}
