// The workers of a node: how well their clocks are known, and the runs they made.

const KINDS_OF_WORKER = { chip: "one chip", function: "functions", node: "a node" };

function drawWorkers() {
  const section = byId("workers");
  if (!run.node) {
    const note = run.notes.find((note) => note.about === "dist");
    section.hidden = !note;
    if (note) absent(section, "Workers", noteOn("dist"));
    return;
  }
  const { workers, runs, runs_total: total } = run.node;
  const about = `level ${run.node.level} \u00b7 ${plural(workers.length, "worker")} \u00b7 all times on the node's clock`;
  sheet(section, "Workers", about, clockTable(workers), runs.length > 0 && runTable(runs, total), stretchWords(runs));
}

/** A signed time. */
const offsetText = (ticks) => (ticks === 0 ? "0" : `${ticks > 0 ? "+" : "\u2212"}${time(Math.abs(ticks))}`);

function clockTable(workers) {
  const head = (name, title, num = true) => h(num ? "th.num" : "th", { scope: "col", title }, name);
  return h("div.scroll", h("table", h("thead", h("tr",
    head("worker", "", false), head("process", "The last one, if the worker was restarted"), head("calls"), head("ran", "Share of the makespan spent in callables"),
    head("in the mailbox", "Median time until the worker accepted a call"), head("clock offset", "The value to add to its clock to get the node's"),
    head("offset error", "Half of the shortest measured round trip"), head("restarts"))),
  h("tbody", workers.map((worker) => h("tr",
    h("td", h("span", { style: { paddingLeft: `${worker.depth * 18}px` } }, worker.name), h("span.dim", ` ${KINDS_OF_WORKER[worker.kind] ?? worker.kind}`)),
    h("td.num", String(worker.pid)), h("td.num", count(worker.calls), worker.bad > 0 && h("span.bad", `, ${count(worker.bad)} not ok`)),
    h("td.num", h("div.share", h("div.meter", h("i", { style: { width: `${Math.min(100, (worker.busy / Math.max(1, manifest.makespan_ticks)) * 100)}%` } })), percent(worker.busy / Math.max(1, manifest.makespan_ticks)))),
    h("td.num", worker.waited === null ? "\u2013" : time(worker.waited)), h("td.num", offsetText(worker.offset)), h("td.num", worker.error === null ? "\u2013" : `\u00b1\u202f${time(worker.error)}`),
    h(worker.restarts ? "td.num.bad" : "td.num", count(worker.restarts)))))));
}

function runTable(runs, total) {
  const head = (name, title, num = true) => h(num ? "th.num" : "th", { scope: "col", title }, name);
  return [h("h3.below", `Runs of the workers${total > runs.length ? `, the first ${count(runs.length)} of ${count(total)}` : ""}`),
    h("div.scroll.tall", h("table.runs", h("thead", h("tr",
      head("directory", "A link if the run has its own page", false), head("program", "", false), head("on", "", false), head("began at"), head("took", "On the node's clock"),
      head("by its own clock"), head("stretched", "Seconds on the node's clock per second of the model"), head("blocks"))),
    h("tbody", runs.map((one) => h("tr",
      h("td", one.report ? h("a", { href: one.report.split("/").map(encodeURIComponent).join("/") }, one.dir) : h("code", one.dir), one.status !== "ok" && h("span.bad", ` ${one.status}`)),
      one.own ? [h("td", `${one.own.scene} `, h("span.dim", one.own.case)), h("td", one.own.platform), h("td.num", h("button.link", { type: "button", title: "Show it", onclick: () => showRun(one) }, time(one.start))),
        h("td.num", time(one.end - one.start)), h("td.num", time(one.own.seconds * hz)), h("td.num", one.stretch ? `\u00d7\u202f${digits(one.stretch)}` : "\u2013"), h("td.num", count(one.own.blocks), one.problem && h("span.dim", " not shown"))]
        : h("td", { colspan: "7" }, h("span.dim", one.problem ?? "")))))))];
}

function showRun(one) {
  reveal("timeline");
  zoomTo(one.start, one.end);
}

function stretchWords(runs) {
  const problem = runs.filter((one) => one.own && one.problem);
  return [
    runs.some((one) => one.stretch) && h("p.note", "A modelled chip has virtual time: its run is stretched to the duration of its call, by the factor above. Compare lengths on its lanes with each other, not with those of another worker."),
    problem.length > 0 && h("p.note", `Not shown on the lanes: ${problem.slice(0, 3).map((one) => `${one.dir} (${one.problem})`).join(", ")}${problem.length > 3 ? ` and ${plural(problem.length - 3, "more run")}` : ""}.`),
  ];
}
