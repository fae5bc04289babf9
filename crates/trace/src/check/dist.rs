//! The calls of a node's workers: each of a task that there is, its times in order, one at a time on a worker, and each
//! run that one left where the node's run.json lists it, ended as the call did.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use ringlane_task::TaskId;

use super::{Checks, Run};
use crate::error::TraceError;
use crate::manifest::{ChildRun, FILE_NAME as RUN_JSON, Manifest, RunStatus};
use crate::rows::dist::{CallRow, CallStatus, ChipSpan, Dist, WorkerIndex};

/// How far the rates of two processes' clocks, each measured by its process, may differ: one part in this many.
const RATE_ERROR: u64 = 1000;

pub(super) fn check(checks: &mut Checks, dir: &Path, dist: &Dist, run: &Run) {
    // The reader refuses counts that do not add up or differ from the rows, workers that share a name, and rows of
    // workers or callables that there are not.
    checks.held(3);
    if let Some(manifest) = &run.manifest {
        check_head(checks, dist, manifest);
        check_listed(checks, dist, manifest);
    }
    let tasks = run.deps.as_ref().filter(|deps| deps.dropped == 0);
    let tasks: Option<HashSet<TaskId>> =
        tasks.map(|deps| deps.tasks.iter().map(|task| task.task_id).collect());
    for call in &dist.calls {
        check_steps(checks, dist, call);
        check_order(checks, dist, call);
        if let Some(chip) = &call.chip() {
            let own = call.dir.as_deref().and_then(|below| Manifest::read(dir.join(below)).ok());
            check_chip(checks, dist, call, chip, own.as_ref());
        }
        let task = call.task_id;
        if let Some(tasks) = &tasks {
            checks.that(tasks.contains(&task), || {
                format!("{} is of task {task}, which is none", name(dist, call))
            });
        }
        if run.swimlane.is_some() && !run.lost_blocks() && call.status == CallStatus::Ok {
            let ran = run.spans.contains_key(&task);
            checks.that(ran, || format!("{} ended well, and task {task} has no block", name(dist, call)));
        }
    }
    check_workers(checks, dist);
}

/// The runs that run.json lists: each is there, and ended as the node saw it.
pub(super) fn check_children(checks: &mut Checks, dir: &Path, children: &[ChildRun]) {
    for child in children {
        let (below, status) = (&child.dir, child.status.as_str());
        let path = child.path_in(dir);
        checks.that(path.is_some(), || format!("it lists {below}, which does not exist"));
        let Some(path) = path else { continue };
        let found = match Manifest::read(path) {
            Ok(manifest) => Some(manifest.status),
            // What is wrong with a manifest is reported where the child itself is checked.
            Err(error) if !matches!(error, TraceError::NoManifest { .. }) => continue,
            Err(_) => None,
        };
        let agrees = match (child.status, found) {
            // A worker that was stopped may have come as far as writing it.
            (CallStatus::Died | CallStatus::Late, _) => true,
            (CallStatus::Ok, found) => found == Some(RunStatus::Ok),
            // A callable may fail over what its run has left, and the run be well.
            (CallStatus::Failed, found) => found.is_some(),
        };
        checks.that(agrees, || match found {
            Some(found) => {
                format!("{below} is listed as {status}, its own {RUN_JSON} says {}", found.as_str())
            }
            None => format!("{below} is listed as {status} and has no {RUN_JSON}"),
        });
    }
}

fn name(dist: &Dist, call: &CallRow<'_>) -> String {
    format!("call {} of {}", call.seq, dist.worker(call).name)
}

fn check_head(checks: &mut Checks, dist: &Dist, manifest: &Manifest) {
    let meta = &dist.head.meta;
    let same = manifest.platform == meta.platform && manifest.clock_freq_hz == meta.clock_freq_hz;
    checks.that(same, || "platform or clock differs from run.json".to_string());
    let (ticks, expected) = (meta.makespan.0, manifest.makespan_ticks);
    checks.that(ticks == expected, || format!("a makespan of {ticks} ticks, run.json says {expected}"));
    checks.that(meta.level >= 3, || format!("level {} is not a node's", meta.level));
}

/// Calls that left a directory are the children of run.json; where calls were lost, children may be more.
fn check_listed(checks: &mut Checks, dist: &Dist, manifest: &Manifest) {
    let key = |worker: &str, seq, task: TaskId, status: CallStatus| (worker.to_string(), seq, task, status);
    let listed: BTreeMap<&str, _> = manifest
        .children
        .iter()
        .map(|child| (child.dir.as_str(), key(&child.worker, child.seq, child.task_id, child.status)))
        .collect();
    let mut called = HashSet::new();
    for call in &dist.calls {
        let Some(dir) = call.dir.as_deref() else { continue };
        checks.that(called.insert(dir), || format!("two calls have the directory {dir}"));
        let own = key(&dist.worker(call).name, call.seq.0, call.task_id, call.status);
        checks.that(listed.get(dir) == Some(&own), || {
            format!("{} left {dir}, which run.json does not list so", name(dist, call))
        });
    }
    if dist.head.counts.dropped == 0 {
        let unknown: Vec<_> = listed.keys().filter(|dir| !called.contains(**dir)).collect();
        checks.that(unknown.is_empty(), || format!("run.json lists {unknown:?}, which no call wrote"));
    }
}

