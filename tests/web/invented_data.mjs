// Writes report data with INVENTED numbers of plausible shape, to try the page's layout with many workloads,
// policies, launches or with nothing measured. No number in it comes from a simulation.
//   node invented_data.mjs [workloads=3] [policies=2] [launches=4] [samples=120] [blocks=600] [timed=1] [energy=0] [tenants=0] > data.json
import { addDifferences } from "./invented_difference.mjs";

const settings = { workloads: 3, policies: 2, launches: 4, samples: 120, blocks: 600, timed: 1, energy: 0, tenants: 0 };
for (const argument of process.argv.slice(2)) {
  const [key, value] = argument.split("=");
  if (!(key in settings)) throw new Error(`no such setting: ${key}`);
  settings[key] = Number(value);
}
const names = ["vecadd", "transpose", "sgemm", "reduction", "scan", "histogram", "hotspot", "pathfinder", "bfs", "spmv", "kmeans", "nn"];
const policies = ["lrr", "gto", "two_level", "swl"];
let state = 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const kSms = 15;

function metrics(cycles, speed, hits) {
  const warp = Math.round(cycles * 8 * random());
  const accesses = Math.round(warp * 0.3);
  const misses = Math.round(accesses * (1 - hits));
  const thread = warp * 29;
  const bytes = Math.round(misses * 0.6) * 128;
  return {
    cycles: Math.round(cycles / speed), warp_instructions: warp, thread_instructions: thread, ipc: thread / cycles * speed,
    l1d_accesses: accesses, l1d_hits: accesses - misses, l1d_hit_rate: accesses ? 1 - misses / accesses : 0,
    l1d_mpki: thread ? 1000 * misses / thread : 0, l2_accesses: misses, l2_hits: Math.round(misses * 0.4), l2_hit_rate: misses ? 0.4 : 0,
    dram_reads: Math.round(misses * 0.5), dram_writes: Math.round(misses * 0.1), dram_bytes: bytes, noc_bytes: bytes * 2, noc_flit_hops: bytes / 8,
  };
}

function stalls(total, memory) {
  const parts = { issued: 0.25, idle: 0.05, launch: 0.06, barrier: 0.04, memory, dependence: 0.12, unit: 0.05, lsu: 0.08, throttled: 0.02, fence: 0.004, sleep: 0 };
  const sum = Object.values(parts).reduce((a, b) => a + b, 0);
  return Object.fromEntries(Object.entries(parts).map(([k, v]) => [k, Math.round(total * v / sum)]));
}

function blocks(kernels) {
  const out = { total: 0, merged: 1, until: null, launch: [], sm: [], lane: [], first: [], last: [], count: [], start: [], length: [] };
  kernels.forEach((kernel, launch) => {
    const n = Math.round(settings.blocks / kernels.length);
    const rounds = Math.max(1, Math.ceil(n / (kSms * 6)));
    for (let b = 0; b < n; b++) {
      const time = kernel.cycles / rounds;
      out.launch.push(launch);
      out.sm.push(b % kSms);
      out.lane.push(Math.floor(b / kSms) % 6);
      out.first.push(b);
      out.start.push(Math.round(kernel.start_cycle + Math.floor(b / (kSms * 6)) * time));
      out.length.push(Math.round(time * (0.7 + 0.25 * random())));
    }
    out.total += n;
  });
  return out;
}

/** Chunks that stay, whose order turns and whose last block moves, is stolen or not. */
function placement(kernels) {
  return kernels.slice(0, 30).map((kernel, launch) => {
    const n = 60 - launch % 2;
    const sm = Array.from({ length: n }, (_, b) => Math.min(kSms - 1, Math.floor(b / 4)));
    const stolen = launch > 0 ? [4 * (launch % 14) + 3] : [];
    for (const b of stolen) sm[b] = (sm[b] + 1) % kSms;
    return { launch, sm, order: sm.map((_, b) => launch % 2 ? 3 - b % 4 : b % 4), stolen,
      finish: Array.from({ length: kSms }, (_, i) => (i === 7 ? null : Math.round(kernel.start_cycle + kernel.cycles * (1 - 0.3 * random())))) };
  });
}

