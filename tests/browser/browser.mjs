// One browser for all tests, and pages that must not complain.

import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
let browser = null;

export async function close() { await browser?.close(); }

/**
 * Opens a report, waits until all of it is read, hands it to `use`, and checks that nothing went wrong meanwhile. With
 * `early`, reading stops when the lanes are there, until `early` is done with the page.
 */
export async function open(file, use, { early, ...options } = {}) {
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) complaints.push(`asked for ${request.url()}`); });
  try {
    if (early) await page.addInitScript(holdColumns);
    await page.goto(`file://${file}`);
    if (early) {
      await page.locator(".lanes .toggle").first().waitFor();
      await early(page);
      await page.evaluate(() => window.readOn());
    }
    await page.waitForFunction(() => document.documentElement.dataset.loaded === "yes");
    await use(page);
    assert.deepEqual(complaints, [], "the page complained");
    if (process.env.SHOTS && options.name) await page.screenshot({ path: path.join(process.env.SHOTS, `${options.name}.png`) });
  } finally {
    await page.close();
  }
}

/** Opens the page of a graph, and checks that nothing went wrong meanwhile. */
export async function openGraph(file, use, name) {
  browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.stack));
  try {
    await page.goto(`file://${file}`);
    await drawn(page);
    await use(page);
    assert.deepEqual(complaints, [], "the page complained");
    if (process.env.SHOTS && name) await page.screenshot({ path: path.join(process.env.SHOTS, `${name}.png`) });
  } finally {
    await page.close();
  }
}

/** Columns are read as responses: those after the lanes were drawn wait for `readOn()`. */
function holdColumns() {
  const held = new Promise((resolve) => { window.readOn = resolve; });
  const read = Response.prototype.arrayBuffer;
  Response.prototype.arrayBuffer = async function () {
    if (document.querySelector(".lanes .toggle")) await held;
    return read.call(this);
  };
}

/** How many pixels of the swimlane are close to a colour. */
export function pixelsOf(page, [red, green, blue]) {
  return page.evaluate(([red, green, blue]) => {
    const canvas = document.querySelector(".lanes canvas");
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) if (Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue) < 12) found += 1;
    return found;
  }, [red, green, blue]);
}

/** Until what was changed is drawn. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** The text of an element, spaces made plain. */
export const text = async (page, selector) => (await page.innerText(selector)).replace(/\s+/g, " ");
