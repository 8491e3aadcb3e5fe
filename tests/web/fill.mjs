// Sets data into the built page as raddle does, for trying the page alone.   node fill.mjs DATA.json PAGE.html > OUT.html
import { readFileSync } from "node:fs";

const [data, page] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
process.stdout.write(page.replace("/*RADDLE_DATA*/", () => data.replace(/</g, "\\u003c")));
