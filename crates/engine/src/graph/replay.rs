//! Running a graph: its tasks are there already, so a replay publishes those that follow no other and waits for all.

use crate::api::buffers::Buffers;
use crate::completion::{Executor, task_failure};
use crate::fault::{Fault, Result};
use crate::graph::Graph;
use crate::limits::RINGS;
use crate::memory::{Memory, RunMemory, Space};
use crate::observe::submitter::note_ready;
use crate::report::{Run, RunReport};
use crate::seams::{Chip, Probe};
use crate::slot::SlotIndex;
use crate::table::Table;
use crate::unwind::AbortOnUnwind;
use ringlane_task::{CoreId, RingIndex, TaskId, Ticks};

/// Replays a graph on a chip that runs the tasks of the graph's table. Returns when every task is done; the graph can be
/// replayed again, whatever happened.
///
/// # Safety
/// Nobody else replays the graph, and the chip runs each published task once. The memory of the graph's tensors is in the
/// chip's memory, and that memory and [`Chip::external`] do what they say.
pub unsafe fn replay<C: Chip, P: Probe>(
    graph: &mut Graph,
    mut chip: C,
    probe: &P,
    buffers: &mut Buffers<'_>,
) -> Run<()> {
    buffers.begin_run();
    let run = |chip: &mut C| {
        // SAFETY: the caller's promise.
        unsafe { begin(graph, chip, buffers) }?;
        graph.tape.show(&graph.table, probe);
        announce(graph, chip);
        for &root in &graph.roots {
            note_ready(probe, CoreId(0), &graph.table.slots[root.0 as usize], 0);
            chip.publish(root);
        }
        drain(&graph.table, chip);
        if probe.sees_tasks() {
            observe_rest(&graph.table, graph, probe);
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { framed(graph, &mut chip, buffers, run) }
}

/// Replays a graph on a chip that has a copy of it and runs all of its tasks itself; nothing observes it. `run` returns when
/// every task is done.
///
/// # Safety
/// As for [`replay`]; `run` runs each task once, or completes it.
pub unsafe fn replay_at_once<C: Chip>(
    graph: &mut Graph,
    mut chip: C,
    buffers: &mut Buffers<'_>,
    run: impl FnOnce(&Graph, &mut C) -> Result<()>,
) -> Run<()> {
    buffers.begin_run();
    let run = |chip: &mut C| {
        // SAFETY: the caller's promise.
        unsafe { begin(graph, chip, buffers) }?;
        run(graph, chip)
    };
    // SAFETY: the caller's promise.
    unsafe { framed(graph, &mut chip, buffers, run) }
}

/// A way to run every task of a graph on the calling thread, in submission order: nothing has to be counted or handed over.
/// For graphs whose tasks are too short to be worth moving to another thread.
pub struct InOrder<'g, C> {
    graph: &'g mut Graph,
    chip: C,
}

impl<'g, C: Chip> InOrder<'g, C> {
    /// Of this graph, on a chip that runs nothing meanwhile.
    pub fn new(graph: &'g mut Graph, chip: C) -> Self {
        InOrder { graph, chip }
    }

    /// Replays the graph; nothing observes it.
    ///
    /// # Safety
    /// As for [`replay`]; kernels may use the chip's memory on this thread.
    pub unsafe fn replay(self, buffers: &mut Buffers<'_>) -> Run<()> {
        let InOrder { graph, mut chip } = self;
        buffers.begin_run();
        let run = |chip: &mut C| {
            // SAFETY: the caller's promise.
            unsafe { begin(graph, chip, buffers) }?;
            let (core, threading, memory) = (CoreId(0), chip.threading(), chip.memory());
            let executor = Executor { table: &graph.table, probe: &(), core, threading, memory: &memory };
            for &task in &graph.tasks {
                // SAFETY: in submission order every task comes after all that it follows.
                unsafe { executor.run_in_order(task) };
            }
            Ok(())
        };
        // SAFETY: the caller's promise.
        unsafe { framed(graph, &mut chip, buffers, run) }
    }
}

/// Times a replay and settles its outcome.
///
/// # Safety
/// As for [`replay`].
unsafe fn framed<C: Chip>(
    graph: &Graph,
    chip: &mut C,
    buffers: &Buffers<'_>,
    run: impl FnOnce(&mut C) -> Result<()>,
) -> Run<()> {
    crate::panics::note_panics();
    let table = &graph.table;
    let started = chip.now();
    let unwinding = AbortOnUnwind::new();
    let begun = run(chip);
    let copied = match &begun {
        // SAFETY: every task is done.
        Ok(()) => unsafe { copy_out(table, chip, buffers) },
        Err(_) => Ok(()),
    };
    chip.end();
    unwinding.disarm();
    let totals = table.board.totals();
    let report = RunReport {
        tasks: if begun.is_ok() { graph.tasks() } else { 0 },
        blocks: totals.blocks,
        scopes: graph.tape.scope_count(),
        failed: totals.failed,
        skipped: totals.skipped,
        peak_heap_bytes: graph.plan.bytes,
        makespan_ticks: chip.now().0 - started.0,
        started_ticks: started.0,
        ..RunReport::default()
    };
    let aborted = table.aborted();
    let interrupted = table.take_interrupt().then(|| Fault::Interrupted { tasks: report.tasks }.into());
    let failure = task_failure(table);
    let result = match aborted.or(interrupted) {
        Some(fatal) => Err(fatal.beside(failure)),
        None => failure.map_or(begun.and(copied), Err),
    };
    Run { result, report }
}

/// Checks the buffers, brings them to the chip, and begins.
///
/// # Safety
/// As for [`replay`].
unsafe fn begin<C: Chip>(graph: &Graph, chip: &mut C, buffers: &Buffers<'_>) -> Result<()> {
    graph.check_buffers(buffers)?;
    let externals =
        buffers.externals().map(|buffer| chip.external(&buffer)).collect::<Result<Vec<Space>>>()?;
    // SAFETY: nobody else replays the graph, so no task of it is in use.
    unsafe { graph.table.begin_replay(externals.into_iter()) };
    if !chip.memory().host_sees() {
        // SAFETY: the run borrows the buffers, and no task uses them yet.
        unsafe { memory(&graph.table, chip).copy_buffers_in(buffers, chip) }?;
    }
    chip.begin();
    Ok(())
}

/// # Safety
/// Every task of the table is done.
unsafe fn copy_out(table: &Table, chip: &impl Chip, buffers: &Buffers<'_>) -> Result<()> {
    if chip.memory().host_sees() {
        return Ok(());
    }
    // SAFETY: the run borrows the buffers mutably, and the caller says that no task uses them.
    unsafe { memory(table, chip).copy_buffers_out(buffers, chip) }
}

/// # Safety
/// No replay begins meanwhile.
unsafe fn memory<'a, C: Chip>(table: &'a Table, chip: &'a C) -> RunMemory<'a, impl Memory + use<'a, C>> {
    // SAFETY: the caller's promise.
    RunMemory { memory: chip.memory(), spaces: unsafe { table.spaces() } }
}

