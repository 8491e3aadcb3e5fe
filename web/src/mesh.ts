// What went over the mesh and what its SMs did in a span of time, and how that is said.
import { configNumber, fields, type Mesh, type Run } from "./data";
import { digits, list, percent, whole } from "./format";

export type Meshed = Run & { mesh: Mesh };
export const meshedRuns = (runs: Run[]): Meshed[] => runs.filter((run): run is Meshed => Boolean(run.mesh) && run.mesh!.start.length > 0);
export const hasStates = (mesh: Mesh) => mesh.relaxed.length > 0;

/** The columns of time [first, end). */
export interface Span {
  first: number;
  end: number;
}
export const wholeRun = (mesh: Mesh): Span => ({ first: 0, end: mesh.start.length });

export type Cores = "states" | "schedulers";
/** Parts of an SM's time, from the one at the bottom. */
export const kParts: { [cores in Cores]: string[] } = { states: ["critical", "neutral", "relaxed"], schedulers: ["issued", "memory", "other", "idle"] };
export const kPartTitles: { [part: string]: string } = {
  relaxed: "relaxed: many MSHRs free", neutral: "neutral", critical: "critical: few MSHRs free",
  issued: "issues an instruction", memory: "waits for memory", other: "waits for something else", idle: "has no warp",
};

export type Networks = "both" | "requests" | "replies";

export interface Move {
  from: number;
  to: number;
  warps: number;
}

/** What happened in a span: by link, by part and SM (shares of the time, 0 to 1), warps that moved. */
export interface View {
  start: number;
  cycles: number;
  requests: number[];
  replies: number[];
  parts: { [part: string]: number[] };
  /** Most first; of each column only the pairs with most are known. */
  moves: Move[];
  moved: number;
}

function sums(columns: number[][], span: Span): number[] {
  const out = columns[span.first].map(() => 0);
  for (let c = span.first; c < span.end; c++) columns[c].forEach((n, i) => (out[i] += n));
  return out;
}

/** Means over time of thousandths, as shares. */
function means(columns: number[][], mesh: Mesh, span: Span, cycles: number): number[] {
  const out = columns[span.first].map(() => 0);
  for (let c = span.first; c < span.end; c++) columns[c].forEach((n, i) => (out[i] += n * mesh.length[c] / 1000 / cycles));
  return out;
}

function movesOf(mesh: Mesh, span: Span): Move[] {
  const out = new Map<string, Move>();
  for (let c = span.first; c < span.end; c++)
    for (let i = 0; i < mesh.moves[c].length; i += 3) {
      const [from, to, warps] = mesh.moves[c].slice(i, i + 3);
      const move = out.get(`${from} ${to}`);
      if (move) move.warps += warps;
      else out.set(`${from} ${to}`, { from, to, warps });
    }
  return [...out.values()].sort((a, b) => b.warps - a.warps);
}

export function viewOf(mesh: Mesh, span: Span): View {
  const last = span.end - 1;
  const cycles = Math.max(1, mesh.start[last] + mesh.length[last] - mesh.start[span.first]);
  const rest = (a: number[], ...others: number[][]) => a.map((n, i) => Math.max(0, 1 - n - others.reduce((sum, o) => sum + o[i], 0)));
  const [issued, memory, idle] = [mesh.issued, mesh.memory, mesh.idle].map((columns) => means(columns, mesh, span, cycles));
  const parts: View["parts"] = { issued, memory, idle, other: rest(issued, memory, idle) };
  if (hasStates(mesh)) {
    const [relaxed, critical] = [mesh.relaxed, mesh.critical].map((columns) => means(columns, mesh, span, cycles));
    Object.assign(parts, { relaxed, critical, neutral: rest(relaxed, critical) });
  }
  return {
    start: mesh.start[span.first], cycles, requests: sums(mesh.requests, span), replies: sums(mesh.replies, span), parts,
    moves: movesOf(mesh, span), moved: mesh.moved.slice(span.first, span.end).reduce((sum, n) => sum + n, 0),
  };
}

