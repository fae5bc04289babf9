// The layout of the swimlane's rows: groups from top to bottom, each a heading and its lanes, or one lane that represents
// all of them while the group is closed.

const GUTTER = 150;
const RULER = 24;
const HEADING = 19;
/** Lanes as high as this have their names beside them. */
const NAMED = 11;

const rows = { list: [], height: 0 };

/** Groups that are shown: the critical path only while it is on. */
const shownGroups = () => groups.filter((group) => group.key !== "path" || state.path);

/** The largest height of a canvas. */
const CANVAS_MAX = 12000;

/** Places all rows. Lanes get as high as there is room for, so that 100 of them are still seen at once. */
function placeRows(room) {
  const fixed = RULER + shownGroups().reduce((sum, group) => sum + (group.single ? 22 : 8 + (group.open ? 0 : 26)), 0);
  const workerLanes = shownGroups().reduce((sum, group) => sum + (group.open && group.laneHeight ? group.lanes.length * group.laneHeight + HEADING : 0), 0);
  const lanes = shownGroups().reduce((sum, group) => sum + (group.open && !group.single && !group.laneHeight ? group.lanes.length * weight(group) : 0), 0);
  const unit = Math.min(Math.max(state.tall ? 16 : 4.5, Math.min(20, (room - fixed - workerLanes) / Math.max(1, lanes))), CANVAS_MAX / Math.max(1, lanes));
  let y = RULER;
  rows.list = [];
  for (const group of shownGroups()) {
    if (group.single) {
      rows.list.push({ group, lane: group.lanes[0], y: y + 3, height: 16, named: true });
      y += 22;
      continue;
    }
    group.y = y;
    if (group.open) {
      const height = group.laneHeight ?? Math.floor(unit * weight(group) * 2) / 2;
      // Lanes too low for names of their own leave the room beside them to the group's.
      const beside = height < NAMED && height * group.lanes.length >= HEADING - 6;
      if (!beside) y += HEADING;
      else if (height * group.lanes.length < HEADING) group.y -= 3;
      for (const lane of group.lanes) {
        rows.list.push({ group, lane, y, height });
        y += height;
      }
    } else {
      rows.list.push({ group, lane: null, y, height: 26 });
      y += 26;
    }
    y += 8;
  }
  rows.height = y;
}

/** Scopes are nested and few: they take half of what a core takes where there are many cores. */
const weight = (group) => (group.key === "scopes" ? 0.8 : 1);

/** The row at a height, as the canvas counts it. */
const rowAt = (y) => rows.list.find((row) => y >= row.y && y < row.y + row.height);

/** The row of a lane, or of its closed group. */
const rowOf = (lane) => rows.list.find((row) => row.lane === lane) ?? rows.list.find((row) => row.lane === null && row.group.lanes.includes(lane));

/** The lane of a core. */
function laneOfCore(core) {
  for (const group of groups) for (const lane of group.lanes) if (lane.core === core) return lane;
  return null;
}

/** A canvas as large as it is shown, in the pixels of the screen. */
function sized(canvas, width, height) {
  const ratio = Math.min(2, devicePixelRatio || 1);
  const [w, ht] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== ht) {
    canvas.width = w;
    canvas.height = ht;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
