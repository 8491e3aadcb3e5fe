// The resolved configuration as a tree that can be searched; what differs between runs is marked.
import type { Fields } from "./data";
import { h } from "./dom";
import { flatten } from "./matrix";

/** A configuration under the name it has where several are compared. */
export interface Configured {
  label: string;
  config: Fields;
}

interface Leaf {
  path: string;
  /** Each distinct value with the labels of those that have it. */
  values: [shown: string, labels: string[]][];
}

/** As written in a configuration file: no grouping of digits. */
function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function leaves(runs: Configured[]): Leaf[] {
  const byPath = new Map<string, Map<string, string[]>>();
  for (const { label, config } of runs) {
    for (const [path, value] of flatten(config)) {
      const values = byPath.get(path) ?? new Map<string, string[]>();
      const shown = written(value);
      values.set(shown, [...(values.get(shown) ?? []), label]);
      byPath.set(path, values);
    }
  }
  return [...byPath].map(([path, values]) => ({ path, values: [...values] }));
}

/** Differs between runs, also by being there in some only. */
function differs(leaf: Leaf, runs: number): boolean {
  return leaf.values.length > 1 || leaf.values[0][1].length < runs;
}

function leafRow(leaf: Leaf, runs: number): HTMLElement {
  const key = leaf.path.slice(leaf.path.lastIndexOf(".") + 1);
  const different = differs(leaf, runs);
  const values = leaf.values.map(([shown, holders]) => h("span", { class: "value" }, shown,
    different && h("span", { class: "holders" }, [...new Set(holders)].join(", "))));
  return h("div", { class: different ? "leaf differs" : "leaf", "data-path": leaf.path.toLowerCase() },
    h("span", { class: "name" }, key), h("span", {}, values));
}

/** Leaves of one level, then its tables as folds. */
function branch(all: Leaf[], prefix: string, runs: number): HTMLElement[] {
  const tables = new Map<string, Leaf[]>();
  const out: HTMLElement[] = [];
  for (const leaf of all) {
    const rest = leaf.path.slice(prefix.length);
    const dot = rest.indexOf(".");
    if (dot < 0) out.push(leafRow(leaf, runs));
    else tables.set(rest.slice(0, dot), [...(tables.get(rest.slice(0, dot)) ?? []), leaf]);
  }
  for (const [name, inside] of tables) {
    const count = inside.filter((leaf) => differs(leaf, runs)).length;
    out.push(h("details", { class: "branch", open: count > 0 },
      h("summary", {}, name, count > 0 && h("span", { class: "holders" }, `${count} ${count === 1 ? "value differs" : "values differ"}`)),
      branch(inside, `${prefix}${name}.`, runs)));
  }
  return out;
}

function search(tree: HTMLElement, text: string): void {
  const wanted = text.trim().toLowerCase();
  for (const leaf of tree.querySelectorAll<HTMLElement>(".leaf"))
    leaf.hidden = wanted !== "" && !leaf.dataset.path!.includes(wanted) && !leaf.textContent!.toLowerCase().includes(wanted);
  for (const fold of [...tree.querySelectorAll<HTMLDetailsElement>("details.branch")].reverse()) {
    const any = fold.querySelector(".leaf:not([hidden])") !== null;
    fold.hidden = !any;
    if (wanted !== "") fold.open = any;
  }
}

export function configTree(runs: Configured[]): HTMLElement {
  const all = leaves(runs);
  if (all.length === 0) return h("p", { class: "none" }, "No configuration was recorded.");
  const tree = h("div", { class: "tree" }, branch(all, "", runs.length));
  const box = h("input", { type: "search", placeholder: "Search: size_kib, latency, gto …", "aria-label": "Search the configuration",
    oninput: (event) => search(tree, (event.target as HTMLInputElement).value) });
  const setAll = (open: boolean) => () => tree.querySelectorAll("details").forEach((fold) => { fold.open = open; });
  return h("div", {}, h("div", { class: "choices" }, box,
    h("button", { type: "button", onclick: setAll(true) }, "Open all"), h("button", { type: "button", onclick: setAll(false) }, "Close all")), tree);
}
