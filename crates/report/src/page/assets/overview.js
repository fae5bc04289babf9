// Three small charts over the whole run; dragging across them chooses what the swimlane shows.

const overview = { charts: [], brush: null };

function overviewNode() {
  if (!run.overview) return null;
  const { busy, ready, rings } = run.overview;
  // One for each kind of core: shares of different totals do not go into one chart.
  const charts = busy.map((one) => ({ label: `busy ${busy.length > 1 ? manyOf(one.name) : run.node ? "workers" : "cores"}`, height: busy.length > 1 ? 26 : 40, top: 1,
    format: (v) => percent(v), stacked: false, series: [{ ...one, color: () => theme.cause("busy") }] }));
  if (ready) charts.push({ label: "ready tasks", height: 26, series: [{ name: "ready", values: ready, color: () => theme.color("accent") }], format: digits });
  if (rings.length) charts.push({ label: "tasks in rings", about: rings.map((s) => s.name).join(", "), height: 26, format: digits, stacked: true,
    series: rings.map((s, at) => ({ ...s, color: () => theme.colors.rings[at % 4] })) });
  overview.charts = charts;
  overview.brush = h("div.brush");
  overview.canvas = h("canvas", { role: "img", "aria-label": charts.map((chart) => `${chart.label}: ${chartWords(chart)}`).join("; ") });
  overview.area = h("div.charts", overview.canvas, overview.brush);
  const labels = charts.map((chart) => h("div.label", { style: { height: chart.height + 6 + "px" } }, h("b", chart.label), h("span", chartWords(chart))));
  brushing(overview.area);
  return h("div.overview", h("div", labels), overview.area);
}

function chartWords(chart) {
  const most = peakOf(chart);
  return chart.top ? chart.series.map((s) => `mean ${percent(s.values.reduce((a, b) => a + b, 0) / s.values.length)}`).join(" \u00b7 ") : `peak ${count(Math.ceil(most - 1e-9))}`;
}

function peakOf(chart) {
  let most = 0;
  const bins = chart.series[0].values.length;
  for (let bin = 0; bin < bins; bin += 1) {
    const values = chart.series.map((s) => s.values[bin]);
    most = Math.max(most, chart.stacked ? values.reduce((a, b) => a + b, 0) : Math.max(...values));
  }
  return most;
}

function drawOverview() {
  if (!overview.canvas) return;
  const width = overview.area.clientWidth;
  const height = overview.charts.reduce((sum, chart) => sum + chart.height + 6, 0);
  const context = sized(overview.canvas, width, height);
  let y = 0;
  for (const chart of overview.charts) {
    context.fillStyle = theme.color("sunken");
    context.fillRect(0, y, width, chart.height);
    const top = chart.top ?? (peakOf(chart) || 1);
    const below = new Float64Array(chart.series[0].values.length);
    for (const series of chart.series) {
      area(context, series, below, { y, width, height: chart.height, top, stacked: chart.stacked });
    }
    y += chart.height + 6;
  }
}

function area(context, series, below, { y, width, height, top, stacked }) {
  const bins = series.values.length;
  const at = (bin, value) => [(bin + 0.5) * (width / bins), y + height - Math.min(1, value / top) * (height - 1)];
  context.beginPath();
  context.moveTo(0, y + height);
  const upper = [];
  for (let bin = 0; bin < bins; bin += 1) {
    const value = series.values[bin] + (stacked ? below[bin] : 0);
    upper.push(at(bin, value));
    context.lineTo(...upper[bin]);
  }
  context.lineTo(width, y + height);
  for (let bin = bins - 1; stacked && bin >= 0; bin -= 1) context.lineTo(...at(bin, below[bin]));
  context.closePath();
  context.fillStyle = series.color();
  context.globalAlpha = stacked ? 0.75 : 0.28;
  context.fill();
  context.globalAlpha = 1;
  if (stacked) { for (let bin = 0; bin < bins; bin += 1) below[bin] += series.values[bin]; return; }
  context.beginPath();
  upper.forEach((point, place) => (place ? context.lineTo(...point) : context.moveTo(...point)));
  context.strokeStyle = series.color();
  context.lineWidth = 1.2;
  context.stroke();
}

function drawBrush() {
  if (!overview.brush) return;
  const share = (moment) => Math.max(0, Math.min(1, moment / model.span));
  const [left, right] = [share(state.from), share(state.to)];
  overview.brush.hidden = left <= 0 && right >= 1;
  Object.assign(overview.brush.style, { left: `${left * 100}%`, width: `max(3px, ${(right - left) * 100}%)` });
}

/** Dragging chooses a stretch; dragging within the brush moves it. */
function brushing(area) {
  let drag = null;
  const moment = (event) => {
    const box = area.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * model.span;
  };
  area.addEventListener("pointerdown", (event) => {
    area.setPointerCapture(event.pointerId);
    const at = moment(event);
    const inside = !overview.brush.hidden && at > state.from && at < state.to;
    drag = { at, x: event.clientX, moves: inside, from: state.from, to: state.to };
  });
  area.addEventListener("pointermove", (event) => {
    if (!drag || Math.abs(event.clientX - drag.x) < 3) return;
    const at = moment(event);
    if (drag.moves) state.show(drag.from + at - drag.at, drag.to + at - drag.at);
    else state.show(Math.min(at, drag.at), Math.max(at, drag.at));
  });
  area.addEventListener("pointerup", (event) => {
    if (drag && Math.abs(event.clientX - drag.x) < 3) {
      const width = state.to - state.from;
      state.show(drag.at - width / 2, drag.at + width / 2);
    }
    drag = null;
  });
  area.addEventListener("dblclick", () => state.fit());
}
