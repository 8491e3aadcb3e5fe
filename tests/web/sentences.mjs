// Recomputes every number in what a report page says in words ("What the numbers say") from the page's data, by code that
// shares nothing with the page's own. A number that no rule here explains is a complaint, so new sentences need new rules.
const percent = (x) => `${(100 * x).toFixed(1)} %`;
const ratio = (r) => `${r >= 10 ? r.toFixed(1) : r.toFixed(2)}×`;
const whole = (n) => Math.round(n).toLocaleString("en-US");
const digits = (n) => {
  if (n === 0) return "0";
  const size = Math.abs(n);
  if (size >= 1e6 || size < 1e-4) return n.toExponential(2);
  return size >= 100 ? whole(n) : n.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
};
const bytes = (n) => {
  for (const [unit, name] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) if (n >= unit) return `${digits(n / unit)} ${name}`;
  return `${whole(n)} B`;
};
const sum = (values) => values.reduce((a, b) => a + b, 0);
const seed = (run) => run.result.config?.run?.seed ?? null;
const workOf = (run) => JSON.stringify([run.result.workload.name, run.result.workload.parameters, seed(run)]);
const cycles = (run) => run.result.totals.cycles;
const timed = (run) => (run.result.sampling ? run.result.sampling.timed_totals.cycles : cycles(run));
const time = (run) => cycles(run) / (run.core_clock_mhz > 0 ? run.core_clock_mhz : 1);
const schedulerCycles = (run) => sum(Object.values(run.result.stalls));
const kernels = (run) => [...run.result.kernels, ...(run.result.kernels_by_name ?? [])];
/** Two-sided 95 % quantiles of Student's t, of 2 to 10 seeds. */
const kStudent = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
const gmean = (values) => Math.exp(sum(values.map(Math.log)) / values.length);

/** By group: [baseline, run] of all its runs. */
function groupsOf(data) {
  const groups = new Map();
  for (const run of data.runs) groups.set(workOf(run), [...(groups.get(workOf(run)) ?? []), run]);
  return [...groups.values()];
}

/** Sums over the launches of each kernel. */
function byKernel(run) {
  const out = new Map();
  for (const k of kernels(run)) {
    const o = out.get(k.name) ?? { cycles: 0, instructions: 0, l1h: 0, l1a: 0, l2h: 0, l2a: 0, dram: 0, load: 0, loads: 0 };
    const d = k.details ?? {};
    out.set(k.name, { cycles: o.cycles + k.cycles, instructions: o.instructions + k.warp_instructions, l1h: o.l1h + k.l1d_hits, l1a: o.l1a + k.l1d_accesses,
      l2h: o.l2h + k.l2_hits, l2a: o.l2a + k.l2_accesses, dram: o.dram + k.dram_bytes,
      load: o.load + (d.load_mean_cycles ?? 0) * (d.loads ?? 0), loads: o.loads + (d.loads ?? 0) });
  }
  return out;
}

/** Shares of peaks, from counts and settings: what the program says of them must be the same. */
function utilisationOf(run) {
  const { result } = run;
  const { config, details: d, utilisation: said } = result;
  if (said === undefined || config.sm === undefined) return said;
  const totals = result.sampling?.timed_totals ?? result.totals;
  const cycles = d.busy_cycles;
  const flits = (direction) => sum(Object.values(d.noc[direction]).map((kind) => kind.flits ?? 0));
  const clock = (config.noc.clock_mhz || config.core_clock_mhz) / config.core_clock_mhz;
  const ports = Math.min(Math.ceil(config.sm.count / (config.noc.topology === "crossbar" ? config.noc.sms_per_port : 1)), config.l2.slices) * clock;
  const dram = config.dram.model === "fixed" ? config.l2.line_bytes / config.dram.fixed_interval_cycles : config.dram.bus_bytes_per_cycle * config.dram.clock_mhz / config.core_clock_mhz;
  const plain = config.policy?.coherence?.name !== "denovo" && ["none", undefined].includes(config.policy?.migrate?.name) && !Object.values(config.ideal ?? {}).some(Boolean);
  const ours = { issue: totals.warp_instructions / (config.sm.count * config.sm.schedulers), l1: (totals.l1d_accesses + d.l1d_stores + d.atomics) / (config.sm.count * config.sm.lsu_lines),
    shared: d.shared_passes / config.sm.count, l2: totals.l2_accesses * config.l2.interval_cycles / config.l2.slices, ...(plain ? { request: flits("request") / ports, reply: flits("reply") / ports, dram: totals.dram_bytes / (dram * config.dram.channels) } : {}) };
  for (const [name, amount] of Object.entries(ours)) {
    const share = cycles > 0 ? amount / cycles : 0;
    if (Math.abs(share - said[name]) > 1e-9 * Math.max(1, share)) throw new Error(`utilisation.${name} of ${run.label} is ${said[name]}, by its counts ${share}`);
  }
  return said;
}

