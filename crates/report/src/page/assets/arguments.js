// What was captured of tasks' arguments. The elements are in the run's own files; the commands that show them are here.

const SHOWN = 200;

function drawArguments() {
  const section = byId("arguments");
  const dump = run.dump;
  if (!dump) {
    absent(section, "Arguments", noteOn("dump"));
    return;
  }
  const kernelOf = kernelsByTask();
  const records = dump.rows.map(([ring, local, arg, role, stage, form, size, truncated, value]) =>
    ({ ring, local, arg, role: dump.roles[role], stage: dump.stages[stage], form: dump.forms[form], bytes: size, truncated, value }));
  const body = h("tbody");
  const found = h("span.dim");
  const field = (label, width) => h("input.field", { type: "search", placeholder: label, "aria-label": label, style: { width }, oninput: draw, onkeydown: (event) => event.stopPropagation() });
  const [task, kernel, type] = [field("task ring:local", "130px"), field("kernel", "130px"), field("type", "100px")];
  const role = choice("every role", ["input", "output", "inout"]);
  const stage = choice("both stages", ["before_dispatch", "after_completion"]);
  function choice(all, values) { return h("select.field", { "aria-label": all, onchange: draw }, h("option", { value: "" }, all), values.map((value) => h("option", { value }, value.replace("_", " ")))); }
  function draw() {
    const rows = records.filter((row) => {
      const name = `${row.ring}:${row.local}`;
      return name.startsWith(task.value.trim()) && (kernelOf(name) ?? "").toLowerCase().includes(kernel.value.trim().toLowerCase()) && row.form.includes(type.value.trim()) && (!role.value || row.role === role.value) && (!stage.value || row.stage === stage.value);
    });
    found.textContent = `${count(rows.length)} of ${count(records.length)}${rows.length > SHOWN ? `, the first ${SHOWN} shown` : ""}`;
    fill(body, rows.slice(0, SHOWN).map((row) => {
      const name = `${row.ring}:${row.local}`;
      const go = () => { reveal("timeline"); state.select(findTask(row.ring, row.local)); };
      return h("tr", h("td", h("button.control", { type: "button", onclick: go }, name)), h("td", kernelOf(name) ?? ""), h("td.num", String(row.arg)), h("td", row.role), h("td", row.stage.replace("_", " ")),
        h("td", h("span.mono", row.form)), h("td.num", row.value ?? bytes(row.bytes)), h("td.dim", row.truncated ? "truncated" : ""));
    }));
  }
  const about = `${plural(dump.tensors, "tensor")}, ${plural(dump.scalars, "scalar")}, ${bytes(dump.bytes)}${dump.truncated ? `, ${count(dump.truncated)} truncated` : ""}${dump.selection ? `, selected: ${dump.selection}` : ""}`;
  const heads = ["task", "kernel", "argument", "role", "captured", "type", "value or size", ""];
  sheet(section, "Arguments", about, h("div.filters", task, kernel, role, stage, type, found),
    h("div.scroll.tall", h("table", h("thead", h("tr", heads.map((name, at) => h(at === 2 || at === 6 ? "th.num" : "th", name)))), body)),
    h("p.note", "Values and statistics: ", h("code", `${program} dump ${quoted(run.dir)} --task ID`), "; the first task that produced a NaN: ", h("code", `${program} dump bad ${quoted(run.dir)}`)));
  draw();
}

/** Names of the kernels of tasks, by `ring:local`; from the timeline, once that is read. */
function kernelsByTask() {
  let names = null;
  return (name) => {
    if (!model.blocks?.task || !model.tasks) return null;
    if (!names) {
      names = new Map();
      const { blocks } = model;
      for (let block = 0; block < blocks.length; block += 1) names.set(taskName(blocks.task[block]), kernelName(blocks.kernel[block]));
    }
    return names.get(name);
  };
}
