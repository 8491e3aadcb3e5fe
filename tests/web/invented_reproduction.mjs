// Writes a reproduction document with INVENTED numbers of plausible shape, to try the page of a paper and its figures.
// No number in it comes from a simulation.
//   node invented_reproduction.mjs [experiments=14] [hostile=0] [nulls=0] [long=0] [bare=0] [paper=ccws] > document.json
// hostile: markup and script in every text; nulls: values that were not measured; long: names of 60 letters and more;
// bare: only the members that must be there.
const settings = { experiments: 14, hostile: 0, nulls: 0, long: 0, bare: 0, paper: "ccws" };
for (const argument of process.argv.slice(2)) {
  const [key, value] = argument.split("=");
  if (!(key in settings)) throw new Error(`no such setting: ${key}`);
  settings[key] = key === "paper" ? value : Number(value);
}
let state = 7;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const kHostile = `</script><script>window.hacked = true</script><img src=x onerror="window.hacked = true"><!-- & ' " \u2028 \u202e {{x}} ]]>`;
const text = (plain) => settings.hostile ? `${plain} ${kHostile}` : settings.long
  ? `${plain} with_a_name_that_goes_on_without_any_place_to_break_it_and_on_and_on` : plain;
const value = (n) => (settings.nulls && random() < 0.35 ? null : +n.toFixed(4));
const sensitive = ["BFS", "MEMC", "KMN", "GC"];
const all = [...sensitive, "WP", "STMCL", "SSSP", "CFD", "NDL", "BACKP", "SRAD", "LUD"];
const schedulers = ["LRR", "2LVL-GTO", "GTO", "Best-SWL", "CCWS"];
const names = (list) => list.map(text);
const axis = (label, values, scale = "category") => ({ label, scale, values });

