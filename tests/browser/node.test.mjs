// The page of a node: its workers above the cores of their chips, on one clock.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, drawn, open, pixelsOf, text } from "./browser.mjs";
import { nodeOfNodes, nodeOver, pageOfNode } from "./nodes.mjs";
import { call, scratch } from "./pages.mjs";

const SIM = ["paged_attention", "--case", "small", "--platform", "a2a3sim", "--chip-swimlane"];
const CPU = ["vector", "--case", "small", "--chip-swimlane"];
let sim, cpu, four;
before(() => {
  sim = pageOfNode("node_sim", nodeOver, SIM);
  cpu = pageOfNode("node_cpu", nodeOver, CPU);
  four = pageOfNode("node_four", nodeOfNodes, CPU);
});
after(close);

/** The groups of lanes, from top to bottom. */
const groupsOf = (page) => page.$$eval(".lanes .toggle", (all) => all.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((button) => button.firstChild.textContent));
/** Colours of the page's light theme. */
const [MAILBOX, TAKEN, DECODE] = [[0xb9, 0xcb, 0xe8], [0x5b, 0x86, 0xd6], [0x1f, 0x9e, 0x89]];

test("workers are above the cores of their chips, and each step of a call has its colour", () => open(sim, async (page) => {
  assert.deepEqual(await groupsOf(page), ["workers", "tasks on chips", "functions", "chip0", "chip1"]);
  assert.match(await text(page, "#summary"), /level-3 run over 2 chips \+ 1 function worker.*dist 5 rows/);
  for (const color of [MAILBOX, TAKEN, DECODE]) assert.ok(await pixelsOf(page, color) > 200, String(color));
  assert.match(await text(page, "#timeline .legend:last-of-type"), /on the chips .*QK/);
}, { name: "node" }));

test("the page shows the offset and the error of each clock, and how much each modelled run was stretched", () => open(sim, async (page) => {
  const workers = await text(page, "#workers table >> nth=0");
  assert.match(workers, /chip0 one chip 4000 2 .*0 ± 900 ns 0 chip1 one chip 4001 2 .*−1.2 µs ± 1 µs 0 function0 functions 4002 1 .*\+35 µs ± 1.1 µs/);
  const runs = await page.$$eval("#workers table.runs tbody tr", (rows) => rows.map((row) => row.innerText.replace(/\s+/g, " ")));
  assert.equal(runs.length, 4);
  for (const run of runs) assert.match(run, /^chip[01]\/[12] paged_attention small a2a3sim .*× \d/);
  assert.match(await text(page, "#workers"), /stretched to the duration of its call/);
}));

test("a run on cpu is where it was and is not stretched", () => open(cpu, async (page) => {
  const run = await text(page, "#workers table.runs tbody tr >> nth=0");
  assert.match(run, /^chip0\/1 vector small cpu 405 µs .* – 5$/);
  assert.doesNotMatch(await text(page, "#workers"), /stretched to the duration/);
  const [took, own] = await page.$$eval("#workers table.runs tbody tr:first-child td", (cells) => [cells[4].innerText, cells[5].innerText]);
  // Equal to a tick of the node's clock, because times may be rounded up or down.
  const [length, ownLength] = [took, own].map((shown) => parseFloat(shown) * { ns: 1e-3, "\u00b5s": 1, ms: 1e3, s: 1e6 }[shown.split(/\s/)[1]]);
  assert.ok(Math.abs(length / ownLength - 1) < 0.002, `${took}, ${own}`);
}));

test("what is under the pointer says which call it is and where its time went", () => open(sim, async (page) => {
  const canvas = page.locator(".lanes canvas");
  const box = await canvas.boundingBox();
  const rows = await page.$eval(".lanes .toggle", (button) => parseFloat(button.style.top));
  await page.mouse.move(box.x + 150 + (box.width - 150) * 0.2, box.y + rows + 19 + 8);
  await page.locator("#tooltip").waitFor();
  assert.match(await text(page, "#tooltip"), /^decode worker chip0 · call 1 task 0:0 .*in the mailbox 170 µs accepted, not started 90 µs ran 3 ms until the node noticed the end 60 µs$/);
  await page.mouse.click(box.x + 150 + (box.width - 150) * 0.2, box.y + rows + 19 + 8);
  await page.locator("#card").waitFor();
  assert.match(await text(page, "#card .card-head"), /decode task 0:0/);
}));

test("a run of the list is shown when its moment is clicked, and a page of its own is linked", async () => {
  call(["report", path.join(scratch, "node_sim", "chip0", "1")]);
  call(["report", path.join(scratch, "node_sim")]);
  await open(sim, async (page) => {
    assert.equal(await page.locator("#workers table.runs a").count(), 1);
    assert.equal(await page.locator("#workers table.runs a").getAttribute("href"), "chip0/1/report.html");
    await page.locator("#workers table.runs button.link >> nth=1").click();
    await page.waitForFunction(() => document.querySelector("#swim-words").innerText.includes(" of "));
    await page.locator("#workers table.runs a").click();
    await page.waitForFunction(() => document.documentElement.dataset.loaded === "yes" && document.querySelector("h1").innerText.includes("paged_attention"));
  });
});

test("level 4: nodes, below them their workers, below those the chips", () => open(four, async (page) => {
  assert.deepEqual(await groupsOf(page), ["workers", "node0", "node1", "tasks on nodes", "node0 \u203a chip0", "node0 \u203a chip1", "node1 \u203a chip0", "node1 \u203a chip1"]);
  assert.match(await text(page, "#workers"), /level 4 · 8 workers/);
  assert.match(await text(page, "#workers table.runs"), /node0\/1\/chip1\/2/);
  assert.match(await text(page, "#reproduce"), /--workers 2x2/);
}, { name: "node-four", colorScheme: "dark" }));

test("a worker that died is red, and the page names what it did not write", () => {
  const file = pageOfNode("node_died", (dir) => {
    nodeOver(dir, CPU, { status: { 4: "died" } });
    fs.rmSync(path.join(dir, "chip1", "2", "run.json"));
  });
  return open(file, async (page) => {
    assert.match(await text(page, "#workers table.runs tbody"), /chip1\/2 died .*run\.json/);
    assert.match(await text(page, "#workers table >> nth=0"), /chip1 one chip 4001 2, 1 not ok/);
    assert.ok(await pixelsOf(page, [0xcf, 0x33, 0x26]) > 200);
  });
});

test("a node that recorded its calls and nothing else has its lanes", () => {
  const file = pageOfNode("node_calls_only", nodeOver, ["vector", "--case", "small"], { swimlane: false });
  return open(file, async (page) => {
    assert.deepEqual(await groupsOf(page), ["workers"]);
    assert.match(await text(page, "#workers"), /Not shown on the lanes: chip0\/1 \(no swimlane was recorded\)/);
    for (const key of ["w", "s", "f", "c", "t", "Enter", "Escape", "/"]) await page.keyboard.press(key);
    await drawn(page);
  });
});

test("a page without workers does not speak of them", () => {
  const dir = path.join(scratch, "alone");
  call(["run", ...CPU, "-o", dir]);
  call(["report", dir]);
  return open(path.join(dir, "report.html"), async (page) => {
    assert.equal(await page.locator("#workers").isVisible(), false);
    assert.equal(await page.locator(".bar nav >> text=Workers").count(), 0);
  });
});
