// What would help: the experiments of `ringlane what-if`, ranked. All numbers come from replays; the page only shows them.

const GAINS_SHOWN = 8;

function drawGains() {
  const section = byId("gains");
  if (!run.gains) return section.remove();
  const { known, unknown } = run.gains;
  if (unknown) {
    absent(section, "What would help", [`${unknown.reason}; ${unknown.hint}`]);
    return;
  }
  const most = Math.max(...known.experiments.map(({ gain }) => Math.abs(gain)), 1e-9);
  const shown = known.experiments.slice(0, GAINS_SHOWN);
  const rest = known.experiments.slice(GAINS_SHOWN);
  sheet(section, "What would help", "each line is a replay of this run with one change",
    h("p.limit", known.sentence),
    h("dl.measures", measure("recorded", micros(known.baseline.recorded_us)), measure("replayed unchanged", `${micros(known.baseline.replayed_us)}, error ${signed(known.baseline.error)}`),
      measure("lower bound on these cores", `${micros(known.bound_us)}, a gain of ${signed(known.bound_gain)}`)),
    shown.length > 0 && gainsTable(shown, most),
    rest.length > 0 && h("details", h("summary", `${plural(rest.length, "more experiment")}`), gainsTable(rest, most)),
    known.notes.map((note) => h("p.note", note)));
}

const measure = (name, value) => h("div", h("dt", name), h("dd", value));
const micros = (us) => time((us * hz) / 1e6);
const signed = (share) => (share < 0 ? `\u2212${percent(-share)}` : percent(share));

function gainsTable(experiments, most) {
  const row = ({ name, makespan_us, gain, remedy }) => h("tr", { "data-experiment": name },
    h("td", { title: remedy && `against: ${remedy.lifts}` }, name), h("td.num", micros(makespan_us)),
    h("td.num", h("div.share", h("div.meter" + (gain < 0 ? ".full" : ""), h("i", { style: { width: `${(Math.abs(gain) / most) * 100}%` } })), h("span.gain", signed(gain)))));
  return h("div.scroll", h("table", h("thead", h("tr", h("th", { scope: "col" }, "experiment"), h("th.num", { scope: "col" }, "makespan"), h("th.num", { scope: "col" }, "gain"))), h("tbody", experiments.map(row))));
}
