// Building elements. Text always goes in as text, never as markup.

type Child = Node | string | null | undefined | false;
type Attributes = { [name: string]: string | number | boolean | ((event: Event) => void) };

export function h<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag, attributes: Attributes = {}, ...children: (Child | Child[])[]): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** An element of a drawing. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
    tag: Tag, attributes: { [name: string]: string | number } = {}, ...children: (Node | string | null)[]): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** A word with its explanation on hover. */
export function term(text: string, explain: string): HTMLElement {
  return h("span", { class: "term", title: explain }, text);
}

export function section(id: string, title: string, lead: Child, ...children: Child[]): HTMLElement {
  return h("section", { id }, h("h2", {}, title), lead ? h("p", { class: "lead" }, lead) : null, ...children);
}


/** A labelled drop-down list; with one option it cannot be opened. */
export function select(label: string, options: [value: string, text: string][], chosen: string,
                       change: (value: string) => void): HTMLElement {
  const list = h("select", { onchange: (event) => change((event.target as HTMLSelectElement).value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  if (options.length < 2) list.disabled = true;
  return h("label", { class: "choice" }, label, " ", list);
}

/** One of a few, as a row of buttons; nothing where there is no choice. */
export function buttons(label: string, options: [value: string, text: string][], chosen: string,
                        change: (value: string) => void): HTMLElement | null {
  if (options.length < 2) return null;
  const row = h("span", { class: "buttons", role: "group", "aria-label": label });
  for (const [value, text] of options) {
    const press = () => {
      for (const b of row.children) b.setAttribute("aria-pressed", String((b as HTMLElement).dataset.value === value));
      change(value);
    };
    row.append(h("button", { type: "button", "data-value": value, "aria-pressed": String(value === chosen), onclick: press }, text));
  }
  return h("span", { class: "choice" }, label, " ", row);
}