function samples(cycles, throttled) {
  const n = cycles > 0 ? settings.samples : 0;
  const out = { interval: n ? Math.ceil(cycles / n) : 0, start: [], length: [], thread_instructions: [], l1d_accesses: [], l1d_hits: [], dram_bytes: [],
    warp_cycles: [], throttled_warp_cycles: [], sms: { start: [], length: [], ipc: [], l1d_hit_rate: [], warps: [], allowed: [] } };
  for (let i = 0; i < n; i++) {
    const busy = 0.6 + 0.4 * Math.sin(i / 9) + 0.1 * random();
    const accesses = i % 17 === 16 ? 0 : Math.round(out.interval * 2 * busy);
    out.start.push(i * out.interval);
    out.length.push(Math.max(0, Math.min(out.interval, cycles - i * out.interval)));
    out.thread_instructions.push(Math.round(out.interval * 200 * busy));
    out.l1d_accesses.push(accesses);
    out.l1d_hits.push(Math.round(accesses * 0.5 * busy));
    out.dram_bytes.push(Math.round(out.interval * 60 * busy));
    out.warp_cycles.push(Math.round(out.interval * kSms * 40 * busy));
    out.throttled_warp_cycles.push(throttled ? Math.round(out.interval * kSms * 20 * busy) : 0);
    if (!throttled) continue;
    out.sms.start.push(out.start[i]);
    out.sms.length.push(out.length[i]);
    const bySm = (scale) => Array.from({ length: kSms }, () => Math.round(10 * scale * busy * random()) / 10);
    out.sms.ipc.push(bySm(32));
    out.sms.l1d_hit_rate.push(bySm(1));
    out.sms.warps.push(bySm(32));
    out.sms.allowed.push(bySm(20));
  }
  return out;
}

/** A co-run under a scheme that keeps a record. */
function share(out) {
  const cycles = out.result.totals.cycles, n = settings.tenants;
  const of = (k, more) => Object.fromEntries(Array.from({ length: n }, (_, t) => [`tenant_${t}`, more(t, k)]));
  const phase = (k, name, last) => [`0${k}_${name}`, { start_cycle: Math.round(cycles * k / 6), end_cycle: last ? 0 : Math.round(cycles * (k + 1) / 6),
    prior: k < 3 ? 0 : 1.3 - 0.1 * k, goal: k === 4 ? 0.81 : 0,
    ...of(k, (t) => ({ blocks: t === 0 ? 2 + k : 8 - k, noc_share: k < 2 ? 0 : 20 / n, dram_share: k < 2 ? 0 : 14 / n })) }];
  out.result.kernels = [];
  out.result.tenants = Array.from({ length: n }, (_, t) => ({ name: names[t % 2], slowdown: t === 1 ? null : 1.2 + 0.7 * t }));
  out.result.policies.scheme = { name: "ccbp", parameters: { units: 20, noc_percent: 60, dram_percent: 70 },
    statistics: { phases: Object.fromEntries(["warm_up", "sample", "decide", "settle", "try", "hold"].map((name, k) => phase(k, name, k === 5))) } };
  const { start, length } = out.samples;
  out.tenant_use = { interval: out.samples.interval, start, length, tenants: Array.from({ length: n }, (_, t) => ({ name: names[t % 2],
    ipc: start.map(() => 100 * random()), noc: start.map((_, i) => 20 + 10 * t + 15 * Math.sin(i / (3 + t)) + 5 * random()), dram: start.map(() => 30 * random()),
    blocks: start.map((_, i) => kSms * (t === 0 ? 2 + i / 30 : 8 - i / 30)) })) };
  return out;
}

