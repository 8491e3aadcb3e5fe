// The mesh as a map over time: what each core did, flits on the links, warps that moved.
import type { Group } from "./data";
import type { Charts } from "./charts";
import { buttons, h } from "./dom";
import { percent, whole } from "./format";
import { rampKey, swatch } from "./launchmap";
import { course, courseOf, columnAt, endOf, kNames, kPitch, map, outline, partColours, shownMoves, type Item, type Look } from "./meshdraw";
import { hasStates, kParts, kPartTitles, linkName, loads, mean, meshedRuns, meshNote, nodeName, viewOf, wholeRun, type Cores, type Meshed, type Networks, type View } from "./mesh";
import type { Numbers } from "./save";
import type { Theme } from "./theme";

const kNetworks: { [networks in Networks]: string } = { both: "both networks", requests: "requests", replies: "replies" };
/** Between two columns while it plays. */
const kPlayMs = 160;

type Row = [name: string, value: string];

function linkRow(run: Meshed, view: View, link: number): Row {
  const share = (networks: Networks) => percent(loads(run, view, networks)[link]);
  return [linkName(run.mesh, link), `${share("requests")} requests, ${share("replies")} replies`];
}

function nodeRows(run: Meshed, view: View, node: number): Row[] {
  const { mesh } = run;
  const sm = mesh.sms.indexOf(node);
  const rows: Row[] = [];
  if (sm >= 0) {
    for (const cores of (hasStates(mesh) ? ["states", "schedulers"] : ["schedulers"]) as Cores[])
      for (const part of kParts[cores]) rows.push([kPartTitles[part], percent(view.parts[part][sm])]);
    const sum = (end: "from" | "to") => view.moves.filter((m) => m[end] === sm).reduce((n, m) => n + m.warps, 0);
    const all = view.moves.reduce((n, m) => n + m.warps, 0) === view.moved;
    if (mesh.moved.some((n) => n > 0)) rows.push([`warps sent away, taken in${all ? "" : ", at least"}`, `${whole(sum("from"))}, ${whole(sum("to"))}`]);
  }
  return [...rows, ...mesh.from.flatMap((from, link) => (from === node ? [linkRow(run, view, link)] : []))];
}

function linkRows(run: Meshed, view: View, link: number): Row[] {
  return (["requests", "replies"] as const).map((networks): Row => [networks,
    `${whole(view[networks][link])} flits, in ${percent(loads(run, view, networks)[link])} of the cycles`]);
}

interface Facts {
  title: string;
  rows: Row[];
}

/** While nothing is pointed at. */
export function together(run: Meshed, view: View): Facts {
  const { mesh } = run;
  const parts = hasStates(mesh) ? [...kParts.states, ...kParts.schedulers] : kParts.schedulers;
  return { title: "All SMs and links together", rows: [
    ...parts.map((part): Row => [kPartTitles[part], percent(mean(view.parts[part]))]),
    ["flits on a link", `${percent(mean(loads(run, view, "requests")))} requests, ${percent(mean(loads(run, view, "replies")))} replies`],
    ...(mesh.moved.some((n) => n > 0) ? [["warps that moved", whole(view.moved)] as Row] : []),
  ] };
}

/** What is pointed at, in numbers. */
export function facts(run: Meshed, view: View, item: Item): Facts {
  const { mesh } = run;
  if (item.kind === "link") return { title: `${nodeName(mesh, mesh.from[item.index])} to ${nodeName(mesh, mesh.to[item.index])}`, rows: linkRows(run, view, item.index) };
  if (item.kind === "move") {
    const move = shownMoves(mesh, view.moves)[item.index];
    return { title: `SM ${move.from} to SM ${move.to}`, rows: [["warps that moved", whole(move.warps)]] };
  }
  const [column, row] = [item.index % mesh.columns, Math.floor(item.index / mesh.columns)];
  return { title: `${nodeName(mesh, item.index)} (column ${column}, row ${row})`, rows: nodeRows(run, view, item.index) };
}

