// Where time went: a bar for each kind of core and one for the critical path, each a whole.

const TIME_WORDS = {
  busy: "running blocks", scheduler: "idle while a block could run", orchestrator: "idle while the next task was not yet submitted", dependencies: "idle because no block could run",
};

function drawTime() {
  const section = byId("time");
  if (!run.time) {
    absent(section, "Where time went", !run.timeline ? noteOn("swimlane") : manifest.blocks > 0 && manifest.swimlane_level < 2 ? ["This needs swimlane level 2: ", h("code", "--chip-swimlane=2"), "."] : "No block ran.");
    return;
  }
  const { verdict } = run.time;
  const kinds = run.time.kinds.map((kind) => ({ ...kind, parts: partsOf(kind) }));
  const path = run.time.path.map((part) => ({ ...part, name: part.cause }));
  const cores = kinds.length > 0
    ? kinds.length === 1 ? [bar(kinds[0].parts), legend(kinds[0].parts)] : [kinds.map(kindBar), legend(namesOf(kinds))]
    : h("p.absent", "Core time needs swimlane level 2: ", h("code", "--chip-swimlane=2"), ".");
  sheet(section, "Where time went", verdict && [h("b", { title: verdict.sentence }, verdict.limit), ` \u00b7 what helps: ${verdict.remedy}`],
    h("div.bars",
      h("figure", h("figcaption.caption", h("span", kinds.length > 1 ? `Time of ${run.node ? "workers" : "cores"} by kind` : "Core time of all cores"), h("span.dim", `${manifest.cores} \u00d7 ${time(manifest.makespan_ticks)}`)), cores),
      h("figure", h("figcaption.caption", h("span", "Critical path by cause"), h("span.dim", time(manifest.makespan_ticks))), bar(path), legend(path))));
}

/** The parts of a kind's core time, with how much core time each is. */
const partsOf = (kind) => Object.keys(TIME_WORDS).map((name) => ({ name, share: kind.core_time[name], ticks: kind.core_time[name] * kind.cores * manifest.makespan_ticks }));

/** The bar of one kind of core, between its name and how busy it was. */
function kindBar(kind) {
  return h("div.kind", { "data-kind": kind.kind }, h("span", run.node ? plural(kind.cores, kind.kind) : `${count(kind.cores)} ${kind.kind}`), bar(kind.parts), h("span.num", h("b", percent(kind.parts[0].share)), " busy"));
}

/** The parts that any kind has, for one legend of all bars. */
const namesOf = (kinds) => kinds[0].parts.filter((_, at) => kinds.some((kind) => kind.parts[at].share > 0)).map(({ name }) => ({ name }));

const partWords = (part) => `${part.name}: ${percent(part.share)}, ${time(part.ticks)}${TIME_WORDS[part.name] ? ` (${TIME_WORDS[part.name]})` : ""}`;

function bar(parts) {
  const shown = parts.filter((part) => part.share > 0);
  return h("div.stack", { role: "img", "aria-label": shown.map(partWords).join("; ") }, shown.map((part) =>
    h("span", { title: partWords(part), style: { flex: `${part.share} 0 0`, background: theme.cause(part.name), color: inkOn(part.name) } }, part.share > 0.07 ? percent(part.share) : "")));
}

/** What is readable on the colour of a part. */
function inkOn(name) {
  if (name === "dependencies") return theme.color("ink-2");
  return theme.name === "dark" ? "#0d1013" : "#fff";
}

function legend(parts) {
  return h("div.legend", parts.filter((part) => part.share !== 0).map((part) => h("span", { title: "share" in part ? partWords(part) : TIME_WORDS[part.name] },
    h("i.swatch", { "data-cause": part.name, style: { background: theme.cause(part.name) } }), part.name, "share" in part && h("b", percent(part.share)))));
}
