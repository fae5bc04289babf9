//! The dependencies: edges point forwards between known tasks, and no task ran before those it waits for.

use std::collections::{HashMap, HashSet};

use ringlane_task::TaskId;

use super::{Checks, Run};
use crate::rows::deps::{Deps, DepsEdge};
use crate::rows::swimlane::Swimlane;

pub(super) fn check(checks: &mut Checks, deps: &Deps, run: &Run) {
    let order: HashMap<TaskId, usize> =
        deps.tasks.iter().enumerate().map(|(index, task)| (task.task_id, index)).collect();
    checks.that(order.len() == deps.tasks.len(), || "a task id appears twice".to_string());
    let tensors: HashSet<_> = deps.tensors.iter().map(|tensor| tensor.tensor).collect();
    for edge in &deps.edges {
        check_edge(checks, edge, &order);
        // The reader refuses sources and hazards that are not known, and a hazard that is missing.
        checks.held(1);
        if let Some(cause) = &edge.cause {
            checks.held(1);
            let known = tensors.contains(&cause.tensor);
            checks.that(known, || format!("edge names unknown tensor {}", cause.tensor.0));
        }
    }
    let in_order = deps.tasks.is_sorted_by(|a, b| a.seq < b.seq)
        && (is_short(deps) || deps.tasks.iter().map(|task| task.seq.0).eq(0..deps.tasks.len() as u64));
    checks.that(in_order, || "tasks are not in submission order 0, 1, 2, …".to_string());
    if let Some(manifest) = run.manifest.as_ref().filter(|_| run.counts_all_tasks()) {
        let (tasks, expected) = (deps.tasks.len() as u64 + deps.dropped, manifest.tasks);
        checks.that(tasks == expected, || format!("{tasks} tasks, run.json says {expected}"));
    }
    if run.blocks().is_empty() {
        return;
    }
    check_execution(checks, deps, run, &order);
    if let Some(swimlane) = run.task_level() {
        check_task_rows(checks, deps, swimlane, run, &order);
        check_ready(checks, deps, swimlane, run);
    }
}

/// Whether tasks are missing, and with them edges.
const fn is_short(deps: &Deps) -> bool {
    deps.dropped > 0
}

fn check_edge(checks: &mut Checks, edge: &DepsEdge, order: &HashMap<TaskId, usize>) {
    let DepsEdge { pred, succ, .. } = edge;
    let places = order.get(pred).zip(order.get(succ));
    checks.that(places.is_some(), || format!("edge {pred}->{succ} names an unknown task"));
    if let Some((before, after)) = places {
        checks.that(before < after, || format!("edge {pred}->{succ} points backwards"));
    }
}

/// What ran is what was submitted, in an order that the edges allow.
fn check_execution(checks: &mut Checks, deps: &Deps, run: &Run, order: &HashMap<TaskId, usize>) {
    for DepsEdge { pred, succ, .. } in &deps.edges {
        let Some((before, after)) = run.spans.get(pred).zip(run.spans.get(succ)) else { continue };
        let (end, start) = (before.last_end, after.first_start);
        checks.that(end <= start, || {
            format!("{succ} started at {start} before its producer {pred} ended at {end}")
        });
    }
    if run.is_ok() && !run.lost_blocks() {
        for task in &deps.tasks {
            let want = u64::from(task.block_num) * task.kernels.len() as u64;
            let ran = run.spans.get(&task.task_id).map_or(0, |span| span.blocks);
            checks.that(ran == want, || format!("task {} should run {want} blocks, ran {ran}", task.task_id));
        }
    }
    for task in run.spans.keys().filter(|_| !is_short(deps)) {
        checks.that(order.contains_key(task), || format!("task {task} ran but is not in deps.json"));
    }
}

fn check_task_rows(
    checks: &mut Checks,
    deps: &Deps,
    swimlane: &Swimlane,
    run: &Run,
    order: &HashMap<TaskId, usize>,
) {
    let counts = &swimlane.head.counts;
    if !run.lost_blocks() && counts.tasks.dropped == 0 && !is_short(deps) {
        let rows: HashSet<TaskId> = swimlane.tasks.iter().map(|task| task.task_id).collect();
        let same = rows.len() == order.len() && rows.iter().all(|task| order.contains_key(task));
        let stopped = run.manifest.is_some() && !run.is_ok();
        checks.that(same || stopped, || {
            format!("the {} task rows of the swimlane do not match the {} tasks", rows.len(), order.len())
        });
    }
    let complete: HashSet<_> = deps.edges.iter().map(|edge| (edge.pred, edge.succ)).collect();
    for edge in swimlane.edges.iter().filter(|_| !is_short(deps)) {
        let (pred, succ) = (edge.pred, edge.succ);
        checks.that(complete.contains(&(pred, succ)), || {
            format!("the engine wired {pred}->{succ}, deps.json does not have it")
        });
    }
}

fn check_ready(checks: &mut Checks, deps: &Deps, swimlane: &Swimlane, run: &Run) {
    let ready: HashMap<TaskId, u64> =
        swimlane.tasks.iter().map(|task| (task.task_id, task.ready.0)).collect();
    for DepsEdge { pred, succ, .. } in &deps.edges {
        let Some((span, &ready)) = run.spans.get(pred).zip(ready.get(succ)) else { continue };
        let end = span.last_end;
        checks.that(end <= ready, || {
            format!("{succ} ready at {ready} before its producer {pred} ended at {end}")
        });
    }
}
