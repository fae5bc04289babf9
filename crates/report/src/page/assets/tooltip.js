// What is under the pointer.

/** The thing under the pointer, or a cell that represents several. */
function thingAt(event, at) {
  const box = swim.canvas.getBoundingClientRect();
  const row = rowAt(event.clientY - box.top);
  if (!row || event.clientX - box.left < GUTTER) return null;
  const view = currentView();
  const pixel = view.perPixel * view.ratio;
  if (!row.lane) return { row, group: true, at };
  const place = row.lane.at(at, pixel * 1.5);
  if (place < 0) return { row, start: at, end: at, place: -1 };
  const many = row.lane.countIn(at - pixel / 2, at + pixel / 2);
  return { row, place, thing: row.lane.first + place, start: row.lane.starts[place], end: row.lane.ends[place], many };
}

function hover(event, at) {
  const found = swim.ready ? thingAt(event, at) : null;
  swim.canvas.classList.toggle("over", Boolean(found && found.place >= 0));
  const content = found && found.place !== -1 ? describe(found, at) : null;
  if (!content) return hideTooltip();
  showTooltip(event, content);
}

const fact = (name, value) => [h("dt", name), h("dd", value)];

/** The columns of a row that have no words of their own, by their names in the artifact. */
const others = (row, at, except = []) => Object.entries(row ?? {}).filter(([name]) => !except.includes(name)).map(([name, values]) => fact(name, count(values[at])));

function describe(found, at) {
  const { row, thing } = found;
  if (found.group) {
    const busy = row.group.lanes.filter((lane) => lane.at(at, 0) >= 0).length;
    return [h("b", row.group.name), h("dl", fact("busy here", `${busy} of ${row.group.lanes.length}`))];
  }
  const took = fact("took", time(found.end - found.start));
  const start = fact("at", time(found.start));
  if (found.many > 1) return merged(found, at);
  switch (row.group.colors) {
    case "cores": {
      const { blocks } = model;
      const task = blocks.task[thing];
      return [h("b", kernelName(blocks.kernel[thing])), h("dl", taskLabel(task) && fact("label", taskLabel(task)), model.tasks && fact("task", `${taskName(task)} \u00b7 seq ${count(model.tasks.seq[task])}`), fact("core", row.lane.name), start, took,
        blocks.dispatch && fact("dispatch \u2192 start", time(blocks.start[thing] - blocks.dispatch[thing])), others(blocks.row, thing))];
    }
    case "orchestrator": {
      const task = row.lane.rows[found.place];
      return [h("b", "submit"), h("dl", fact("task", taskName(task)), start, took, model.tasks.parts.stall[task] > 0 && fact("waited for a ring", time(model.tasks.parts.stall[task])))];
    }
    case "schedulers": return [h("b", phaseName(thing)), h("dl", start, took, others(model.phases.row, thing, ["phase"]))];
    case "labels": return [h("b", nameOf(row, thing)), h("dl", start, took)];
    case "scopes": return [h("b", nameOf(row, thing)), h("dl", fact("scope", String(model.scopes.id[thing])), fact("ring", String(model.scopes.ring[thing])), start, took, fact("tasks", count(model.scopes.tasks[thing])))];
    case "path": return pathWords(thing, start, took);
    case "copies": return [h("b", row.lane.copies[found.place].what), h("dl", fact("bytes", bytes(row.lane.copies[found.place].bytes)), start, took)];
    case "workers": return describeCall(found);
    case "chips": return describeChip(found);
    default: return null;
  }
}

/** A pixel that represents several things. */
function merged(found, at) {
  const { row } = found;
  const view = currentView();
  const pixel = view.perPixel * view.ratio;
  const first = row.lane.after(at - pixel / 2);
  const tally = new Map();
  for (let place = first; place < Math.min(row.lane.length, first + 500) && row.lane.starts[place] <= at + pixel / 2; place += 1) {
    const name = nameOf(row, row.lane.first + place) || (row.group.colors === "workers" ? "step of a call" : "submit");
    tally.set(name, (tally.get(name) ?? 0) + 1);
  }
  const names = [...tally].sort((a, b) => b[1] - a[1]).slice(0, 4);
  return [h("b", `${plural(found.many, "item")} in this pixel`), h("dl", names.map(([name, of]) => fact(name, count(of))), fact("around", time(at)))];
}

function pathWords(segment, start, took) {
  const { path } = model;
  const cause = run.time.path[path.cause[segment]]?.cause ?? "?";
  const task = path.task[segment];
  return [h("b", cause), h("dl", !Number.isNaN(task) && model.tasks && fact("task", `${taskKernels(task)} ${taskName(task)}`), start, took,
    fact("of the makespan", percent((path.end[segment] - path.start[segment]) / model.span)))];
}

function showTooltip(event, content) {
  const tooltip = fill(byId("tooltip"), content);
  tooltip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const left = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
  const top = Math.min(event.clientY + 14, innerHeight - height - 8);
  Object.assign(tooltip.style, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
}

function hideTooltip() { byId("tooltip").hidden = true; }

/** A click selects the task of what is there; beside everything it clears. */
function clicked(event, at) {
  const found = thingAt(event, at);
  if (!found || found.group || found.place < 0) return state.select(-1);
  const { row, thing } = found;
  if (row.group.colors === "cores") state.select(model.blocks.task[thing], thing, false);
  else if (row.group.colors === "orchestrator") state.select(row.lane.rows[found.place], -1, false);
  else if (row.group.colors === "workers") { const call = row.lane.calls[found.place]; state.select(findTask(model.calls.ring[call], model.calls.local[call]), -1, false); }
  else if (row.group.colors === "path" && !Number.isNaN(model.path.task[thing])) state.select(model.path.task[thing], -1, false);
}
