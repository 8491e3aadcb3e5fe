// From one run to another of the same work: what the difference in time is made of. The parts sum to it exactly;
// src/raddle/report/difference.cpp computes them, for the terminal, too.
import { mostOfTheChange } from "./allocations";
import { fields, kernelTitle, sampled, type DifferencePart, type Group, type KernelDifference, type KernelFacts, type Run, type Waterfall } from "./data";
import { buttons, h, select } from "./dom";
import { bytes, digits, list, percent, whole } from "./format";
import { table } from "./table";

export interface Part {
  title: string;
  before: number;
  now: number;
  /** Of many that are together in it, how many differ. */
  sums: number;
}

export const changeOfPart = (part: Part) => part.now - part.before;

interface Sums {
  facts: KernelFacts;
  cycles: number;
  l1d: [hits: number, accesses: number];
  l2: [hits: number, accesses: number];
  dram: number;
  instructions: number;
  load: [cycles: number, loads: number];
}

function add(into: Sums | undefined, k: KernelFacts): Sums {
  const old = into ?? { facts: k, cycles: 0, l1d: [0, 0], l2: [0, 0], dram: 0, instructions: 0, load: [0, 0] };
  const details = fields(k.details);
  const number = (name: string) => (typeof details[name] === "number" ? details[name] as number : 0);
  return {
    facts: old.facts,
    cycles: old.cycles + k.cycles,
    l1d: [old.l1d[0] + k.l1d_hits, old.l1d[1] + k.l1d_accesses],
    l2: [old.l2[0] + k.l2_hits, old.l2[1] + k.l2_accesses],
    dram: old.dram + k.dram_bytes,
    instructions: old.instructions + k.warp_instructions,
    load: [old.load[0] + number("load_mean_cycles") * number("loads"), old.load[1] + number("loads")],
  };
}

/** Have the cycles of both one length, and the same launches been timed? */
const comparable = (run: Run, base: Run): boolean => run.core_clock_mhz === base.core_clock_mhz && !sampled(run) && !sampled(base);

const signed = (n: number): string => (Math.round(n) === 0 ? "0" : n < 0 ? `−${whole(-n)}` : `+${whole(n)}`);

/** Of all launches of each kernel, by name. */
function sumsOf(run: Run): Map<string, Sums> {
  const out = new Map<string, Sums>();
  for (const k of [...run.result.kernels, ...(run.result.kernels_by_name ?? [])]) out.set(k.name, add(out.get(k.name), k));
  return out;
}

const partsOf = (of: Waterfall | undefined): Part[] => (of?.parts ?? []).map((part) => ({ title: part.title, before: part.a, now: part.b, sums: part.sums ?? 0 }));

/** Cycles by kernel; what is left has a name. Empty where clocks differ, launches were estimated or tenants' are not told. */
export const byKernel = (run: Run, base: Run): Part[] => (comparable(run, base) ? partsOf(run.difference?.kernels) : []);

/** Scheduler-cycles by reason, issued ones among them, as cycles of the whole GPU. */
export const byReason = (run: Run, base: Run): Part[] => (comparable(run, base) ? partsOf(run.difference?.schedulers) : []);

const kMostNamed = 3;

/** "1,000 cycles fewer: a -1,200 and b +200"; the numbers after the colon sum to the one before it. */
export function kernelSentence(run: Run, base: Run): string | null {
  const parts = byKernel(run, base).filter((part) => changeOfPart(part) !== 0)
    .sort((a, b) => Number(a.sums > 0) - Number(b.sums > 0) || Math.abs(changeOfPart(b)) - Math.abs(changeOfPart(a)));
  if (parts.length === 0) return null;
  const total = parts.reduce((sum, part) => sum + changeOfPart(part), 0);
  const head = `${whole(Math.abs(total))} cycles ${total < 0 ? "fewer" : "more"}`;
  if (parts.length === 1 && sumsOf(run).size <= 1) return head;
  const named = parts.length > kMostNamed + 1 ? parts.slice(0, kMostNamed) : parts;
  const left = parts.slice(named.length);
  const words = named.map((part) => `${part.title} ${signed(changeOfPart(part))}`);
  if (left.length > 0) words.push(`${left.reduce((sum, part) => sum + Math.max(1, part.sums), 0)} others ${signed(left.reduce((sum, part) => sum + changeOfPart(part), 0))}`);
  return `${head}: ${list(words)}`;
}

interface Change {
  text: string;
  rises: boolean;
}

function rate(title: string, before: [number, number], now: [number, number]): Change | null {
  if (before[1] === 0 || now[1] === 0) return null;
  const [a, b] = [before[0] / before[1], now[0] / now[1]];
  return Math.abs(b - a) < 0.01 ? null : { text: `the ${title} ${b > a ? "rises" : "falls"} from ${percent(a)} to ${percent(b)}`, rises: b > a };
}

function amount(title: string, before: number, now: number, show: (n: number) => string, least = 0.05): Change | null {
  if (!(before > 0) || !(now > 0) || Math.abs(now / before - 1) < least) return null;
  return { text: `${title} ${now > before ? "rises" : "falls"} from ${show(before)} to ${show(now)}`, rises: now > before };
}

