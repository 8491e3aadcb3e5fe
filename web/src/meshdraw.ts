// Draws the map of a mesh, and the course of the run above it.
import type { Mesh } from "./data";
import { svg } from "./dom";
import { kParts, loads, shortName, viewOf, type Cores, type Meshed, type Move, type Networks, type View } from "./mesh";
import { rampColour, type Theme } from "./theme";

/** Lengths of the map: from node to node, half a core, from the line between two nodes to each of its lanes. */
export const kPitch = 74;
const kHalf = 19;
const kLane = 6;
/** Warps may move between any two SMs; more arrows than that across the map say nothing. */
export const kMostLongArrows = 40;

export type Item = { kind: "node" | "link" | "move"; index: number };

export interface Look {
  cores: Cores;
  networks: Networks;
  /** The load that is drawn in the last colour. */
  top: number;
}

type Point = [x: number, y: number];
const plus = ([x, y]: Point, [dx, dy]: Point, times = 1): Point => [x + dx * times, y + dy * times];
const text = (points: Point[]) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

export function partColours(t: Theme): { [part: string]: string } {
  const { issued, memory, dependence, idle } = t.stalls;
  return { ...t.states, issued, memory, other: dependence, idle };
}

export const centre = (mesh: Mesh, node: number): Point => [(node % mesh.columns + 0.5) * kPitch, (Math.floor(node / mesh.columns) + 0.5) * kPitch];

/** Of length 1 along the way, and to its right. */
function directions(from: Point, to: Point): [along: Point, right: Point] {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const [x, y] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  return [[x, y], [-y, x]];
}

/** An arrow on the right of the line between its nodes, so that both directions are seen. */
function linkArrow(mesh: Mesh, link: number, width: number): Point[] {
  const [from, to] = [centre(mesh, mesh.from[link]), centre(mesh, mesh.to[link])];
  const [along, right] = directions(from, to);
  const start = plus(plus(from, along, kHalf + 1.5), right, kLane);
  const tip = plus(plus(to, along, -kHalf - 1.5), right, kLane);
  const neck = plus(tip, along, -5 - width / 2);
  const half = width / 2;
  return [plus(start, right, -half), plus(neck, right, -half), plus(neck, right, -half - 1.8), tip, plus(neck, right, half + 1.8), plus(neck, right, half), plus(start, right, half)];
}

/** Of so many arrows those that are drawn: all between neighbours, of the others those with most warps. */
export function shownMoves(mesh: Mesh, moves: Move[]): Move[] {
  let far = 0;
  return moves.filter((move) => near(mesh, move) || ++far <= kMostLongArrows);
}

function near(mesh: Mesh, move: Move): boolean {
  const [a, b] = [centre(mesh, mesh.sms[move.from]), centre(mesh, mesh.sms[move.to])];
  return Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) < 1.5 * kPitch;
}

/** A bow beside the lanes from neighbour to neighbour, else from core to core. */
function moveBow(mesh: Mesh, move: Move): { from: Point; over: Point; to: Point; label: Point | null } {
  const [a, b] = [centre(mesh, mesh.sms[move.from]), centre(mesh, mesh.sms[move.to])];
  const [along, right] = directions(a, b);
  const middle: Point = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  if (near(mesh, move)) {
    const side = (p: Point, way: number) => plus(plus(p, along, way * (kHalf - 2)), right, 13);
    return { from: side(a, 1), over: plus(middle, right, 24), to: side(b, -1), label: plus(middle, right, 25.5) };
  }
  return { from: plus(a, along, kHalf - 2), over: plus(middle, right, Math.hypot(b[0] - a[0], b[1] - a[1]) * 0.12), to: plus(b, along, 2 - kHalf), label: null };
}

function stack(parts: View["parts"], names: string[], sm: number, at: Point, colours: { [part: string]: string }): SVGElement[] {
  let below = 0;
  return names.map((part) => {
    const share = parts[part][sm];
    below += share;
    return svg("rect", { x: at[0] - kHalf, y: at[1] + kHalf - 2 * kHalf * Math.min(1, below), width: 2 * kHalf, height: Math.max(0, 2 * kHalf * share), fill: colours[part] });
  });
}

function label(at: Point, words: string, size: number, fill: string, halo: string): SVGElement {
  return svg("text", { x: at[0], y: at[1], "font-size": size, fill, stroke: halo, "stroke-width": 3, "paint-order": "stroke", "stroke-linejoin": "round", "text-anchor": "middle", "dominant-baseline": "central" }, words);
}

