// Tables that sort when a heading is clicked.
import { h } from "./dom";
import { kNone } from "./format";

export interface Column<Row> {
  title: string;
  explain?: string;
  /** What is sorted by. Numbers stand to the right. */
  value: (row: Row) => number | string | null;
  /** Stands to the right; when absent, as the values are. */
  numeric?: boolean;
  /** "words" holds sentences, "aside" is left out where there is little room. */
  className?: "words" | "aside";
  /** What is shown; the value itself when absent. */
  show?: (row: Row) => string | Node;
}

export interface TableSettings<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  /** Rows shown before "show all". */
  limit?: number;
  /** True where a new group begins, in the original order only. */
  startsGroup?: (row: Row) => boolean;
  className?: string;
}

type Order = { column: number; sign: 1 | -1 } | null;

function compare(a: number | string | null, b: number | string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

function sorted<Row>(settings: TableSettings<Row>, order: Order): Row[] {
  if (order === null) return settings.rows;
  const value = settings.columns[order.column].value;
  return [...settings.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    return (x === null || y === null ? 1 : order.sign) * compare(x, y);
  });
}

function cell<Row>(column: Column<Row>, row: Row, className: string): HTMLElement {
  const value = column.value(row);
  const shown = value === null ? kNone : column.show ? column.show(row) : String(value);
  return h("td", { class: className }, shown);
}

/** Without the columns that have nothing to say in any row. */
function filled<Row>(settings: TableSettings<Row>): TableSettings<Row> {
  return { ...settings, columns: settings.columns.filter((c) => settings.rows.some((row) => c.value(row) !== null)) };
}

/** First click sorts numbers downward and text upward, the second turns it round, the third goes back. */
function nextOrder(order: Order, column: number, numeric: boolean): Order {
  const first = numeric ? -1 : 1;
  if (order?.column !== column) return { column, sign: first };
  return order.sign === first ? { column, sign: -first as 1 | -1 } : null;
}

export function table<Row>(wanted: TableSettings<Row>): HTMLElement {
  const settings = filled(wanted);
  let order: Order = null;
  let all = settings.limit === undefined || settings.rows.length <= settings.limit;
  const body = h("tbody");
  const more = h("button", { type: "button", class: "more" }, `Show all ${settings.rows.length} rows`);
  const isNumber = (i: number) => settings.columns[i].numeric ?? settings.rows.some((row) => typeof settings.columns[i].value(row) === "number");
  const classes = settings.columns.map((column, i) => `${isNumber(i) ? "number" : "text"}${column.className ? ` ${column.className}` : ""}`);
  const heads = settings.columns.map((column, i) => h("th", { scope: "col", class: classes[i] },
    h("button", { type: "button", class: "sort", title: column.explain ?? "", onclick: () => {
      order = nextOrder(order, i, isNumber(i));
      fill();
    } }, column.title)));
  const fill = () => {
    heads.forEach((head, i) => {
      if (order?.column === i) head.setAttribute("aria-sort", order.sign > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    const rows = sorted(settings, order);
    body.replaceChildren(...(all ? rows : rows.slice(0, settings.limit)).map((row) => h("tr",
      { class: order === null && settings.startsGroup?.(row) ? "starts-group" : "" },
      settings.columns.map((column, i) => cell(column, row, classes[i])))));
    more.hidden = all;
  };
  more.addEventListener("click", () => {
    all = true;
    fill();
  });
  fill();
  return h("div", { class: "scroll" },
    h("table", { class: settings.className ?? "" }, h("caption", { class: "unseen" }, settings.caption),
      h("thead", {}, h("tr", {}, heads)), body), more);
}
