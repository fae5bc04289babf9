// What to look at first; a click goes there.

function drawFindings() {
  const section = byId("findings");
  if (!run.findings.length) {
    absent(section, "Findings", run.timeline ? "Nothing stands out." : ["There is no timeline to say more; ", h("code", "--chip-swimlane"), " records one."]);
    return;
  }
  const kinds = { problem: "problem", costly: "warning", fact: "" };
  sheet(section, "Findings", "what to look at first", h("ol", run.findings.map((finding) =>
    h("li", h("button.finding." + (kinds[finding.severity] || "fact"), { type: "button", "data-target": Object.keys(finding.target)[0], onclick: () => follow(finding.target) },
      h("span.mark", { title: finding.severity }), h("span", finding.text), h("span.go", "show \u2192"))))));
}

/** Goes to what a finding is about. */
function follow(target) {
  const [kind, value] = Object.entries(target)[0];
  if (kind === "section") return reveal(value);
  if (kind === "site") {
    reveal("scopes");
    return highlightSite(value);
  }
  reveal("timeline");
  if (kind === "range") { const pad = Math.max(1, (value[1] - value[0]) * 0.08); state.show(value[0] - pad, value[1] + pad); }
  if (kind === "task") state.select(findTask(value.ring, value.local));
  if (kind === "kernel") {
    const kernel = run.kernels.findIndex((kernel) => kernel.func_id === value);
    if (kernel >= 0) pickKernel(kernel);
  }
}

function reveal(id) {
  const section = byId(id);
  section.scrollIntoView({ block: "start" });
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
}
