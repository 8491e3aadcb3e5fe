// Builds every page, one after the other, into dist/.
import { rmSync } from "node:fs";
import { build } from "vite";
import { configOf } from "./vite.config.mjs";

rmSync("dist", { recursive: true, force: true });
for (const page of ["index", "reproduction", "papers"]) await build({ ...configOf(page), configFile: false });
