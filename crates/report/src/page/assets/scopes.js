// Scopes and limits: how full everything was, who came closest, who waited, and what a run that stopped ran out of.

const RESOURCES = { task_window: "task window", heap: "heap", dep_pool: "dependency pool", args: "arguments", tensormap: "tensor map", fanin: "fan-in of a task" };
const amount = (resource, n) => (resource === "heap" || resource === "args" ? bytes(n) : count(n));

function drawScopes() {
  const section = byId("scopes");
  const scopes = run.scopes;
  if (!scopes) {
    absent(section, "Scopes and limits", noteOn("scopes"));
    return;
  }
  const used = scopes.limits.filter((limit) => limit.peak > 0);
  sheet(section, "Scopes and limits", plural(scopes.count, "scope"),
    scopes.fatal && fatalWords(scopes.fatal),
    h("div.limits", used.map(limitNode)), stallWords(scopes.stalls),
    scopes.by_site.length > 0 && h("div", { style: { marginTop: "16px" } }, sortable(siteColumns(), scopes.by_site, "closest to full")));
}

function limitNode(limit) {
  const share = limit.capacity ? limit.peak / limit.capacity : 0;
  const name = `${RESOURCES[limit.resource] ?? limit.resource}${limit.ring === undefined ? "" : `, ring ${limit.ring}`}`;
  return h("div", { title: `${amount(limit.resource, limit.peak)} of ${amount(limit.resource, limit.capacity)}` },
    h("div.caption", h("span", name), h("span", h("span.dim", `${amount(limit.resource, limit.peak)} `), percent(share))), meter(share));
}

const meter = (share) => h("div.meter" + (share >= 1 ? ".full" : share >= 0.8 ? ".near" : ""), h("i", { style: { width: `${Math.min(100, share * 100)}%` } }));

function stallWords(stalls) {
  if (!stalls.length) return null;
  return h("p.note", "Submits waited: ", stalls.map((stall) => `${time(stall.ticks)} in ${plural(stall.count, "wait")} for the ${RESOURCES[stall.resource] ?? stall.resource}${stall.ring === undefined ? "" : ` of ring ${stall.ring}`}`).join("; "), ".");
}

function fatalWords(fatal) {
  return h("div.trouble", { style: { marginBottom: "14px" } },
    h("p", h("strong", `The scope of ${fatal.site} ran out of ${RESOURCES[fatal.resource] ?? fatal.resource}${fatal.ring === undefined ? "" : ` on ring ${fatal.ring}`}.`)),
    h("p", `${amount(fatal.resource, fatal.used)} of ${amount(fatal.resource, fatal.capacity)} were in use; ${amount(fatal.resource, fatal.need)} suffice. `, h("code", "ringlane scopes"), " gives options to paste."));
}

function siteColumns() {
  const share = (site) => (site.closest.capacity ? site.closest.peak / site.closest.capacity : 0);
  const number = (name, value, cell = (site) => count(value(site))) => ({ name, num: true, value, cell });
  return [
    { name: "scope opened at", value: (site) => site.site, cell: (site) => h("code", { "data-site": site.site }, site.site) },
    number("ring", (site) => site.ring), number("scopes", (site) => site.count), number("tasks", (site) => site.tasks),
    number("open for", (site) => site.ticks, (site) => time(site.ticks)),
    number("needs tasks", (site) => site.need[0]), number("needs heap", (site) => site.need[1], (site) => bytes(site.need[1])),
    number("waited", (site) => site.stall_ticks, (site) => (site.stalls ? h("span.bad", time(site.stall_ticks)) : h("span.dim", "\u2013"))),
    { name: "closest to full", num: true, value: share, cell: (site) => h("div.share", h("span.dim", RESOURCES[site.closest.resource]), meter(share(site)), percent(share(site))) },
  ];
}

function highlightSite(site) {
  const cell = [...document.querySelectorAll("[data-site]")].find((cell) => cell.dataset.site === site);
  const row = cell?.closest("tr");
  if (!row) return;
  row.scrollIntoView({ block: "center" });
  row.style.background = theme.color("accent-soft");
  setTimeout(() => { row.style.background = ""; }, 2500);
}