function badge(at: Point, words: string, t: Theme): SVGElement {
  const shape = words === "L2" ? svg("circle", { cx: at[0], cy: at[1], r: 7.5, fill: t.paper, stroke: t.ink })
    : svg("path", { d: `M${at[0]},${at[1] - 11}l12.5,11l-12.5,11l-12.5,-11z`, fill: t.paper, stroke: t.ink });
  return svg("g", {}, shape, svg("text", { x: at[0], y: at[1], "font-size": 7.5, fill: t.ink, "text-anchor": "middle", "dominant-baseline": "central" }, words));
}

/** A core is a square, an L2 slice a circle and a memory controller a diamond; what is not alone at its node has a small one. */
function nodeShape(mesh: Mesh, view: View, node: number, look: Look, t: Theme): SVGElement {
  const at = centre(mesh, node);
  const [sm, slice, controller] = [mesh.sms, mesh.slices, mesh.controllers].map((places) => places.indexOf(node));
  const group = svg("g", { "data-kind": "node", "data-index": node });
  if (sm >= 0) {
    group.append(svg("rect", { x: at[0] - kHalf, y: at[1] - kHalf, width: 2 * kHalf, height: 2 * kHalf, fill: t.paper }),
      ...stack(view.parts, kParts[look.cores], sm, at, partColours(t)),
      svg("rect", { x: at[0] - kHalf, y: at[1] - kHalf, width: 2 * kHalf, height: 2 * kHalf, rx: 1, fill: "none", stroke: t.muted, "stroke-width": 1.2 }),
      label(at, String(sm), 11, t.ink, t.paper));
  } else {
    group.append(slice < 0 && controller < 0 ? svg("circle", { cx: at[0], cy: at[1], r: 4, fill: t.muted })
      : slice >= 0 ? svg("circle", { cx: at[0], cy: at[1], r: kHalf, fill: t.paper, stroke: t.ink, "stroke-width": 1.2 })
        : svg("path", { d: `M${at[0]},${at[1] - 22}l22,22l-22,22l-22,-22z`, fill: t.paper, stroke: t.ink, "stroke-width": 1.2 }));
    if (slice >= 0 || controller >= 0) group.append(label(at, shortName(mesh, node), 10, t.ink, t.paper));
  }
  if (sm >= 0 && slice >= 0) group.append(badge([at[0] + kHalf - 1, at[1] - kHalf + 1], "L2", t));
  if ((sm >= 0 || slice >= 0) && controller >= 0) group.append(badge([at[0] - kHalf, at[1] - kHalf + 1], "MC", t));
  return group;
}

function moveArrow(mesh: Mesh, move: Move, index: number, most: number, t: Theme): SVGElement {
  const { from, over, to, label: place } = moveBow(mesh, move);
  const width = (place === null ? 0.5 : 1) * (1 + 2.6 * Math.sqrt(move.warps / most));
  const [along, right] = directions(over, to);
  const neck = plus(to, along, -4 - width);
  const d = `M${text([from])}Q${text([over])} ${text([neck])}`;
  const head = svg("polygon", { points: text([plus(neck, right, 2 + width), to, plus(neck, right, -2 - width)]), fill: t.moves });
  return svg("g", { "data-kind": "move", "data-index": index, opacity: place === null ? 0.75 : 1 },
    svg("path", { d, fill: "none", stroke: t.paper, "stroke-width": width + 2.5, "stroke-opacity": 0.8 }),
    svg("path", { d, fill: "none", stroke: t.moves, "stroke-width": width }), head,
    place === null ? null : label(place, String(move.warps), 10, t.moves, t.paper));
}

/** The whole map, in units of its own. */
export function map(run: Meshed, view: View, look: Look, t: Theme): SVGSVGElement {
  const { mesh } = run;
  const all = loads(run, view, look.networks);
  // The busiest last, over its neighbours.
  const links = all.map((load, link) => ({ load, link })).sort((a, b) => a.load - b.load).map(({ load, link }) => {
    const share = Math.min(1, load / look.top);
    return svg("polygon", { points: text(linkArrow(mesh, link, 1.2 + 6.3 * share)), fill: rampColour(share, t.load),
      stroke: "transparent", "stroke-width": 4, "pointer-events": "all", "data-kind": "link", "data-index": link });
  });
  const nodes = Array.from({ length: mesh.columns * mesh.rows }, (_, node) => nodeShape(mesh, view, node, look, t));
  const shown = shownMoves(mesh, view.moves);
  const moves = shown.map((move, i) => moveArrow(mesh, move, i, shown[0].warps, t)).reverse();
  return svg("svg", { viewBox: `0 0 ${mesh.columns * kPitch} ${mesh.rows * kPitch}` }, ...links, ...nodes, ...moves);
}

