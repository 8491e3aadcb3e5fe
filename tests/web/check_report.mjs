// Opens a report in Chromium and checks it: no error, no network, every chart and row there, controls work,
// it prints. Writes pictures to FOLDER.    node check_report.mjs REPORT.html [FOLDER]
import { begin, drawnCharts, tooWide, wrongWords } from "./checks.mjs";
import { withPage } from "./chromium.mjs";
import { unexplained } from "./sentences.mjs";

const { url, check, save, finish } = begin("check_report.mjs REPORT.html [FOLDER]");

/** Runs in the page: what its data says should be there, and what is. */
function survey() {
  const data = JSON.parse(document.getElementById("raddle-data").textContent);
  const timed = data.runs.filter((run) => run.result.timed && run.result.totals.cycles > 0);
  const key = (run) => JSON.stringify([run.result.workload.name, run.result.workload.parameters, run.result.config?.run?.seed]);
  const first = data.runs.filter((run) => key(run) === key(data.runs[0]));
  const corun = (run) => (run.result.tenants ?? []).length > 0;
  // Co-runs go on to a horizon: none is faster, and their launches are not told.
  const several = new Set(timed.filter((run) => !corun(run)).map((run) => run.label)).size > 1;
  const energy = timed.some((run) => Object.keys(run.result.energy_pj ?? {}).length > 0);
  const flits = (run) => Object.values(run.result.details?.noc ?? {}).flatMap(Object.values).reduce((sum, kind) => sum + (kind.flit_hops ?? 0), 0);
  // Slowdowns, use over time, and the way over combinations of two tenants' blocks.
  const sharingCharts = (runs) => {
    const run = runs.find((r) => (r.result.tenants ?? []).length > 0);
    if (run === undefined) return 0;
    const scheme = run.result.policies?.scheme;
    const phases = Object.keys(scheme?.statistics?.phases ?? {}).length;
    return Number(run.result.tenants.some((tenant) => (tenant.slowdown ?? null) !== null)) + Number(Boolean(run.tenant_use)) +
      Number(run.result.tenants.length === 2 && phases > 0 && scheme?.parameters?.units > 0);
  };
  // Shares of peaks and the roofline.
  const measured = (run) => run.result.timed && run.result.totals.cycles > 0 && Boolean(run.result.peaks);
  const charts = (id) => document.querySelectorAll(`#${id} .chart`).length;
  return {
    runs: data.runs.length,
    rows: document.querySelectorAll("table.summary tbody tr").length,
    badges: document.querySelectorAll("table.summary .badge").length,
    charts: {
      summary: charts("summary"), stalls: charts("stalls") > 0, memory: charts("memory"), energy: charts("energy") > 0, traffic: charts("traffic") > 0,
      served: charts("served") > 0, detail: charts("detail"),
    },
    sourceLines: [...document.querySelectorAll("#detail caption")].some((caption) => caption.textContent.startsWith("Source lines")),
    profiled: first.some((run) => run.result.analysis?.source?.looks > 0),
    expected: {
      summary: Number(several) + Number((data.over_seeds ?? []).some((of) => of.policies !== of.over)), stalls: timed.length > 0, memory: timed.length > 0 && data.runs.length > 1 ? 4 : 0, energy,
      traffic: timed.some((run) => flits(run) > 0), served: timed.some((run) => ["l1", "remote_l1", "l2", "memory"].some((level) => run.result.details?.[`served_${level}`] > 0)),
      detail: Number(first.some((run) => run.samples.start.length > 0)) + Number(first.some((run) => run.blocks.start.length > 0)) +
        Number(first.some((run) => run.samples.sms?.start.length > 0)) + 2 * Number(first.some((run) => run.placement.length > 0 && !corun(run))) +
        3 * Number(first.some((run) => run.launch_tree)) + sharingCharts(first) + 2 * Number(first.some(measured)),
    },
    leaves: document.querySelectorAll(".tree .leaf").length,
  };
}

