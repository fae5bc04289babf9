// Scopes and limits: how full each resource was, which came closest to full, what submits waited for, and which resource a stopped run exhausted.

const RESOURCES = { task_window: "task window", heap: "heap", dep_pool: "dependency pool", args: "arguments", tensormap: "tensor map" };
const amount = (resource, n) => (resource === "heap" || resource === "args" ? bytes(n) : count(n));

function drawScopes() {
  const section = byId("scopes");
  const scopes = run.scopes;
  if (!scopes) {
    absent(section, "Scopes and limits", noteOn("scopes"));
    return;
  }
  sheet(section, "Scopes and limits", plural(scopes.scopes, "scope"),
    scopes.fatal && fatalWords(scopes.fatal),
    h("div.limits", scopes.stores.map(storeNode)), waitWords(scopes.stores),
    scopes.sites.length > 0 && h("div", { style: { marginTop: "16px" } }, sortable(siteColumns(), scopes.sites, "closest to full")),
    h("ul.commands", { style: { marginTop: "12px" } }, h("li", h("p", manifest.status === "ok" ? "Capacities that suffice for this program" : "Capacities that suffice to get past this point"), h("pre", scopes.options), copyButton(scopes.options))));
}

function storeNode(store) {
  const share = store.capacity ? store.peak / store.capacity : 0;
  const name = `${RESOURCES[store.resource] ?? store.resource}${store.ring === null ? "" : `, ring ${store.ring}`}`;
  const need = store.need === null ? "" : `; the program needs ${amount(store.resource, store.need)}`;
  return h("div", { title: `${amount(store.resource, store.peak)} of ${amount(store.resource, store.capacity)} in use at most${need}` },
    h("div.caption", h("span", name), h("span", h("span.dim", `${amount(store.resource, store.peak)} `), percent(share))), meter(share));
}

const meter = (share) => h("div.meter" + (share >= 1 ? ".full" : share >= 0.8 ? ".near" : ""), h("i", { style: { width: `${Math.min(100, share * 100)}%` } }));

function waitWords(stores) {
  const waited = stores.filter((store) => store.waits.count > 0);
  if (!waited.length) return null;
  return h("p.note", "Submits waited: ", waited.map((store) => `${time(store.waits.ticks)} in ${plural(store.waits.count, "wait")} for the ${RESOURCES[store.resource] ?? store.resource}${store.ring === null ? "" : ` of ring ${store.ring}`}`).join("; "), ".");
}

function fatalWords(fatal) {
  return h("div.trouble", { style: { marginBottom: "14px" } },
    h("p", h("strong", `The scope at ${fatal.site}${fatal.label ? ` (${fatal.label})` : ""} exhausted the ${RESOURCES[fatal.resource] ?? fatal.resource}${fatal.ring === null ? "" : ` of ring ${fatal.ring}`}.`)),
    h("p", `${amount(fatal.resource, fatal.used)} of ${amount(fatal.resource, fatal.capacity)} were in use; ${amount(fatal.resource, fatal.need)} are needed.`));
}

const needOf = (site, resource) => site.uses.find((use) => use.resource === resource)?.need ?? 0;

function siteColumns() {
  const number = (name, value, cell = (site) => count(value(site))) => ({ name, num: true, value, cell });
  return [
    { name: "scope opened at", value: (site) => site.site, cell: (site) => [h("code", { "data-site": site.site }, site.site), site.label && h("span.dim", ` ${site.label}`)] },
    number("ring", (site) => site.ring), number("scopes", (site) => site.scopes), number("tasks", (site) => site.tasks),
    number("needs tasks", (site) => needOf(site, "task_window")), number("needs heap", (site) => needOf(site, "heap"), (site) => bytes(needOf(site, "heap"))),
    number("waited", (site) => site.waits.ticks, (site) => (site.waits.count ? h("span.bad", time(site.waits.ticks)) : h("span.dim", "\u2013"))),
    { name: "closest to full", num: true, value: (site) => site.closest_share, cell: (site) => h("div.share", h("span.dim", RESOURCES[site.closest]), meter(site.closest_share), percent(site.closest_share)) },
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
