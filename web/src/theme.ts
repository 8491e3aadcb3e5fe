// Colours, in a light and a dark set. Series colours are told apart with the common kinds of colour
// blindness (after Okabe and Ito, 2008); brightness differs too, so that grey prints stay readable.

export interface Theme {
  ink: string;
  muted: string;
  line: string;
  paper: string;
  series: string[];
  /** Saturation and lightness of colours beyond the lists. */
  hue: string;
  stalls: { [reason: string]: string };
  other: string[];
  /** Of an SM, as in figure 1 of the paper of LATOA. */
  states: { relaxed: string; neutral: string; critical: string };
  /** From an idle link to a busy one. */
  load: string[];
  moves: string;
}

const kLight: Theme = {
  ink: "#1d2733",
  muted: "#5b6776",
  line: "#dde2e8",
  paper: "#ffffff",
  series: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a5195", "#7f7f7f"],
  hue: "45%, 45%",
  stalls: {
    issued: "#0b6e69", memory: "#e07a3f", lsu: "#b5446e", dependence: "#f2c14e", unit: "#8f6bb3",
    throttled: "#5d6b3a", fetch: "#a3b86c", barrier: "#3f7fc4", fence: "#8cc8dd", sleep: "#b9b39b", idle: "#d5dae1", launch: "#7f8ea3",
  },
  other: ["#9c755f", "#bab0ac", "#76b7b2", "#ff9da7"],
  states: { relaxed: "#7fb0e0", neutral: "#ffffff", critical: "#d6402f" },
  load: ["#dde2e8", "#b9a3cf", "#7a4fa3", "#3c1361"],
  moves: "#00795a",
};

const kDark: Theme = {
  ink: "#e4e9ef",
  muted: "#9aa7b6",
  line: "#333d49",
  paper: "#1a2028",
  series: ["#4aa3df", "#f2b134", "#2fc397", "#e09bc3", "#9bd4f5", "#f07f3c", "#b49ad1", "#a8a8a8"],
  hue: "45%, 65%",
  stalls: {
    issued: "#27a69d", memory: "#e88950", lsu: "#cf5f88", dependence: "#f2c85f", unit: "#a687c9",
    throttled: "#7f9150", fetch: "#b3c77c", barrier: "#5c9ae0", fence: "#9ad3e6", sleep: "#8c876f", idle: "#465160", launch: "#71829a",
  },
  other: ["#b98d75", "#cac1bd", "#86c7c2", "#ffb3bb"],
  states: { relaxed: "#3f77b5", neutral: "#cfd6de", critical: "#e4543f" },
  load: ["#333d49", "#6b5590", "#a986d6", "#efe3ff"],
  moves: "#35d6a4",
};

export function theme(dark: boolean): Theme {
  return dark ? kDark : kLight;
}

/** From dark blue over green to yellow, readable for all and monotonic in brightness (after viridis). */
export const kRamp = ["#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"];

/** The colour at `share` of a ramp, 0 to 1. */
export function rampColour(share: number, ramp = kRamp): string {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const i = Math.min(Math.floor(at), ramp.length - 2);
  const channel = (hex: string, k: number) => parseInt(hex.slice(1 + 2 * k, 3 + 2 * k), 16);
  const parts = [0, 1, 2].map((k) => Math.round(channel(ramp[i], k) * (1 - at + i) + channel(ramp[i + 1], k) * (at - i)));
  return `rgb(${parts.join(",")})`;
}

export function seriesColour(t: Theme, index: number): string {
  return t.series[index % t.series.length];
}

const kHatches = [{ rotation: -Math.PI / 4 }, { rotation: Math.PI / 4 }, { rotation: 0 }];

/** What tells series of one colour apart: hatching, none of the first eight. */
export function decal(t: Theme, index: number): object | undefined {
  const round = Math.floor(index / t.series.length);
  return round === 0 ? undefined : { color: t.paper, dashArrayX: [1, 0], dashArrayY: [3, 3], ...kHatches[(round - 1) % kHatches.length] };
}

/** Of a bar. */
export function seriesFill(t: Theme, index: number): { color: string; decal: object | undefined } {
  return { color: seriesColour(t, index), decal: decal(t, index) };
}

const kDashes = ["solid", [6, 4], [2, 3], [8, 3, 2, 3]];

/** Of a line. */
export function seriesDash(t: Theme, index: number): string | number[] {
  return kDashes[Math.floor(index / t.series.length) % kDashes.length] as string | number[];
}

/** Of things of which there may be more than series: no two are alike. */
export function partColour(t: Theme, index: number): string {
  const all = [...t.series, ...t.other];
  return all[index] ?? `hsl(${Math.round(index * 137.508) % 360}, ${t.hue})`;
}

export function stallColour(t: Theme, reason: string, index: number): string {
  return t.stalls[reason] ?? t.other[index % t.other.length];
}
