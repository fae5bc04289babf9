// Where time went: two bars, each a whole.

const TIME_COLORS = {
  busy: () => theme.kernel(0), scheduler: () => theme.color("accent"), orchestrator: () => theme.kernel(6), dependencies: () => theme.color("line-2"),
  "compute": () => theme.color("red"), "wait for data": () => theme.kernel(3), "wait for a core": () => theme.kernel(1),
  "wait for the scheduler": () => theme.color("accent"), "ring full": () => theme.kernel(5), "submit": () => theme.kernel(6),
};
const TIME_WORDS = {
  busy: "blocks ran", scheduler: "a block was ready, the core idle", orchestrator: "the next task was not submitted yet", dependencies: "nothing could run",
};

function drawTime() {
  const section = byId("time");
  if (!run.time) {
    absent(section, "Where time went", !run.timeline ? noteOn("swimlane") : manifest.blocks > 0 && manifest.swimlane_level < 2 ? ["This needs swimlane level 2: ", h("code", "--chip-swimlane=2"), "."] : "No block ran.");
    return;
  }
  const { kinds, verdict, path } = run.time;
  const cores = kinds.length > 0
    ? [whole(kinds), kinds.length > 1 && h("div.legend.byKind", kinds.map((kind) =>
        h("span.dim", `${kind.cores} ${kind.kind}: `, h("b", percent(kind.parts[0].share)), " busy")))]
    : h("p.absent", "Core time needs swimlane level 2: ", h("code", "--chip-swimlane=2"), ".");
  sheet(section, "Where time went", verdict && h("b", { title: verdict.sentence }, verdict.limit),
    h("div.bars",
      h("figure", h("figcaption.caption", h("span", "Core time of all cores"), h("span.dim", `${manifest.cores} \u00d7 ${time(manifest.makespan_ticks)}`)), cores),
      h("figure", h("figcaption.caption", h("span", "Critical path by cause"), h("span.dim", time(manifest.makespan_ticks))), stack(path))));
}

/** The parts of all kinds together. */
function whole(kinds) {
  const names = kinds[0].parts.map((part) => part.name);
  const all = kinds.reduce((sum, kind) => sum + kind.parts.reduce((sum, part) => sum + part.ticks, 0), 0) || 1;
  return stack(names.map((name, at) => {
    const ticks = kinds.reduce((sum, kind) => sum + kind.parts[at].ticks, 0);
    return { name, ticks, share: ticks / all };
  }));
}

function stack(parts) {
  const shown = parts.filter((part) => part.share > 0);
  const label = (part) => `${part.name}: ${percent(part.share)}, ${time(part.ticks)}${TIME_WORDS[part.name] ? ` (${TIME_WORDS[part.name]})` : ""}`;
  return [
    h("div.stack", { role: "img", "aria-label": shown.map(label).join("; ") }, shown.map((part) =>
      h("span", { title: label(part), style: { flex: `${part.share} 0 0`, background: TIME_COLORS[part.name]?.() ?? theme.color("ink-3"),
        color: part.name === "dependencies" ? theme.color("ink-2") : theme.name === "dark" ? "#0d1013" : "#fff" } },
        part.share > 0.07 ? percent(part.share) : ""))),
    h("div.legend", shown.map((part) => h("span", { title: label(part) },
      h("i.swatch", { style: { background: TIME_COLORS[part.name]?.() ?? theme.color("ink-3") } }), part.name, h("b", percent(part.share))))),
  ];
}
