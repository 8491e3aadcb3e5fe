// From one run to another of the same work: what the difference in time is made of. The parts sum to it exactly.
import { mostOfTheChange } from "./allocations";
import { fields, isCorun, kernelTitle, sampled, type Group, type KernelFacts, type Run } from "./data";
import { buttons, h } from "./dom";
import { bytes, digits, list, percent, whole } from "./format";
import { schedulerCycles, stallReasons, stallTitle } from "./metrics";
import { table } from "./table";

export interface Part {
  title: string;
  before: number;
  now: number;
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

/** Of all launches of each kernel, by name. */
function sumsOf(run: Run): Map<string, Sums> {
  const out = new Map<string, Sums>();
  for (const k of [...run.result.kernels, ...(run.result.kernels_by_name ?? [])]) out.set(k.name, add(out.get(k.name), k));
  return out;
}

/** Cycles by kernel; the rest is time between kernels, less what kernels that overlap count twice. Empty where clocks differ, launches were estimated or tenants' are not told. */
export function byKernel(run: Run, base: Run): Part[] {
  if (!comparable(run, base) || isCorun(run) || isCorun(base)) return [];
  const [now, before] = [sumsOf(run), sumsOf(base)];
  const names = [...new Set([...before.keys(), ...now.keys()])];
  const parts = names.map((name): Part => ({
    title: kernelTitle((now.get(name) ?? before.get(name))!.facts),
    before: before.get(name)?.cycles ?? 0,
    now: now.get(name)?.cycles ?? 0,
  }));
  const sum = (of: (part: Part) => number) => parts.reduce((all, part) => all + of(part), 0);
  const rest = { title: "between kernels, less what overlaps", before: base.result.totals.cycles - sum((p) => p.before), now: run.result.totals.cycles - sum((p) => p.now) };
  return rest.before === 0 && rest.now === 0 ? parts : [...parts, rest];
}

/** Scheduler-cycles by reason, issued ones among them, as cycles of the whole GPU. */
export function byReason(run: Run, base: Run): Part[] {
  if (!comparable(run, base) || schedulerCycles(run) === 0 || schedulerCycles(base) === 0) return [];
  const cycles = (r: Run, reason: string) => (r.result.stalls[reason] ?? 0) / Math.max(1, r.result.schedulers);
  return stallReasons([run, base]).map((reason): Part => ({ title: stallTitle(reason), before: cycles(base, reason), now: cycles(run, reason) }))
    .filter((part) => part.before !== 0 || part.now !== 0);
}

const kMostNamed = 3;

/** "1,000 cycles fewer: a -1,200 and b +200"; the numbers after the colon sum to the one before it. */
export function kernelSentence(run: Run, base: Run): string | null {
  const parts = byKernel(run, base).filter((part) => changeOfPart(part) !== 0).sort((a, b) => Math.abs(changeOfPart(b)) - Math.abs(changeOfPart(a)));
  if (parts.length === 0) return null;
  const total = parts.reduce((sum, part) => sum + changeOfPart(part), 0);
  const head = `${whole(Math.abs(total))} cycles ${total < 0 ? "fewer" : "more"}`;
  if (parts.length === 1 && sumsOf(run).size <= 1) return head;
  const signed = (n: number) => (n < 0 ? `−${whole(-n)}` : `+${whole(n)}`);
  const named = parts.length > kMostNamed + 1 ? parts.slice(0, kMostNamed) : parts;
  const others = parts.slice(named.length).reduce((sum, part) => sum + changeOfPart(part), 0);
  const words = named.map((part) => `${part.title} ${signed(changeOfPart(part))}`);
  if (named.length < parts.length) words.push(`${parts.length - named.length} others ${signed(others)}`);
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

function differenceTable(caption: string, first: string, parts: Part[], run: Run, base: Run): HTMLElement {
  const total: Part = { title: "together", before: parts.reduce((sum, p) => sum + p.before, 0), now: parts.reduce((sum, p) => sum + p.now, 0) };
  const all = changeOfPart(total);
  const shown = (n: number) => whole(n);
  const signed = (n: number) => (Math.round(n) === 0 ? "0" : n < 0 ? `−${whole(-n)}` : `+${whole(n)}`);
  return table<Part>({
    caption, rows: [...parts, total], limit: 60, className: "difference", startsGroup: (part) => part === total,
    columns: [
      { title: first, value: (part) => part.title },
      { title: base.label, explain: "Cycles under the first policy", numeric: true, value: (part) => part.before, show: (part) => shown(part.before) },
      { title: run.label, explain: "Cycles under this policy", numeric: true, value: (part) => part.now, show: (part) => shown(part.now) },
      { title: "Difference", explain: "Cycles saved (−) or added (+); the parts sum to the whole", numeric: true, value: changeOfPart, show: (part) => signed(changeOfPart(part)) },
      { title: "Of the whole", explain: "Share of the whole difference; parts that go the other way are negative", numeric: true,
        value: (part) => (all === 0 ? null : changeOfPart(part) / all), show: (part) => percent(changeOfPart(part) / all) },
    ],
  });
}

/** Nothing where there is nothing to compare. */
export function addDifference(parent: HTMLElement, group: Group): void {
  const [base, ...others] = group.runs;
  const compared = others.filter((run) => run.result.timed && base.result.timed && comparable(run, base));
  if (compared.length === 0) return;
  let run = compared[0];
  const kernels = !group.runs.some(isCorun);
  const place = h("div", { class: "grid" });
  const fill = () => place.replaceChildren(
    ...(kernels ? [h("div", { class: "panel" }, differenceTable(`Cycles of ${group.name} by kernel, ${base.label} and ${run.label}`, "Kernel", byKernel(run, base), run, base))] : []),
    h("div", { class: "panel" }, differenceTable(`Cycles of ${group.name} by what schedulers did, ${base.label} and ${run.label}`, "Schedulers", byReason(run, base), run, base)));
  parent.append(h("h3", {}, `What the difference to ${base.label} is made of`),
    h("p", { class: "note" }, kernels
      ? "Cycles by kernel, and the same cycles by what the schedulers did with them (scheduler-cycles over the number of schedulers). " +
        "Both sum to the difference; neither says what caused it."
      : "Cycles up to the horizon by what the schedulers did with them (scheduler-cycles over the number of schedulers); this does not say what caused it."),
    h("div", { class: "choices" }, buttons("Policy", compared.map((r, i): [string, string] => [String(i), r.label]), "0", (i) => {
      run = compared[+i];
      fill();
    })), place);
  fill();
}
