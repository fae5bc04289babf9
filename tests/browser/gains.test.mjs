// The panel "What would help": what replays of the run predict, and what the page says where there are none.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { close, open, text } from "./browser.mjs";
import { call, pageOfRun, scratch } from "./pages.mjs";

const CASE = ["paged_attention", "--case", "small", "--platform", "a2a3sim"];
let known, unknown, answer;
before(() => {
  known = pageOfRun("gains", [...CASE, "--chip-swimlane=3", "--dep-gen"]);
  unknown = pageOfRun("no_gains", [...CASE, "--chip-swimlane=3"]);
  answer = JSON.parse(call(["what-if", `${scratch}/gains`, "--json"]));
});
after(close);

test("the panel ranks the experiments of what-if under the one line that every command begins with", () => open(known, async (page) => {
  assert.equal(await text(page, "#gains .limit"), answer.sentence);
  await page.locator("#gains summary").click();
  const rows = await page.$$eval("#gains tr[data-experiment]", (rows) => rows.map((row) => row.dataset.experiment));
  assert.deepEqual(rows, answer.experiments.map(({ name }) => name));
  assert.match(await text(page, "#gains .measures"), /recorded .* replayed unchanged .*error 0.% lower bound on these cores/);
}, { name: "gains" }));

test("the first finding is that line, and leads to the panel", () => open(known, async (page) => {
  const first = page.locator("#findings .finding").first();
  assert.ok((await first.textContent()).includes(answer.sentence));
  await first.click();
  assert.equal(await page.evaluate(() => document.activeElement.id), "gains");
}));

test("a page without gains names the options that record them", () => open(unknown, async (page) => {
  assert.match(await text(page, "#gains"), /What would help .*deps\.json.*--chip-swimlane=3 --dep-gen/);
}));
