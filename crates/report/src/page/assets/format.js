// Numbers as people read them.

const run = JSON.parse(byId("run").textContent);
const manifest = run.manifest;
const hz = (run.timeline?.hz ?? manifest.clock_freq_hz) || 1;

const grouped = new Intl.NumberFormat("en-US");
const count = (n) => grouped.format(n);

/** Three or four digits that matter. */
function digits(value) {
  const size = Math.abs(value);
  const places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 3;
  const text = value.toFixed(places);
  return size >= 1000 ? count(Number(text)) : text.includes(".") ? text.replace(/\.?0+$/, "") || "0" : text;
}

/** Ticks as `[number, unit]`. */
function timeParts(ticks) {
  if (!Number.isFinite(ticks)) return ["?", ""];
  const seconds = ticks / hz;
  const size = Math.abs(seconds);
  if (size === 0) return ["0", "ns"];
  if (size < 1e-6) return [digits(seconds * 1e9), "ns"];
  if (size < 1e-3) return [digits(seconds * 1e6), "\u00b5s"];
  if (size < 1) return [digits(seconds * 1e3), "ms"];
  return [digits(seconds), "s"];
}

const time = (ticks) => timeParts(ticks).join("\u202f");

/** A moment on the ruler: as many digits as the distance between marks needs. */
function moment(ticks, step) {
  const units = [[1, "s"], [1e3, "ms"], [1e6, "\u00b5s"], [1e9, "ns"]];
  const seconds = step / hz;
  const [scale, unit] = units.find(([scale]) => seconds * scale >= 0.999) ?? units[3];
  const places = Math.max(0, Math.min(6, Math.ceil(-Math.log10(seconds * scale) - 1e-9)));
  return `${grouped.format(Number(((ticks / hz) * scale).toFixed(places)))}\u202f${unit}`;
}

function percent(share) {
  if (!Number.isFinite(share)) return "\u2013";
  const value = share * 100;
  return `${value >= 99.95 || value === 0 ? value.toFixed(0) : value >= 0.05 ? value.toFixed(1) : "<0.1"}\u202f%`;
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (n >= 1024 && unit < units.length - 1) { n /= 1024; unit += 1; }
  return `${digits(n)}\u202f${units[unit]}`;
}

const shapeText = (shape) => (shape.length ? shape.join("\u00d7") : "scalar");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** A word of a command line, quoted where a shell would take it apart. */
const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The program that has the commands for this run: the one that made it, or `ringlane` where that is not known. */
const program = quoted(manifest.program ?? "ringlane");