function run(policy, index) {
  const work = 200000 * (1 + index % 5) * settings.timed;
  const better = policy === 0 ? 1 : 0.85 + 0.6 * random();
  const hits = Math.min(0.95, (0.2 + 0.05 * index) * better);
  let start = 0;
  const kernels = Array.from({ length: settings.launches }, (_, i) => {
    const m = metrics(work / settings.launches, better, hits);
    const kernel = { name: ["expand", "_Z9frontier2PKiPfi", "count"][i % 3], grid: [40 + i, 1, 1], block: [256, 1, 1], stream: 0, start_cycle: start, begin_cycle: start, end_cycle: start + m.cycles,
      title: ["expand", "frontier2(int const*, float*, int)", "count"][i % 3], execution_cycles: Math.round(m.cycles * 0.9), stalls: { issued: 30, memory: 50 + i, lsu: 20 },
      resident: { registers_per_thread: 24, blocks: 6, warps: 48, limited_by: "warps" }, details: { loads: 100, load_mean_cycles: 900 / better }, ...m };
    start += kernel.cycles;
    return kernel;
  });
  const cycles = start;
  const totals = { ...metrics(work, better, hits), cycles };
  totals.ipc = cycles ? totals.thread_instructions / cycles : 0;
  const result = {
    schema: 1, raddle_version: "0.0.0-invented",
    config: { name: "invented", core_clock_mhz: 700,
      sm: { count: kSms, schedulers: 2, warps: 48, l1d: { size_kib: 16, line_bytes: 128, ways: 4 } },
      l2: { slices: 12, size_kib: 64 }, dram: { channels: 6, clock_mhz: 924 },
      policy: { warp: { name: policies[policy % 4] }, block: { name: "rr" } }, run: { seed: 1 } },
    workload: { name: names[index % 12], parameters: { size: "small", n: 1024 }, input_hash: "0", result: index === 7 && policy === 1 ? "wrong" : "correct",
      ...(index === 7 && policy === 1 ? { difference: "element 12 is 3, expected 4" } : {}) },
    timed: settings.timed === 1, totals, details: { busy_cycles: Math.round(cycles * 0.9), tail_cycles: cycles, l1d_refused: { mshr: 120, way: 900 }, load_mean_cycles: 812, l1d_pending_hits: 12, l1d_evictions: Math.round(900 / better), dram_row_hit_rate: 0.61, served_l1: 500, served_remote_l1: 60 * policy, served_l2: 300, served_memory: 90,
      noc: { request: { read: { flit_hops: 900 }, write: { flit_hops: 300 / better }, ports: 4 }, reply: { read: { flit_hops: 3000 }, write: { flit_hops: 200 } } } }, kernels,
    schedulers: 2 * kSms, stalls: stalls(cycles * 2 * kSms, 0.4 / better),
    policies: settings.timed ? { warp: { name: policies[policy % 4], parameters: policy ? { max_streak: 100 } : {}, statistics: { asked: 1000 * (policy + 1) } },
      block: { name: "rr", parameters: null, statistics: null } } : {},
    energy_pj: settings.energy ? { dram: totals.dram_bytes * 60, l1d: totals.l1d_accesses * 300, alu: totals.thread_instructions * 5 } : {},
    host: { wall_seconds: 1.5, functional_seconds: 0.02, timing_seconds: 0.4, peak_rss_bytes: 90e6, threads: 1 },
    state_hash: "0123456789abcdef",
  };
  const out = { label: policies[policy % 4], core_clock_mhz: 700, result, blocks: blocks(settings.timed ? kernels : []), placement: placement(settings.timed ? kernels : []), launch_tree: null, mesh: null, samples: samples(cycles, policies[policy % 4] === "swl") };
  return settings.tenants > 0 ? share(out) : out;
}

const runs = [];
for (let w = 0; w < settings.workloads; w++) for (let p = 0; p < settings.policies; p++) runs.push(run(p, w));
if (settings.timed === 1) addDifferences(runs);
process.stdout.write(JSON.stringify({ raddle_version: "0.0.0-invented", command: "INVENTED NUMBERS: node tests/web/invented_data.mjs", date: "", runs }));
