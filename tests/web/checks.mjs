// What the checks of all pages share.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** From the command line: the page to check, and a folder for pictures if one was named. finish() ends with 1 after faults. */
export function begin(usage) {
  const [file, folder] = process.argv.slice(2);
  const leave = (why) => {
    console.error(why);
    process.exit(2);
  };
  if (file === undefined) leave(`usage: ${usage}`);
  if (!existsSync(file)) leave(`${file}: no such file`);
  if (folder !== undefined) mkdirSync(folder, { recursive: true });
  const faults = [];
  return {
    file,
    url: pathToFileURL(resolve(file)).href,
    check: (holds, what) => { if (!holds) faults.push(what); },
    save: (name, bytes) => { if (folder !== undefined) writeFileSync(resolve(folder, name), bytes); },
    finish() {
      for (const fault of faults) console.error(`${file}: ${fault}`);
      process.exit(faults.length > 0 ? 1 : 0);
    },
  };
}

// The following run in the page.

/** How many charts there are, and in how many of them something is drawn. */
export function drawnCharts() {
  const charts = [...document.querySelectorAll(".chart")];
  const drawn = charts.filter((host) => {
    const svg = host.querySelector("svg");
    if (svg) return svg.querySelectorAll("path, rect, text").length > 3;
    const canvas = host.querySelector("canvas");
    return canvas !== null && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte !== 0);
  });
  return { all: charts.length, drawn: drawn.length };
}

export function tooWide() {
  return document.documentElement.scrollWidth > innerWidth;
}

/** A word that only a fault of the page writes, or null. */
export function wrongWords() {
  return /\b(NaN|undefined|Infinity|\[object)/.exec(document.getElementById("page").innerText)?.[0] ?? null;
}
