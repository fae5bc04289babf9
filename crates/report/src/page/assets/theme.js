// Light and dark: as the system says, until the reader says otherwise.

const theme = {
  listeners: [],
  get name() { return document.documentElement.dataset.theme; },
  /** A variable of the style sheet. */
  color(name) {
    if (!theme.known.has(name)) theme.known.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
    return theme.known.get(name);
  },
  known: new Map(),
  /** The colours of the theme, by what they mean. */
  get colors() { return COLORS[theme.name]; },
  kernel(rank) { const { kernels } = theme.colors; return kernels[rank % kernels.length]; },
  cause(name) { return theme.colors.causes[name] ?? theme.color("ink-3"); },
  phase(name) { return theme.colors.phases[name] ?? "transparent"; },
  onchange(listener) { theme.listeners.push(listener); },
};

{
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => { try { return localStorage.getItem("ringlane-theme"); } catch { return null; } };
  const sun = "M8 4.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4M8 1v1.4M8 13.6V15M1 8h1.4M13.6 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1";
  const moon = "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8 5.6 5.6 0 1 0 13.2 9.6z";
  const button = byId("theme-button");
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    theme.known.clear();
    const dark = name === "dark";
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    const path = document.createElementNS(svg.namespaceURI, "path");
    path.setAttribute("d", dark ? sun : moon);
    svg.append(path);
    fill(button, svg);
    button.setAttribute("aria-label", dark ? "Light theme" : "Dark theme");
    button.title = dark ? "Light theme" : "Dark theme";
    theme.listeners.forEach((listener) => listener());
  };
  apply(kept() ?? (system.matches ? "dark" : "light"));
  system.addEventListener("change", () => kept() ?? apply(system.matches ? "dark" : "light"));
  button.addEventListener("click", () => {
    const name = theme.name === "dark" ? "light" : "dark";
    try { localStorage.setItem("ringlane-theme", name); } catch { /* a page from file:// may keep nothing */ }
    apply(name);
  });
}