/** Everything that may stand as a number in a sentence about one run. */
function ofRun(run, add) {
  const { result } = run;
  const d = result.details ?? {};
  const all = schedulerCycles(run);
  for (const n of Object.values(result.stalls)) add(percent(n / all));
  for (const causes of [Object.values(d.l1d_refused ?? {}), ["l1", "remote_l1", "l2", "memory"].map((level) => d[`served_${level}`] ?? 0)])
    for (const n of causes) add(percent(n / sum(causes)));
  for (const share of Object.values(utilisationOf(run) ?? {})) add(percent(share));
  if (d.shared_accesses > 0) add(`${digits(d.shared_passes / d.shared_accesses)} passes`);
  add(`${digits(d.load_mean_cycles ?? 0)} cycles`);
  const sms = result.config.sm?.count ?? 0;
  const paid = (result.stalls.launch ?? 0) / result.schedulers;
  add(percent((d.tail_cycles ?? 0) / (timed(run) * sms)));
  add(percent((timed(run) - (d.busy_cycles ?? 0) - paid) / timed(run)));
  add(`(${whole(sms)})`);
  const few = result.kernels.filter((k) => k.grid[0] * k.grid[1] * k.grid[2] < sms).length;
  add(`${whole(few)} of ${whole(result.kernels.length)}`);
  const launches = result.kernels.length || sum((result.kernels_by_name ?? []).map((k) => k.launches));
  const host = launches - (run.launch_tree?.launches ?? 0);
  add(`in ${whole(paid)} cycles`);
  add(`${whole(paid / host)} for each of the ${whole(host)} launch`);
  const ways = result.kernels.filter((k) => k.parent === undefined).map((k) => k.begin_cycle - k.start_cycle);
  for (const way of new Set(ways)) {
    const n = ways.filter((w) => w === way).length;
    add(`${whole(n)} ${n === 1 ? "launch" : "launches"} ${whole(way)} cycles`);
  }
  const counted = [...new Set(ways)].map((way) => [way, ways.filter((w) => w === way).length]).sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(3);
  if (counted.length > 0) add(`${whole(sum(counted.map(([, n]) => n)))} others ${whole(sum(counted.map(([w, n]) => w * n)) / sum(counted.map(([, n]) => n)))} cycles`);
  for (const { ipc, ipc_alone: alone } of result.tenants ?? []) if (alone > 0) add(ratio(ipc / alone)), add(ratio(1 / (alone / ipc)));
  if ((result.tenants ?? []).every((tenant) => tenant.ipc_alone > 0)) add(`speed-up of ${digits(sum((result.tenants ?? []).map((t) => t.ipc / t.ipc_alone)))}`);
  add(`(the sum; ${(result.tenants ?? []).length} where`);
}

/** Cycles in which a launch was under way; null where launches are told by sums. */
function underWay(run) {
  if (run.result.kernels.length === 0 || (run.result.kernels_by_name ?? []).length > 0) return null;
  let [all, until] = [0, 0];
  for (const k of [...run.result.kernels].sort((a, b) => a.start_cycle - b.start_cycle)) {
    all += Math.max(0, k.end_cycle - Math.max(until, k.start_cycle));
    until = Math.max(until, k.end_cycle);
  }
  return all;
}

