// Markdown to elements. The text is parsed into a tree by mdast-util-from-markdown (CommonMark and tables); only the kinds
// of nodes named here are drawn, everything else, HTML above all, appears as the text it is. No markup is ever parsed
// by the browser, links lead to web pages and places of this page only, pictures are not fetched.
import type { AlignType, Nodes, Table } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";

/** An element to be made; a string is text. */
export type Part = string | { tag: keyof HTMLElementTagNameMap; attributes: { [name: string]: string }; parts: Part[] };

const kTags: { [type: string]: keyof HTMLElementTagNameMap } = {
  paragraph: "p", emphasis: "em", strong: "strong", blockquote: "blockquote", listItem: "li", tableRow: "tr",
};

function element(tag: keyof HTMLElementTagNameMap, parts: Part[], attributes: { [name: string]: string } = {}): Part[] {
  return [{ tag, attributes, parts }];
}

function safe(url: string): boolean {
  return /^(https?:\/\/|#)/i.test(url);
}

function table(node: Table): Part[] {
  const cells = (row: number, tag: "th" | "td") => element("tr", node.children[row].children.flatMap((cell, c) =>
    element(tag, inside(cell.children), alignment(node.align?.[c] ?? null))));
  const rest = node.children.slice(1).flatMap((_row, i) => cells(i + 1, "td"));
  return element("div", element("table", [...element("thead", cells(0, "th")), ...element("tbody", rest)]), { class: "scroll" });
}

function alignment(align: AlignType): { [name: string]: string } {
  return align === "right" ? { class: "number" } : {};
}

const inside = (nodes: Nodes[]): Part[] => nodes.flatMap(parts);

function parts(node: Nodes): Part[] {
  switch (node.type) {
    case "text": return [node.value];
    case "html": return [node.value];
    case "inlineCode": return element("code", [node.value]);
    case "code": return element("pre", element("code", [node.value]));
    case "break": return element("br", []);
    case "thematicBreak": return element("hr", []);
    case "heading": return element("h4", inside(node.children));
    case "list": return element(node.ordered ? "ol" : "ul", inside(node.children),
      node.ordered && typeof node.start === "number" && node.start !== 1 ? { start: String(node.start) } : {});
    case "link": return safe(node.url) ? element("a", inside(node.children), { href: node.url, rel: "noreferrer" }) : inside(node.children);
    case "image": return [node.alt ?? ""];
    case "table": return table(node);
    default: {
      const children = "children" in node ? inside(node.children as Nodes[]) : [];
      return node.type in kTags ? element(kTags[node.type], children) : children;
    }
  }
}

export function markdown(text: string): Part[] {
  return parts(fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] }));
}

/** A list item of one paragraph needs no paragraph. */
function tight(part: Part): Part[] {
  if (typeof part === "string" || part.tag !== "li" || part.parts.length !== 1) return [part];
  const [only] = part.parts;
  return [typeof only !== "string" && only.tag === "p" ? { ...part, parts: only.parts } : part];
}

export function elements(all: Part[]): Node[] {
  return all.flatMap(tight).map((part) => {
    if (typeof part === "string") return document.createTextNode(part);
    const made = document.createElement(part.tag);
    for (const [name, value] of Object.entries(part.attributes)) made.setAttribute(name, value);
    made.append(...elements(part.parts));
    return made;
  });
}