function table(rows: Row[]): HTMLElement {
  return h("table", {}, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number" }, value)))));
}

function busiest(run: Meshed, view: View, networks: Networks): Row[] {
  const all = loads(run, view, networks);
  return all.map((_, link) => link).sort((a, b) => all[b] - all[a]).slice(0, 5).filter((link) => all[link] > 0).map((link) => linkRow(run, view, link));
}

function mostMoves(view: View): Row[] {
  return view.moves.slice(0, 5).map((m) => [`SM ${m.from} → SM ${m.to}`, `${whole(m.warps)} ${m.warps === 1 ? "warp" : "warps"}`]);
}

/** The load in the last colour: of the busiest link of all runs, of a column or of the whole run. */
function topLoad(runs: Meshed[], networks: Networks, columns: boolean): number {
  const most = runs.flatMap((run) => (columns ? run.mesh.start.map((_, c) => ({ first: c, end: c + 1 })) : [wholeRun(run.mesh)])
    .map((span) => Math.max(0, ...loads(run, viewOf(run.mesh, span), networks))));
  return Math.max(0.001, ...most);
}

function keys(run: Meshed, view: View, look: Look, t: Theme): Node[] {
  const colours = partColours(t);
  const parts = kParts[look.cores].map((part) => {
    const key = swatch(colours[part], kPartTitles[part]);
    (key.firstChild as HTMLElement).style.outline = `1px solid ${t.muted}`;
    return key;
  });
  const shown = shownMoves(run.mesh, view.moves).length;
  const arrows = !run.mesh.moved.some((n) => n > 0) ? [] : [swatch(t.moves, `warps that moved${shown < view.moves.length ? `: ${shown} of ${whole(view.moves.length)} arrows` : ""}`)];
  const shapes = [["▢", "SM", run.mesh.sms], ["◯", "L2 slice", run.mesh.slices], ["◇", "memory controller", run.mesh.controllers]] as const;
  return [h("span", { class: "key" }, shapes.filter(([, , places]) => places.length > 0).map(([shape, name]) => `${shape} ${name}`).join(", ")), ...parts, rampKey(t.load, "link: flits in 0 %", `${percent(look.top)} of its cycles`), ...arrows];
}

/** What a reader has chosen. */
class Choices {
  column: number | null = null;  // null: the whole run
  wanted: Cores = "states";
  networks: Networks = "both";
  chosen: Item | null = null;
  constructor(public run: Meshed) {}
  /** The other run at the same time, looked at in the same way as far as it can be. */
  choose(run: Meshed): void {
    const cycle = this.column === null ? null : this.run.mesh.start[this.column];
    this.run = run;
    if (cycle !== null) this.column = Math.max(0, run.mesh.start.reduce((last, start, c) => (start <= cycle ? c : last), 0));
  }
  get cores(): Cores {
    return hasStates(this.run.mesh) ? this.wanted : "schedulers";
  }
  get span() {
    return this.column === null ? wholeRun(this.run.mesh) : { first: this.column, end: this.column + 1 };
  }
}

class MeshMap {
  private readonly choices: Choices;
  private readonly parts = {
    note: h("p", { class: "note" }), keys: h("div", { class: "keys" }), course: h("div", { class: "course" }), time: h("output", { class: "time" }),
    map: h("div", { class: "map", tabindex: 0, role: "group" }), facts: h("div", { class: "facts-of", "aria-live": "polite" }), lists: h("div"),
    cores: h("span"), slider: h("input", { type: "range", min: 0, step: 1, "aria-label": "Time" }), all: h("button", { type: "button" }, "Whole run"), play: h("button", { type: "button" }, "▶ Play"),
  };
  private readonly tops = new Map<string, number>();
  private readonly courses = new Map<string, ReturnType<typeof courseOf>>();
  private timer = 0;
  private view: View;
  private t!: Theme;
  private redraw: () => void = () => undefined;

  constructor(charts: Charts, parent: HTMLElement, private readonly runs: Meshed[], name: string) {
    this.choices = new Choices(runs.find((run) => hasStates(run.mesh)) ?? runs[0]);
    this.view = viewOf(this.choices.run.mesh, this.choices.span);
    const { note, keys: key, course: strip, time, map: place, facts: told, lists, cores, slider, all, play } = this.parts;
    cores.append(buttons("Cores show", [["states", "states"], ["schedulers", "schedulers' cycles"]], "states", (value) => this.change(() => (this.choices.wanted = value as Cores)))!);
    place.setAttribute("aria-label", `The mesh of ${name}: arrow keys go from node to node`);
    const host = h("div", { class: "mesh" }, note,
      h("div", { class: "choices" },
        buttons("Policy", runs.map((r, i): [string, string] => [String(i), r.label]), String(runs.indexOf(this.choices.run)), (i) => this.change(() => this.choices.choose(runs[+i]))),
        cores, buttons("Links show", Object.entries(kNetworks), "both", (value) => this.change(() => (this.choices.networks = value as Networks)))),
      strip, slider, h("div", { class: "choices" }, play, all, time), key,
      h("div", { class: "map-and-facts" }, place, h("div", { class: "beside" }, told, lists)));
    parent.append(h("h3", { id: "mesh" }, "The mesh over time"), host);
    this.listen(strip, place);
    this.redraw = charts.addDrawing(host, (t) => this.draw(t),
      { title: `The mesh of ${name}`, draw: (t) => map(this.choices.run, this.view, this.look, t), numbers: () => meshNumbers(this.choices.run, this.view) });
  }

  private listen(strip: HTMLElement, place: HTMLElement): void {
    const { slider, all, play } = this.parts;
    slider.addEventListener("input", () => this.change(() => (this.choices.column = +slider.value), true));
    all.addEventListener("click", () => this.change(() => (this.choices.column = null), true));
    play.addEventListener("click", () => (this.timer === 0 ? this.play() : this.stop()));
    const pick = (event: PointerEvent) => this.change(() => (this.choices.column = columnAt(this.choices.run, event.offsetX, strip.clientWidth, this.cycles)), true);
    strip.addEventListener("pointerdown", pick);
    strip.addEventListener("pointermove", (event) => event.buttons === 1 && pick(event));
    place.addEventListener("pointerover", (event) => this.point(itemOf(event.target)));
    place.addEventListener("pointerleave", () => this.point(null));
    place.addEventListener("click", (event) => {
      this.choices.chosen = itemOf(event.target);
      this.point(null);
    });
    place.addEventListener("keydown", (event) => this.key(event));
  }

  private get cycles(): number {
    return Math.max(...this.runs.map(endOf));
  }

  private change(how: () => void, stop = false): void {
    if (stop) this.stop();
    how();
    if (this.choices.chosen?.kind === "move") this.choices.chosen = null;  // arrows come and go
    this.redraw();
  }

  private play(): void {
    const last = this.choices.run.mesh.start.length - 1;
    if (this.choices.column === null || this.choices.column >= last) this.choices.column = 0;
    this.parts.play.textContent = "❚❚ Pause";
    this.parts.facts.setAttribute("aria-live", "off");
    this.redraw();
    this.timer = window.setInterval(() => {
      const { run, column } = this.choices;
      if (!this.parts.map.isConnected || column === null || column + 1 >= run.mesh.start.length) this.stop();
      else this.change(() => (this.choices.column = column + 1));
    }, kPlayMs);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.parts.play.textContent = "▶ Play";
    this.parts.facts.setAttribute("aria-live", "polite");
  }

  /** Arrow keys: to the next node. */
  private key(event: KeyboardEvent): void {
    const { columns, rows } = this.choices.run.mesh;
    const step: { [key: string]: [number, number] } = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const { chosen } = this.choices;
    if (event.key === "Escape") this.choices.chosen = null;
    else if (!(event.key in step)) return;
    else if (chosen?.kind !== "node") this.choices.chosen = { kind: "node", index: 0 };
    else {
      const x = Math.min(columns - 1, Math.max(0, chosen.index % columns + step[event.key][0]));
      const y = Math.min(rows - 1, Math.max(0, Math.floor(chosen.index / columns) + step[event.key][1]));
      this.choices.chosen = { kind: "node", index: y * columns + x };
    }
    event.preventDefault();
    this.point(null);
  }

  /** Of columns, or of whole runs. */
  private top(columns: boolean): number {
    const { networks } = this.choices;
    const key = `${networks} ${columns}`;
    if (!this.tops.has(key)) this.tops.set(key, topLoad(this.runs, networks, columns));
    return this.tops.get(key)!;
  }

  private get look(): Look {
    return { cores: this.choices.cores, networks: this.choices.networks, top: this.top(this.choices.column !== null) };
  }

  private draw(t: Theme): void {
    this.t = t;
    const { run, column } = this.choices;
    const { mesh } = run;
    const { note, keys: key, time, map: place, cores, slider, all } = this.parts;
    this.view = viewOf(mesh, this.choices.span);
    const { look } = this;
    note.textContent = `${meshNote(run)} A core is filled with what it did; links keep to the right of the line between two nodes, so that both directions are seen. Point at something for its numbers, or go from node to node with the arrow keys.`;
    cores.hidden = !hasStates(mesh);
    slider.max = String(mesh.start.length - 1);
    slider.value = String(column ?? mesh.start.length - 1);
    all.setAttribute("aria-pressed", String(column === null));
    const end = this.view.start + this.view.cycles;
    time.textContent = column === null ? `${whole(end)} cycles` : `cycles ${whole(this.view.start)} to ${whole(end)}`;
    slider.setAttribute("aria-valuetext", time.textContent);
    key.replaceChildren(...keys(run, this.view, look, t));
    this.drawCourse(look);
    const drawn = map(run, this.view, look, t);
    drawn.style.maxWidth = `${Math.min(660, mesh.columns * kPitch * 1.7)}px`;
    place.replaceChildren(drawn);
    this.point(null);
  }

  private drawCourse(look: Look): void {
    const { run, column } = this.choices;
    const strip = this.parts.course;
    const id = `${this.runs.indexOf(run)} ${look.cores} ${look.networks}`;
    if (!this.courses.has(id)) this.courses.set(id, courseOf(run, look));
    const width = Math.max(kNames + 50, strip.clientWidth);
    strip.replaceChildren(course(run, this.courses.get(id)!, { ...look, top: this.top(true) }, width, this.cycles, column, this.t));
    Object.assign(this.parts.slider.style, { marginLeft: `${kNames}px`, width: `${(width - kNames - 2) * endOf(run) / this.cycles}px` });
  }

  /** Says and marks what is pointed at, else what was chosen. */
  private point(at: Item | null): void {
    const { run } = this.choices;
    const item = at ?? this.choices.chosen;
    const { map: place, facts: told, lists } = this.parts;
    place.querySelector(".outline")?.remove();
    const svg = place.querySelector("svg");
    if (item !== null && svg !== null) {
      const mark = outline(run.mesh, this.view, item, this.t);
      mark.classList.add("outline");
      svg.append(mark);
    }
    const of = item === null ? together(run, this.view) : facts(run, this.view, item);
    told.style.minHeight = hasStates(run.mesh) ? "17.5em" : "12em";  // what is below stays where it is
    told.replaceChildren(h("h4", {}, of.title), table(of.rows));
    const links = busiest(run, this.view, this.choices.networks);
    const moves = mostMoves(this.view);
    lists.replaceChildren(...(links.length > 0 ? [h("h4", {}, "Busiest links"), table(links)] : []), ...(moves.length > 0 ? [h("h4", {}, "Most moves"), table(moves)] : []));
  }
}

/** Every link with the share of its cycles in which there are flits on it. */
export function meshNumbers(run: Meshed, view: View): Numbers {
  const [requests, replies] = [loads(run, view, "requests"), loads(run, view, "replies")];
  return { columns: ["from_node", "to_node", "requests", "replies", "from_cycle", "cycles"],
    rows: run.mesh.from.map((from, link) => [from, run.mesh.to[link], requests[link], replies[link], view.start, view.cycles]) };
}

/** The part of the map under the pointer. */
function itemOf(target: EventTarget | null): Item | null {
  const element = target instanceof Element ? target.closest("[data-kind]") : null;
  return element === null ? null : { kind: element.getAttribute("data-kind") as Item["kind"], index: Number(element.getAttribute("data-index")) };
}

/** Nothing where no run of the group has a mesh. */
export function addMeshMap(charts: Charts, parent: HTMLElement, group: Group): void {
  const runs = meshedRuns(group.runs);
  if (runs.length > 0) new MeshMap(charts, parent, runs, group.name);
}