/// What has to have happened for what did.
fn check_steps(checks: &mut Checks, dist: &Dist, call: &CallRow<'_>) {
    let [sent, accepted, run, end, done] = call.steps().map(|(_, ticks)| ticks.is_some());
    let follows = (sent || !accepted) && (accepted || !run) && (run || !end);
    checks.that(follows, || format!("{} has a step without the one before", name(dist, call)));
    let status = call.status;
    let complete = match status {
        CallStatus::Ok => end && done,
        CallStatus::Failed => done,
        CallStatus::Died | CallStatus::Late => true,
    };
    checks.that(complete, || format!("{} ended as {status} without having come so far", name(dist, call)));
}

/// Stamps of one process are in order; those of two are, up to the error of the worker's clock.
fn check_order(checks: &mut Checks, dist: &Dist, call: &CallRow<'_>) {
    let worker = dist.worker(call);
    let by_worker = |step: &str| matches!(step, "accepted" | "run" | "end");
    let known = call.steps().into_iter().filter_map(|(step, ticks)| Some((step, ticks?.0)));
    let steps: Vec<(&str, u64)> = [("submit", call.submit.0)].into_iter().chain(known).collect();
    for pair in steps.windows(2) {
        let [(before, early), (after, late)] = [pair[0], pair[1]];
        let slack =
            if by_worker(before) == by_worker(after) { 0 } else { worker.clock_error_ticks.unwrap_or(0) };
        checks.that(early <= late.saturating_add(slack), || {
            format!("{} has {before} at {early} after {after} at {late}", name(dist, call))
        });
    }
    let until = dist.head.meta.makespan.0;
    let (step, last) = *steps.last().unwrap_or(&("submit", 0));
    let slack = if by_worker(step) { worker.clock_error_ticks.unwrap_or(0) } else { 0 };
    checks.that(last <= until.saturating_add(slack), || {
        format!("{} has {step} at {last}, outside the run's {until} ticks", name(dist, call))
    });
}

/// A chip's run is within its call, and is as long as it says itself.
fn check_chip(checks: &mut Checks, dist: &Dist, call: &CallRow<'_>, chip: &ChipSpan, own: Option<&Manifest>) {
    let start = chip.start.0;
    let within = call.run.is_none_or(|run| run.0 <= start) && call.end.is_none_or(|end| start <= end.0);
    checks.that(within, || format!("the run of {} began at {start}, outside the call", name(dist, call)));
    let Some(own) = own else { return };
    let same = (own.makespan_ticks, own.clock_freq_hz) == (chip.ticks, chip.freq_hz);
    checks.that(same, || {
        let (ticks, hz) = (own.makespan_ticks, own.clock_freq_hz);
        format!(
            "the run of {} has another length than its run.json, {ticks} ticks of {hz} Hz",
            name(dist, call)
        )
    });
    let (Some(end), false) = (call.end, own.has_model_time()) else { return };
    let meta = &dist.head.meta;
    let took = u128::from(chip.ticks) * u128::from(meta.clock_freq_hz) / u128::from(chip.freq_hz.max(1));
    let room = u128::from(end.0.saturating_sub(start));
    let slack = room / u128::from(RATE_ERROR) + 1;
    checks.that(took <= room + slack, || {
        format!("the run of {} took {took} ticks, but only {room} were left", name(dist, call))
    });
}

/// A mailbox holds one call: the next is sent when the one before was done.
fn check_workers(checks: &mut Checks, dist: &Dist) {
    let mut workers: BTreeMap<WorkerIndex, Vec<&CallRow<'_>>> = BTreeMap::new();
    for call in &dist.calls {
        workers.entry(call.worker).or_default().push(call);
    }
    for calls in workers.values_mut() {
        calls.sort_by_key(|call| call.seq);
        for pair in calls.windows(2) {
            let [before, after] = [pair[0], pair[1]];
            checks.that(before.seq < after.seq, || format!("{} appears twice", name(dist, after)));
            let freed = before.done.or(before.sent).unwrap_or(before.submit);
            checks.that(after.sent.is_none_or(|sent| freed <= sent), || {
                format!("{} was sent before call {} was done", name(dist, after), before.seq)
            });
        }
    }
}