/** Network cycles in a core cycle: a link carries one flit in each. */
export function networkCycles(run: Run): number {
  const mhz = configNumber(run, "noc.clock_mhz") ?? 0;
  return mhz > 0 && run.core_clock_mhz > 0 ? mhz / run.core_clock_mhz : 1;
}

/** Share of its cycles in which each link carried a flit; of both networks the mean. */
export function loads(run: Run, view: View, networks: Networks): number[] {
  const places = view.cycles * networkCycles(run) * (networks === "both" ? 2 : 1);
  return view.requests.map((n, link) => ((networks === "replies" ? 0 : n) + (networks === "requests" ? 0 : view.replies[link])) / places);
}

export const mean = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length);
/** The place of the largest number; -1: there is none. */
export const largest = (numbers: number[]) => numbers.reduce((best, n, i) => (best < 0 || n > numbers[best] ? i : best), -1);

/** "SM 3", "L2 slice 0 and memory controller 0". */
export function nodeName(mesh: Mesh, node: number): string {
  const at = (places: number[], name: string) => places.flatMap((place, i) => (place === node ? [`${name} ${i}`] : []));
  const names = [...at(mesh.sms, "SM"), ...at(mesh.slices, "L2 slice"), ...at(mesh.controllers, "memory controller")];
  return names.length > 0 ? list(names) : `router ${node}`;
}

/** As nodeName, but only what stands for the node on the map. */
export function shortName(mesh: Mesh, node: number): string {
  const [sm, slice, controller] = [mesh.sms, mesh.slices, mesh.controllers].map((places) => places.indexOf(node));
  return sm >= 0 ? `SM ${sm}` : slice >= 0 ? `L2 ${slice}` : controller >= 0 ? `MC ${controller}` : `router ${node}`;
}

export const linkName = (mesh: Mesh, link: number) => `${shortName(mesh, mesh.from[link])} → ${shortName(mesh, mesh.to[link])}`;

function coreSentence(mesh: Mesh, view: View): string {
  if (mesh.sms.length === 0) return "";
  const shares = (part: string) => view.parts[part];
  if (hasStates(mesh)) {
    const most = largest(shares("critical"));
    if (shares("critical")[most] < 0.0005) return `SMs are relaxed ${percent(mean(shares("relaxed")))} of the time, and hardly ever critical.`;
    return `SMs are critical ${percent(mean(shares("critical")))} of the time and relaxed ${percent(mean(shares("relaxed")))}; ` +
      `SM ${most} is critical most, ${percent(shares("critical")[most])}.`;
  }
  const most = largest(shares("memory"));
  return `SMs issue in ${percent(mean(shares("issued")))} of their schedulers' cycles and wait for memory in ${percent(mean(shares("memory")))}; ` +
    `SM ${most} waits most, ${percent(shares("memory")[most])}.`;
}

function linkSentence(run: Meshed, view: View): string {
  const each = (["requests", "replies"] as const).map((networks) => {
    const all = loads(run, view, networks);
    return { networks, link: largest(all), load: all[largest(all)] ?? 0, mean: mean(all) };
  });
  const most = each[0].load > each[1].load ? each[0] : each[1];
  if (most.load === 0) return "Nothing crossed a link.";
  return `The busiest link carries ${most.networks}, ${linkName(run.mesh, most.link)}: a flit in ${percent(most.load)} of its cycles, ` +
    `${digits(most.load / most.mean)} times the mean of all.`;
}

function moveSentence(view: View): string {
  if (view.moved === 0) return "";
  const most = view.moves[0];
  return `${whole(view.moved)} warps moved, most from SM ${most.from} to SM ${most.to} (${whole(most.warps)}).`;
}

/** Memory controllers that are apart from their slices are reached without the network's flits. */
function legsSentence(run: Meshed): string {
  const { memory_nodes: apart } = fields(fields(fields(run.result.config).noc).mesh);
  return typeof apart === "string" && apart !== "" ? "What goes between L2 slices and memory controllers is not on the links." : "";
}

/** What there is to see in the whole run. */
export function meshNote(run: Meshed): string {
  const view = viewOf(run.mesh, wholeRun(run.mesh));
  return [coreSentence(run.mesh, view), linkSentence(run, view), moveSentence(view), legsSentence(run)].filter((s) => s !== "").join(" ");
}
