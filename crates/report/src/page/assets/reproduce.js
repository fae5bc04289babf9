// The command lines that make this run again, and those that dig further.

function drawReproduce() {
  const options = [];
  const params = Object.entries(manifest.params).flatMap(([name, value]) => ["--param", `${name}=${value}`]);
  const dfx = parseInt(manifest.dfx_flags, 16) || 0;
  const level = manifest.swimlane_level;
  if (dfx === 0x7f) options.push("--dfx");
  else {
    if (level) options.push(`--chip-swimlane=${level}`);
    if (dfx & 8) options.push("--dump-tensor");
    if (dfx & 16) options.push("--pmu");
    if (dfx & 32) options.push("--dep-gen");
    if (dfx & 64) options.push("--scope-stats");
  }
  const platform = manifest.platform === "cpu" ? ["--threads", String(manifest.threads)] : ["--platform", manifest.platform, ...(manifest.model?.policy ? ["--policy", manifest.model.policy] : []), ...(manifest.model?.chaos !== null && manifest.model?.chaos !== undefined ? ["--chaos", String(manifest.model.chaos)] : [])];
  const again = ["ringlane", "run", manifest.scene, "--case", manifest.case, ...platform, "--seed", String(manifest.seed), ...params, ...options];
  const dir = quoted(run.dir);
  const lines = [
    ["The same program, inputs and recording", again.map(quoted).join(" ")],
    run.timeline && ["The timeline for Perfetto and chrome://tracing", `ringlane swimlane ${dir}`],
    run.timeline && ["What the makespan was made of", `ringlane critical-path ${dir}`],
    run.timeline && ["Is the scheduler the bottleneck?", `ringlane overhead ${dir}`],
    run.scopes && ["The smallest capacities that suffice, as options", `ringlane scopes ${dir}`],
    ["Are the files true of each other?", `ringlane check ${dir}`],
  ].filter(Boolean);
  sheet(byId("reproduce"), "Reproduce", `ringlane ${manifest.ringlane}`, h("ul.commands", lines.map(([what, line]) => h("li", h("p", what), h("pre", line), copyButton(line)))));
}

function copyButton(text) {
  const button = h("button.control", { type: "button" }, "copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch { getSelection().selectAllChildren(button.previousSibling); button.textContent = "selected"; }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  return button;
}