/** What kernels' cycles leave of the difference: less what launches that overlap count twice, and without any; or both in one. */
function rests(run, base, changes) {
  const [now, before] = [underWay(run), underWay(base)];
  const left = cycles(run) - cycles(base) - sum(changes);
  return now === null || before === null ? [left] : [now - before - sum(changes), left - (now - before - sum(changes))];
}

/** ... of one run and its baseline. */
function ofPair(run, base, add) {
  add(ratio(time(base) / time(run)));
  const signed = (n) => `${n < 0 ? "−" : "+"}${whole(Math.abs(n))}`;
  const [now, before] = [byKernel(run), byKernel(base)];
  const names = [...new Set([...before.keys(), ...now.keys()])];
  const changes = names.map((name) => (now.get(name)?.cycles ?? 0) - (before.get(name)?.cycles ?? 0));
  changes.push(...rests(run, base, changes));
  for (const change of changes) add(signed(change));
  add(`${whole(Math.abs(cycles(run) - cycles(base)))} cycles ${cycles(run) < cycles(base) ? "fewer" : "more"}`);
  const told = changes.filter((change) => change !== 0).sort((a, b) => Math.abs(b) - Math.abs(a)).slice(3);
  add(`${told.length} others ${signed(sum(told))}`);
  const reasons = [...new Set([...Object.keys(base.result.stalls), ...Object.keys(run.result.stalls)])];
  const differences = reasons.map((reason) => (run.result.stalls[reason] ?? 0) / run.result.schedulers - (base.result.stalls[reason] ?? 0) / base.result.schedulers);
  differences.push(cycles(run) - cycles(base) - sum(differences));  // what is in none of them
  // Parts are whole cycles, each of the two off by less than one.
  for (const exact of differences)
    for (const n of [Math.floor(exact) - 1, Math.floor(exact), Math.ceil(exact), Math.ceil(exact) + 1]) add(`${whole(Math.abs(n))} ${n < 0 ? "fewer" : "more"} on`);
  add(`together ${whole(Math.abs(sum(differences)))} ${sum(differences) < 0 ? "fewer" : "more"}`);
  for (const name of names) {
    const [a, b] = [before.get(name), now.get(name)];
    if (a === undefined || b === undefined) continue;
    add(`from ${whole(a.instructions)} to ${whole(b.instructions)}`);
    add(`from ${percent(a.l1h / a.l1a)} to ${percent(b.l1h / b.l1a)}`);
    add(`from ${percent(a.l2h / a.l2a)} to ${percent(b.l2h / b.l2a)}`);
    add(`from ${bytes(a.dram)} to ${bytes(b.dram)}`);
    add(`from ${digits(a.load / a.loads)} cycles to ${digits(b.load / b.loads)} cycles`);
  }
  const traffic = (of) => new Map((of.result.analysis?.allocations?.rows ?? []).flatMap((row) => Object.entries(row.kernels).map(([kernel, f]) =>
    [JSON.stringify([row.name, kernel]), f.dram_read_bytes + f.dram_written_bytes])));
  const [after, first] = [traffic(run), traffic(base)];
  for (const [key, n] of after) add(`${bytes(Math.abs(n - (first.get(key) ?? 0)))} ${n < (first.get(key) ?? 0) ? "less" : "more"} for`);
}

