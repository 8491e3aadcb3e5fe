// Names down, runs across: policies with parameters and statistics, and all counters of a workload.
import { kWords } from "./catalogue";
import type { Fields, Group, Meanings, PolicyUse, Run, Value } from "./data";
import { h } from "./dom";
import { digits, kNone, ratio, whole } from "./format";

export function showValue(value: Value | undefined): string {
  if (value === undefined || value === null) return kNone;
  if (typeof value === "number") return Number.isInteger(value) ? whole(value) : digits(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** {a: {b: 1}} -> ["a.b", 1]. */
export function flatten(fields: Fields | null | undefined, prefix = ""): [string, Value][] {
  return Object.entries(fields ?? {}).flatMap(([key, value]): [string, Value][] =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? flatten(value, `${prefix}${key}.`) : [[prefix + key, value]]);
}

interface Line {
  name: string;
  values: (Value | undefined)[];
  /** What it counts, in a few words. */
  meaning?: string;
}

/** Every name that some run has, with its value in each run. */
function lines(runs: Run[], fields: (run: Run) => Fields | null | undefined): Line[] {
  const each = runs.map((run) => new Map(flatten(fields(run))));
  const names = [...new Set(each.flatMap((map) => [...map.keys()]))];
  return names.map((name) => ({ name, values: each.map((map) => map.get(name)) }));
}

function row(line: Line, compare: boolean): HTMLElement {
  const differs = line.values.some((value) => JSON.stringify(value) !== JSON.stringify(line.values[0]));
  const base = line.values[0];
  return h("tr", { class: differs ? "differs" : "" }, h("th", { scope: "row" }, line.name,
    line.meaning !== undefined && h("span", { class: "meaning" }, line.meaning)),
    line.values.map((value, i) => {
      const change = compare && i > 0 && typeof value === "number" && typeof base === "number" && base !== 0 && value !== base
        ? h("span", { class: "change" }, ratio(value / base)) : null;
      return h("td", { class: typeof value === "number" ? "number" : "text" }, showValue(value), change);
    }));
}

function matrix(runs: Run[], caption: string, parts: [heading: string, lines: Line[]][], compare: boolean): HTMLElement {
  return h("div", { class: "scroll" }, h("table", { class: "matrix" }, h("caption", { class: "unseen" }, caption),
    h("thead", {}, h("tr", {}, h("th", {}), runs.map((run) => h("th", { scope: "col", class: "number" }, run.label)))),
    parts.map(([heading, part]) => h("tbody", {},
      heading !== "" && h("tr", { class: "part" }, h("th", { scope: "rowgroup", colspan: runs.length + 1 }, heading)),
      part.map((line) => row(line, compare))))));
}

/** "warps: beyond the limit, ..." of a path; the last part of it is enough where it always means the same. */
function meaningOf(path: string, meanings: Meanings | undefined): string | undefined {
  const found = meanings?.[path] ?? meanings?.[path.slice(path.lastIndexOf(".") + 1)];
  return found && (found.unit === "" ? found.doc : `${found.unit}: ${found.doc}`);
}

/** One meaning for all; where policies use a name for different things, each with its policy. */
export function meaningIn(uses: (PolicyUse | undefined)[], part: "parameters" | "statistics", path: string): string | undefined {
  const told = new Map<string, string>();  // policy -> meaning
  for (const use of uses) {
    const meaning = meaningOf(path, use?.meaning?.[part]);
    if (use !== undefined && meaning !== undefined) told.set(use.name, meaning);
  }
  const different = new Set(told.values());
  return different.size > 1 ? [...told].map(([policy, meaning]) => `${policy}: ${meaning}`).join("; ") : [...different][0];
}

export function addPolicies(parent: HTMLElement, group: Group): void {
  const levels = [...new Set(group.runs.flatMap((run) => Object.keys(run.result.policies ?? {})))];
  parent.append(h("h3", {}, "Policies: who decided, with which parameters, and what they counted"));
  if (levels.length === 0) {
    parent.append(h("p", { class: "none" }, "Nothing was timed, so no policy was asked."));
    return;
  }
  parent.append(h("p", { class: "note" }, "What policies count is of the whole run: none counts by kernel."));
  const parts = levels.map((level): [string, Line[]] => {
    const use = (run: Run) => run.result.policies?.[level];
    const name = { name: "policy", values: group.runs.map((run) => use(run)?.name) };
    const explained = (part: "parameters" | "statistics"): Line[] => lines(group.runs, (run) => use(run)?.[part])
      .map((line) => ({ ...line, meaning: meaningIn(group.runs.map(use), part, line.name) }));
    const parameters = explained("parameters").map((l) => ({ ...l, name: `parameter ${l.name}` }));
    return [level, [name, ...parameters, ...explained("statistics")]];
  });
  parent.append(matrix(group.runs, `Policies of ${group.name}`, parts, false));
}

export function addCounters(parent: HTMLElement, group: Group): void {
  const counted = (prefix: string, fields: (run: Run) => Fields | null | undefined) => lines(group.runs, fields).map((line) => {
    const words = kWords[prefix + line.name];
    return { ...line, meaning: words && `${words.unit}: ${words.meaning}` };
  });
  const parts: [string, Line[]][] = [
    ["totals", counted("", (run) => ({ ...run.result.totals }))],
    ["details", counted("details.", (run) => run.result.details)],
    ["scheduler-cycles", counted("stalls.", (run) => run.result.stalls)],
  ];
  const note = group.runs.length > 1 ? "Beside each number that differs: its ratio to the first policy." : "Names as in the result JSON.";
  parent.append(h("details", { class: "fold" }, h("summary", {}, "All counters"), h("p", { class: "note" }, note),
    matrix(group.runs, `All counters of ${group.name}`, parts.filter(([, part]) => part.length > 0), true)));
}
