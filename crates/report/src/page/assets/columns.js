// Columns: base64 -> gzip -> variable-length numbers -> typed arrays, in slices, so that the page stays responsive.

const SLICE = 1 << 18;
const breathe = () => new Promise((resolve) => setTimeout(resolve, 0));

const columns = {
  element: (name) => document.querySelector(`script[data-column="${name}"]`),
  has: (name) => columns.element(name) !== null,

  /** Reads a column into a typed array; the text is freed. Unknown numbers become NaN, in arrays that hold it. */
  async read(name, Type = Float64Array) {
    const element = columns.element(name);
    if (!element) return null;
    const raw = await inflate(fromBase64(element.textContent));
    const { rows, coding } = element.dataset;
    element.remove();
    return decode(raw, new Type(Number(rows)), coding);
  },

  /** All columns whose names begin so, by the rest of their names. */
  async readAll(start) {
    const names = [...document.querySelectorAll(`script[data-column^="${start}"]`)].map((element) => element.dataset.column);
    const read = {};
    for (const name of names) read[name.slice(start.length)] = await columns.read(name);
    return read;
  },
};

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

async function inflate(gzip) {
  const stream = new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function decode(raw, to, coding) {
  const [delta, signed, maybe] = [coding === "delta", coding !== "plain", coding === "maybe"];
  let [at, before] = [0, 0];
  for (let row = 0; row < to.length; row += 1) {
    let byte = raw[at++];
    let bits = byte & 127;
    if (byte > 127) {
      let scale = 128;
      do {
        byte = raw[at++];
        bits += (byte & 127) * scale;
        scale *= 128;
      } while (byte > 127);
    }
    if (maybe) {
      if (bits === 0) { to[row] = NaN; continue; }
      bits -= 1;
    }
    let value = bits;
    if (signed) value = bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
    if (delta) { value += before; before = value; }
    to[row] = value;
    if (row % SLICE === SLICE - 1) await breathe();
  }
  return to;
}
