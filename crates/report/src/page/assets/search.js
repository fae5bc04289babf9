// Search: a kernel's name, a task's label, its id, `ring:number`, or its place in the order of submission.

function searchNode() {
  swim.found = h("span.found", { role: "status" });
  swim.search = h("input.field", { type: "search", placeholder: "Search kernel, label, task, seq ( / )", "aria-label": "Search blocks and tasks", list: "kernel-names", spellcheck: "false", autocomplete: "off" });
  swim.search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { search(swim.search.value); swim.canvas.focus({ preventScroll: true }); }
    if (event.key === "Escape") { swim.search.value = ""; search(""); swim.canvas.focus(); }
    event.stopPropagation();
  });
  swim.search.addEventListener("input", () => { if (!swim.search.value) search(""); });
  const names = h("datalist", { id: "kernel-names" }, run.kernels.map((kernel) => h("option", { value: kernel.name })));
  return [swim.found, names, swim.search];
}

function search(text) {
  const wanted = text.trim();
  if (!wanted) {
    state.set({ picked: null });
    return showFound("");
  }
  const task = taskNamed(wanted);
  if (task >= 0) {
    showFound(`task ${taskName(task)}`);
    return state.select(task);
  }
  const lower = wanted.toLowerCase();
  const kernels = new Set(run.kernels.flatMap((kernel, at) => (kernel.name.toLowerCase().includes(lower) ? [at] : [])));
  const exact = run.kernels.findIndex((kernel) => kernel.name === wanted);
  const labels = new Set((run.names.labels ?? []).flatMap((label, at) => (label.toLowerCase().includes(lower) ? [at] : [])));
  const isLabelled = (block) => labels.size > 0 && labels.has(model.tasks?.label?.[model.blocks.task[block]]);
  if (exact >= 0) pickKernel(exact);
  else if (kernels.size || labels.size) pick(wanted, { cores: (block) => kernels.has(model.blocks.kernel[block]) || isLabelled(block) });
  else { state.set({ picked: null }); showFound("nothing found"); }
}

/** Shows the result of a search; picked blocks show it themselves. */
function showFound(words) {
  swim.foundWords = words;
  if (swim.found) swim.found.textContent = words;
}

/** The task that a text names; -1 if it names none. */
function taskNamed(text) {
  const { tasks } = model;
  const parts = /^(\d+):(\d+)$/.exec(text);
  if (parts) return findTask(Number(parts[1]), Number(parts[2]));
  const number = /^(seq|id)?\s*#?(\d+)$/i.exec(text);
  if (!number || !tasks) return -1;
  const [, what, digits] = number;
  const id = BigInt(digits);
  const bySeq = () => tasks.seq.indexOf(Number(digits));
  const byId = () => findTask(Number(id >> 32n), Number(id & 0xffffffffn));
  if (what?.toLowerCase() === "seq") return bySeq();
  if (what?.toLowerCase() === "id" || id >= 1n << 32n) return byId();
  const found = bySeq();
  return found >= 0 ? found : byId();
}

state.on((changed) => {
  if (!changed.has("picked") || !swim.found) return;
  swim.found.textContent = state.picked ? visible(state.picked.words ?? `${plural(state.picked.found, "block")} of ${state.picked.name}`) : swim.foundWords ?? "";
  for (const button of document.querySelectorAll("[data-kernel]")) button.setAttribute("aria-pressed", String(Number(button.dataset.kernel) === state.picked?.kernel && !state.picked.bar));
});
