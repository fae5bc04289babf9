//! Putting a timeline together from the swimlane's rows and the dependencies' skeleton.

use std::collections::HashMap;
use std::ops::Range;

use ringlane_task::{Seq, TaskId, Ticks};
use ringlane_trace::swimlane::{
    BlockRow, EdgeRow, KernelRow, SubmitRow, Swimlane, SwimlaneCounts, SwimlaneHead, SwimlaneLevel,
    SwimlaneMeta,
};

use super::{EdgeOrigin, Edges, TaskIds, TaskIndex, TaskLife, Timeline};
use crate::CoreKind;
use crate::bound::Placement;

/// The dependencies' tasks and edges, and nothing else of them.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    /// Every task, with its place in the order of submission.
    pub tasks: Vec<(Seq, TaskId)>,
    /// Which task waits for which.
    pub edges: Vec<(TaskId, TaskId)>,
    /// The names that submits gave to tasks.
    pub labels: Vec<(TaskId, String)>,
    /// Tasks whose rows were lost.
    pub lost: u64,
}

impl Timeline {
    /// The timeline of a run that recorded none: a clock, how long the run was, and nothing else.
    pub fn unrecorded(clock_freq_hz: u64, makespan: u64) -> Self {
        let meta = SwimlaneMeta { clock_freq_hz, ..SwimlaneMeta::default() };
        let counts = SwimlaneCounts::default();
        let head = SwimlaneHead { level: SwimlaneLevel::Blocks, meta, counts, copies: None, launches: None };
        let rows = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (blocks, tasks, edges, phases, submits) = rows;
        let nothing = Swimlane { head, blocks, tasks, edges, phases, submits };
        Timeline::new(nothing, None, makespan).expect("nothing agrees with nothing")
    }

    /// The timeline of a swimlane and, if they were recorded, the dependencies. The error says how the two disagree.
    pub fn new(swimlane: Swimlane, skeleton: Option<Skeleton>, makespan: u64) -> Result<Self, String> {
        let Swimlane { head, mut blocks, tasks: rows, edges, mut phases, submits } = swimlane;
        let lost_tasks = skeleton.as_ref().map_or(0, |skeleton| skeleton.lost);
        // A task that both files lost is one task.
        let lost_rows = lost_tasks.max(head.counts.tasks.dropped);
        let cores = kinds_of(&head.meta.core_types)?;
        if let Some(block) = blocks.iter().find(|block| block.core.0 as usize >= cores.len()) {
            return Err(format!("a block ran on core {}, and there are {}", block.core, cores.len()));
        }
        let order = match &skeleton {
            _ if head.level > SwimlaneLevel::Blocks => {
                rows.iter().map(|row| (row.seq, row.task_id)).collect()
            }
            Some(skeleton) => skeleton.tasks.clone(),
            None => order_of_starts(&blocks),
        };
        let (mut tasks, ids) = tasks_of(order, &blocks, lost_rows)?;
        for row in rows {
            if let Some(task) = ids.find(row.task_id) {
                (tasks[task.at()].ready, tasks[task.at()].reclaim) = (Some(row.ready), row.reclaim);
            }
        }
        give_submits(&mut tasks, submits, &ids, lost_rows)?;
        mark_wired(&mut tasks, &edges, &ids, &head);
        let positions = |task: TaskId| ids.find(task).expect("every block's task has a position");
        blocks.sort_by_cached_key(|block| (positions(block.task_id), block.start, block.lane, block.block));
        give_blocks(&mut tasks, &blocks, &ids);
        let mut labels = HashMap::new();
        let (edge_origin, named) = match skeleton {
            Some(Skeleton { edges, labels: given, .. }) => {
                labels.extend(given.into_iter().filter_map(|(task, label)| Some((ids.find(task)?, label))));
                (EdgeOrigin::Dependencies, edges)
            }
            None if head.level > SwimlaneLevel::Blocks => {
                (EdgeOrigin::Engine, edges.iter().map(|edge| (edge.pred, edge.succ)).collect())
            }
            None => (EdgeOrigin::Nowhere, Vec::new()),
        };
        let edges = Edges::new(tasks.len(), pairs_of(&named, &ids, lost_rows)?);
        phases.sort_by_key(|phase| (phase.thread, phase.start, phase.end));
        let mut kernels = head.meta.kernels;
        kernels.sort_by_key(|kernel| kernel.func_id);
        let placements = kernels.iter().map(|kernel| placement_of(kernel, &cores)).collect();
        Ok(Timeline {
            platform: head.meta.platform,
            level: head.level,
            makespan: Ticks(blocks.iter().map(|block| block.end.0).fold(makespan, u64::max)),
            clock_freq_hz: head.meta.clock_freq_hz,
            cores,
            core_to_thread: head.meta.core_to_thread,
            scheduler_threads: head.meta.num_scheduler_threads,
            kernels,
            tasks,
            blocks,
            phases,
            copies: head.copies.unwrap_or_default(),
            edges,
            edge_origin,
            counts: head.counts,
            lost_tasks: lost_rows,
            labels,
            ids,
            placements,
        })
    }
}

