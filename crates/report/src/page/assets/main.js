// Puts the page together: what is small at once, then blocks, then the rest while the reader already reads.

const SECTIONS = [["findings", "Findings"], ["gains", "What would help"], ["timeline", "Timeline"], ["workers", "Workers"], ["kernels", "Kernels"], ["counters", "Counters"], ["scopes", "Scopes"], ["arguments", "Arguments"], ["compare", "Compare"], ["reproduce", "Reproduce"]];

/** Draws a section; one that cannot be drawn says so, and the others are still drawn. */
function guarded(id, draw) {
  try { draw(); } catch (error) {
    console.error(error);
    fill(byId(id), h("div.sheet.flat", h("p.bad", `This part of the page cannot be drawn: ${error.message}`)));
  }
}

function drawSections() {
  guarded("summary", drawHeader);
  guarded("findings", drawFindings);
  guarded("time", drawTime);
  guarded("gains", drawGains);
  guarded("timeline", drawTimelineSection);
  guarded("workers", drawWorkers);
  guarded("kernels", drawKernels);
  guarded("counters", drawCounters);
  guarded("scopes", drawScopes);
  guarded("arguments", drawArguments);
  guarded("compare", drawCompare);
  guarded("reproduce", drawReproduce);
}

async function load() {
  const steps = [loadBlocks, loadTasks, loadPath, loadCalls, showLanes, loadPhases, loadScopes, loadLabels, loadChips, showLanes, loadTaskDetails, loadBlockDetails];
  for (const [at, step] of steps.entries()) {
    await step();
    // What was just read belongs on the card of a task that was selected before.
    if (state.task >= 0) drawCard();
    await breathe();
    if (swim.progress) swim.progress.style.width = `${((at + 1) / steps.length) * 100}%`;
  }
  swim.progress?.parentElement.remove();
  model.loading = false;
  drawSwimlane();
  drawCard();
  guarded("arguments", drawArguments);
  document.documentElement.dataset.loaded = "yes";
}

/** Makes lanes of what there is so far, and their levels, and draws. */
async function showLanes() {
  if (!run.timeline && !run.node) return;
  const opened = new Map(groups.map((group) => [group.key, group.open]));
  buildLanes();
  for (const group of groups) {
    group.open = opened.get(group.key) ?? group.open;
    for (const lane of group.lanes) {
      lane.index(model.span);
      if (lane.length > 50000) await breathe();
    }
  }
  const first = !swim.ready;
  if (first) { swim.ready = true; state.from = -model.span * 0.005; state.to = model.span * 1.005; }
  // Lanes were made anew, and what was picked is in the old ones.
  if (state.picked) pick(state.picked.name, state.picked.tests, state.picked.more);
  resizeSwimlane();
  drawBrush();
  // As early as it can be: from here on the reader's own clicks decide what is selected.
  if (first) { recall(); swim.markShown(); }
}

state.on((changed) => {
  if (changed.has("from") || changed.has("to")) drawBrush();
  if (swim.canvas && (changed.has("path") || changed.has("tall"))) {
    swim.pathButton.setAttribute("aria-pressed", String(state.path));
    swim.tallButton.setAttribute("aria-pressed", String(state.tall));
    resizeSwimlane();
  } else if (swim.canvas) drawSwimlane();
  if (changed.has("task")) drawCard();
});

theme.onchange(() => {
  drawTime();
  drawKernels();
  colorSwatches();
  drawOverview();
  drawSwimlane();
  drawCard();
});

rankKernels();
rankChipKernels();
fill(document.querySelector(".bar nav"), SECTIONS.filter(([id]) => (id !== "workers" || run.node) && (id !== "gains" || run.gains)).map(([id, name]) => h("a", { href: "#" + id, onclick: (event) => { event.preventDefault(); reveal(id); } }, name)));
drawSections();
listenToKeys();
addEventListener("hashchange", () => recall());
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => load());
else load();
