// Elements. Text always becomes a text node, so that no name is ever markup.

const byId = (id) => document.getElementById(id);

/** An element: `h("td.num", {title: "…"}, "text", child, [children])`. */
function h(spec, props, ...children) {
  const [tag, ...classes] = spec.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  if (props !== null && (typeof props !== "object" || Array.isArray(props) || props instanceof Node)) {
    children.unshift(props);
    props = null;
  }
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(String(child)));
  }
}

/** Control characters have a shape too, so that a name with one does not look like another name. */
function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f]/g, (c) => (c === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + c.charCodeAt(0))));
}

/** Replaces what an element holds. */
function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A section's sheet with its heading. */
function sheet(section, title, about, ...children) {
  const heading = h("div.head", h("h2", { id: section.id + "-title" }, title), about && h("span.about", about));
  const body = h("div.sheet", heading, ...children);
  fill(section, body);
  return body;
}

/** One line in the place of a section that has nothing to show. */
function absent(section, title, what) {
  fill(section, h("div.sheet.flat", h("div.head", h("h2", { id: section.id + "-title" }, title), h("span.absent", what))));
}

/** What the page says of something that is not there. */
function noteOn(about) {
  const note = run.notes.find((note) => note.about === about && (note.kind === "absent" || note.kind === "damaged"));
  if (!note) return "Nothing was recorded.";
  if (note.kind === "damaged") return h("span.bad", note.text);
  return [`Not recorded; `, h("code", note.option), " records it."];
}

/** A table with sortable columns: `columns` are `{name, title, num, value(row), cell(row)}`. */
function sortable(columns, rows, sortBy) {
  let [by, down] = [sortBy, true];
  const body = h("tbody");
  const head = h("tr");
  const draw = () => {
    const column = columns.find((column) => column.name === by) ?? columns[0];
    const sorted = rows.slice().sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    fill(head, columns.map((column) => h(column.num ? "th.num" : "th", { scope: "col", title: column.title },
      column.value
        ? h("button", { type: "button", "aria-sort": column.name === by ? (down ? "descending" : "ascending") : null,
            onclick: () => { down = column.name === by ? !down : Boolean(column.num); by = column.name; draw(); } },
            column.name, column.name === by ? (down ? " \u2193" : " \u2191") : "")
        : column.name)));
    fill(body, sorted.map((row) => h("tr", columns.map((column) => h(column.num ? "td.num" : "td", column.cell(row))))));
  };
  draw();
  return h("div.scroll", h("table", h("thead", head), body));
}
