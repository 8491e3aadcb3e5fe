// Charts as files: what is written, by what it was made, and the numbers of a drawing.
import { describe, expect, test } from "vitest";
import { csvFile, fileName, gradientColours, numbersOf, provenance, svgFile } from "../src/save";

const made = { command: "raddle run \"a & b\" <x>", raddle_version: "0.1.0+1f0c", commit: "2fd4af32", date: "2026-11-29" };

describe("a drawing as a file", () => {
  const picture = { content: "<path/>", width: 317, height: 158.5 };
  test("has the width of the column to the hundredth and keeps its shape", () => {
    expect(svgFile(picture, "t", made, 84)).toMatch(/^<svg [^>]*width="84mm" height="42mm" viewBox="0 0 317 158.5"/);
    expect(svgFile({ ...picture, width: 96, height: 48 }, "t", made)).toContain('width="25.4mm" height="12.7mm"');
  });
  test("says command, program, commit and date, as text that ends no element", () => {
    const text = svgFile(picture, "<title>", made);
    expect(text).toContain("command: raddle run &#34;a &#38; b&#34; &#60;x&#62;");
    for (const word of ["program: Raddle 0.1.0+1f0c", "commit: 2fd4af32", "date: 2026-11-29", "<title>&#60;title&#62;</title>"]) expect(text).toContain(word);
  });
  test("does not speak of what is not known", () => {
    expect(provenance({ command: "", raddle_version: "1", date: "" })).toEqual([["program", "Raddle 1"]]);
  });
});

describe("numbers as a file", () => {
  test("stand under lines that say what made them, quoted where they must be", () => {
    const text = csvFile({ columns: ["a", "b, c"], rows: [[1.5, 'say "x"'], [null, "d\ne"]] }, "two\nlines", { ...made, command: "c" });
    expect(text).toBe('# title: two lines\n# command: c\n# program: Raddle 0.1.0+1f0c\n# commit: 2fd4af32\n# date: 2026-11-29\n' +
      'a,"b, c"\n1.5,"say ""x"""\n,"d\ne"\n');
  });
  test("have names of files that any system takes", () => {
    expect(fileName("Speed-up of gto, per workload; the numbers are below")).toBe("speed-up-of-gto-per-workload");
    expect(fileName("L1D hit rate per workload. Share of hits.")).toBe("l1d-hit-rate-per-workload");
    expect(fileName("é")).toBe("chart");
  });
});

describe("the numbers of a chart", () => {
  test("of bars are rows of their categories, as the axis says them", () => {
    const option = { xAxis: { type: "category", data: ["bfs", "mean"] }, yAxis: { type: "value" }, series: [{ name: "gto", data: [0.5, "-"] }, { name: "ccws", data: [{ value: -0.25 }, 0] }] };
    expect(numbersOf(option, (n) => n + 1)).toEqual({ columns: ["name", "gto", "ccws"], rows: [["bfs", 1.5, 0.75], ["mean", null, 1]] });
  });
  test("of bars under headings have the heading in each row", () => {
    const rows = ["{heading|bfs}", "lrr", "gto", "{heading|spmv}", "lrr"];
    const option = { xAxis: {}, yAxis: { type: "category", data: ["0", "1", "2", "3", "4"], axisLabel: { formatter: (i: string) => rows[+i] } },
      series: [{ name: "issued", data: ["-", 1, 2, "-", 3] }] };
    expect(numbersOf(option)).toEqual({ columns: ["workload", "name", "issued"], rows: [["bfs", "lrr", 1], ["bfs", "gto", 2], ["spmv", "lrr", 3]] });
  });
  test("of a bar that is not known is no heading", () => {
    const option = { xAxis: { type: "category", data: ["a", "b", "c"] }, yAxis: {}, series: [{ name: "hits", data: [1, "-", 2] }] };
    expect(numbersOf(option).rows).toEqual([["a", 1], ["b", null], ["c", 2]]);
  });
  test("of lines are points with the names of their axes", () => {
    const option = { xAxis: { type: "value" }, yAxis: { type: "value" }, series: [{ name: "gto", data: [[0, 1], [256, null]] }] };
    expect(numbersOf(option, undefined, ["cycle", "IPC"])).toEqual({ columns: ["series", "cycle", "IPC"], rows: [["gto", 0, 1], ["gto", 256, null]] });
  });
  test("of shapes have the names of their dimensions", () => {
    expect(numbersOf({ xAxis: { type: "value" }, yAxis: { type: "value" }, series: [{ dimensions: ["start", "sm"], data: [[3, 4]] }] })).toEqual({ columns: ["start", "sm"], rows: [[3, 4]] });
  });
  test("a key's colours are taken from the page's", () => {
    expect(gradientColours("linear-gradient(90deg, #46327e, rgb(1, 2, 3))")).toEqual(["#46327e", "rgb(1, 2, 3)"]);
  });
});
