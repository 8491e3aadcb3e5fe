// Opens pages of the site that ./x docs makes in Chromium: no error, no network, nothing wider than the window, all
// pictures there, and a search that finds.    node check_site.mjs INDEX.html [FOLDER FOR PICTURES]
import { readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { begin, tooWide } from "./checks.mjs";
import { withPage } from "./chromium.mjs";

const { file, url, check, save, finish } = begin("check_site.mjs INDEX.html [FOLDER]");
const root = dirname(resolve(file));
const all = readdirSync(root, { recursive: true }).filter((name) => name.endsWith(".html")).sort();
const pictured = ["index.html", "docs/first-study.html", "docs/reproductions/ccws.html", "reference/options.html",
  "reference/machine-h200.html", "reference/gallery.html", "api/index.html", "api/raddle-policy-warp-policy.html"];

const missing = () => [...document.images].filter((i) => i.complete && i.naturalWidth === 0).map((i) => i.src);

await withPage(async (page) => {
  for (const [name, width, dark] of [["wide", 1400, false], ["narrow", 390, true]]) {
    await page.window(width, 900, dark);
    for (const one of name === "wide" ? pictured : all) {
      await page.open(pathToFileURL(resolve(root, one)).href);
      check(!await page.evaluate(`(${tooWide})()`), `${one} is wider than ${width} pixels`);
      for (const image of await page.evaluate(`(${missing})()`)) check(false, `${one}: ${image} is not there`);
      if (pictured.includes(one)) save(`${one.replaceAll("/", "-").replace(".html", "")}-${name}.png`, await page.screen());
    }
  }
  await page.window(1400, 900, false);
  await page.open(url);
  const hits = await page.evaluate(`(async () => {
    const field = document.getElementById("search");
    field.value = "victim tag";
    field.dispatchEvent(new Event("focus"));
    field.dispatchEvent(new Event("input"));
    for (let i = 0; i < 100 && document.querySelectorAll("#found a").length === 0; ++i) await new Promise((r) => setTimeout(r, 50));
    return [...document.querySelectorAll("#found a")].map((a) => a.getAttribute("href"));
  })()`);
  check(hits.some((href) => href.includes("mechanisms/ccws")), `a search for "victim tag" finds ${hits.length} places, none in the page of CCWS`);
  save("search.png", await page.screen());
  await page.window(390, 900, false);
  await page.open(url);
  await page.evaluate("document.getElementById('menu').click()");
  check(await page.evaluate("document.getElementById('side').offsetHeight > 300"), "the menu of small screens does not open");
  save("menu.png", await page.screen());
  for (const complaint of new Set(page.complaints)) check(false, complaint);
  console.log(`${all.length} pages`);
});

finish();
