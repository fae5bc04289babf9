//! The swimlane: every block ran once, within the run, on a core of its kind, which did nothing else meanwhile.

use std::collections::{BTreeMap, HashMap, HashSet};

use ringlane_task::{CoreId, TaskId};

use super::{Checks, Run};
use crate::manifest::Manifest;
use crate::rows::swimlane::{BlockRow, PhaseRow, Swimlane, SwimlaneLevel, TaskRow};

pub(super) fn check(checks: &mut Checks, swimlane: &Swimlane, run: &Run) {
    let level = swimlane.head.level;
    // The reader refuses a version that is not the level's, columns that are missing or of a level above, counts that
    // do not add up or differ from the rows, and cores without a kind.
    let counted = match level {
        SwimlaneLevel::Blocks => 1,
        SwimlaneLevel::Tasks => 3,
        SwimlaneLevel::Phases => 5,
    };
    let in_head = [swimlane.head.copies.is_some(), swimlane.head.launches.is_some()];
    checks.held(counted + 4 + in_head.map(usize::from).iter().sum::<usize>());
    if let Some(manifest) = &run.manifest {
        check_head(checks, swimlane, manifest, run);
    }
    check_blocks(checks, swimlane, run.manifest.as_ref());
    check_copies(checks, swimlane, run.manifest.as_ref());
    check_launches(checks, swimlane, run.manifest.as_ref());
    check_cores(checks, swimlane);
    match level {
        SwimlaneLevel::Blocks => checks.held(3),
        SwimlaneLevel::Tasks => {
            checks.held(2);
            check_tasks(checks, swimlane);
        }
        SwimlaneLevel::Phases => {
            check_tasks(checks, swimlane);
            check_phases(checks, swimlane, run);
            check_submits(checks, swimlane);
        }
    }
}

fn check_head(checks: &mut Checks, swimlane: &Swimlane, manifest: &Manifest, run: &Run) {
    let (level, meta) = (swimlane.head.level.number(), &swimlane.head.meta);
    let expected = manifest.swimlane_level();
    checks.that(level == expected, || format!("level {level}, run.json says {expected}"));
    let same = manifest.platform == meta.platform && manifest.clock_freq_hz == meta.clock_freq_hz;
    checks.that(same, || "platform or clock differs from run.json".to_string());
    if run.is_ok() {
        let (total, expected) = (swimlane.head.counts.blocks.total(), manifest.blocks);
        checks.that(total == expected, || format!("{total} blocks in all, run.json says {expected}"));
    }
}

fn check_blocks(checks: &mut Checks, swimlane: &Swimlane, manifest: Option<&Manifest>) {
    let meta = &swimlane.head.meta;
    let kinds: HashMap<_, _> =
        meta.kernels.iter().map(|kernel| (kernel.func_id, kernel.core_type.as_str())).collect();
    let mut seen = HashSet::new();
    for block in &swimlane.blocks {
        let (core, func_id) = (block.core, block.func_id);
        checks.that(seen.insert(key(block)), || format!("{} ran twice", name(block)));
        checks.that(kinds.contains_key(&func_id), || format!("func_id {func_id} has no kernel"));
        let here = meta.core_types.get(core.0 as usize);
        checks.that(here.is_some(), || format!("core {core} out of range"));
        let order = stamps(block, swimlane.head.level);
        checks.that(order.is_sorted(), || {
            let order: Vec<_> = order.iter().map(ToString::to_string).collect();
            format!("{} has its times out of order: {}", name(block), order.join(", "))
        });
        if let Some(here) = here {
            let wants = kinds.get(&func_id).copied().unwrap_or("any");
            let fits = here == "any" || wants == "any" || here == "cpu" || here == wants;
            checks.that(fits, || format!("{wants} kernel {func_id} on {here} core {core}"));
        }
        if let Some(manifest) = manifest {
            let ticks = manifest.makespan_ticks;
            checks.that(block.end.0 <= ticks, || format!("{} outside the run's {ticks} ticks", name(block)));
        }
    }
}

fn check_copies(checks: &mut Checks, swimlane: &Swimlane, manifest: Option<&Manifest>) {
    let until = manifest.map_or(u64::MAX, |manifest| manifest.makespan_ticks);
    for copy in swimlane.head.copies.iter().flatten() {
        checks.that(copy.start <= copy.end && copy.end.0 <= until, || {
            format!("the copy of {} from {} to {} is not within the run", copy.what, copy.start, copy.end)
        });
    }
}

fn check_launches(checks: &mut Checks, swimlane: &Swimlane, manifest: Option<&Manifest>) {
    let Some(launches) = &swimlane.head.launches else { return };
    let (until, most) =
        manifest.map_or((u64::MAX, u64::MAX), |manifest| (manifest.makespan_ticks, manifest.tasks));
    let mut tasks = 0u64;
    for launch in launches {
        let times = [launch.start.0, launch.end.0, launch.wait.0, launch.settled.0, until];
        checks.that(times.is_sorted(), || {
            let [start, _, _, settled, _] = times;
            format!(
                "the launch from {start} to {settled} is not within the run, or has its times out of order"
            )
        });
        tasks = tasks.saturating_add(launch.tasks);
    }
    checks.that(tasks <= most, || format!("{tasks} tasks were launched, run.json has {most}"));
}