function withPlace(change: Change | null, place: string | null): Change | null {
  return change === null || place === null ? change : { ...change, text: `${change.text} (${place})` };
}

/** What else changed in the kernel whose time changed most, in the direction of the whole; null: nothing that is counted. */
export function whatChanged(run: Run, base: Run): string | null {
  if (!comparable(run, base)) return null;
  const [now, before] = [sumsOf(run), sumsOf(base)];
  const both = [...now.keys()].filter((name) => before.has(name));
  if (both.length === 0) return null;
  const sign = Math.sign(run.result.totals.cycles - base.result.totals.cycles) || 1;
  const change = (name: string) => sign * (now.get(name)!.cycles - before.get(name)!.cycles);
  const name = both.reduce((a, b) => (change(b) > change(a) ? b : a));
  const [a, b] = [before.get(name)!, now.get(name)!];
  const mean = ([sum, n]: [number, number]) => (n > 0 ? sum / n : 0);
  const faster = run.result.totals.cycles < base.result.totals.cycles;
  // With each: whether more of it goes with a longer time.
  const changes = ([
    [amount("the number of warp instructions", a.instructions, b.instructions, whole, 0.01), true],
    [rate("L1D hit rate", a.l1d, b.l1d), false],
    [rate("L2 hit rate", a.l2, b.l2), false],
    [withPlace(amount("DRAM traffic", a.dram, b.dram, bytes), mostOfTheChange(run, base, name)), true],
    [amount("the mean time of a load", mean(a.load), mean(b.load), (n) => `${digits(n)} cycles`), true],
  ] as [Change | null, boolean][]).filter((c): c is [Change, boolean] => c[0] !== null);
  if (changes.length === 0) return null;
  const agrees = ([change, costs]: [Change, boolean]) => (change.rises === costs) !== faster;
  const with_it = changes.filter(agrees).map(([change]) => change.text);
  const against = changes.filter((c) => !agrees(c)).map(([change]) => change.text);
  const where = now.size > 1 ? `in ${kernelTitle(b.facts)} ` : "";
  if (with_it.length === 0) return `although ${where}${list(against)}`;
  return where + list(with_it) + (against.length === 0 ? "" : `, although ${list(against)}`);
}

const kMostReasons = 2;

/** "152,268 cycles fewer on "load/store unit" and 132,882 more on "throttled", together 16,386 fewer": both sides, in cycles of the whole GPU. */
export function reasonSentence(run: Run, base: Run): string | null {
  const parts = byReason(run, base);
  const all = parts.reduce((sum, part) => sum + changeOfPart(part), 0);
  const largest = Math.max(0, ...parts.map((part) => Math.abs(changeOfPart(part))));
  if (Math.round(Math.abs(all)) === 0) return null;
  const side = (sign: number) => parts.filter((part) => sign * changeOfPart(part) >= largest / 10).sort((a, b) => sign * (changeOfPart(b) - changeOfPart(a))).slice(0, kMostReasons);
  const words = (sign: number) => side(sign).map((part) => `${whole(Math.abs(changeOfPart(part)))} ${sign < 0 ? "fewer" : "more"} on "${part.title}"`);
  const named = all < 0 ? [...words(-1), ...words(1)] : [...words(1), ...words(-1)];
  return `of the schedulers' cycles ${list(named)}, all together ${whole(Math.abs(all))} ${all < 0 ? "fewer" : "more"}`;
}

interface Drawn extends DifferencePart {
  /** Where its bar begins and ends: sums of the differences before it. */
  from: number;
  to: number;
}

/** Each part where the ones before it end, and last the whole. */
export function drawnParts(of: Waterfall): Drawn[] {
  let at = 0;
  const parts = of.parts.map((part): Drawn => ({ ...part, from: at, to: (at += part.b - part.a) }));
  return [...parts, { name: "", title: "together", a: of.a, b: of.b, from: 0, to: at }];
}

function bar(part: Drawn, low: number, high: number): HTMLElement {
  const place = (n: number) => 100 * (n - low) / Math.max(1, high - low);
  const [left, right] = [Math.min(part.from, part.to), Math.max(part.from, part.to)];
  return h("span", { class: "fall" }, h("span", { class: part.to < part.from ? "less" : "more",
    style: `left:${place(left).toFixed(2)}%;width:${(place(right) - place(left)).toFixed(2)}%` }));
}

interface Shown {
  caption: string;
  first: string;
  unit: string;
  of: Waterfall;
}

