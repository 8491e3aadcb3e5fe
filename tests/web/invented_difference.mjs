// Gives runs of invented data the differences to the first run of the same work that raddle writes into a page
// (src/raddle/report/difference.cpp): kernels and schedulers, and of each kernel invented parts that sum.
const cyclesOf = (run) => run.result.totals.cycles;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const workOf = (run) => JSON.stringify([run.result.workload.name, run.result.workload.parameters, run.result.config?.run?.seed]);
const kernelsOf = (run) => [...run.result.kernels, ...(run.result.kernels_by_name ?? [])];

/** With what is left as its last part, and without those that have nothing. */
function whole(a, b, parts, left) {
  const rest = { name: "", title: left, a: a - sum(parts.map((p) => p.a)), b: b - sum(parts.map((p) => p.b)) };
  const sorted = [...parts].sort((p, q) => Math.abs(q.b - q.a) - Math.abs(p.b - p.a));
  return { a, b, parts: [...sorted, rest].filter((part) => part.a !== 0 || part.b !== 0) };
}

function underWay(run) {
  let [all, until] = [0, 0];
  for (const k of [...run.result.kernels].sort((x, y) => x.start_cycle - y.start_cycle)) {
    all += Math.max(0, k.end_cycle - Math.max(until, k.start_cycle));
    until = Math.max(until, k.end_cycle);
  }
  return all;
}

function byKernel(base, run) {
  const of = (r, name) => sum(kernelsOf(r).filter((k) => k.name === name).map((k) => k.cycles));
  const parts = [...new Set([...kernelsOf(base), ...kernelsOf(run)].map((k) => k.name))].map((name) => ({ name, title: name, a: of(base, name), b: of(run, name) }));
  const overlaps = { name: "", title: "counted twice where launches overlap", a: underWay(base) - sum(parts.map((p) => p.a)), b: underWay(run) - sum(parts.map((p) => p.b)) };
  return whole(cyclesOf(base), cyclesOf(run), [...parts, overlaps], "no launch under way");
}

function byReason(base, run) {
  const cycles = (r, reason) => Math.floor((r.result.stalls[reason] ?? 0) / r.result.schedulers);
  const titles = { lsu: "load/store unit", idle: "no warp", unit: "unit busy" };
  const parts = [...new Set([...Object.keys(base.result.stalls), ...Object.keys(run.result.stalls)])].map((name) => ({ name, title: titles[name] ?? name, a: cycles(base, name), b: cycles(run, name) }));
  return whole(cyclesOf(base), cyclesOf(run), parts, "not counted");
}

/** Thirds of the kernel's cycles. */
function within(part) {
  const third = (n, i) => (i < 2 ? Math.floor(n / 3) : n - 2 * Math.floor(n / 3));
  const thirds = (names, error) => ({ a: part.a, b: part.b, parts: names.map((title, i) => ({ name: title, title, a: third(part.a, i), b: third(part.b, i), ...(error ? { error } : {}) })) });
  return { name: part.name, title: part.title, schedulers: thirds(["memory", "load/store unit", "no warp of it on the scheduler"]), refused: thirds(["MSHR", "way", "merge"]),
    dram_bytes: thirds(["allocation 1 (argument 1)", "allocation 2 (argument 3)", "of no allocation"]), l1d_misses: null, lines: thirds(["k.cu:3", "k.cu:7", "12 other lines"], 321) };
}

export function addDifferences(runs) {
  const first = new Map();
  runs.forEach((run, i) => {
    const base = first.get(workOf(run)) ?? i;
    first.set(workOf(run), base);
    if (base === i) return;
    const schedulers = byReason(runs[base], run);
    if ((run.result.tenants ?? []).length > 0) {
      run.difference = { base, schedulers };
      return;
    }
    const kernels = byKernel(runs[base], run);
    run.difference = { base, kernels, schedulers, of_kernels: kernels.parts.filter((part) => part.name !== "").slice(0, 8).map(within), looks: [84, 81], notes: ["an invented note"] };
  });
}
