// The page of a good run, as a reader uses it.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { close, drawn, open, pixelsOf, text } from "./browser.mjs";
import { call, ownProgram, pageOfRun } from "./pages.mjs";

const CASE = ["paged_attention", "--case", "small", "--platform", "a2a3sim", "--dfx"];
let good, other;
before(() => {
  good = pageOfRun("good", CASE);
  other = pageOfRun("other", [...CASE, "--policy", "critical-path"]);
});
after(close);

const words = (page) => text(page, "#swim-words");
const select = async (page, what) => { await page.keyboard.press("/"); await page.keyboard.type(what); await page.keyboard.press("Enter"); };

test("the first screen says what was run, how it ended and what was recorded", () => open(good, async (page) => {
  assert.match(await text(page, "h1"), /paged_attention small ok/);
  assert.match(await text(page, "#summary"), /24 aic \+ 48 aiv cores.*swimlane level 3 \d+ rows.*golden/);
  assert.ok(await page.locator("#findings .finding").count() >= 1);
  assert.ok(await page.locator("#findings .finding").count() <= 7);
}, { name: "light" }));

test("where time went is a bar for each kind of core and one for the critical path, each a whole", () => open(good, async (page) => {
  const sums = await page.$$eval("#time .stack", (bars) => bars.map((bar) => [...bar.children].reduce((sum, part) => sum + Number(part.style.flexGrow), 0)));
  assert.equal(sums.length, 3);
  assert.deepEqual(await page.$$eval("#time .kind", (kinds) => kinds.map((kind) => kind.dataset.kind)), ["aic", "aiv"]);
  assert.match(await text(page, "#time"), /24 aic .*busy 48 aiv .*busy/);
  assert.match(await text(page, "#timeline .overview"), /busy aic cores mean .* busy aiv cores mean/);
  for (const sum of sums) assert.ok(Math.abs(sum - 1) < 1e-6, String(sum));
}));

test("search finds a task by its place, by ring and number, by id, and a kernel by a part of its name", () => open(good, async (page) => {
  await select(page, "seq 7");
  const head = await text(page, "#card .card-head");
  const [, ring, local] = /task (\d+):(\d+) · seq/.exec(head);
  const id = (BigInt(ring) << 32n) | BigInt(local);
  assert.ok(!(await text(page, "body")).includes(String(id)), "tasks are named by ring and number");
  assert.match(head, /seq 7\b/);
  for (const name of [`${ring}:${local}`, `id ${id}`]) {
    await page.keyboard.press("Escape");
    await page.locator("#card").waitFor({ state: "hidden" });
    await select(page, name);
    await drawn(page);
    assert.equal(await text(page, "#card .card-head"), head);
  }
  await page.keyboard.press("Escape");
  await select(page, "soft");
  await drawn(page);
  assert.match(await text(page, ".tools .found"), /\d+ blocks of soft/);
  await select(page, "no such kernel");
  assert.equal(await text(page, ".tools .found"), "nothing found");
}));

test("a click on a finding goes to what it is about", () => open(good, async (page) => {
  for (const finding of await page.locator(".finding").all()) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("f");
    await page.waitForFunction(() => document.querySelector("#swim-words").innerText.startsWith("all "));
    await finding.click();
    switch (await finding.getAttribute("data-target")) {
      case "range": await page.waitForFunction(() => document.querySelector("#swim-words").innerText.includes(" of ")); break;
      case "task": await page.locator("#card").waitFor(); break;
      case "path_cause": await page.waitForFunction(() => /(submits?|segments?) (on|of) the critical path/.test(document.querySelector(".tools .found").innerText)); break;
      case "path_kernel": await page.waitForFunction(() => /blocks? of .* on the critical path/.test(document.querySelector(".tools .found").innerText)); break;
      case "scope": await page.waitForFunction(() => document.activeElement.id === "scopes"); break;
      default: await page.waitForFunction(() => ["summary", "time", "gains"].includes(document.activeElement.id));
    }
  }
}));

/** The stretch of time that is shown, in ticks. */
const shownTicks = async (page) => {
  await page.waitForFunction(() => /t=\d+-\d+/.test(location.hash));
  return /t=(\d+)-(\d+)/.exec(await page.evaluate(() => location.hash)).slice(1).map(Number);
};

test("a finding about many submits shows all of them, and one about blocks on the critical path just those", () => open(good, async (page) => {
  const submits = page.locator(".finding", { hasText: "The orchestration is on the critical path" });
  const [, named] = /with (\d+) submits/.exec(await submits.innerText());
  await submits.click();
  await page.waitForFunction((named) => document.querySelector(".tools .found").innerText === `${named} submits on the critical path`, named);
  const swimlane = JSON.parse(fs.readFileSync(path.join(path.dirname(good), "l2_perf_records.json"), "utf8"));
  const ends = swimlane.orchestrator_phases.map((row) => row[2]);
  const [, to] = await shownTicks(page);
  assert.ok(to > Math.max(...ends.slice(0, Number(named))), `shown to ${to}`);
  const kernel = page.locator(".finding", { hasText: "of the critical path (" }).last();
  const [, name, blocks] = /^(\w+) takes .* in (\d+) block/.exec(await kernel.innerText());
  await kernel.click();
  await page.waitForFunction(([blocks, name]) => document.querySelector(".tools .found").innerText.startsWith(`${blocks} block${blocks === "1" ? "" : "s"} of ${name} on`), [blocks, name]);
}, { name: "finding" }));

