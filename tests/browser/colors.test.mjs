// The colours of the page: each identifies what it represents.

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

const source = fs.readFileSync(new URL("../../crates/report/src/page/assets/colors.js", import.meta.url), "utf8");
const COLORS = new Function(`${source}; return COLORS;`)();

/** A colour in a space in which distances are those that people see (CIE L*a*b*). */
function lab(color) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883]
    .map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const distance = (a, b) => Math.hypot(...lab(a).map((value, at) => value - lab(b)[at]));

for (const [theme, { kernels, ...others }] of Object.entries(COLORS)) {
  test(`no colour of a kernel is near that of a cause, a phase or a step (${theme})`, () => {
    for (const [what, colors] of Object.entries(others)) {
      for (const [name, color] of Object.entries(colors)) {
        for (const kernel of kernels) assert.ok(distance(kernel, color) > 24, `kernel ${kernel} and ${what} ${name} ${color}: ${distance(kernel, color)}`);
      }
    }
  });

  test(`kernels have distinguishable colours (${theme})`, () => {
    assert.equal(new Set(kernels).size, 12);
    kernels.forEach((a, at) => kernels.slice(0, at).forEach((b) => assert.ok(distance(a, b) > 15, `${a} and ${b}: ${distance(a, b)}`)));
  });
}