/// Gives each task what its submit took.
fn give_submits(
    tasks: &mut [TaskLife],
    submits: Vec<SubmitRow>,
    ids: &TaskIds,
    lost_rows: u64,
) -> Result<(), String> {
    for row in submits {
        match ids.find(row.task_id) {
            Some(task) => tasks[task.at()].submit = Some(row),
            None if lost_rows > 0 => {}
            None => return Err(format!("task {} was submitted and is none", row.task_id)),
        }
    }
    Ok(())
}

fn placement_of(kernel: &KernelRow, cores: &[CoreKind]) -> Placement {
    let wanted = CoreKind::from_name(&kernel.core_type);
    wanted.filter(|kind| cores.contains(kind)).map_or(Placement::Anywhere, Placement::On)
}

fn kinds_of(names: &[String]) -> Result<Vec<CoreKind>, String> {
    let kind = |name: &String| CoreKind::from_name(name).ok_or_else(|| format!("a core of kind {name:?}"));
    names.iter().map(kind).collect()
}

/// Without other information, tasks are in the order in which they started.
fn order_of_starts(blocks: &[BlockRow]) -> Vec<(Seq, TaskId)> {
    let mut starts: Vec<_> = blocks.iter().map(|block| (block.start, block.task_id)).collect();
    starts.sort_unstable();
    let mut seen = std::collections::HashSet::new();
    let firsts = starts.into_iter().map(|(_, task)| task).filter(|&task| seen.insert(task));
    firsts.zip(0..).map(|(task, seq)| (Seq(seq), task)).collect()
}

/// Tasks in the order of submission, and where each is. Tasks whose rows were lost come after the others.
fn tasks_of(
    mut order: Vec<(Seq, TaskId)>,
    blocks: &[BlockRow],
    lost: u64,
) -> Result<(Vec<TaskLife>, TaskIds), String> {
    order.sort_unstable();
    let twice = |task| format!("task {task} appears twice");
    let ids = TaskIds::new(order.iter().map(|&(_, task)| task)).map_err(twice)?;
    let mut unknown: Vec<_> =
        blocks.iter().map(|block| block.task_id).filter(|&task| ids.find(task).is_none()).collect();
    let ids = match unknown.first() {
        None => ids,
        Some(task) if lost == 0 => return Err(format!("task {task} ran and was not submitted")),
        Some(_) => {
            unknown.sort_unstable();
            unknown.dedup();
            order.extend(unknown.into_iter().map(|task| (Seq(u64::MAX), task)));
            TaskIds::new(order.iter().map(|&(_, task)| task)).map_err(twice)?
        }
    };
    if u32::try_from(order.len()).is_err() {
        return Err(format!("{} tasks are more than 32-bit positions can number", order.len()));
    }
    let task = |(seq, task_id)| TaskLife { task_id, seq, ..TaskLife::default() };
    Ok((order.into_iter().map(task).collect(), ids))
}

/// Sets which blocks are each task's own; blocks are in the order of tasks.
fn give_blocks(tasks: &mut [TaskLife], blocks: &[BlockRow], ids: &TaskIds) {
    let mut first = 0;
    for chunk in blocks.chunk_by(|a, b| a.task_id == b.task_id) {
        let end = first + chunk.len() as u32;
        if let Some(task) = ids.find(chunk[0].task_id) {
            tasks[task.at()].blocks = Range { start: first, end };
        }
        first = end;
    }
}

/// Sets for each task whether the engine made it wait; at level 1, and where edges were lost, any task may have waited.
fn mark_wired(tasks: &mut [TaskLife], edges: &[EdgeRow], ids: &TaskIds, head: &SwimlaneHead) {
    if head.level == SwimlaneLevel::Blocks || head.counts.edges.dropped > 0 {
        tasks.iter_mut().for_each(|task| task.is_wired = true);
    }
    for task in edges.iter().filter_map(|edge| ids.find(edge.succ)) {
        tasks[task.at()].is_wired = true;
    }
}

/// Edges between positions. One that names a task whose row was lost is left out.
fn pairs_of(
    named: &[(TaskId, TaskId)],
    ids: &TaskIds,
    lost: u64,
) -> Result<Vec<(TaskIndex, TaskIndex)>, String> {
    let mut pairs = Vec::with_capacity(named.len());
    for &(pred, succ) in named {
        match (ids.find(pred), ids.find(succ)) {
            (Some(before), Some(after)) if before < after => pairs.push((before, after)),
            _ if lost > 0 => {}
            (Some(_), Some(_)) => return Err(format!("an edge leads from task {pred} back to {succ}")),
            _ => return Err(format!("an edge leads from task {pred} to {succ}, and one is none")),
        }
    }
    Ok(pairs)
}
