// Light and dark: as the system says, until the reader says otherwise.

const theme = {
  /** Categories: no red in them, told apart by people who see few colours, readable on both papers. */
  light: ["#1f9e89", "#e19a1c", "#7b68c8", "#5aaee0", "#96a13a", "#c877ab", "#64788f", "#a8734a", "#4f9a55", "#3d5fa8", "#b59a00", "#7f7f9a"],
  dark: ["#35b79f", "#e8ac45", "#9d8ce6", "#6fbdeb", "#aab64e", "#d892bf", "#8599b0", "#c08a5e", "#6bb271", "#6f92dc", "#ccb333", "#9c9cba"],
  phases: { light: ["#5b86d6", "#7fa8e8", "#3b66b8", "#9ab4dc", "transparent"], dark: ["#6a96ea", "#8db4f2", "#4b78cf", "#5d789f", "transparent"] },
  listeners: [],
  get name() { return document.documentElement.dataset.theme; },
  /** A variable of the style sheet. */
  color(name) {
    if (!theme.known.has(name)) theme.known.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
    return theme.known.get(name);
  },
  known: new Map(),
  kernel(rank) { const all = theme[theme.name]; return all[rank % all.length]; },
  phase(place) { return theme.phases[theme.name][place] ?? theme.color("ink-3"); },
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
