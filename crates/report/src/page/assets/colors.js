// Every colour that has a meaning. Kernels have hues; causes, phases, submits, copies and the steps of calls have
// blues, greys and reds: no colour means both. Distinguishable with impaired colour vision, readable on both backgrounds.

const COLORS = {
  light: {
    kernels: ["#1f9e89", "#e19a1c", "#9257b8", "#d06fae", "#96a13a", "#a8734a", "#4f9a55", "#7c2f6b", "#7bcaa8", "#d3ab7c", "#d0a6e4", "#b59a00"],
    causes: {
      busy: "#3f4a57", scheduler: "#2f63cf", orchestrator: "#64788f", dependencies: "#cfd4d9",
      compute: "#cf3326", "wait for data": "#5aaee0", "wait for a core": "#122c66", "wait for the scheduler": "#2f63cf", "ring full": "#8c1d18", submit: "#64788f",
    },
    phases: { complete: "#5b86d6", resolve: "#7fa8e8", dispatch: "#3b66b8", reclaim: "#9ab4dc" },
    steps: { mailbox: "#b9cbe8", taken: "#5b86d6", answer: "#c9cfd6" },
    lanes: { submit: "#8793a1", copy: "#8ea3b8" },
    rings: ["#64788f", "#9ab4dc", "#3b66b8", "#5aaee0"],
    scopes: ["#dde3ea", "#cbd4de"],
  },
  dark: {
    kernels: ["#35b79f", "#e8ac45", "#b888e6", "#e08fc4", "#aab64e", "#c08a5e", "#6bb271", "#b0589a", "#8fdcbd", "#dfbc93", "#e0bdf2", "#ccb333"],
    causes: {
      busy: "#dfe5ec", scheduler: "#7ba3f7", orchestrator: "#8599b0", dependencies: "#39414a",
      compute: "#ff5f52", "wait for data": "#6fbdeb", "wait for a core": "#3d62c4", "wait for the scheduler": "#7ba3f7", "ring full": "#b3362c", submit: "#8599b0",
    },
    phases: { complete: "#6a96ea", resolve: "#8db4f2", dispatch: "#4b78cf", reclaim: "#5d789f" },
    steps: { mailbox: "#5d789f", taken: "#8db4f2", answer: "#4a525c" },
    lanes: { submit: "#8b98a8", copy: "#9db0c4" },
    rings: ["#8599b0", "#5d789f", "#8db4f2", "#4b78cf"],
    scopes: ["#323b46", "#3e4854"],
  },
};
