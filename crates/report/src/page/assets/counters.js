// What the hardware counted, by kernel.

function drawCounters() {
  const section = byId("counters");
  const counters = run.counters;
  if (!counters?.kernels.length) {
    absent(section, "Counters", counters ? "No block was counted." : noteOn("pmu"));
    return;
  }
  const fallback = manifest.pmu?.source === "tsc";
  const nameOfKernel = (id) => run.kernels.findIndex((kernel) => kernel.func_id === id);
  // A counter that the machine does not have is 0 everywhere.
  const used = counters.columns.map((name, at) => ({ name, at })).filter(({ at }) => counters.kernels.some((kernel) => kernel.sums[at] > 0));
  const first = counters.columns[0];
  // Cycles of one unit are a share of all cycles.
  const share = (row, at, name) => at > 0 && /cycles/.test(name) && h("span.dim", ` ${percent(row.sums[at] / (row.sums[0] || 1))}`);
  const each = used.map(({ name, at }) => ({
    name: words(name, fallback), num: true, title: `${name}: mean of a block${at > 0 && /cycles/.test(name) ? `, and its share of ${first}` : ""}`,
    value: (row) => row.sums[at] / row.blocks, cell: (row) => [digits(row.sums[at] / row.blocks), share(row, at, name)],
  }));
  const rows = counters.kernels.map((row) => ({ ...row, at: nameOfKernel(row.func_id) }));
  const title = (row) => (row.at >= 0 ? kernelName(row.at) : `kernel ${row.func_id}`);
  sheet(section, "Counters", "mean of a block \u00b7 " + (fallback ? "this machine has no counters: ticks of its clock instead" : `${manifest.pmu?.source ?? ""} group ${manifest.pmu?.group ?? ""}`),
    sortable([
      { name: "kernel", value: title, cell: (row) => h("span", row.at >= 0 && h("i.swatch", { "data-swatch": row.at, style: { background: kernelColor(row.at) } }), title(row)) },
      { name: "blocks", num: true, value: (row) => row.blocks, cell: (row) => count(row.blocks) }, ...each,
    ], rows, "blocks"));
}

const words = (name, fallback) => (name === "pmu_total_cycles" ? (fallback ? "ticks" : "cycles") : name.replace(/^pmu_/, "").replace(/_cycles$/, "").replaceAll("_", " "));
