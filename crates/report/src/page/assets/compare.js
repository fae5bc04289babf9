// Another report beside this one: what changed. Each page has a summary of its run; here they are only shown side by side.

function drawCompare() {
  const section = byId("compare");
  const input = h("input", { type: "file", accept: ".html,text/html", id: "compare-file", "aria-label": "A second report" });
  input.addEventListener("change", () => input.files[0] && compareWith(input.files[0]));
  const result = h("div", { id: "compare-result", "aria-live": "polite" });
  sheet(section, "Compare", "drop a second report.html anywhere on this page, or choose it", h("div.choose", input), result);
  for (const name of ["dragover", "drop", "dragleave"]) addEventListener(name, (event) => dropping(event));
}

function dropping(event) {
  if (event.type !== "dragleave" && [...(event.dataTransfer?.types ?? [])].includes("Files")) event.preventDefault();
  byId("drop").hidden = event.type !== "dragover";
  if (event.type === "drop" && event.dataTransfer.files[0]) compareWith(event.dataTransfer.files[0]);
}

async function compareWith(file) {
  const result = byId("compare-result");
  const other = await readReport(file);
  if (!other) {
    fill(result, h("p.bad", `${file.name} is not a ringlane report, or was written by a version that this page does not know.`));
    return reveal("compare");
  }
  fill(result, differences(other, file.name));
  reveal("compare");
}

/** The data of another report, or null. The page is parsed and never run. */
async function readReport(file) {
  const text = await file.text();
  const start = text.indexOf('<script type="application/json" id="run">');
  const end = text.indexOf("<" + "/script>", start);
  if (start < 0 || end < 0) return null;
  try {
    const other = JSON.parse(text.slice(text.indexOf(">", start) + 1, end));
    return other.format === run.format && other.manifest && Array.isArray(other.summary?.settings) ? other : null;
  } catch { return null; }
}

function change(before, after) {
  if (!before || !Number.isFinite(before) || !Number.isFinite(after)) return h("span.dim", "\u2013");
  const share = after / before - 1;
  const kind = Math.abs(share) < 0.005 ? "" : share > 0 ? ".worse" : ".better";
  return h("span.delta" + kind, `${share >= 0 ? "+" : "\u2212"}${(Math.abs(share) * 100).toFixed(1)}\u202f%`);
}

/** What differs between the settings of two runs, in words. */
function settingsChanged(a, b) {
  const [before, after] = [a, b].map((of) => new Map(of.settings.map(({ name, value }) => [name, value])));
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${name} ${before.get(name) ?? "unset"} and ${after.get(name) ?? "unset"}`);
}

/** The kernels of both runs by name, those that changed most first. */
function kernelsOfBoth(a, b) {
  const [before, after] = [a, b].map((of) => new Map((of.kernels ?? []).map((kernel) => [kernel.kernel, kernel])));
  const changed = ({ a, b }) => Math.abs((b?.total_us ?? 0) - (a?.total_us ?? 0));
  return [...new Set([...before.keys(), ...after.keys()])].map((name) => ({ name, a: before.get(name), b: after.get(name) }))
    .sort((x, y) => changed(y) - changed(x));
}

/** The two summaries, which insight computed, side by side. */
function differences(other, name) {
  const [a, b] = [run.summary, other.summary];
  const program = (of) => `${of.manifest.scene} ${of.manifest.case} on ${of.manifest.platform}`;
  const same = a.scene === b.scene && a.case === b.case;
  const changed = settingsChanged(a, b);
  const number = (value, show) => h("td.num", Number.isFinite(value) ? show(value) : h("span.dim", "\u2013"));
  const microseconds = (us) => time((us * hz) / 1e6);
  const cells = (a, b) => [number(a, microseconds), number(b, microseconds), h("td.num", change(a, b))];
  const path = a.critical_path && b.critical_path ? a.critical_path.map(({ cause, us }, at) => [`critical path: ${cause}`, us, b.critical_path[at]?.us]) : [];
  const head = [["makespan", a.makespan_us, b.makespan_us], ["wall", a.wall_us, b.wall_us], ...path.filter(([, a, b]) => a || b)];
  return [
    h("p.note", "This page: ", program(run), ". The other: ", program(other), ` (${name}).`, !same && h("span.bad", " These are runs of different programs: kernels of the same name may do different work.")),
    changed.length > 0 && h("p.note", `The runs differ: ${changed.join("; ")}.`),
    h("div.scroll", h("table", h("thead", h("tr", h("th", ""), h("th.num", "this"), h("th.num", "other"), h("th.num", "change"))),
      h("tbody", head.map(([name, a, b]) => h("tr", h("td", name), cells(a, b)))))),
    h("div.scroll", { style: { marginTop: "14px" } }, h("table",
      h("thead", h("tr", h("th", "kernel"), h("th.num", "blocks"), h("th.num", "other"), h("th.num", "total"), h("th.num", "other"), h("th.num", "change"), h("th.num", "mean"), h("th.num", "other"), h("th.num", "change"))),
      h("tbody", kernelsOfBoth(a, b).map(({ name, a, b }) => h("tr", h("td", name), number(a?.blocks, count), number(b?.blocks, count), cells(a?.total_us, b?.total_us), cells(a?.mean_us, b?.mean_us)))))),
  ];
}
