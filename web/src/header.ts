// What was run, on what, with which command.
import { configNumber, gpuName, type Report, type Run } from "./data";
import { h } from "./dom";
import { findings } from "./findings";
import { list, whole } from "./format";
import { brand } from "./page";

/** The machine in a few words: what all runs have alike. */
function machine(runs: Run[]): string {
  const [run] = runs;
  const common = (path: string) => {
    const n = configNumber(run, path);
    return runs.every((other) => configNumber(other, path) === n) ? n : null;
  };
  const part = (path: string, text: (n: number) => string) => {
    const n = common(path);
    return n === null ? null : text(n);
  };
  const slices = common("l2.slices");
  const slice = common("l2.size_kib");
  return [
    part("sm.count", (n) => `${n} SMs`),
    part("sm.schedulers", (n) => `${n} ${n === 1 ? "scheduler" : "schedulers"}, ${common("sm.warps") ?? "several numbers of"} warps per SM`),
    run.core_clock_mhz > 0 && runs.every((other) => other.core_clock_mhz === run.core_clock_mhz) ? `${whole(run.core_clock_mhz)} MHz` : null,
    part("sm.l1d.size_kib", (n) => `L1D ${n} KiB`),
    slices !== null && slice !== null ? `L2 ${whole(slices * slice)} KiB (${slices} × ${whole(slice)} KiB)` : null,
    part("dram.channels", (n) => `${n} DRAM channels`),
  ].filter((s) => s !== null).join(" · ");
}

/** How far off such kernels were on a real GPU, or that it is not known; once for runs that say the same. */
function onSilicon(runs: Run[]): string[] {
  return [...new Set(runs.map((run) => run.result.silicon?.text ?? ""))].filter((text) => text !== "");
}

export function header(report: Report): HTMLElement {
  const { page, groups, labels } = report;
  const gpus = [...new Set(page.runs.map(gpuName))];
  const names = [...new Set(page.runs.map((run) => run.result.workload.name))];
  const work = names.length <= 6 ? list(names) : `${names.length} workloads`;
  const versions = `Raddle ${page.raddle_version}${page.commit ? ` (commit ${page.commit})` : ""}${page.date ? ` · ${page.date}` : ""}`;
  return h("header", {},
    brand(versions),
    h("h1", {}, groups.length === 0 ? "Empty report" : `${work} on ${list(gpus)}`),
    groups.length > 0 && h("p", { class: "facts" }, labels.length > 1 ? "Compared: " : "Run as: ", h("b", {}, list(labels)),
      labels.length > 1 ? ` (ratios refer to ${groups[0].runs[0].label})` : "",
      gpus.length === 1 ? ` — ${machine(page.runs)}` : ""),
    ...onSilicon(page.runs).map((text) => h("p", { class: "facts silicon" }, `On a real GPU: ${text}`)),
    page.command !== "" && h("pre", { class: "command" }, page.command),
    (page.kept ?? []).length > 0 && h("div", { class: "kept" }, h("h2", {}, "Drawn from kept results"),
      h("ul", {}, page.kept!.map((text) => h("li", {}, text)))),
    h("div", { class: "findings" }, h("h2", {}, "What the numbers say"),
      h("ul", {}, findings(report).map((text) => h("li", {}, text)))));
}