function waterfallTable({ caption, first, unit, of }: Shown, run: Run, base: Run): HTMLElement {
  const rows = drawnParts(of);
  const ends = rows.flatMap((part) => [part.from, part.to]);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const change = (part: Drawn) => part.b - part.a;
  return h("div", { class: "panel" }, table<Drawn>({
    caption, rows, limit: 60, className: "difference", startsGroup: (part) => part === rows[rows.length - 1],
    columns: [
      { title: first, value: (part) => part.title },
      { title: base.label, explain: `${unit} under the first policy`, numeric: true, value: (part) => part.a, show: (part) => whole(part.a) },
      { title: run.label, explain: `${unit} under this policy`, numeric: true, value: (part) => part.b, show: (part) => whole(part.b) },
      { title: "Difference", explain: `${unit} saved (−) or added (+); the parts sum to the whole`, numeric: true, value: change, show: (part) => signed(change(part)) },
      { title: "±", explain: "At most the standard error of the difference: lines are seen in looks at all warps, at random moments", numeric: true,
        value: (part) => part.error ?? null, show: (part) => whole(part.error!) },
      { title: "", explain: "Each begins where the one before it ends", value: (part) => (rows.length > 2 ? change(part) : null), numeric: false, show: (part) => bar(part, low, high) },
    ],
  }));
}

/** What a kernel's difference is made of, from cycles to lines. */
function ofKernel(kernel: KernelDifference): Shown[] {
  const of = `in ${kernel.title}`;
  const all: (Shown | null)[] = [
    { caption: `Cycles ${of} by what schedulers did`, first: "Schedulers", unit: "Cycles", of: kernel.schedulers },
    kernel.lines && { caption: `Cycles ${of} by line`, first: "Line", unit: "Cycles", of: kernel.lines },
    { caption: `SM-cycles ${of} in which the L1D refused an access`, first: "Refused, SM-cycles", unit: "SM-cycles", of: kernel.refused },
    kernel.dram_bytes && { caption: `Bytes of DRAM ${of} by allocation`, first: "DRAM bytes for", unit: "Bytes", of: kernel.dram_bytes },
    kernel.l1d_misses && { caption: `L1D misses ${of} by allocation`, first: "L1D misses for", unit: "Lines", of: kernel.l1d_misses },
  ];
  return all.filter((shown): shown is Shown => shown !== null && shown.of.parts.length > 0);
}

function kernelPart(run: Run, base: Run): (HTMLElement | null)[] {
  const kernels = run.difference?.of_kernels ?? [];
  if (kernels.length === 0) return [];
  const place = h("div", { class: "grid" });
  const fill = (kernel: KernelDifference) => place.replaceChildren(...ofKernel(kernel).map((shown) => waterfallTable(shown, run, base)));
  fill(kernels[0]);
  const looks = run.difference!.looks ?? [0, 0];
  return [
    h("div", { class: "choices" }, select("Within kernel", kernels.map((kernel, i): [string, string] => [String(i), `${kernel.title} ${signed(kernel.schedulers.b - kernel.schedulers.a)}`]), "0",
      (i) => fill(kernels[+i]))),
    place,
    kernels.some((kernel) => kernel.lines) ? h("p", { class: "note" }, `Lines divide the kernel's cycles as warps were seen at them, in ${whole(looks[0])} and ${whole(looks[1])} looks at all warps. ` +
      "± is at most the standard error, as if all warps of a look stood alike.") : null,
  ];
}

function content(run: Run, base: Run): (HTMLElement | null)[] {
  const { difference } = run;
  if (!difference || difference.why !== undefined) return [h("p", { class: "note" }, `Not taken apart: ${difference?.why ?? "no data"} (A is ${base.label}, B ${run.label}).`)];
  const tops: Shown[] = [];
  if (difference.kernels) tops.push({ caption: `Cycles by kernel, ${base.label} and ${run.label}`, first: "Kernel", unit: "Cycles", of: difference.kernels });
  if (difference.schedulers) tops.push({ caption: `Cycles by what schedulers did, ${base.label} and ${run.label}`, first: "Schedulers", unit: "Cycles", of: difference.schedulers });
  const notes = difference.notes ?? [];
  return [
    h("p", { class: "note" }, difference.kernels
      ? "Cycles by kernel, and the same cycles by what the schedulers did with them (scheduler-cycles over the number of schedulers). " +
        "Both sum to the difference; neither says what caused it."
      : "Cycles up to the horizon by what the schedulers did with them (scheduler-cycles over the number of schedulers); this does not say what caused it."),
    notes.length > 0 ? h("p", { class: "note" }, `A is ${base.label}, B ${run.label}: ${notes.join("; ")}.`) : null,
    h("div", { class: "grid" }, tops.map((shown) => waterfallTable(shown, run, base))),
    ...kernelPart(run, base),
  ];
}

/** Nothing where there is nothing to compare. */
export function addDifference(parent: HTMLElement, group: Group): void {
  const [base, ...others] = group.runs;
  const compared = others.filter((run) => run.difference !== undefined);
  if (compared.length === 0) return;
  let run = compared[0];
  const place = h("div");
  const fill = () => place.replaceChildren(...content(run, base).filter((part) => part !== null));
  parent.append(h("h3", {}, `What the difference to ${base.label} is made of`),
    h("div", { class: "choices" }, buttons("Policy", compared.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
      run = compared[+i];
      fill();
    })), place);
  fill();
}