function bars() {
  const typical = [0.36, 0.95, 1, 1.66, 1.63];
  return [{ title: text("IPC relative to GTO, highly cache-sensitive kernels"), type: "bars",
    x: axis("", names([...sensitive, "hmean"])), y: { label: "IPC", unit: "relative to GTO" },
    series: schedulers.map((name, s) => ({ name: text(name),
      values: [...sensitive, "hmean"].map(() => value(typical[s] * (0.8 + 0.5 * random()))),
      stated: [null, null, null, null, [0.36, 0.948, 1, null, 1.63][s]] })) }];
}
function bigBars() {
  return [{ title: text("IPC relative to GTO, moderately cache-sensitive and insensitive kernels"), type: "bars",
    x: axis("kernel", names(all)), y: { label: "IPC", unit: "relative to GTO" },
    series: [...schedulers, "LRR-BEL", "2LVL-GTO-BEL", "GTO-BEL", "greedy-then-RR", "oldest-first"].map((name) => ({ name: text(name), values: all.map(() => value(0.7 + 0.6 * random())) })) }];
}
function linear() {
  const x = Array.from({ length: 32 }, (_, i) => i + 1);
  return [
    { title: text("IPC against the number of warps allowed"), type: "lines", x: axis("warps allowed", x, "linear"), y: { label: "IPC", unit: "relative to 32 warps" },
      series: sensitive.map((name, s) => ({ name: text(name), values: x.map((n) => value(1 + 2.2 * (s + 1) / 4 * Math.exp(-((n - 5 - s) ** 2) / 40))) })) },
    { title: text("L1D misses per thousand instructions"), type: "lines", x: axis("warps allowed", x, "linear"), y: { label: "MPKI", unit: "" },
      series: [{ name: text("mean"), values: x.map((n) => value(20 + 60 * (1 - Math.exp(-n / 9)))) }] },
  ];
}
function logarithmic() {
  const x = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
  return [{ title: text("IPC under LRR against the size of the L1D"), type: "lines", x: axis("L1D size (KiB)", x, "log"), y: { label: "IPC", unit: "relative to 32 KiB" },
    series: all.slice(0, 10).map((name, s) => ({ name: text(name), values: x.map((n) => value(0.6 + (s < 4 ? 3 : 0.8) / (1 + Math.exp(-(Math.log2(n) - 7 - s / 3))))),
      stated: s === 0 ? x.map((n) => (n === 1024 ? 3.2 : null)) : null })) }];
}
function stacked() {
  const parts = ["miss", "inter-warp hit", "intra-warp hit, other thread", "intra-warp hit, same thread"];
  return [{ title: text("L1D accesses per thousand instructions by outcome"), type: "stacked", x: axis("", names(sensitive)), y: { label: "accesses", unit: "per 1000 instructions" },
    series: schedulers.flatMap((stack, s) => parts.map((name, p) => ({ name: text(name), stack: text(stack), values: sensitive.map(() => value([60 - 9 * s, 12, 6, 10 + 8 * s][p] * (0.7 + 0.6 * random()))),
      stated: name === "miss" && s === 4 ? [24, null, null, null] : null }))) }];
}
function single() {
  return [{ title: text("Locality with an unbounded L1D"), type: "stacked", x: axis("", names(all.slice(0, 8))), y: { label: "accesses", unit: "per 1000 instructions" },
    series: ["miss", "intra-warp hit", "inter-warp hit"].map((name, p) => ({ name: text(name), stack: "", values: all.slice(0, 8).map((_, i) => value((i < 4 ? 40 : 12) * [0.3, 1, 0.5][p] * (0.7 + 0.6 * random()))) })) }];
}
function table() {
  return [{ title: text("Best static limit on warps"), type: "table", x: axis("kernel", names(all)), y: { label: "warps", unit: "" },
    series: [{ name: text("best limit"), values: all.map((_, i) => (i < 4 ? [5, 6, 4, 4][i] : 32)), stated: all.map((_, i) => [5, 7, 4, 4][i] ?? 32) },
      { name: text("reuse class"), values: all.map((_, i) => text(i < 4 ? "intra-warp" : "little")) }] }];
}
function tornado() {
  const constants = ["Memory instructions ahead of the L1D", "L2 latency", "DRAM latency", "Write policy", "Seed"];
  const half = constants.map((_, i) => 0.4 / (i + 1));
  return [{ title: text("What CCWS over GTO depends on"), type: "tornado", x: axis("", names(constants)), y: { label: "CCWS / GTO", unit: "harmonic mean" },
    series: [{ name: "least", values: half.map((h, i) => (i === 4 ? null : 1.3 - h)), at: ["1", "200", "400", "write_through", ""] },
      { name: "as declared", values: half.map(() => 1.3) },
      { name: "most", values: half.map((h, i) => (i === 4 ? null : 1.3 + 0.7 * h)), at: ["16", "60", "90", "write_back", ""] }] }];
}
const kinds = [
  ["fig7", "Scheduler performance on highly cache-sensitive kernels", "P", 1, bars], ["fig3", "Limiting the number of warps", "S", 1, linear],
  ["fig2", "IPC against L1D size", "S", 2, logarithmic], ["fig11", "Where hits come from", "C", 1, stacked], ["fig12", "Locality with an unbounded L1D", "C", 2, single],
  ["tab3", "Best static limits", "P", 2, table], ["fig9", "All other kernels", "P", 1, bigBars], ["n.sensitivity", "What no paper states", "S", 2, tornado], ["fig6", "The scoring example", "D", 1, () => []],
  ["n.2lvl-lrr", "Two-level with round robin", "P", 2, bars], ["n.area", "Hardware cost", "H", 3, () => []],
];
const kExplanation = `The mean is **lower than the paper's** because our \`MEMC\` gains less: its vocabulary fits the L2.

1. The victim tags report 18 hits per thousand instructions where the paper's text implies about 30;
2. the limit settles at 9 warps rather than 7, see [figure 3](#${settings.paper}.fig3) and [the notes](https://example.org/notes).

| kernel | VTA hits PKI | warps allowed |
|---|---:|---:|
| BFS | 31.2 | 6.1 |
| MEMC | 18.0 | 9.0 |

> Nothing was tuned towards the number.

\`\`\`
raddle reproduce ccws.fig7 --scale quick
\`\`\`
`;
const kBadMarkdown = `<script>window.hacked = true</script> <b onclick="window.hacked = true">raw</b> [click](javascript:window.hacked=true) ![picture](http://example.org/x.png "t") <a href='javascript:alert(1)'>x</a> &lt;i&gt; [data](data:text/html,x) [local](file:///etc/passwd)`;