/** ... of the page as a whole. */
function ofPage(data, groups, add) {
  const count = (verdict) => data.runs.filter((run) => run.result.workload.result === verdict).length;
  add(`${data.runs.length - count("unchecked")} of ${data.runs.length} runs were checked`);
  add(`${count("wrong")} of ${data.runs.length} runs gave`);
  add(`${count("unchecked")} had no reference`);
  add("more than 2.0 %");
  const reasons = groups.map((runs) => Object.entries(runs[0].result.stalls).reduce((a, b) => (b[1] > a[1] ? b : a), ["", -1])[0]);
  for (const reason of new Set(reasons)) add(`and ${reasons.filter((r) => r === reason).length - 4} others`);
  for (const one of data.what_if ?? []) for (const { speedup } of one.policies) add(`with ${one.item} ${ratio(speedup.mean)} as fast`);
  for (const label of new Set(data.runs.map((run) => run.label))) {
    const ratios = groups.map((runs) => [runs[0], runs.find((run) => run.label === label)]).filter(([, run]) => run !== undefined).map(([base, run]) => time(base) / time(run));
    add(`${ratio(gmean(ratios))} in the geometric mean of ${groups.length} workloads`);
    const bySeeds = new Map();
    for (const runs of groups) {
      const key = JSON.stringify([runs[0].result.workload.name, runs[0].result.workload.parameters]);
      const run = runs.find((r) => r.label === label);
      if (run !== undefined) bySeeds.set(key, [...(bySeeds.get(key) ?? []), time(runs[0]) / time(run)]);
    }
    for (const of of bySeeds.values()) {
      const logs = of.map(Math.log);
      const middle = sum(logs) / of.length;
      const half = Math.exp(kStudent[of.length - 2] * Math.sqrt(sum(logs.map((n) => (n - middle) ** 2)) / (of.length - 1) / of.length));
      add(`with ${of.length} seeds`);
      add(`${ratio(gmean(of))} as fast`);
      add(`(95 % interval by Student's t: ${ratio(gmean(of) / half)} to ${ratio(gmean(of) * half)})`);
      add("the interval holds 1,");
      add(`from ${ratio(Math.min(...of))} to ${ratio(Math.max(...of))}`);
    }
  }
}

/** Names of works, policies, kernels and arguments may hold digits; what is said of them may not be taken for numbers. */
function names(data) {
  const out = new Set(["L1D", "L1", "L2"]);
  const parameters = (run) => Object.entries(run.result.workload.parameters ?? {}).map(([key, value]) => `${key}=${value}`);
  for (const run of data.runs) {
    out.add(run.label).add(run.result.workload.name).add(`on ${run.result.config?.name}`).add(`seed ${seed(run)}`);
    for (const text of parameters(run)) out.add(text);
    for (const tenant of run.result.tenants ?? []) out.add(tenant.name).add(`${tenant.name} (1)`).add(`${tenant.name} (2)`);
    out.add(String(run.result.policies?.scheme?.name ?? "none"));
    for (const k of kernels(run)) out.add(k.name).add((k.title ?? k.name).replace(/\(.*\)$/, "")).add(k.title ?? k.name);
    for (const row of run.result.analysis?.allocations?.rows ?? []) {
      out.add(row.name);
      for (const [kernel, numbers] of Object.entries(row.arguments ?? {})) {
        const k = kernels(run).find((one) => one.name === kernel);
        for (const title of [kernel, (k?.title ?? kernel).replace(/\(.*\)$/, "")]) for (const n of numbers) out.add(`${title} ${n}`);
      }
    }
  }
  out.delete("");
  return [...out].sort((a, b) => b.length - a.length);
}

/** Complaints about sentences of a page with that data; none when every number is so. */
export function unexplained(sentences, data) {
  const facts = new Set();
  const add = (text) => { if (!/NaN|Infinity/.test(text)) facts.add(text); };
  const groups = groupsOf(data);
  ofPage(data, groups, add);
  for (const runs of groups)
    for (const run of runs) {
      ofRun(run, add);
      if (run !== runs[0]) ofPair(run, runs[0], add);
      for (const value of [time(runs[0]) / time(run)]) add(`from ${ratio(value)}`), add(`to ${ratio(value)}`);
    }
  // The longest first, so that no number is explained by a part of another.
  const known = [...facts].filter((text) => /\d/.test(text)).sort((a, b) => b.length - a.length);
  const out = [];
  for (const sentence of sentences) {
    let left = sentence;
    for (const fact of known) left = left.replaceAll(fact, (found, at) => (/[\d.,]/.test(left[at - 1] ?? "") && /^\d/.test(found) ? found : "§"));
    for (const name of names(data)) left = left.replaceAll(name, "§");
    if (/\d/.test(left)) out.push(`a number that its data do not give, in "${left}" of "${sentence}"`);
    for (const share of sentence.matchAll(/([\d.,]+) %/g)) if (+share[1].replace(/,/g, "") > 100) out.push(`a share above 100 %: "${sentence}"`);
  }
  return out;
}
