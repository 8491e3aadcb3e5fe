// One picture of the way of data from registers to DRAM: what went over each part of it, hits and queues at each level, and the
// share of the machine's peak; one run against another.
import { fields, timedTotals, type Group } from "./data";
import type { Charts } from "./charts";
import { h, select, svg } from "./dom";
import { bytes, digits, percent, whole } from "./format";
import type { Numbers } from "./save";
import { textWidth } from "./text_width";
import { seriesColour, type Theme } from "./theme";
import { detail, kParts, l1Lines, measuredRuns, packetBytes, worked, type Measured, type Part } from "./utilisation";

/** What stands on the way: a level, or what leads from one to the next. */
export interface Stage {
  kind: "level" | "way";
  title: string;
  /** Levels with the same name are in one box. */
  box: string;
  /** Of which share() is; null: of none, the way to it says it. */
  part: Part | null;
  /** Which way data or requests go. */
  down: boolean;
  up: boolean;
  /** Of a way; null: they are not counted. */
  bytes: (run: Measured) => number | null;
  share: (run: Measured) => number | null;
  /** What else is known. */
  facts: (run: Measured) => string[];
}

const rate = (part: number, all: number) => (all > 0 ? percent(part / all) : null);
const told = (...texts: (string | null)[]) => texts.filter((text): text is string => text !== null);
const hits = (part: number, all: number, of: string) => (all > 0 ? `${rate(part, all)} hits of ${whole(all)} ${of}` : `no ${of}`);
/** Time in front of it; nothing where next to nothing waits there. */
const queue = (cycles: number, what: string, unit = "cycles") => (cycles >= 0.05 ? `${digits(cycles)} ${unit} ${what}` : null);

const level = (box: string, title: string, part: Part | null, facts: Stage["facts"]): Stage =>
  ({ kind: "level", title, box, part, down: false, up: false, bytes: () => null, share: (run) => (part === null ? null : run.result.utilisation[part]), facts });
const way = (title: string, part: Part, direction: "down" | "up" | "both", amount: Stage["bytes"], facts: Stage["facts"]): Stage =>
  ({ kind: "way", title, box: "", part, down: direction !== "up", up: direction !== "down", bytes: amount, share: (run) => run.result.utilisation[part], facts });

/** Of two ways that share a peak. */
const partOf = (stage: Stage, portion: (run: Measured) => number): Stage => ({ ...stage, share: (run) => {
  const share = stage.share(run);
  return share === null ? null : share * portion(run);
} });

const written = (run: Measured) => detail(run, "dram_written_bytes");
const dramBytes = (run: Measured) => timedTotals(run).dram_bytes;
const portion = (part: number, all: number) => (all > 0 ? part / all : 0);

/** From the registers down. */
export const kStages: Stage[] = [
  level("SM", "Registers: instructions issued", "issue", (run) => [`${whole(timedTotals(run).warp_instructions)} warp instructions`]),
  level("SM", "Shared memory", "shared", (run) => {
    const [accesses, passes] = [detail(run, "shared_accesses"), detail(run, "shared_passes")];
    return accesses > 0 ? [`${whole(accesses)} accesses, ${digits(passes / accesses)} bank cycles each`] : ["no accesses"];
  }),
  way("Load/store units", "l1", "both", (run) => l1Lines(run) * run.result.peaks.l1_bytes / run.result.peaks.l1_lines,
    (run) => told(`${whole(l1Lines(run))} line accesses`, queue(detail(run, "load_mean_lsu_cycles"), "until a load's last line is taken"))),
  level("L1D", "L1D", null, (run) => told(hits(timedTotals(run).l1d_hits, timedTotals(run).l1d_accesses, "line accesses"),
    detail(run, "l1d_pending_hits") > 0 ? `${whole(detail(run, "l1d_pending_hits"))} joined a miss` : null)),
  way("Network to the L2", "request", "down", (run) => packetBytes(run, "request"), (run) => told(queue(detail(run, "load_mean_queue_cycles"), "until a load's last request leaves"))),
  way("Network to the SMs", "reply", "up", (run) => packetBytes(run, "reply"), () => []),
  level("L2", "L2", "l2", (run) => told(hits(timedTotals(run).l2_hits, timedTotals(run).l2_accesses, "requests"), queue(detail(run, "l2_mean_queue_cycles"), "in its queue"))),
  partOf(way("Written to DRAM", "dram", "down", written, () => []), (run) => portion(written(run), dramBytes(run))),
  partOf(way("Read from DRAM", "dram", "up", (run) => dramBytes(run) - written(run), () => []), (run) => portion(dramBytes(run) - written(run), dramBytes(run))),
  level("DRAM", "DRAM", "dram", (run) => told(timedTotals(run).dram_reads + timedTotals(run).dram_writes > 0 ? `${percent(detail(run, "dram_row_hit_rate"))} row hits` : "no requests",
    queue(detail(run, "dram_mean_queue_cycles"), "in its queue", fields(run.result.config.dram).model === "fixed" ? "cycles" : "memory cycles"))),
];