/// Tells a chip that uses the graph of its tasks what follows what.
fn announce<C: Chip>(graph: &Graph, chip: &mut C) {
    if C::TIMED {
        for submit in &graph.tape.submits {
            for &predecessor in graph.tape.predecessors(submit) {
                chip.wired(graph.table.slot_named(predecessor), submit.slot);
            }
        }
    }
}

/// Waits until every task of the graph is done.
fn drain(table: &Table, chip: &mut impl Chip) {
    for ring in 0..RINGS {
        for position in 0..u64::from(table.captured_tasks(ring)) {
            while !table.is_done(ring, position) {
                chip.relax();
            }
        }
    }
}

/// What the graph holds is reclaimed, as a probe sees it, by the end of the replay.
fn observe_rest(table: &Table, graph: &Graph, probe: &impl Probe) {
    debug_assert!(graph.tasks() > 0 || table.slot_count() > 0);
    let now = if probe.sees_times() { probe.seen() } else { Ticks(0) };
    probe.reclaim_begin(now);
    for ring in 0..RINGS {
        let count = u64::from(table.captured_tasks(ring));
        probe.reclaim(TaskId::new(RingIndex(ring as u8), 0), count);
    }
    probe.reclaim_end();
}

impl<M: Memory + Copy> Executor<'_, (), M> {
    /// Runs a whole task of a graph whose predecessors are done, and passes failure on. Nothing is counted: the caller runs
    /// the tasks in submission order.
    ///
    /// # Safety
    /// Everything that the task follows is done; nobody else runs tasks of the graph.
    #[inline]
    unsafe fn run_in_order(&self, task: SlotIndex) {
        let slot = &self.table.slots[task.0 as usize];
        // SAFETY: a graph's records are written before its first replay and never change.
        let record = unsafe { slot.record() };
        if record.flags.has_inits() {
            // SAFETY: the caller holds the task.
            unsafe { self.initialize(task) };
        }
        for block in 0..record.total_blocks() {
            // SAFETY: as above; each block is run once.
            unsafe { self.run_block(task, &record, block) };
        }
        if slot.fate() != 0 || self.table.poison.any() {
            // SAFETY: as above.
            unsafe { self.settle_in_order(task, &record) };
        }
    }
}