fn key(block: &BlockRow) -> (TaskId, u8, u32) {
    (block.task_id, block.lane, block.block.0)
}

fn name(block: &BlockRow) -> String {
    format!("block {} of task {} in lane {}", block.block, block.task_id, block.lane)
}

fn stamps(block: &BlockRow, level: SwimlaneLevel) -> Vec<u64> {
    match level {
        SwimlaneLevel::Blocks => vec![block.start.0, block.end.0],
        _ => vec![block.dispatch.0, block.start.0, block.end.0, block.finish.0],
    }
}

fn check_cores(checks: &mut Checks, swimlane: &Swimlane) {
    let mut cores: BTreeMap<CoreId, Vec<&BlockRow>> = BTreeMap::new();
    for block in &swimlane.blocks {
        cores.entry(block.core).or_default().push(block);
    }
    for (core, mut blocks) in cores {
        blocks.sort_by_key(|block| (block.start, block.end, key(block)));
        for pair in blocks.windows(2) {
            let apart = pair[0].end <= pair[1].start;
            checks.that(apart, || format!("core {core} ran {} and {} at once", name(pair[0]), name(pair[1])));
        }
    }
}

fn check_tasks(checks: &mut Checks, swimlane: &Swimlane) {
    let tasks: HashMap<TaskId, &TaskRow> = swimlane.tasks.iter().map(|task| (task.task_id, task)).collect();
    for block in &swimlane.blocks {
        let (task_id, dispatch, finish) = (block.task_id, block.dispatch, block.finish);
        let task = tasks.get(&task_id);
        let lost = swimlane.head.counts.tasks.dropped > 0;
        checks.that(task.is_some() || lost, || format!("task {task_id} has no task row"));
        let Some(task) = task else { continue };
        checks.that(task.ready <= dispatch, || {
            format!("task {task_id} dispatched at {dispatch} before ready {}", task.ready)
        });
        let reclaim = task.reclaim.unwrap_or(finish);
        checks.that(finish <= reclaim, || {
            format!("task {task_id} reclaimed at {reclaim} before it finished at {finish}")
        });
    }
}

fn check_phases(checks: &mut Checks, swimlane: &Swimlane, run: &Run) {
    // The reader refuses phases that are not known.
    checks.held(swimlane.phases.len());
    let mut threads: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for row in &swimlane.phases {
        threads.entry(row.thread).or_default().push(row);
    }
    for (thread, rows) in &mut threads {
        rows.sort_by_key(|row| (row.start, row.end, row.phase.as_str()));
        for pair in rows.windows(2) {
            checks.that(pair[0].end <= pair[1].start, || {
                let shown =
                    |row: &PhaseRow| format!("{} from {} to {}", row.phase.as_str(), row.start, row.end);
                format!("thread {thread} phases overlap: {}, {}", shown(pair[0]), shown(pair[1]))
            });
        }
    }
    let Some(manifest) = run.manifest.as_ref().filter(|_| run.is_ok()) else { return };
    let expected = swimlane.head.meta.num_scheduler_threads;
    let counts = &swimlane.head.counts;
    checks.that(counts.phases.dropped > 0 || threads.keys().copied().eq(0..expected), || {
        format!("phases of threads {:?} for {expected} scheduler threads", threads.keys())
    });
    let (submits, tasks) = (counts.submits.total(), manifest.tasks);
    let counted = submits == tasks || run.lost_blocks();
    checks.that(counted, || format!("{submits} submit rows for {tasks} tasks"));
    if manifest.platform.ends_with("sim") {
        for (thread, rows) in &threads {
            let sum: u64 = rows.iter().map(|row| row.end.0.saturating_sub(row.start.0)).sum();
            checks.that(sum == manifest.makespan_ticks, || {
                format!("phases of thread {thread} do not sum to the makespan")
            });
        }
    }
}

fn check_submits(checks: &mut Checks, swimlane: &Swimlane) {
    for row in &swimlane.submits {
        let parts = [row.stall, row.alloc, row.lookup, row.insert, row.wire];
        let sum = parts.iter().try_fold(row.start.0, |sum, part| sum.checked_add(part.0));
        checks.that(sum.is_some_and(|sum| sum <= row.end.0), || {
            let whole = row.end.0.saturating_sub(row.start.0);
            let names = ["stall", "alloc", "lookup", "insert", "wire"];
            let parts: Vec<_> =
                names.iter().zip(parts).map(|(name, part)| format!("{name} {}", part.0)).collect();
            let parts = parts.join(", ");
            format!("submit of {} takes {whole} ticks and has parts longer than itself: {parts}", row.task_id)
        });
    }
}
