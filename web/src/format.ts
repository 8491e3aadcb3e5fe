// Numbers as people read them.

export const kNone = "–";

export function whole(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

/** 1234567 -> "1.23 M". */
export function short(n: number): string {
  const size = Math.abs(n);
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const)
    if (size >= unit) return `${digits(n / unit)} ${name}`;
  return digits(n);
}

/** Three significant digits, never in exponent form for ordinary sizes. */
export function digits(n: number): string {
  if (n === 0) return "0";
  const size = Math.abs(n);
  if (size >= 1e6 || size < 1e-4) return n.toExponential(2);
  if (size >= 100) return whole(n);
  return n.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4);
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export function ratio(r: number): string {
  return `${r >= 10 ? r.toFixed(1) : r.toFixed(2)}×`;
}

export function bytes(n: number): string {
  for (const [unit, name] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const)
    if (n >= unit) return `${digits(n / unit)} ${name}`;
  return `${whole(n)} B`;
}

/** From picojoules. */
export function energy(picojoules: number): string {
  for (const [unit, name] of [[1e12, "J"], [1e9, "mJ"], [1e6, "µJ"], [1e3, "nJ"]] as const)
    if (picojoules >= unit) return `${digits(picojoules / unit)} ${name}`;
  return picojoules === 0 ? "0" : `${digits(picojoules)} pJ`;
}

export function seconds(s: number): string {
  if (s === 0) return "0 s";
  return s >= 1 ? `${digits(s)} s` : s >= 1e-3 ? `${digits(s * 1e3)} ms` : `${digits(s * 1e6)} µs`;
}

/** 2024-05-01T12:34:56Z -> 2024-05-01 12:34 UTC; other dates as they are. */
export function when(date: string): string {
  return date.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/, "$1 $2 UTC");
}

/** For text that goes into HTML (chart tooltips). */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** "a", "a and b", "a, b and c". */
export function list(words: string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