test("a block clicked while the page is still read has the card that it has later, which fills up", async () => {
  let early;
  const click = async (page) => {
    await page.locator(".lanes canvas").focus();
    await page.keyboard.press("Enter");
    await page.locator("#card").waitFor();
    early = [await text(page, "#card .card-head"), await text(page, "#card .pairs")];
    assert.match(await text(page, "#card"), /Loading/);
  };
  await open(good, async (page) => {
    await drawn(page);
    assert.match(early[0], /^(QK|SOFTMAX|PV|UPDATE|NORMALISE) task \d+:\d+/);
    assert.equal(await text(page, "#card .card-head"), early[0]);
    assert.ok(early[1].includes("blocks 1") && early[1].includes(" on "), early[1]);
    const late = await text(page, "#card");
    assert.ok(!late.includes("Loading") && late.includes("Waited for"), late);
    const name = /task (\d+:\d+)/.exec(early[0])[1];
    await page.keyboard.press("Escape");
    await select(page, name);
    await drawn(page);
    assert.equal(await text(page, "#card"), late);
  }, { early: click });
  // A click counts more than the address that the page was opened with.
  await open(`${good}#task=2:0`, async (page) => assert.equal(await text(page, "#card .card-head"), early[0]), { early: click });
});

test("what is picked while the page is still read stays picked", () => open(good, async (page) => {
  await drawn(page);
  const on = await pixelsOf(page, [0xe1, 0x9a, 0x1c]);
  await page.keyboard.press("Escape");
  await page.locator("[data-kernel]", { hasText: "QK" }).click();
  await drawn(page);
  assert.equal(on, await pixelsOf(page, [0xe1, 0x9a, 0x1c]));
}, { early: (page) => page.locator("[data-kernel]", { hasText: "QK" }).click() }));

test("reproduce names the program that was started, and its commands", () => {
  const program = ownProgram("my_program");
  return open(pageOfRun("own", ["vector", "--case", "small", "--threads", "1"], 0, program), async (page) => {
    const words = await text(page, "#reproduce");
    assert.ok(words.includes(`${program} run vector --case small --threads 1`), words);
    assert.ok(words.includes(`${program} check `), words);
    assert.ok(!/(^|\s)ringlane (run|check)/.test(words), words);
  });
});

test("a task's card names every gap and its links lead to its producers", () => open(good, async (page) => {
  await select(page, "seq 12");
  const life = await text(page, "#card .life");
  for (const gap of ["submitted → ready", "ready → dispatched", "dispatched → started", "started → ended", "ended → reclaimed"]) assert.ok(life.includes(gap), life);
  const link = page.locator("#card .edges [data-task]").first();
  const name = await link.getAttribute("data-task");
  assert.match(await text(page, "#card .edges .why >> nth=0"), /argument \d+, tensor \d+ \[.+\] at/);
  await link.click();
  await page.waitForFunction((name) => document.querySelector("#card .card-head").innerText.includes(`task ${name} `), name);
}, { name: "card" }));

test("a click in the swimlane selects the block that is drawn there", () => open(good, async (page) => {
  await page.locator("#timeline").scrollIntoViewIfNeeded();
  await select(page, "seq 12");
  const head = await text(page, "#card .card-head");
  await page.locator("#card button:has-text('zoom to it')").click();
  await page.locator(".lanes canvas").scrollIntoViewIfNeeded();
  await page.keyboard.press("Escape");
  const box = await page.locator(".lanes canvas").boundingBox();
  let found = false;
  for (let y = 70; y < box.height && !found; y += 3) {
    await page.mouse.move(box.x + 150 + (box.width - 150) / 2, box.y + y);
    await page.mouse.down();
    await page.mouse.up();
    await drawn(page);
    found = (await page.locator("#card").isVisible()) && (await text(page, "#card .card-head")) === head;
  }
  assert.ok(found, `no click selected ${head}`);
  assert.match(await text(page, "#tooltip"), /SOFTMAX.*took/);
  await page.keyboard.press("t");
  await drawn(page);
  assert.ok((await page.locator(".lanes canvas").boundingBox()).height > box.height, "tall lanes take more room");
}));

