// What every page does with its data element.
import { h } from "./dom";

/** The content of the page's data element. Throws an Error a reader can understand. */
export function pageData(text: string, filledBy: string): unknown {
  if (text.trim() === "" || text.startsWith("/*")) throw new Error(`This is the empty page; raddle fills it with ${filledBy}.`);
  return JSON.parse(text);
}

/** Builds the page from its data, or says in it what is wrong with them. `build` returns the number of charts. */
export function start(build: (page: HTMLElement, text: string) => number): void {
  const page = document.getElementById("page")!;
  let charts = 0;
  try {
    charts = build(page, document.getElementById("raddle-data")!.textContent ?? "");
  } catch (error) {
    page.replaceChildren(h("p", { class: "none" }, error instanceof Error ? error.message : String(error)));
    console.error(error);
  }
  document.documentElement.dataset.charts = String(charts);
  document.documentElement.dataset.ready = "true";
}

export function brand(text: string, ...rest: (Node | false)[]): HTMLElement {
  return h("p", { class: "brand" }, h("span", { class: "comb", "aria-hidden": "true" }), text, ...rest);
}

/** What is too wide for paper is set smaller instead of being cut off. */
function fitTables(on: boolean): void {
  for (const table of document.querySelectorAll<HTMLTableElement>(".scroll > table")) {
    table.style.zoom = "";
    const room = table.parentElement!.clientWidth;
    if (on && room > 0 && table.scrollWidth > room) table.style.zoom = String(Math.floor(100 * room / table.scrollWidth) / 100);
  }
}

/** Paper is narrower than the window and always light. `change` is called after the page has become so, or is itself again. */
export function onPrinting(change: (on: boolean) => void = () => {}): void {
  const set = (on: boolean) => {
    if (document.documentElement.classList.contains("figure")) return;  // one drawing is printed, not the page
    document.documentElement.classList.toggle("printing", on);
    change(on);
    fitTables(on);
  };
  addEventListener("beforeprint", () => set(true));
  addEventListener("afterprint", () => set(false));
}
