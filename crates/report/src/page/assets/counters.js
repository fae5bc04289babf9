// What the hardware counted, by kernel.

function drawCounters() {
  const section = byId("counters");
  const counters = run.counters;
  if (!counters?.kernels.length) {
    absent(section, "Counters", counters ? "No block has counters." : noteOn("pmu"));
    return;
  }
  const fallback = manifest.pmu?.source === "tsc";
  // A counter that the machine does not have is 0 everywhere.
  const used = counters.columns.filter((name) => counters.kernels.some((kernel) => kernel.sums[name] > 0));
  // Cycles of one unit are a share of all cycles.
  const share = (row, name) => row.ratios[`${name.replace(/_cycles$/, "")} of cycles`];
  const each = used.map((name) => ({
    name: words(name, fallback), num: true, title: `${name}: mean per block${counters.kernels.some((row) => Number.isFinite(share(row, name))) ? ", and its share of the cycles" : ""}`,
    value: (row) => row.means[name], cell: (row) => [digits(row.means[name]), Number.isFinite(share(row, name)) && h("span.dim", ` ${percent(share(row, name))}`)],
  }));
  const cycles = { name: words(CYCLES, fallback), num: true, title: `${CYCLES}: mean per block`, value: (row) => row.cycles.mean, cell: (row) => digits(row.cycles.mean) };
  const rows = counters.kernels.map((row) => ({ ...row, at: run.kernels.findIndex((kernel) => kernel.func_id === row.func_id) }));
  const title = (row) => row.kernel ?? `kernel ${row.func_id}`;
  sheet(section, "Counters", "mean per block \u00b7 " + (fallback ? "this machine has no counters: values are clock ticks" : `${manifest.pmu?.source ?? ""} group ${manifest.pmu?.group ?? ""}`),
    sortable([
      { name: "kernel", value: title, cell: (row) => h("span", row.at >= 0 && h("i.swatch", { "data-swatch": row.at, style: { background: kernelColor(row.at) } }), title(row)) },
      { name: "blocks", num: true, value: (row) => row.blocks, cell: (row) => count(row.blocks) }, cycles, ...each,
    ], rows, "blocks"));
}

/** What every block has, beside its counters. */
const CYCLES = "pmu_total_cycles";

const words = (name, fallback) => (name === CYCLES ? (fallback ? "ticks" : "cycles") : name.replace(/^pmu_/, "").replace(/_cycles$/, "").replaceAll("_", " "));
