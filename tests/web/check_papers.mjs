// Opens the index of papers in Chromium and checks it: no error, no network, a row and a link for each paper whose page
// stands beside it.    node check_papers.mjs INDEX.html [FOLDER FOR PICTURES]
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { begin, tooWide, wrongWords } from "./checks.mjs";
import { withPage } from "./chromium.mjs";

const { file, url, check, save, finish } = begin("check_papers.mjs INDEX.html [FOLDER]");

await withPage(async (page) => {
  for (const [name, width, dark] of [["light", 1366, false], ["dark", 1366, true], ["narrow", 390, false]]) {
    await page.window(width, 900, dark);
    await page.open(url);
    save(`papers-${name}.png`, await page.screen());
    check(!await page.evaluate(`(${tooWide})()`), `${name}: the page is wider than the window`);
    const bad = await page.evaluate(`(${wrongWords})()`);
    check(bad === null, `${name}: the page shows "${bad}"`);
  }
  const papers = await page.evaluate("JSON.parse(document.getElementById('raddle-data').textContent).papers.length");
  const links = await page.evaluate("[...document.querySelectorAll('table.papers tbody tr a')].map((a) => a.getAttribute('href'))");
  check(links.length === papers, `${links.length} links for ${papers} papers`);
  for (const link of links) check(existsSync(resolve(dirname(file), link)), `${link} is not there`);
  const counts = await page.evaluate("[...document.querySelectorAll('table.papers tbody tr .status .counts')].map((c) => c.textContent)");
  for (const [i, link] of links.entries()) {
    await page.open(new URL(link, url).href);
    const own = await page.evaluate("document.querySelector('#summary .status .counts')?.textContent ?? ''");
    check(own === counts[i], `the index says "${counts[i]}" of ${link}, the page "${own}"`);
  }
  await page.open(url);
  check(await page.evaluate("window.hacked === undefined"), "text of the documents was run as script");
  for (const complaint of new Set(page.complaints)) check(false, complaint);
  console.log(`${papers} papers`);
});

finish();