function shapes(status) {
  const out = [
    { statement: "CCWS > GTO", text: text("CCWS is faster than GTO in the harmonic mean"), verdict: "pass", detail: text("1.63 > 1.00") },
    { statement: "LRR < 2LVL-GTO", text: text("LRR is slower than two-level GTO"), verdict: "pass", detail: text(`4 of 4; ${sensitive.map((name) => `${name}: 0.36 < 0.95`).join("; ")}`) },
    { statement: "within(CCWS / GTO, 1.32, 2.01)", text: text("The gain of CCWS is within 0.5 to 1.6 of the paper's"), verdict: "pass", detail: text("1.58 in [1.32, 2.01]") },
  ];
  if (status === "fail") out[2] = { ...out[2], verdict: "fail", detail: text("1.21 is below 1.32") };
  if (status === "incomplete") out[1] = { ...out[1], verdict: "not_run", detail: text("2 of 5 cells have no result") };
  return out;
}

function experiment(index) {
  const [id, title, kind, priority, figures] = kinds[index % kinds.length];
  const status = index % 10 === 7 ? "tested_elsewhere" : ["pass", "pass", "fail", "pass", "incomplete", "pass"][index % 6];
  const out = { id: `${settings.paper}.${id}${index < kinds.length ? "" : `-${Math.floor(index / kinds.length)}`}`, title: text(title), kind, priority, source: text("Figure 7 and section 5.1"),
    claim: text("LRR < two-level GTO <= GTO < CCWS <= Best-SWL in the harmonic mean; CCWS gains 63 % over GTO."), status };
  if (settings.bare) return out;
  const done = status === "incomplete" ? 37 : 40;
  const elsewhere = status === "tested_elsewhere";
  if (elsewhere) {
    out.tested_by = names(["U-C1", "worked/ccws.cpp"]);
    out.tests = { [out.tested_by[0]]: "passed", [out.tested_by[1]]: "not_built" };
  }
  return { ...out, figures: figures(), shapes: elsewhere ? [] : shapes(status),
    stated: elsewhere || figures === linear ? [] : [
      { what: text("CCWS over GTO, hmean"), paper: 1.63, ours: status === "fail" ? 1.21 : value(1.58), bounds: [1.32, 2.01], within: status !== "fail" },
      { what: text("LRR over GTO, hmean"), paper: 0.36, ours: value(0.41), bounds: [0.2, 0.6], within: true },
      { what: text("Best-SWL over CCWS"), paper: null, ours: 1.02, bounds: [1, null], within: status === "incomplete" ? null : true },
    ],
    explanation: settings.hostile ? kBadMarkdown : elsewhere ? "Checked by the unit test `U-C1` (tests/worked/ccws_test.cpp)." : status === "fail" ? kExplanation : "",
    counters: status === "fail" ? { columns: names(["kernel", "scheduler", "L1D MPKI", "VTA hits PKI", "warps allowed", "stalls: memory"]),
      rows: sensitive.flatMap((kernel) => ["GTO", "CCWS"].map((s) => [text(kernel), text(s), value(80 * random()), s === "CCWS" ? value(30 * random()) : null, s === "CCWS" ? value(9 * random()) : 32, value(1e6 * random())])) } : null,
    runs: elsewhere ? { total: 0, done: 0, failed: 0, failures: [] } : { total: 40, done, failed: 40 - done,
      failures: Array.from({ length: 40 - done }, (_, i) => ({ cell: text(`bfs nodes=65536 degree=8 · throttle=swl:limit=${i + 1}`), error: text("no warp issued for 1000000 cycles: SM 3 waits for line 0x7f2a80") })) },
    settings: { workloads: names(sensitive), policies: names(schedulers), set: { "sm.l1d.size_kib": 32 }, seeds: [1, 2, 3] },
    wall_seconds: elsewhere ? 0 : 214.2 };
}

const machine = { name: "ccws", config: { name: "ccws", core_clock_mhz: 650, sm: { count: 30, schedulers: 1, warps: 32, l1d: { size_kib: 32, line_bytes: 128, ways: 8, mshrs: 32 } },
  l2: { slices: 8, size_kib: 128 }, dram: { channels: 8, clock_mhz: 800 }, policy: { warp: { name: "gto" }, throttle: { name: "ccws", k: 8 } } } };
process.stdout.write(JSON.stringify({ schema: 1, kind: "reproduction", raddle_version: "0.0.0-invented", date: "2024-05-01 12:00", command: text("INVENTED NUMBERS: raddle reproduce ccws --scale quick"),
  scale: "quick", paper: { id: settings.paper, title: text("Cache-Conscious Wavefront Scheduling"), reference: text("T. G. Rogers, M. O'Connor, T. M. Aamodt, MICRO 2012") },
  machine: settings.bare ? null : machine, experiments: Array.from({ length: settings.experiments }, (_, i) => experiment(i)) }));
