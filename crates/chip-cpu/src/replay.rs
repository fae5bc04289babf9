//! Captured graphs on this machine's cores.
//!
//! A graph has a table of its own. Its replay is a mode of the threads, like an observed run: they leave the table of streamed
//! runs and run the tasks of the graph's. A graph of tasks that are too short to be worth moving is run by the calling thread
//! alone, in submission order: nothing is counted, queued or handed over.

use std::sync::Arc;
use std::time::Instant;

use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::graph::{self, CaptureOptions, Graph, InOrder};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::{Probe, Threading};
use ringlane_engine::table::Table;
use ringlane_task::CoreId;

use crate::cpu_thread::{CpuThread, Tasks};
use crate::grain::FINE_NS;
use crate::mode::Generation;
use crate::ready::ReadyQueue;
use crate::runtime::{CpuRuntime, OnDrop, name_thread};

/// The graph that a runtime is about to replay, or has replayed last.
pub(crate) struct Bound {
    pub(crate) table: Arc<Table>,
    /// A queue for each thread, once several of them run the graph.
    queues: Vec<ReadyQueue>,
}

impl CpuRuntime {
    /// Captures an orchestration as a graph.
    pub(crate) fn capture<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<(R, Graph)> {
        let cores = self.threads() as usize;
        let options = CaptureOptions { memory_limit, ..CaptureOptions::of(&self.config, cores) };
        let captured = graph::capture(&options, site, buffers, graph::host_memory, f)?;
        captured.1.table().set_pace(self.shared.table.pace().cloned().unwrap_or_default());
        Ok(captured)
    }

    /// The next run is a replay of this graph.
    pub(crate) fn bind_graph(&mut self, graph: &Graph) {
        if !self.bound.as_ref().is_some_and(|bound| Arc::ptr_eq(&bound.table, graph.table())) {
            self.bound = Some(Bound { table: graph.table().clone(), queues: Vec::new() });
        }
    }

    /// Replays a graph.
    pub(crate) fn replay<P: Probe>(
        &mut self,
        graph: &mut Graph,
        buffers: &mut Buffers<'_>,
        probe: &P,
    ) -> Run<()> {
        if let Err(error) = graph.check_cores(self.threads() as usize) {
            return Run { result: Err(error), report: RunReport::default() };
        }
        self.bind_graph(graph);
        self.shared.replayed.set(Some(graph.table().clone()));
        name_thread(graph.table(), 0);
        let fine = graph.mean_task_ns().is_some_and(|ns| ns < FINE_NS);
        let alone = !P::WATCHES && (fine || self.shared.threading == Threading::Single);
        let run = if alone {
            self.replay_alone(graph, buffers)
        } else {
            self.replay_together(graph, buffers, probe)
        };
        self.shared.replayed.set(None);
        let report = self.complete(run.report);
        self.state.set_last_report(report.clone());
        Run { report, ..run }
    }

    /// Runs every task on this thread, in submission order.
    fn replay_alone(&mut self, graph: &mut Graph, buffers: &mut Buffers<'_>) -> Run<()> {
        let (start, tasks) = (Instant::now(), graph.tasks().max(1));
        let chip = CpuThread::new(&self.shared, &(), 0);
        // SAFETY: `&mut self` and `&mut Graph`: nobody else replays it, and the threads are on the table of streamed runs,
        // which has no tasks. The graph was captured for host memory.
        let run = unsafe { InOrder::new(graph, chip).replay(buffers) };
        let mean = start.elapsed().as_nanos() / u128::from(tasks);
        graph.set_mean_task_ns(mean.min(u128::from(u32::MAX)) as u32);
        run
    }

    /// Runs the tasks on all threads.
    fn replay_together<P: Probe>(
        &mut self,
        graph: &mut Graph,
        buffers: &mut Buffers<'_>,
        probe: &P,
    ) -> Run<()> {
        if let Err(error) = self.prepare_queues(graph) {
            return Run { result: Err(error), report: RunReport::default() };
        }
        let (shared, helpers) = (self.shared.clone(), self.helpers.len());
        let bound = self.bound.as_ref().expect("bound before the replay");
        let tasks = Tasks { table: &bound.table, queues: &bound.queues };
        let work = |core, generation: Generation| {
            name_thread(tasks.table, core);
            CpuThread::on(tasks, &shared, probe, core).work(generation);
        };
        let wake = || shared.wake_all();
        let mode = shared.modes.observed(helpers, &work, &wake);
        probe.enter(CoreId(0));
        let leave = OnDrop(|| probe.leave(CoreId(0)));
        let chip = CpuThread::on(tasks, &shared, probe, 0);
        // SAFETY: nobody else replays the graph, and threads run each published task once. The graph was captured for host
        // memory.
        let run = unsafe { graph::replay(graph, chip, probe, buffers) };
        drop(leave);
        drop(mode);
        graph.set_mean_task_ns(shared.grain.task_ns());
        run
    }

    /// A queue for each thread that holds every task of the graph.
    fn prepare_queues(&mut self, graph: &Graph) -> Result<()> {
        let (threads, slots) = (self.threads(), graph.table().slot_count());
        let bound = self.bound.as_mut().expect("bound before the replay");
        if bound.queues.is_empty() {
            bound.queues = (0..threads).map(|_| ReadyQueue::new(slots)).collect::<Result<_>>()?;
        }
        Ok(())
    }
}
