// Pages of runs that went wrong, recorded little, or have names that try to be markup.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { close, open, text } from "./browser.mjs";
import { pageOfFiles, pageOfRun } from "./pages.mjs";

after(close);

test("a run that recorded nothing still has a page, which says what records what", () => open(pageOfRun("plain", ["vector", "--case", "small"]), async (page) => {
  assert.match(await text(page, "h1"), /vector small ok/);
  for (const [section, option] of [["timeline", "--chip-swimlane"], ["scopes", "--scope-stats"], ["counters", "--pmu"], ["arguments", "--dump-tensor"]]) {
    assert.match(await text(page, `#${section}`), new RegExp(`Not recorded; ${option} records it`), section);
  }
  await page.keyboard.press("w");
  await page.keyboard.press("/");
  await page.keyboard.press("Escape");
}));

test("a fatal run says so first, with what to do, and which scope exhausted which resource", () => {
  const file = pageOfRun("fatal", ["paged_attention", "--case", "small", "--platform", "a2a3sim", "--ring-task-window", "16", "--dfx"], 1);
  return open(file, async (page) => {
    assert.match(await text(page, "#summary .trouble"), /The runtime stopped the run: FlowControlDeadlock.*What to do: .*--ring-task-window 32/);
    assert.match(await text(page, "#scopes .trouble"), /exhausted the task window of ring \d/);
  }, { name: "fatal" });
});

test("a timeline without a block is described in words", () => open(pageOfFiles("none", { swimlane: {} }), async (page) => {
  assert.match(await text(page, "#kernels"), /No block ran/);
  assert.match(await text(page, "#time"), /No block ran/);
  for (const key of ["w", "s", "f", "c", "Enter", "Escape"]) await page.keyboard.press(key);
}));

const EVIL = "</script><img src=x onerror=window.caught=1>\u2028\n<b>\u0001&amp;\"'";
const oneBlock = (start, end, name) => ({
  metadata: { platform: "cpu", clock_freq_hz: 1000000000, num_cores: 1, core_types: ["cpu"], num_scheduler_threads: 1, core_to_thread: [0], kernels: [{ func_id: 0, name, core_type: "any" }] },
  blocks: [[0, 4294967296, 0, 0, 0, start, end]], counts: { blocks: { total: 1, collected: 1, dropped: 0 } },
});

test("names are text wherever they appear, whatever they contain", () => {
  const manifest = { scene: EVIL, case: EVIL, params: { [EVIL]: EVIL }, blocks: 1, tasks: 1, status: "failed", error: { name: EVIL, detail: EVIL, hint: EVIL } };
  return open(pageOfFiles("evil", { manifest, swimlane: oneBlock(100, 400, EVIL) }), async (page) => {
    await page.locator(".lanes canvas").focus();
    await page.keyboard.press("Enter");
    await page.locator("#card").waitFor();
    assert.equal(await page.evaluate(() => window.caught), undefined);
    assert.equal(await page.locator("img").count(), 0);
    assert.ok((await text(page, "#card h2")).includes("</script><img src=x onerror=window.caught=1>"));
    assert.ok((await page.title()).startsWith("</script><img"));
  });
});

test("one block of no length is drawn and can be selected", () => open(pageOfFiles("short", { manifest: { blocks: 1, tasks: 1 }, swimlane: oneBlock(500, 500, "NOTHING") }), async (page) => {
  await page.locator(".lanes canvas").focus();
  await page.keyboard.press("Enter");
  assert.match(await text(page, "#card .card-head"), /NOTHING task 1:0/);
}));

test("a run that took no time has a page", () => open(pageOfFiles("instant", { manifest: { blocks: 1, tasks: 1, makespan_ticks: 0 }, swimlane: oneBlock(0, 0, "K") }), async (page) => {
  await page.keyboard.press("w");
  await page.keyboard.press("f");
  assert.match(await text(page, "#kernels"), /K any 1/);
}));

test("moments beyond what a page can hold exactly do not break it", () => open(pageOfFiles("late", { manifest: { blocks: 1, tasks: 1, makespan_ticks: 9007199254740993 }, swimlane: oneBlock(1, 9007199254740993, "LONG") }), async (page) => {
  assert.match(await text(page, "#kernels"), /LONG/);
  await page.keyboard.press("w");
}));

test("a file that cannot be understood is named, and the rest of the page is shown", () => {
  const file = pageOfFiles("garbage", { manifest: { files: [{ path: "l2_perf_records.json", bytes: 7, total: 0, collected: 0, dropped: 0 }], dfx_flags: "0x1", swimlane_level: 1 } });
  return open(file, async (page) => {
    assert.match(await text(page, "#summary .notes"), /l2_perf_records.json/);
    assert.match(await text(page, "#reproduce"), /ringlane check/);
  });
});

test("a run that no command line made is called a library run", () => open(pageOfFiles("library", {}), async (page) => {
  const words = await text(page, "#reproduce");
  assert.match(words, /A library run: a program called the runtime/);
  assert.ok(!words.includes("run made_up"), words);
}));
