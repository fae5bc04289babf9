
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("graph"), card = document.getElementById("card"), keys = document.getElementById("keys");
  const search = document.getElementById("search"), pen = canvas.getContext("2d");
  const WIDE = 150, HIGH = 90, BOX = { w: 128, h: 40 };
  /** The smallest writing, in pixels of the screen. */
  const LEAST = 9;
  /** Edges that are drawn in full. */
  const EDGES_CLEAR = 300;
  const nodes = data.nodes.map(n => ({ ...n, px: n.x * WIDE, py: n.y * HIGH, before: [], after: [] }));
  data.links.forEach(([from, to, label]) => {
    nodes[to].before.push([from, label]);
    nodes[from].after.push([to, label]);
  });
  const rows = new Map();
  nodes.forEach((n, i) => { if (!rows.has(n.y)) rows.set(n.y, []); rows.get(n.y).push(i); });
  rows.forEach(row => row.sort((a, b) => nodes[a].px - nodes[b].px));
  const top = Math.min(...rows.keys());
  const view = { x: 0, y: 0, zoom: 1 };
  let chosen = -1, found = [], colours = {}, waiting = false;

  document.getElementById("title").textContent = data.title;
  document.getElementById("note").textContent = data.note || `${nodes.length} nodes, ${data.links.length} edges`;

  const later = () => {
    if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); }
  };
  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    const names = new Set(["ground", "ink", "faint", "edge", "mark", ...nodes.map(n => n.kind)]);
    for (const name of names) colours[name] = style.getPropertyValue("--" + name).trim();
    later();
  };
  const resize = () => {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.max(1, canvas.clientWidth * ratio);
    canvas.height = Math.max(1, canvas.clientHeight * ratio);
    later();
  };

  function draw() {
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.ground;
    pen.fillRect(0, 0, w, h);
    pen.translate(w / 2 - view.x * view.zoom, h / 2 - view.y * view.zoom);
    pen.scale(view.zoom, view.zoom);
    const left = view.x - w / 2 / view.zoom - WIDE, right = view.x + w / 2 / view.zoom + WIDE;
    const top = view.y - h / 2 / view.zoom - HIGH, bottom = view.y + h / 2 / view.zoom + HIGH;
    const seen = (a, b) => Math.max(a.px, b.px) > left && Math.min(a.px, b.px) < right
      && Math.max(a.py, b.py) > top && Math.min(a.py, b.py) < bottom;
    pen.lineWidth = Math.max(1, 0.6 / view.zoom);
    pen.strokeStyle = colours.edge;
    const shown = data.links.filter(([from, to]) => seen(nodes[from], nodes[to]));
    // Many edges are fainter, so that boxes and the way most edges take stay visible.
    pen.globalAlpha = Math.max(0.12, Math.min(1, view.zoom * 2) * Math.min(1, Math.sqrt(EDGES_CLEAR / shown.length)));
    for (let first = 0; first < shown.length; first += EDGES_CLEAR) {
      // In pieces: one path would not get darker where edges meet.
      pen.beginPath();
      shown.slice(first, first + EDGES_CLEAR).forEach(([from, to]) => curve(nodes[from], nodes[to]));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    if (chosen >= 0) {
      pen.strokeStyle = colours.mark;
      const many = nodes[chosen].before.length + nodes[chosen].after.length;
      pen.lineWidth *= many > EDGES_CLEAR ? 1 : 2;
      pen.globalAlpha = Math.max(0.25, Math.min(1, Math.sqrt(EDGES_CLEAR / 4 / many)));
      pen.beginPath();
      nodes[chosen].before.forEach(([i]) => curve(nodes[i], nodes[chosen]));
      nodes[chosen].after.forEach(([i]) => curve(nodes[chosen], nodes[i]));
      pen.stroke();
      pen.globalAlpha = 1;
    }
    const hits = new Set(found);
    pen.textAlign = "center";
    for (let i = 0; i < nodes.length; i++) {
      const n = nodes[i];
      if (n.px < left || n.px > right || n.py < top || n.py > bottom) continue;
      pen.fillStyle = colours[n.kind];
      pen.strokeStyle = i === chosen || hits.has(i) ? colours.mark : colours.edge;
      pen.lineWidth = i === chosen ? 3 : hits.has(i) ? 2 : 1;
      pen.fillRect(n.px - BOX.w / 2, n.py - BOX.h / 2, BOX.w, BOX.h);
      pen.strokeRect(n.px - BOX.w / 2, n.py - BOX.h / 2, BOX.w, BOX.h);
      words(n);
    }
  }

  /** Names never get smaller than they can be read: from afar one line takes the box of two, then none. */
  function words(n) {
    if (BOX.h * view.zoom < LEAST + 2) return;
    const one = 11 * view.zoom < LEAST;
    const size = one ? Math.max(13, LEAST / view.zoom) : 13;
    pen.fillStyle = colours.ink;
    pen.font = `${size}px system-ui, sans-serif`;
    pen.fillText(shortened(n.label, (BOX.w - 8) / (size * 0.58)), n.px, one ? n.py + size * 0.35 : n.py - 3);
    if (one) return;
    pen.fillStyle = colours.faint;
    pen.font = "11px system-ui, sans-serif";
    pen.fillText(n.detail, n.px, n.py + 13);
  }
  const shortened = (text, room) => (text.length > room ? text.slice(0, Math.max(1, Math.floor(room) - 1)) + "…" : text);

  function curve(a, b) {
    if (a === b) {
      pen.moveTo(a.px + BOX.w / 2, a.py - 8);
      pen.bezierCurveTo(a.px + BOX.w, a.py - 30, a.px + BOX.w, a.py + 30, a.px + BOX.w / 2, a.py + 8);
      return;
    }
    const down = b.py >= a.py ? 1 : -1;
    const y1 = a.py + down * BOX.h / 2, y2 = b.py - down * BOX.h / 2, bend = (y2 - y1) / 2;
    pen.moveTo(a.px, y1);
    pen.bezierCurveTo(a.px, y1 + bend, b.px, y2 - bend, b.px, y2);
    pen.moveTo(b.px - 4, y2 - down * 7);
    pen.lineTo(b.px, y2);
    pen.lineTo(b.px + 4, y2 - down * 7);
  }

  function fit() {
    if (!nodes.length) return later();
    let [x1, x2, y1, y2] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const n of nodes) {
      x1 = Math.min(x1, n.px); x2 = Math.max(x2, n.px); y1 = Math.min(y1, n.py); y2 = Math.max(y2, n.py);
    }
    view.x = (x1 + x2) / 2;
    view.y = (y1 + y2) / 2;
    view.zoom = Math.min(1.5, canvas.clientWidth / (x2 - x1 + WIDE), canvas.clientHeight / (y2 - y1 + HIGH));
    later();
  }

  function zoom(by, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const dx = x - canvas.clientWidth / 2, dy = y - canvas.clientHeight / 2;
    const next = Math.min(4, Math.max(1e-4, view.zoom * by));
    view.x += dx / view.zoom - dx / next;
    view.y += dy / view.zoom - dy / next;
    view.zoom = next;
    later();
  }

  const element = (name, text, ...children) => {
    const made = document.createElement(name);
    if (text !== null) made.textContent = text;
    made.append(...children);
    return made;
  };

  function ties(title, list) {
    if (!list.length) return [element("h3", `${title} nothing`)];
    const items = list.map(([i, label]) => {
      const button = element("button", `${nodes[i].label} ${nodes[i].detail}  ${label}`);
      button.type = "button";
      button.onclick = () => choose(i, true);
      return element("li", null, button);
    });
    return [element("h3", title), element("ul", null, ...items)];
  }

  function choose(i, move) {
    chosen = i;
    if (i < 0) { card.replaceChildren(keys); return later(); }
    const n = nodes[i];
    if (move) { view.x = n.px; view.y = n.py; view.zoom = Math.max(view.zoom, 0.5); }
    const facts = element("dl", null);
    n.facts.forEach(([name, value]) => facts.append(element("dt", name), element("dd", value)));
    const args = n.args.length
      ? [element("h3", "arguments"), element("ul", null, ...n.args.map(text => element("li", text)))] : [];
    card.replaceChildren(element("h2", `${n.label} ${n.detail}`), facts, ...args,
      ...ties("waits for", n.before), ...ties("is waited for by", n.after));
    later();
  }

  function beside(step) {
    const row = rows.get(nodes[chosen].y), at = row.indexOf(chosen) + step;
    if (row[at] !== undefined) choose(row[at], true);
  }

  function find() {
    const words = search.value.trim().toLowerCase();
    const text = n => [n.label, n.detail, ...n.facts.map(([, value]) => value)].join(" ").toLowerCase();
    found = words ? nodes.flatMap((n, i) => text(n).includes(words) ? [i] : []) : [];
    if (found.length) choose(found[0], true); else later();
  }

  const nodeAt = event => {
    const x = (event.offsetX - canvas.clientWidth / 2) / view.zoom + view.x;
    const y = (event.offsetY - canvas.clientHeight / 2) / view.zoom + view.y;
    return nodes.findIndex(n => Math.abs(n.px - x) <= BOX.w / 2 && Math.abs(n.py - y) <= BOX.h / 2);
  };
  let drag = null;
  canvas.onpointerdown = event => {
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = event => {
    if (!drag) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    view.x -= dx / view.zoom;
    view.y -= dy / view.zoom;
    drag = { x: event.clientX, y: event.clientY, moved: true };
    later();
  };
  canvas.onpointerup = event => {
    if (drag && !drag.moved) choose(nodeAt(event), false);
    drag = null;
  };
  canvas.onwheel = event => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
  };
  const pan = (x, y) => { view.x += x * 80 / view.zoom; view.y += y * 80 / view.zoom; later(); };
  const along = list => { if (list.length) choose(list[0][0], true); };
  const first = () => choose(found[0] ?? (rows.get(top) ?? [-1])[0], true);
  const actions = {
    "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), f: fit, "0": fit,
    w: () => pan(0, -1), s: () => pan(0, 1), a: () => pan(-1, 0), d: () => pan(1, 0),
    ArrowUp: () => chosen < 0 ? first() : along(nodes[chosen].before),
    ArrowDown: () => chosen < 0 ? first() : along(nodes[chosen].after),
    ArrowLeft: () => chosen < 0 ? first() : beside(-1), ArrowRight: () => chosen < 0 ? first() : beside(1),
    Escape: () => choose(-1, false),
    n: () => { if (found.length) choose(found[(found.indexOf(chosen) + 1) % found.length], true); },
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === search) return;
    if (event.key === "/") { event.preventDefault(); return search.focus(); }
    const act = actions[event.key];
    if (act && nodes.length) { event.preventDefault(); act(); }
  });
  search.oninput = find;
  search.onkeydown = event => {
    if (event.key === "Enter" || event.key === "Escape") { canvas.focus(); event.stopPropagation(); }
  };
  document.getElementById("fit").onclick = fit;
  document.getElementById("in").onclick = () => zoom(1.3);
  document.getElementById("out").onclick = () => zoom(1 / 1.3);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
  new ResizeObserver(resize).observe(canvas);
  readColours();
  resize();
  fit();
})();