/** "11.9 KiB, 0.49 B a cycle, 0.3 % of the peak" */
export function amounts(stage: Stage, run: Measured): string {
  const [size, share] = [stage.bytes(run), stage.share(run)];
  const cycles = worked(run);
  return told(size === null ? null : bytes(size), size === null || cycles === 0 ? null : `${digits(size / cycles)} B a cycle`,
    stage.part === null ? null : share === null ? "no limit" : `${percent(share)} of the peak`).join(", ");
}

const kLine = 15;
const kTitle = 17;
const kGap = 9;

const kText = 11;

/** Lines of words that fit, in pixels. */
export function wrapped(words: string, room: number, textWidth: (text: string) => number): string[] {
  const lines: string[] = [];
  for (const word of words.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && textWidth(`${last} ${word}`) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

interface Drawn {
  stage: Stage;
  top: number;
  bottom: number;
}

/** Bars and numbers of a stage from `left` on, a line or more for each side. Returns where they end. */
function drawStage(out: SVGElement[], stage: Stage, sides: Measured[], top: number, left: number, width: number, t: Theme, textWidth: (text: string) => number): number {
  const words = (x: number, y: number, text: string, fill: string, weight = "normal") => svg("text", { x, y, "font-size": kText, fill, "font-weight": weight }, text);
  const bar = width < kNarrow ? 44 : 110;
  const from = left + (sides.length > 1 ? 15 : 0);
  out.push(words(left, top + 11, stage.title, stage.kind === "level" ? t.ink : t.muted, stage.kind === "level" ? "bold" : "normal"));
  let y = top + kTitle;
  sides.forEach((run, i) => {
    const colour = seriesColour(t, i);
    const share = stage.share(run) ?? 0;
    if (sides.length > 1) out.push(words(left, y + 10, "AB"[i], colour, "bold"));
    const at = stage.part === null ? from : from + bar + 7;
    if (stage.part !== null)
      out.push(svg("rect", { x: from, y: y + 2, width: bar, height: 9, fill: t.line }),
        svg("rect", { x: from, y: y + 2, width: Math.max(share > 0 ? 1 : 0, bar * Math.min(1, share)), height: 9, fill: colour }));
    for (const line of wrapped([amounts(stage, run), ...stage.facts(run)].filter((words) => words !== "").join("; "), width - at - 4, textWidth)) {
      out.push(words(at, y + 10, line, t.ink));
      y += kLine;
    }
  });
  return y;
}

const kNarrow = 520;

/** Arrows of ways that lie between the same two levels, side by side: the wider, the more of the peak. */
function drawArrows(out: SVGElement[], ways: Drawn[], sides: Measured[], from: number, to: number, top: number, bottom: number, t: Theme): void {
  ways.forEach(({ stage }, i) => {
    const x = from + (to - from) * (i + 1) / (ways.length + 1);
    const thick = 1.5 + 8.5 * Math.min(1, Math.max(...sides.map((run) => stage.share(run) ?? 0)));
    const head = (at: number, back: number) => svg("polygon", { points: `${x - 4 - thick / 2},${at + back} ${x},${at} ${x + 4 + thick / 2},${at + back}`, fill: t.muted });
    out.push(svg("line", { x1: x, x2: x, y1: top + (stage.up ? 7 : 1), y2: bottom - (stage.down ? 7 : 1), stroke: t.muted, "stroke-width": thick.toFixed(2) }),
      ...(stage.down ? [head(bottom - 1, -7)] : []), ...(stage.up ? [head(top + 1, 7)] : []));
  });
}

/** Laid out for the width in pixels. */
export function pathDrawing(sides: Measured[], t: Theme, width: number, textWidth: (text: string) => number): SVGSVGElement {
  const [from, to] = [1, width < kNarrow ? 40 : 104];
  const out: SVGElement[] = [];
  let y = 2;
  if (sides.length > 1) {
    sides.forEach((run, i) => {
      const x = from + (i === 0 ? 0 : 20 + textWidth(`A: ${sides[0].label}`));
      out.push(svg("text", { x, y: y + 11, "font-size": kText, "font-weight": "bold", fill: seriesColour(t, i) }, `${"AB"[i]}: ${run.label}`));
    });
    y += 24;
  }
  const drawn = kStages.map((stage): Drawn => {
    const top = y;
    const bottom = drawStage(out, stage, sides, top, to + 14, width, t, textWidth);
    y = bottom + kGap;
    return { stage, top, bottom };
  });
  const boxes = [...new Set(kStages.filter((stage) => stage.kind === "level").map((stage) => stage.box))].map((name) => {
    const of = drawn.filter(({ stage }) => stage.box === name);
    return { name, top: of[0].top, bottom: of[of.length - 1].bottom };
  });
  boxes.forEach(({ name, top, bottom }, i) => {
    out.push(svg("rect", { x: from, y: top, width: to - from, height: bottom - top, rx: 4, fill: t.paper, stroke: t.ink, "stroke-width": 1.2 }),
      svg("text", { x: (from + to) / 2, y: (top + bottom) / 2 + 4, "font-size": width < kNarrow ? kText : 13, "font-weight": "bold", fill: t.ink, "text-anchor": "middle" }, name));
    const next = boxes[i + 1];
    if (next !== undefined) drawArrows(out, drawn.filter((one) => one.stage.kind === "way" && one.top >= bottom && one.bottom <= next.top), sides, from, to, bottom, next.top, t);
  });
  return svg("svg", { width, height: y, viewBox: `0 0 ${width} ${y}`, role: "img", "aria-label": `The way from registers to DRAM: ${sides.map((run) => run.label).join(" against ")}` }, ...out);
}

/** Of all runs, a row for each stage. */
export function pathNumbers(runs: Measured[]): Numbers {
  return { columns: ["policy", "part", "kind", "bytes", "bytes_per_cycle", "share_of_peak", "facts"],
    rows: runs.flatMap((run) => kStages.map((stage) => {
      const size = stage.bytes(run);
      return [run.label, stage.title, stage.kind, size, size === null || worked(run) === 0 ? null : size / worked(run), stage.share(run), stage.facts(run).join("; ")];
    })) };
}

const measure = (text: string) => textWidth(text, kText);

/** Nothing where no run says how much of the machine it used. */
export function addMemoryPath(charts: Charts, parent: HTMLElement, group: Group): void {
  const runs = measuredRuns(group);
  if (runs.length === 0) return;
  const sides = runs.slice(0, 2);
  const place = h("div");
  const host = h("div", { class: "memory-path" });
  const names = runs.map((run, i): [string, string] => [String(i), run.label]);
  const choice = (i: number) => select("AB"[i], names, String(i), (value) => {
    sides[i] = runs[+value];
    redraw();
  });
  parent.append(h("h3", {}, "Memory path"),
    h("p", { class: "note" }, "What went over each part of the way from registers to DRAM, in the cycles with a block on an SM: bars are shares of what the machine could do at most. " +
      `Bytes of the load/store units are those of the lines (or sectors) that were accessed, bytes of networks are with headers. ${kParts.l1.explain}`),
    ...(runs.length > 1 ? [h("div", { class: "choices" }, choice(0), choice(1))] : []), host);
  host.append(place);
  const redraw = charts.addDrawing(host, (t) => {
    place.replaceChildren(pathDrawing(sides, t, Math.max(260, host.clientWidth), measure));
  }, { title: `Memory path of ${group.name}`, draw: (t, width) => pathDrawing(sides, t, width, measure), numbers: () => pathNumbers(runs) });
}