/** Runs in the page: uses the map of the mesh; null without one, else what is wrong with it. */
function useMesh() {
  const data = JSON.parse(document.getElementById("raddle-data").textContent);
  const key = (run) => JSON.stringify([run.result.workload.name, run.result.workload.parameters, run.result.config?.run?.seed]);
  const runs = data.runs.filter((run) => key(run) === key(data.runs[0]) && run.mesh?.start.length > 0);
  const section = document.querySelector(".mesh");
  if (runs.length === 0) return section === null ? null : ["there is a map of no mesh"];
  if (section === null) return ["there is no map of the mesh"];
  const wrong = [];
  const expect = (what, found, expected) => found === expected || wrong.push(`${what}: ${found}, expected ${expected}`);
  const mesh = (runs.find((run) => run.mesh.relaxed.length > 0) ?? runs[0]).mesh;
  const count = (kind) => section.querySelectorAll(`.map [data-kind=${kind}]`).length;
  const time = () => section.querySelector(".time").textContent;
  expect("nodes", count("node"), mesh.columns * mesh.rows);
  expect("links", count("link"), mesh.from.length);
  expect("arrows, or none", count("move") > 0, mesh.moved.some((n) => n > 0));
  const all = time();
  const slider = section.querySelector("input[type=range]");
  slider.value = "0";
  slider.dispatchEvent(new Event("input"));
  expect("the first column's time differs from the whole run's", time() !== all, mesh.start.length > 1 || !all.startsWith("cycles"));
  const map = section.querySelector(".map");
  const press = (name) => map.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  for (const name of ["ArrowRight", "ArrowRight", "ArrowDown"]) press(name);
  expect("the keys' node", section.querySelector(".facts-of h4").textContent.includes("(column 1, row 1)"), mesh.columns > 1 && mesh.rows > 1);
  expect("outlines", section.querySelectorAll(".map .outline").length, 1);
  press("Escape");
  expect("outlines after Escape", section.querySelectorAll(".map .outline").length, 0);
  section.querySelector(".map [data-kind=link]").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  expect("a link's numbers", /flits/.test(section.querySelector(".facts-of").textContent), true);
  section.querySelector(".map").dispatchEvent(new PointerEvent("pointerleave"));
  [...section.querySelectorAll("button")].find((button) => button.textContent === "Whole run").click();
  expect("time", time(), all);
  return wrong;
}

/** Runs in the page: presses every button and picks every option once. */
function exercise() {
  for (const list of document.querySelectorAll("select"))
    for (const option of [...list.options].reverse()) {
      if (!list.isConnected) break;  // another workload was picked, with lists of its own
      list.value = option.value;
      list.dispatchEvent(new Event("change", { bubbles: true }));
    }
  for (const button of document.querySelectorAll("button:not(.save)")) button.click();
  const search = document.querySelector("input[type=search]");
  if (search === null) return null;
  const type = (text) => { search.value = text; search.dispatchEvent(new Event("input", { bubbles: true })); };
  const visible = () => document.querySelectorAll(".tree .leaf:not([hidden])").length;
  const all = visible();
  type("name");
  const some = visible();
  type("no such key anywhere");
  const none = visible();
  type("");
  return { all, some, none, again: visible() };
}