/** The outline of what is pointed at. */
export function outline(mesh: Mesh, view: View, item: Item, t: Theme): SVGElement {
  const style = { fill: "none", stroke: t.ink, "stroke-width": 2, "pointer-events": "none" };
  if (item.kind === "link") return svg("polygon", { ...style, points: text(linkArrow(mesh, item.index, 9)) });
  if (item.kind === "node") {
    const [x, y] = centre(mesh, item.index);
    return svg("rect", { ...style, x: x - kHalf - 3, y: y - kHalf - 3, width: 2 * kHalf + 6, height: 2 * kHalf + 6, rx: 4 });
  }
  const { from, over, to } = moveBow(mesh, shownMoves(mesh, view.moves)[item.index]);
  return svg("path", { ...style, d: `M${text([from])}Q${text([over])} ${text([to])}` });
}

// --- the course of the run -----------------------------------------------------------------------

/** Left of the course stand its names. */
export const kNames = 92;

interface Course {
  parts: { [part: string]: number }[];
  busiest: number[];
}

export function courseOf(run: Meshed, look: Look): Course {
  const views = run.mesh.start.map((_, c) => viewOf(run.mesh, { first: c, end: c + 1 }));
  return {
    parts: views.map((view) => Object.fromEntries(kParts[look.cores].map((part) => [part, view.parts[part].reduce((sum, n) => sum + n, 0) / Math.max(1, view.parts[part].length)]))),
    busiest: views.map((view) => Math.max(0, ...loads(run, view, look.networks))),
  };
}

export function endOf({ mesh }: Meshed): number {
  const last = mesh.start.length - 1;
  return mesh.start[last] + mesh.length[last];
}

/** Bars over time: the SMs' parts, the busiest link, the warps that moved. `cycles` wide; `column` is marked. */
export function course(run: Meshed, of: Course, look: Look, width: number, cycles: number, column: number | null, t: Theme): SVGSVGElement {
  const { mesh } = run;
  const scale = Math.max(1, width - kNames - 2) / Math.max(1, cycles);
  const most = Math.max(...mesh.moved);
  const lanes: [name: string, height: number][] = [["SMs", 44], ["busiest link", 22], ...(most > 0 ? [["warps moved", 22] as [string, number]] : [])];
  const colours = partColours(t);
  const out: SVGElement[] = [];
  let top = 0;
  lanes.forEach(([name, height], lane) => {
    const bar = (c: number, from: number, to: number, fill: string) => out.push(svg("rect", { x: (kNames + mesh.start[c] * scale).toFixed(2), y: (top + height * (1 - to)).toFixed(2),
      width: (mesh.length[c] * scale + 0.3).toFixed(2), height: (height * (to - from)).toFixed(2), fill }));
    mesh.start.forEach((_, c) => {
      let below = 0;
      if (lane === 0) for (const part of kParts[look.cores]) bar(c, below, (below += of.parts[c][part]), colours[part]);
      else if (lane === 1) bar(c, 0, Math.min(1, of.busiest[c] / look.top), t.load[2]);
      else bar(c, 0, mesh.moved[c] / most, t.moves);
    });
    out.push(svg("text", { x: kNames - 8, y: top + height / 2, "font-size": 11, fill: t.muted, "text-anchor": "end", "dominant-baseline": "central" }, name),
      svg("rect", { x: kNames, y: top, width: (endOf(run) * scale).toFixed(2), height, fill: "none", stroke: t.line }));
    top += height + 5;
  });
  if (column !== null)
    out.push(svg("rect", { x: (kNames + mesh.start[column] * scale - 1).toFixed(2), y: 0, width: (Math.max(2, mesh.length[column] * scale) + 2).toFixed(2), height: top - 5,
      fill: t.ink, "fill-opacity": 0.15, stroke: t.ink, "stroke-width": 1.2 }));
  return svg("svg", { width, height: top, viewBox: `0 0 ${width} ${top}`, "aria-hidden": "true" }, ...out);
}

/** The column at `x` of a drawn course. */
export function columnAt(run: Meshed, x: number, width: number, cycles: number): number {
  const cycle = (x - kNames) / Math.max(1, width - kNames - 2) * cycles;
  const after = run.mesh.start.findIndex((start) => start > cycle);
  return after < 0 ? run.mesh.start.length - 1 : Math.max(0, after - 1);
}