test("keys zoom, pan, fit, walk from block to block and show themselves", () => open(good, async (page) => {
  const whole = await words(page);
  await page.keyboard.press("w");
  await page.waitForFunction((whole) => document.querySelector("#swim-words").innerText !== whole, whole);
  await page.keyboard.press("d");
  await page.keyboard.press("f");
  await page.waitForFunction((whole) => document.querySelector("#swim-words").innerText.replace(/\s+/g, " ") === whole, whole);
  await page.locator(".lanes canvas").focus();
  await page.keyboard.press("Enter");
  const first = await text(page, "#card .card-head");
  for (const [on, back] of [["Tab", "Shift+Tab"], ["Shift+Tab", "Tab"]]) {
    await page.keyboard.press(on);
    await drawn(page);
    if ((await text(page, "#card .card-head")) === first) continue;
    await page.keyboard.press(back);
    await drawn(page);
    assert.equal(await text(page, "#card .card-head"), first, `${back} undoes ${on}`);
  }
  assert.ok(await page.evaluate(() => document.activeElement === document.querySelector(".lanes canvas")), "Tab stays while a block is selected");
  await page.keyboard.press("Escape");
  await drawn(page);
  assert.ok(await page.locator("#card").isHidden());
  await page.keyboard.press("?");
  assert.match(await text(page, "dialog"), /critical path on, off/);
  await page.keyboard.press("Escape");
}));

test("c takes the critical path off and puts it back", () => open(good, async (page) => {
  const red = [0xcf, 0x33, 0x26];
  const on = await pixelsOf(page, red);
  await page.keyboard.press("c");
  await drawn(page);
  const off = await pixelsOf(page, red);
  await page.keyboard.press("c");
  await drawn(page);
  assert.ok(on > off, `${on} red pixels with it, ${off} without`);
  assert.equal(await pixelsOf(page, red), on);
}));

test("the lane of the critical path has the colours of its causes", () => open(good, async (page) => {
  // submit, and wait for the scheduler
  for (const color of [[0x64, 0x78, 0x8f], [0x2f, 0x63, 0xcf]]) assert.ok(await pixelsOf(page, color) > 500, String(color));
}));

test("the wheel zooms at the pointer and dragging pans", () => open(good, async (page) => {
  await page.locator(".lanes canvas").scrollIntoViewIfNeeded();
  const box = await page.locator(".lanes canvas").boundingBox();
  await page.mouse.move(box.x + 600, box.y + 60);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => document.querySelector("#swim-words").innerText.includes(" of "));
  await page.waitForFunction(() => /t=\d+-\d+/.test(location.hash));
  const hash = await page.evaluate(() => location.hash);
  await page.mouse.down();
  await page.mouse.move(box.x + 450, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction((hash) => location.hash !== hash, hash);
}));

test("a bar of a histogram selects its blocks", () => open(good, async (page) => {
  await page.locator("#kernels [data-bar][tabindex='0']").first().click();
  await page.waitForFunction(() => /\d+ blocks? of/.test(document.querySelector(".tools .found").innerText));
}));

test("the address brings a reader back to the task and the stretch of time", () => open(good, async (page) => {
  await select(page, "seq 9");
  await page.waitForFunction(() => /task=/.test(location.hash));
  const [head, hash] = [await text(page, "#card .card-head"), await page.evaluate(() => location.hash)];
  await page.goto(`file://${good}${hash}`);
  await page.reload();
  await page.waitForFunction(() => document.documentElement.dataset.loaded === "yes");
  await drawn(page);
  assert.equal(await text(page, "#card .card-head"), head);
}));

test("dark follows the system, and the button overrides it", () => open(good, async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await page.locator("#theme-button").click();
  assert.notEqual(await paper(), dark);
  await page.locator("#theme-button").click();
  assert.equal(await paper(), dark);
}, { colorScheme: "dark", name: "dark" }));

test("a second report is compared kernel by kernel", () => open(good, async (page) => {
  await page.setInputFiles("#compare-file", other);
  await page.locator("#compare-result table").first().waitFor();
  assert.match(await text(page, "#compare-result"), /The runs differ: policy .* and critical-path\. .*makespan .* critical path: compute/);
  // The kernels, and their order, are those of the command.
  const command = JSON.parse(call(["compare", path.dirname(good), path.dirname(other), "--json"]));
  const rows = await page.locator("#compare-result table >> nth=1 >> tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText)));
  assert.ok(rows.length >= 4);
  assert.deepEqual(rows.map(([kernel, blocks, other]) => [kernel, blocks, other]), command.kernels.map(({ kernel, blocks }) => [kernel, String(blocks.before), String(blocks.after)]));
  await page.setInputFiles("#compare-file", { name: "x.html", mimeType: "text/html", buffer: Buffer.from("<p>no report</p>") });
  await page.waitForFunction(() => document.querySelector("#compare-result").innerText.includes("is not a ringlane report"));
}));

test("captured arguments can be filtered", () => open(good, async (page) => {
  const rows = page.locator("#arguments tbody tr");
  const all = await rows.count();
  await page.locator("#arguments input[placeholder=kernel]").fill("SOFTMAX");
  assert.ok((await rows.count()) < all);
  await page.locator("#arguments select").first().selectOption("output");
  for (const cell of await page.locator("#arguments tbody td:nth-child(4)").allInnerTexts()) assert.equal(cell, "output");
}));
