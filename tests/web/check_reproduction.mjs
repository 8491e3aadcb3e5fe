// Opens the page of a paper in Chromium and checks it: no error, no network, nothing of the data run as script, every
// experiment, figure and verdict there, texts of charts apart, figures saved as files, filters, printing, names for
// those who do not see.    node check_reproduction.mjs PAPER.html [FOLDER FOR PICTURES]
// If figures/ stands beside the page, the CSV and SVG files that the page saves must equal those in it. Of each drawing
// the numbers under the pointer are shown in its middle.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { begin, drawnCharts, tooWide, wrongWords } from "./checks.mjs";
import { withPage } from "./chromium.mjs";

const { file, url, check, save, finish } = begin("check_reproduction.mjs PAPER.html [FOLDER]");

/** Runs in the page: what its data says should be there, and what is. */
function survey() {
  const data = JSON.parse(document.getElementById("raddle-data").textContent);
  const experiments = data.experiments;
  const figures = experiments.flatMap((e) => e.figures ?? []);
  const count = (selector) => document.querySelectorAll(selector).length;
  const total = (of) => experiments.reduce((sum, e) => sum + (of(e)?.length ?? 0), 0);
  return {
    found: { experiments: count(".experiment"), links: count("nav li[data-shown]"), figures: count("figure"), charts: count(".chart"),
      shapes: count(".shapes > li"), rows: count(".experiment table.stated tbody tr"), overview: count("table.overview tbody tr") },
    expected: { experiments: experiments.length, links: experiments.length, figures: figures.length, charts: figures.filter((f) => f.type !== "table" && f.series.some((s) => [...s.values, ...(s.stated ?? [])].some((v) => typeof v === "number"))).length,
      shapes: total((e) => e.shapes), rows: total((e) => e.stated), overview: experiments.length },
    statuses: [...new Set(experiments.map((e) => (e.kind === "study" ? "ours" : e.status)))],
    csv: experiments.flatMap((e) => (e.figures ?? []).map((_f, i) => `${e.id}${e.figures.length === 1 ? "" : `.${i + 1}`}.csv`)),
  };
}

/** Runs in the page: texts of one chart that lie on each other. Turned texts are left out: their boxes say little. */
function collisions() {
  const out = [];
  for (const chart of document.querySelectorAll(".chart svg")) {
    const texts = [...chart.querySelectorAll("text")].filter((t) => t.textContent.trim() !== "" && !t.hasAttribute("transform"))
      .map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
    const edge = chart.getBoundingClientRect();
    for (const [i, a] of texts.entries()) {
      if (a.box.left < edge.left - 2 || a.box.right > edge.right + 2) out.push(`"${a.text}" leaves its chart`);
      for (const b of texts.slice(i + 1)) {
        const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (wide > 1 && high > 3) out.push(`"${a.text}" and "${b.text}" lie on each other`);
      }
    }
  }
  return [...new Set(out)].slice(0, 5);
}

/** Runs in the page: what somebody who uses a keyboard or a screen reader would miss. */
function unnamed() {
  const out = [];
  const visible = (e) => e.closest("[hidden], .unseen") === null;
  for (const e of document.querySelectorAll("button, a[href], summary"))
    if (visible(e) && (e.textContent.trim() || e.getAttribute("aria-label") || "") === "") out.push(`a <${e.localName}> without a name`);
  for (const e of document.querySelectorAll(".chart")) if (e.getAttribute("role") !== "img" || !e.getAttribute("aria-label")) out.push("a chart without a description");
  for (const e of document.querySelectorAll("table")) if (e.caption === null && e.closest(".prose") === null) out.push("a table without a caption");
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map((e) => Number(e.localName[1]));
  if (levels.filter((level) => level === 1).length !== 1) out.push("not one main heading");
  if (levels.some((level, i) => i > 0 && level > levels[i - 1] + 1)) out.push("a heading that skips a level");
  for (const id of document.querySelectorAll("[id]")) if (document.querySelectorAll(`[id="${CSS.escape(id.id)}"]`).length > 1) out.push(`two elements called ${id.id}`);
  for (const a of document.querySelectorAll("a[href^='#']")) if (!document.getElementById(decodeURIComponent(a.getAttribute("href").slice(1)))) out.push(`a link to ${a.getAttribute("href")}, which is not there`);
  for (const a of document.querySelectorAll("a[href]")) if (!/^(#|https?:|[\w.-]+\.html$)/.test(a.getAttribute("href"))) out.push(`a link to ${a.getAttribute("href")}`);
  return [...new Set(out)];
}

/** Runs in the page: what the save buttons give. */
async function saved() {
  const files = [];
  const [make, click] = [URL.createObjectURL, HTMLAnchorElement.prototype.click];
  const blobs = new Map();
  URL.createObjectURL = (blob) => {
    const address = `blob:test/${blobs.size}`;
    blobs.set(address, blob);
    return address;
  };
  HTMLAnchorElement.prototype.click = function () { files.push({ name: this.download, blob: blobs.get(this.href) }); };
  const buttons = [...document.querySelectorAll("button.save")];
  for (const button of buttons) button.click();
  for (let i = 0; i < 200 && files.length < buttons.length; i++) await new Promise((resolve) => setTimeout(resolve, 50));
  URL.createObjectURL = make;
  HTMLAnchorElement.prototype.click = click;
  return { buttons: buttons.length, files: await Promise.all(files.map(async ({ name, blob }) => {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    const svg = name.endsWith(".svg") ? new DOMParser().parseFromString(await blob.text(), "image/svg+xml") : null;
    return { name, size: bytes.length, start: [...bytes.slice(0, 4)], text: await blob.text(), base64: btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), "")),
      shapes: svg === null ? 0 : svg.querySelector("parsererror") ? -1 : svg.querySelectorAll("path, rect, text").length };
  })) };
}