/** Runs in the page: what the buttons of all charts save, at each width. */
async function saved() {
  const blobs = [];
  const [make, click, print] = [URL.createObjectURL, HTMLAnchorElement.prototype.click, window.print];
  let name = "";
  URL.createObjectURL = (blob) => {
    blobs.push(blob);
    return make.call(URL, blob);
  };
  HTMLAnchorElement.prototype.click = function () { name = this.download; };
  window.print = () => undefined;
  const out = [];
  const places = [...document.querySelectorAll(".saves")];
  const charts = document.querySelectorAll(".chart, div.mesh, .memory-path").length;
  const widths = document.querySelector("select.save-width");
  for (const width of widths === null ? [] : [...widths.options].map((option) => option.value)) {
    widths.value = width;
    widths.dispatchEvent(new Event("change", { bubbles: true }));
    for (const place of places) {
      for (const button of place.querySelectorAll("button")) {
        button.click();
        if (button.textContent !== "PDF") continue;
        const shown = document.querySelector(".only-figure svg");
        if (shown === null || !/@page \{ size: [\d.]+mm [\d.]+mm/.test(document.head.lastChild.textContent)) out.push({ name: "no drawing to print", width, text: "" });
        dispatchEvent(new Event("afterprint"));
        if (document.querySelector(".only-figure") !== null) out.push({ name: "the drawing to print stays", width, text: "" });
      }
      for (const blob of blobs.splice(0)) out.push({ name: name.replace(/\.\w+$/, blob.type.includes("svg") ? ".svg" : ".csv"), width, text: await blob.text() });
    }
  }
  [URL.createObjectURL, HTMLAnchorElement.prototype.click, window.print] = [make, click, print];
  return { charts, places: places.length, files: out };
}

/** Runs in the page: what is wrong with files that saved() gave. */
function faultsOf(files) {
  const page = JSON.parse(document.getElementById("raddle-data").textContent);
  const made = [page.command, `Raddle ${page.raddle_version}`, page.commit ?? "", page.date].filter((text) => text !== "");
  const wanted = { one: 84, two: 174 };
  return files.flatMap(({ name, width, text }) => {
    const wrong = [];
    if (/NaN|undefined|Infinity|\[object/.test(text.replace(/<metadata>.*<\/metadata>/s, "").replace(/^#.*$/gm, ""))) wrong.push("a word that only a fault writes");
    if (name.endsWith(".svg")) {
      const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
      if (picture.localName !== "svg") return [`${name}: no drawing`];
      const metadata = picture.querySelector("metadata").textContent;
      for (const word of made) if (!metadata.includes(word)) wrong.push(`does not say "${word}"`);
      const wide = picture.getAttribute("width");
      if (width in wanted && Math.abs(parseFloat(wide) - wanted[width]) > 0.2) wrong.push(`is ${wide} wide, not ${wanted[width]} mm`);
      if (picture.querySelectorAll("path, rect, polygon").length < 4) wrong.push("draws nothing");
      if (picture.querySelector("image") !== null) wrong.push("has a picture of pixels");
    } else if (name.endsWith(".csv")) {
      const lines = text.split("\n").filter((line) => line !== "");
      const head = lines.filter((line) => line.startsWith("# "));
      for (const word of made) if (!head.some((line) => line.includes(word.replace(/\s+/g, " ")))) wrong.push(`does not say "${word}"`);
      const cells = lines.slice(head.length).map((line) => line.replace(/"(?:[^"]|"")*"/g, "").split(",").length);
      if (cells.length < 2) wrong.push("has no row");
      if (new Set(cells).size > 1) wrong.push(`rows have ${[...new Set(cells)].join(" or ")} cells`);
    } else wrong.push("is no file");
    return wrong.map((what) => `${name} (${width}): ${what}`);
  });
}

/** Runs in the page: texts of charts so near the lower edge that a larger font's would be cut. */
function cutTexts() {
  return [...document.querySelectorAll(".chart svg")].flatMap((svg) => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().bottom > frame.bottom - 2).map((text) => text.textContent);
  });
}

/** Runs in the page: captions of tables that paper would cut; one of them is made for that. */
function wideOnPaper() {
  const made = document.createElement("div");
  made.className = "scroll";
  made.innerHTML = `<table><caption>made for the check</caption><tr>${"<td>1,234,567</td>".repeat(60)}</tr></table>`;
  document.querySelector("section").append(made);
  dispatchEvent(new Event("beforeprint"));
  const wide = [...document.querySelectorAll(".scroll > table")].filter((table) => table.getBoundingClientRect().width > table.parentElement.clientWidth + 2)
    .map((table) => table.caption?.textContent ?? "?");
  dispatchEvent(new Event("afterprint"));
  made.remove();
  return wide;
}

await withPage(async (page) => {
  for (const dark of [false, true]) {
    const scheme = dark ? "dark" : "light";
    await page.window(1366, 768, dark);
    await page.open(url);
    save(`${scheme}-laptop.png`, await page.screen());
    save(`${scheme}-whole.png`, await page.whole());
  }
  await page.window(390, 844, false);
  await page.open(url);
  save("phone.png", await page.whole());
  check(!await page.evaluate(`(${tooWide})()`), "the page is wider than a phone's window");
  await page.window(1366, 768, false);
  await page.open(url);
  const found = await page.evaluate(`(${survey})()`);
  const { sentences, data } = await page.evaluate(`({ sentences: [...document.querySelectorAll(".findings li, .says li")].map((li) => li.textContent),
    data: JSON.parse(document.getElementById("raddle-data").textContent) })`);
  check(sentences.length > 0, "nothing is said of the numbers");
  for (const text of unexplained(sentences, data)) check(false, text);
  const rows = Math.min(found.runs, 40);  // the others at a press of a button
  check(found.rows === rows, `${found.rows} rows in the summary for ${found.runs} runs`);
  check(found.badges === rows, `${found.badges} verdicts for ${found.runs} runs`);
  const [charts, expected] = [found.charts, found.expected].map((counts) => JSON.stringify(counts));
  check(found.sourceLines === found.profiled, `source lines: ${found.sourceLines}, expected ${found.profiled}`);
  check(charts === expected, `charts by section: ${charts}, expected ${expected}`);
  const charted = await page.evaluate(`(${drawnCharts})()`);
  check(charted.drawn === charted.all, `only ${charted.drawn} of ${charted.all} charts are drawn`);
  check(found.runs === 0 || found.leaves > 0, "the configuration is empty");
  check(!await page.evaluate(`(${tooWide})()`), "the page is wider than a laptop's window");
  const bad = await page.evaluate(`(${wrongWords})()`);
  check(bad === null, `the page shows "${bad}"`);
  const cut = await page.evaluate(`(${cutTexts})()`);
  check(cut.length === 0, `charts cut off: ${cut.slice(0, 5).join(", ")}`);
  const wide = await page.evaluate(`(${wideOnPaper})()`);
  check(wide.length === 0, `paper cuts off: ${wide.slice(0, 5).join(", ")}`);

  for (const fault of await page.evaluate(`(${useMesh})()`) ?? []) check(false, `mesh: ${fault}`);

  const pdf = await page.pdf();
  save("print.pdf", pdf);
  check(pdf.subarray(0, 5).toString() === "%PDF-" && pdf.length > (found.runs > 0 ? 20_000 : 2_000), "printing gives no PDF");
  const after = await page.evaluate("document.documentElement.classList.contains('printing')");
  check(!after, "the page stays in its print layout");

  const { charts: savable, places, files } = await page.evaluate(`(${saved})()`);
  check(places === savable, `${places} places to save ${savable} charts`);
  check(files.length === 3 * 2 * places, `${places} charts gave ${files.length} files of 3 widths`);
  for (const fault of await page.evaluate(`(${faultsOf})(${JSON.stringify(files)})`)) check(false, `saved: ${fault}`);
  for (const { name, width, text } of files) save(`saved-${width}-${name}`, text);

  if (places > 0) {  // the first chart alone, on paper of its size
    await page.evaluate(`(() => { window.print = () => undefined; document.querySelector(".saves button:last-child").click(); })()`);
    const figure = await page.pdf();
    save("figure.pdf", figure);
    const [, , wide] = /\/MediaBox \[([\d.]+) ([\d.]+) ([\d.]+)/.exec(figure.toString("latin1")).slice(1);
    const sheets = figure.toString("latin1").match(/\/Type \/Page\b/g).length;
    check(sheets === 1, `a figure is printed on ${sheets} sheets`);
    check(Math.abs(wide - await page.evaluate("document.querySelector('.saves').previousElementSibling.clientWidth") * 0.75) < 2, `a figure is printed ${wide} points wide`);
    check(!await page.evaluate("document.documentElement.classList.contains('figure')"), "the page stays away after a figure is printed");
  }

  const searched = await page.evaluate(`(${exercise})()`);
  if (searched !== null) {
    check(searched.some > 0 && searched.some < searched.all, "searching the configuration narrows nothing");
    check(searched.none === 0, "searching for nonsense finds something");
    check(searched.again === searched.all, "clearing the search does not bring everything back");
  }
  const later = await page.evaluate(`(${drawnCharts})()`);
  check(later.drawn === later.all, "charts are missing after using the controls");
  const badLater = await page.evaluate(`(${wrongWords})()`);
  check(badLater === null, `after using the controls the page shows "${badLater}"`);
  for (const complaint of page.complaints) check(false, complaint);
  console.log(`${found.runs} runs, ${charted.all} charts, ${found.leaves} settings, ${pdf.length} bytes of PDF`);
});

finish();
