// Another report beside this one: what moved.

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
    return other.format === run.format && other.manifest && Array.isArray(other.kernels) ? other : null;
  } catch { return null; }
}

const seconds = (of, ticks) => ticks / ((of.timeline?.hz ?? of.manifest.clock_freq_hz) || 1);

function change(before, after, lessIsBetter = true) {
  if (!before || !Number.isFinite(before) || !Number.isFinite(after)) return h("span.dim", "\u2013");
  const share = after / before - 1;
  const kind = Math.abs(share) < 0.005 ? "" : share > 0 === lessIsBetter ? ".worse" : ".better";
  return h("span.delta" + kind, `${share >= 0 ? "+" : "\u2212"}${(Math.abs(share) * 100).toFixed(1)}\u202f%`);
}

function differences(other, name) {
  const same = other.manifest.scene === manifest.scene && other.manifest.case === manifest.case;
  const program = (of) => `${of.manifest.scene} ${of.manifest.case} on ${of.manifest.platform}`;
  const timeOf = (of, ticks) => time((seconds(of, ticks)) * hz);
  const head = [
    ["makespan", run.manifest.makespan_ticks, other.manifest.makespan_ticks],
    ...(run.time && other.time ? run.time.path.map((part, at) => [`critical path: ${part.cause}`, part.ticks, other.time.path[at]?.ticks ?? 0]).filter(([, a, b]) => a || b) : []),
  ];
  const names = [...new Set([...run.kernels, ...other.kernels].map((kernel) => kernel.name))];
  const total = (of, name) => of.kernels.find((kernel) => kernel.name === name);
  const kernels = names.map((name) => ({ name, a: total(run, name), b: total(other, name) }))
    .sort((x, y) => Math.abs(seconds(other, y.b?.total ?? 0) - seconds(run, y.a?.total ?? 0)) - Math.abs(seconds(other, x.b?.total ?? 0) - seconds(run, x.a?.total ?? 0)));
  const cells = (a, b) => [h("td.num", a === undefined ? h("span.dim", "\u2013") : timeOf(run, a)), h("td.num", b === undefined ? h("span.dim", "\u2013") : timeOf(other, b)), h("td.num", change(seconds(run, a), seconds(other, b)))];
  return [
    h("p.note", "This page: ", program(run), ". The other: ", program(other), ` (${name}).`, !same && h("span.bad", " These are runs of different programs: kernels of the same name may do different work.")),
    h("div.scroll", h("table", h("thead", h("tr", h("th", ""), h("th.num", "this"), h("th.num", "other"), h("th.num", "change"))),
      h("tbody", head.map(([name, a, b]) => h("tr", h("td", name), cells(a, b)))))),
    h("div.scroll", { style: { marginTop: "14px" } }, h("table",
      h("thead", h("tr", h("th", "kernel"), h("th.num", "blocks"), h("th.num", "other"), h("th.num", "total"), h("th.num", "other"), h("th.num", "change"), h("th.num", "p50"), h("th.num", "other"), h("th.num", "change"))),
      h("tbody", kernels.map(({ name, a, b }) => h("tr", h("td", name), h("td.num", a ? count(a.count) : "\u2013"), h("td.num", b ? count(b.count) : "\u2013"), cells(a?.total, b?.total), cells(a?.p50, b?.p50)))))),
  ];
}
