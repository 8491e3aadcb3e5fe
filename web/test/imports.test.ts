/// <reference types="vite/client" />
// No file of web/src includes itself through others: each can be read before those that use it.
import { expect, it } from "vitest";

const sources = import.meta.glob("../src/*.ts", { query: "?raw", import: "default", eager: true }) as { [path: string]: string };

type Imports = { [file: string]: string[] };

/** The first circle that is found, as the files passed on the way round; null when there is none. */
function circle(imports: Imports): string[] | null {
  const done = new Set<string>();
  const visit = (file: string, way: string[]): string[] | null => {
    const begin = way.indexOf(file);
    if (begin >= 0) return [...way.slice(begin), file];
    if (done.has(file)) return null;
    for (const next of imports[file] ?? []) {
      const found = visit(next, [...way, file]);
      if (found !== null) return found;
    }
    done.add(file);
    return null;
  };
  for (const file of Object.keys(imports)) {
    const found = visit(file, []);
    if (found !== null) return found;
  }
  return null;
}

it("finds a circle", () => {
  expect(circle({ a: ["b"], b: ["c", "d"], c: [], d: ["a"] })).toEqual(["a", "b", "d", "a"]);
  expect(circle({ a: ["b", "c"], b: ["c"], c: [] })).toBeNull();
});

it("finds none in web/src", () => {
  const imports: Imports = {};
  for (const [path, text] of Object.entries(sources))
    imports[path.replace("../src/", "").replace(/\.ts$/, "")] = [...text.matchAll(/from "\.\/(\w+)"/g)].map((m) => m[1]);
  expect(Object.keys(imports).length).toBeGreaterThan(30);
  expect(imports.findings).toContain("data");
  expect(circle(imports)).toBeNull();
});
