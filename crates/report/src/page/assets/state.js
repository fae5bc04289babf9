// The state of the view: a stretch of time, a task, a set of blocks. It is stored in the address, so that it can be
// kept and sent.

const state = {
  from: 0, to: 1, task: -1, block: -1, path: true, tall: false, picked: null,
  listeners: [],
  pending: new Set(),

  /** Changes something; listeners are notified once for each frame. */
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (state[name] !== value) { state[name] = value; state.pending.add(name); }
    }
    if (state.pending.size && !state.frame) state.frame = requestAnimationFrame(state.notify);
  },

  notify() {
    state.frame = 0;
    const changed = state.pending;
    state.pending = new Set();
    for (const listener of state.listeners) listener(changed);
  },

  on(listener) { state.listeners.push(listener); },

  /** Shows a stretch of time, no shorter than can be distinguished and no longer than the run. */
  show(from, to) {
    const least = Math.min(model.span, 20);
    let width = Math.max(least, Math.min(model.span * 1.02, to - from));
    const middle = (from + to) / 2;
    let start = middle - width / 2;
    start = Math.max(-model.span * 0.01, Math.min(model.span * 1.01 - width, start));
    state.set({ from: start, to: start + width });
  },

  fit() { state.show(0, model.span); },

  /** The middle of what is shown, or of the selected block if that is in sight. */
  center() {
    const { blocks } = model;
    const at = state.block >= 0 ? (blocks.start[state.block] + blocks.end[state.block]) / 2 : NaN;
    return at > state.from && at < state.to ? at : (state.from + state.to) / 2;
  },

  zoom(factor, at = state.center()) {
    const width = (state.to - state.from) * factor;
    const share = (at - state.from) / (state.to - state.from);
    const limited = Math.max(Math.min(model.span, 20), Math.min(model.span * 1.02, width));
    state.show(at - limited * share, at + limited * (1 - share));
  },

  pan(share) {
    const by = (state.to - state.from) * share;
    state.show(state.from + by, state.to + by);
  },

  /** Selects a task and shows where it ran, if that is not in sight; -1 selects nothing. */
  select(task, block = -1, reveal = true) {
    const own = task >= 0 ? model.blocks?.ofTask?.(task) : null;
    if (block < 0 && own?.length) block = own[0];
    state.set({ task, block });
    if (task < 0 || !reveal) return;
    const [start, end] = own?.length ? [model.blocks.start[own[0]], model.blocks.end[own[own.length - 1]]] : [model.tasks.submit?.[task] ?? model.tasks.ready?.[task] ?? 0, 0];
    const width = state.to - state.from;
    const room = Math.max(Math.max(end, start) - start, model.span / 1e6);
    if (start < state.from || start > state.to || room > width * 3 || room < width / 400) {
      const wanted = Math.min(width, Math.max(room * 40, model.span / 2000));
      state.show(start - wanted / 2, start + wanted / 2);
    }
  },
};

let rememberLater = 0;
state.on(() => {
  clearTimeout(rememberLater);
  rememberLater = setTimeout(remember, 300);
});

function remember() {
  const parts = [];
  if (state.from > 0 || state.to < model.span) parts.push(`t=${Math.max(0, Math.round(state.from))}-${Math.max(0, Math.round(state.to))}`);
  if (state.task >= 0) parts.push(`task=${taskName(state.task)}`);
  try { history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search); } catch { /* not from here */ }
}

/** Restores the state that the address holds. */
function recall(hash = location.hash) {
  const time = /[#&]t=(\d+)-(\d+)/.exec(hash);
  const task = /[#&]task=(\d+):(\d+)/.exec(hash);
  if (task) state.select(findTask(Number(task[1]), Number(task[2])), -1, !time);
  if (time) state.show(Number(time[1]), Number(time[2]));
}