/** Runs in the page: the point over the first column or row of each drawing, and what is written there once the pointer is over it. */
function spots() {
  return [...document.querySelectorAll(".chart svg[data-plot]")].map((picture) => {
    const [left, top, width, height] = picture.dataset.plot.split(" ").map(Number);
    const rows = picture.dataset.rows !== undefined;
    const first = Number((rows ? picture.dataset.rows : picture.dataset.columns).split(" ")[0]);
    const at = new DOMPoint(rows ? left + width / 2 : first, rows ? first : top + height / 2).matrixTransform(picture.getScreenCTM());
    picture.dispatchEvent(new PointerEvent("pointermove", { clientX: at.x, clientY: at.y }));
    const tip = picture.parentElement.querySelector(".tip");
    const shown = tip.hidden ? "" : tip.textContent;
    picture.dispatchEvent(new PointerEvent("pointerleave"));
    return { shown, gone: tip.hidden, label: picture.parentElement.getAttribute("aria-label") };
  });
}

/** Runs in the page: presses a filter, tells which statuses are shown. */
function filtered(label) {
  const button = [...document.querySelectorAll(".choices .buttons button")].find((b) => b.dataset.value === label);
  if (!button) return null;
  button.click();
  return [...new Set([...document.querySelectorAll(".experiment")].filter((e) => e.offsetHeight > 0).map((e) => e.dataset.shown))];
}

async function checkContent(page, where) {
  const charts = await page.evaluate(`(${drawnCharts})()`);
  check(charts.drawn === charts.all, `${where}: only ${charts.drawn} of ${charts.all} charts are drawn`);
  check(!await page.evaluate(`(${tooWide})()`), `${where}: the page is wider than the window`);
  const bad = await page.evaluate(`(${wrongWords})()`);
  check(bad === null, `${where}: the page shows "${bad}"`);
  for (const text of await page.evaluate(`(${collisions})()`)) check(false, `${where}: ${text}`);
  check(await page.evaluate("window.hacked === undefined"), `${where}: text of the document was run as script`);
}

async function checkSaved(page) {
  const { buttons, files } = await page.evaluate(`(${saved})()`);
  check(files.length === buttons, `${buttons} save buttons gave ${files.length} files`);
  for (const f of files) {
    if (f.name.endsWith(".png")) check(f.start.join() === "137,80,78,71" && f.size > 2000, `${f.name} is no picture`);
    if (f.name.endsWith(".svg")) check(f.shapes > 3, `${f.name} is no drawing`);
    save(f.name, Buffer.from(f.base64, "base64"));
    const beside = resolve(dirname(file), "figures", f.name);
    if (!f.name.endsWith(".png") && existsSync(beside)) check(f.text === readFileSync(beside, "utf8"), `${f.name} of the page differs from ${beside}`);
  }
}

await withPage(async (page) => {
  for (const [name, width, dark] of [["light", 1366, false], ["dark", 1366, true], ["narrow", 390, false]]) {
    await page.window(width, 900, dark);
    await page.open(url);
    await checkContent(page, name);
    save(`${name}-screen.png`, await page.screen());
    save(`${name}-whole.png`, await page.whole());
  }
  await page.window(1366, 900, false);
  await page.open(url);
  const { found, expected, statuses } = await page.evaluate(`(${survey})()`);
  for (const what of Object.keys(expected)) check(found[what] === expected[what], `${what}: ${found[what]}, expected ${expected[what]}`);
  for (const text of await page.evaluate(`(${unnamed})()`)) check(false, text);
  for (const { shown, gone, label } of await page.evaluate(`(${spots})()`)) check(shown !== "" && gone, `${label}: nothing is shown under the pointer, or for ever`);
  await checkSaved(page);
  if (statuses.length > 1)
    for (const status of [...statuses, "all"]) {
      const shown = await page.evaluate(`(${filtered})(${JSON.stringify(status)})`);
      check(shown !== null && shown.join() === (status === "all" ? statuses : [status]).join(), `the filter "${status}" shows ${shown}`);
    }
  await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true; for (const b of document.querySelectorAll('button.sort, button.more')) b.click();");
  await checkContent(page, "everything open");
  const pdf = await page.pdf();
  save("print.pdf", pdf);
  check(pdf.subarray(0, 5).toString() === "%PDF-" && pdf.length > (found.experiments > 0 ? 20_000 : 2_000), "printing gives no PDF");
  await checkContent(page, "after printing");
  for (const complaint of new Set(page.complaints)) check(false, complaint);
  console.log(`${found.experiments} experiments, ${found.charts} charts, ${found.shapes} verdicts, ${pdf.length} bytes of PDF`);
});

finish();
