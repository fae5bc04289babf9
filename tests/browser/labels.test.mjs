// Labelled scopes as bands above the cores: how long the tasks of a token and of a layer ran.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, open, text } from "./browser.mjs";
import { pageOfRun } from "./pages.mjs";

const CASE = ["decode", "--case", "small", "--param", "tokens=3", "--platform", "a2a3sim"];
let known, open_only;
before(() => {
  known = pageOfRun("labels", [...CASE, "--dfx"]);
  open_only = pageOfRun("labels_without_deps", [...CASE, "--chip-swimlane", "--scope-stats"]);
});
after(close);

const groupsOf = (page) => page.$$eval(".lanes .toggle", (all) => all.map((button) => [button.firstChild.textContent, parseFloat(button.style.top)]));

test("tokens and their layers are bands above the cores, where their tasks ran", () => open(known, async (page) => {
  const groups = new Map(await groupsOf(page));
  assert.ok(groups.get("labelled scopes") < groups.get("AIC"), "above the cores");
  const canvas = page.locator(".lanes canvas");
  await page.locator("#timeline").evaluate((section) => section.scrollIntoView());
  const box = await canvas.boundingBox();
  const under = async (share, lane) => {
    await page.mouse.move(box.x + 150 + (box.width - 150) * share, box.y + groups.get("labelled scopes") + 19 + lane * 15 + 7);
    return text(page, "#tooltip");
  };
  // A third of the run for each token; its two layers follow each other below it.
  assert.match(await under(0.1, 0), /^token 0 at \S+ \S+ took \d/);
  assert.match(await under(0.5, 0), /^token 1 /);
  assert.match(await under(0.9, 0), /^token 2 /);
  assert.match(await under(0.05, 1), /^layer 0 /);
  const layers = new Set();
  for (let share = 0.34; share < 0.66; share += 0.01) layers.add((await under(share, 1)).split(" at ")[0]);
  assert.ok(layers.has("layer 0") && layers.has("layer 1"), [...layers].join());
}, { name: "labels" }));

test("without dependencies it is not known which tasks are in a scope, and there are no bands", () => open(open_only, async (page) => {
  const groups = (await groupsOf(page)).map(([name]) => name);
  assert.ok(groups.includes("open scopes") && !groups.includes("labelled scopes"), groups.join());
}));
