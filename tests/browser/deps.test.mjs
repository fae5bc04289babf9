// deps.html, as a reader opens it.

import assert from "node:assert/strict";
import path from "node:path";
import { after, test } from "node:test";
import { close, openGraph } from "./browser.mjs";
import { call, scratch } from "./pages.mjs";

after(close);

/** The graph's page of a run with these options. */
function graphOf(name, run, options = []) {
  const dir = path.join(scratch, name);
  call(["run", ...run, "--dep-gen", "-o", dir]);
  call(["deps", dir, "--format", "html", ...options]);
  return path.join(dir, "deps.html");
}

/** How much of the canvas the drawing takes, and the colours of more than a few pixels. */
const drawing = (page) => page.evaluate(() => {
  const canvas = document.querySelector("#graph");
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = new Map();
  let [top, bottom] = [height, 0];
  for (let at = 0; at < data.length; at += 4) {
    const colour = `#${[data[at], data[at + 1], data[at + 2]].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
    colours.set(colour, (colours.get(colour) ?? 0) + 1);
    if (colour !== "#ffffff") { const y = Math.floor(at / 4 / width); top = Math.min(top, y); bottom = Math.max(bottom, y); }
  }
  return { high: (bottom - top) / height, colours: Object.fromEntries([...colours].filter(([, pixels]) => pixels > 50)) };
});

const WIDE = ["fanin", "--case", "small", "-p", "a2a3sim", "--param", "consumers=744", "--param", "tensors=5"];

test("a graph of 748 tasks that is as wide as that fills the screen, with boxes that can be distinguished", () =>
  openGraph(graphOf("wide", WIDE), async (page) => {
    assert.match(await page.innerText("#note"), /748 nodes/);
    const { high, colours } = await drawing(page);
    assert.ok(high > 0.6, `it takes ${high} of the height`);
    assert.ok(colours["#d9f2d9"] > 100_000, "the boxes of vector kernels are filled");
    // Tasks are named as everywhere.
    await page.keyboard.press("ArrowDown");
    assert.match(await page.innerText("#card"), /PRODUCE 1:0[^]*task\s+1:0/);
  }, "wide"));

test("the collapsed picture can be asked for however small the graph is", () =>
  openGraph(graphOf("few", ["cholesky", "--case", "small", "-p", "a2a3sim"], ["--collapse"]), async (page) => {
    assert.match(await page.innerText("#note"), /20 tasks and 30 edges, collapsed by kernel into 4 nodes/);
  }));
