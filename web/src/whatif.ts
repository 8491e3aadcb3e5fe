// What changes of the machine would bring (--what-if): a table, and beside the reason for which schedulers lose most the
// changes that concern it.
import type { Run, Value, WhatIf } from "./data";
import { list, ratio } from "./format";
import { table } from "./table";

/** Parts and beginnings of settings that bear on a reason. */
const kConcerns: { [reason: string]: string[] } = {
  memory: ["l1d", "l2", "dram", "noc", "mshr", "sm.l1d.", "l2.", "dram.", "noc."],
  lsu: ["mshr", "l1d", "lsu", "sm.l1d.", "sm.lsu_"],
  launch: ["launch", "gap", "launch_latency_cycles", "kernels."],
  idle: ["sms", "registers", "sm.count", "sm.registers", "sm.blocks", "sm.warps", "sm.threads"],
};

const concerns = (item: string, reason: string) => item.split("+").some((change) => (kConcerns[reason] ?? []).some((name) =>
  (name.endsWith(".") || name.endsWith("_") ? change.startsWith(name) : change.startsWith(`${name}=`))));

/** Null where nothing was asked that concerns it. */
export function wouldBring(all: WhatIf[], run: Run, reason: string): string | null {
  const { name, parameters } = run.result.workload;
  const here = all.filter((one) => one.workload === name && JSON.stringify(one.parameters) === JSON.stringify(parameters) && concerns(one.item, reason));
  const said = here.flatMap((one) => {
    const of = one.policies.find((policy) => policy.policies === run.label);
    return of === undefined ? [] : [`with ${one.item} ${ratio(of.speedup.mean)} as fast`];
  });
  return said.length === 0 ? null : `timed on other machines it is ${list(said)}`;
}

function changesText(one: WhatIf): string {
  // Configurations leave out what is not in use.
  const shown = (value: Value) => (value === null ? "unused" : String(value));
  return Object.entries(one.changes).map(([path, { from, to }]) => `${path} ${shown(from)} to ${shown(to)}`).join(", ");
}

function orderText(one: WhatIf): string {
  if (one.policies.length < 2) return "";
  return one.turned.length === 0 ? "as it is" : one.turned.map(([before, after]) => `${after} before ${before}`).join(", ");
}

function streamText(one: WhatIf): string {
  if (one.stream === "recorded") return "the recording's instructions, whatever a program would see of such a machine";
  if (one.stream !== "anew") return "";
  return `executed anew, as the program can see the change: ${one.instructions === 1 ? "the same number of" : `${one.instructions.toFixed(3)} times the`} instructions`;
}

export function whatIfTable(all: WhatIf[]): HTMLElement {
  const works = new Set(all.map((one) => JSON.stringify([one.workload, one.parameters])));
  const policies = [...new Set(all.flatMap((one) => one.policies.map((of) => of.policies)))];
  const speedup = (one: WhatIf, policy: string) => one.policies.find((of) => of.policies === policy)?.speedup;
  const parameters = (one: WhatIf) => Object.entries(one.parameters ?? {}).map(([name, value]) => `${name}=${value}`).join(" ");
  return table<WhatIf>({
    caption: "Speed-up over the same policy on the machine as it is", rows: all, limit: 60,
    startsGroup: (one) => one === all.find((other) => other.workload === one.workload && JSON.stringify(other.parameters) === JSON.stringify(one.parameters)),
    columns: [
      { title: "Workload", value: (one) => (works.size < 2 ? null : `${one.workload} ${parameters(one)}`) },
      { title: "What if", value: (one) => one.item },
      ...policies.map((policy) => ({
        title: policy, numeric: true, explain: "With several seeds: the geometric mean, and its 95 % interval (Student's t)",
        value: (one: WhatIf) => speedup(one, policy)?.mean ?? null,
        show: (one: WhatIf) => {
          const of = speedup(one, policy)!;
          return of.low === null || of.high === null ? ratio(of.mean) : `${ratio(of.mean)} (${ratio(of.low)} to ${ratio(of.high)})`;
        },
      })),
      { title: "Order of policies", explain: "Which policy is faster than another that is faster on the machine as it is", value: (one: WhatIf) => orderText(one) || null },
      { title: "Changed", className: "words" as const, value: changesText },
      { title: "Note", className: "words" as const, value: (one: WhatIf) => streamText(one) || null },
    ],
  });
}
