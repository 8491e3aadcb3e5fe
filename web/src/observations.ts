// What the counters say about the reason for which schedulers lose most. No remedies: a remedy is known to help only when
// it has been run.
import { kRefusalTerms, kServedTerms } from "./catalogue";
import { configNumber, fields, isCorun, timedCycles, type Run } from "./data";
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

/** Different ways that are told one by one. */
const kMostWays = 3;

/** "1 launch 5,000 cycles, 999 launches 2,200 cycles each": how long each was on its way, where each is known. */
function ways(run: Run): string | null {
  const fromHost = run.result.kernels.filter((k) => k.parent === undefined);
  if (fromHost.length === 0) return null;
  const count = new Map<number, number>();
  for (const k of fromHost) count.set(k.begin_cycle - k.start_cycle, (count.get(k.begin_cycle - k.start_cycle) ?? 0) + 1);
  const most = [...count].sort((a, b) => b[1] - a[1] || b[0] - a[0]);
  const named = most.length > kMostWays + 1 ? most.slice(0, kMostWays) : most;
  const words = named.sort((a, b) => b[0] - a[0]).map(([cycles, n]) => `${whole(n)} ${n === 1 ? "launch" : "launches"} ${whole(cycles)} cycles${n === 1 ? "" : " each"}`);
  const others = most.slice(named.length).reduce((sum, [cycles, n]): [number, number] => [sum[0] + n, sum[1] + cycles * n], [0, 0] as [number, number]);
  if (others[0] > 0) words.push(`${whole(others[0])} others ${whole(others[1] / others[0])} cycles in the mean`);
  return `on their way were ${list(words)}`;
}

/** What was paid; the machine's latencies alone do not say it, as launches overlap and gaps between them are shorter. */
function launches(run: Run): string | null {
  const { result } = run;
  const many = result.kernels.length || (result.kernels_by_name ?? []).reduce((sum, k) => sum + k.launches, 0);
  const host = many - (run.launch_tree?.launches ?? 0);
  const paid = (result.stalls.launch ?? 0) / Math.max(1, result.schedulers);
  if (host <= 0 || paid === 0) return null;
  const all = `in ${whole(paid)} cycles no block was on any SM and a launch was on its way, ${whole(paid / host)} for each of the ${whole(host)} ${host === 1 ? "launch" : "launches"}${host < many ? " of the host" : ""}`;
  const each = ways(run);
  return each === null ? all : `${all}; ${each}`;
}

function empty(run: Run): string | null {
  const { result } = run;
  const cycles = timedCycles(run);
  const sms = configNumber(run, "sm.count");
  const details = fields(result.details);
  if (sms === null || typeof details.busy_cycles !== "number") return null;
  const launch = (result.stalls.launch ?? 0) / Math.max(1, result.schedulers);
  const nobody = cycles - details.busy_cycles - launch;
  // Of tenants' launches no ends are told.
  const parts = isCorun(run) ? [] : [`in ${percent(number(details.tail_cycles) / (cycles * sms))} of the SMs' cycles an SM had no block while others still worked on the same launch`];
  const small = result.kernels.filter((k) => k.grid.reduce((all, n) => all * n, 1) < sms).length;
  if (small > 0) parts.push(`${whole(small)} of ${whole(result.kernels.length)} ${result.kernels.length === 1 ? "launch has" : "launches have"} fewer blocks than the GPU has SMs (${whole(sms)})`);
  if (nobody > cycles / 100) parts.push(`in ${percent(nobody / cycles)} of the cycles no block was on any SM and no launch on its way`);
  return parts.length === 0 ? null : parts.join("; ");
}

const kObserved: { [reason: string]: (run: Run) => string | null } = { lsu: refused, memory: waited, launch: launches, idle: empty };

/** Null where no counter says more about that reason. */
export function observed(run: Run, reason: string): string | null {
  return schedulerCycles(run) > 0 ? kObserved[reason]?.(run) ?? null : null;
}
