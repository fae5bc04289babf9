//! Captured graphs: the lists of a graph stay on the device, and a replay is one launch.
//!
//! Nothing is done for each task on the host, unless somebody observes the replay or a block fails: then tasks are settled as
//! those of a batch are.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::Arc;

use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::graph::{self, CaptureOptions, Graph};
use ringlane_engine::memory::{Memory as EngineMemory, Space};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::{Chip, External, Probe, Threading};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::table::Table;
use ringlane_task::Ticks;

use crate::batch::{Batch, Initialized};
use crate::chip::{CudaChip, Sent};
use crate::device::{Address, Answer};
use crate::encode::{encode_blocks, push};
use crate::entry::Times;
use crate::externals::{NOTHING, hull};
use crate::launcher::Outcome;
use crate::lists::Upload;
use crate::memory::DeviceMemory;
use crate::nodes::Nodes;
use crate::policy::Policy;
use crate::runtime::{CudaRuntime, Shared};

/// A graph whose lists are on the device.
pub(crate) struct Resident {
    pub(crate) table: Arc<Table>,
    revision: u64,
    blocks: u64,
    /// What its tasks may write in external buffers.
    writes: HashMap<usize, Range<u64>>,
    /// None until its first replay.
    sent: Option<Sent>,
    /// Its tasks as launches of their own, if the policy asks for that.
    nodes: Nodes,
}

impl CudaRuntime {
    /// Captures an orchestration as a graph.
    pub(crate) fn capture<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<(R, Graph)> {
        let cores = self.device().blocks() as usize;
        let options = CaptureOptions { memory_limit, ..CaptureOptions::of(&self.config, cores) };
        let memory = |bytes| {
            let memory = self.launcher.reserve(bytes)?;
            let space = Space { base: memory.at as *mut u8, bytes };
            // SAFETY: it is new, and as large.
            let zeroed = unsafe { memory_of(&self.shared).zero(space.base, bytes as usize) };
            zeroed.map_err(|error| ringlane_engine::Fault::User(format!("{error:?}")))?;
            Ok((space, Box::new(memory) as Box<dyn core::any::Any + Send + Sync>))
        };
        graph::capture(&options, site, buffers, memory, f)
    }

    /// The next run is a replay of this graph.
    pub(crate) fn bind_graph(&mut self, graph: &Graph) {
        let same = |resident: &Resident| {
            Arc::ptr_eq(&resident.table, graph.table()) && resident.revision == graph.revision()
        };
        if !self.resident.as_ref().is_some_and(same) {
            let (table, revision) = (graph.table().clone(), graph.revision());
            self.resident = Some(Resident {
                table,
                revision,
                blocks: 0,
                writes: HashMap::new(),
                sent: None,
                nodes: Nodes::default(),
            });
        }
    }

    /// Replays a graph.
    pub(crate) fn replay<P: Probe>(
        &mut self,
        graph: &mut Graph,
        buffers: &mut Buffers<'_>,
        probe: &P,
    ) -> Run<()> {
        let refused = |error| Run { result: Err(error), report: RunReport::default() };
        if let Err(error) = graph.check_cores(self.device().blocks() as usize) {
            return refused(error);
        }
        self.bind_graph(graph);
        self.shared.copies.clear();
        self.shared.launches.clear();
        let clock = self.shared.clock.clone();
        if P::WATCHES_CORES
            && let Err(error) = self.launcher.compare_clocks(|| clock.present())
        {
            return refused(error.into());
        }
        self.shared.replayed.set(Some(graph.table().clone()));
        let resident = self.resident.as_mut().expect("bound above");
        let table = graph.table().clone();
        self.externals.begin();
        let chip = CudaChip::new(&table, probe, &mut self.launcher, &mut self.externals, &self.shared);
        let mut chip = ReplayChip { chip, resident, policy: self.policy, state: Progress::Waiting };
        let prepared = chip.prepare(graph);
        let run = if let Err(error) = prepared {
            refused(error.into())
        } else if P::WATCHES {
            // SAFETY: `&mut self` and `&mut Graph`: nobody else replays it. Its memory is the device's.
            unsafe { graph::replay(graph, chip, probe, buffers) }
        } else {
            // SAFETY: as above.
            unsafe {
                graph::replay_at_once(graph, chip, buffers, |_, chip| {
                    chip.run();
                    Ok(())
                })
            }
        };
        self.externals.end(run.result.is_ok());
        self.shared.replayed.set(None);
        let report = self.complete(run.report);
        self.state.set_last_report(report.clone());
        Run { report, ..run }
    }
}

fn memory_of(shared: &Shared) -> DeviceMemory<'_> {
    DeviceMemory { device: &*shared.device, copies: &shared.copies }
}

/// How far a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Waiting,
    Done,
}

/// The chip during a replay.
struct ReplayChip<'t, 'r, P> {
    chip: CudaChip<'t, P>,
    resident: &'r mut Resident,
    policy: Policy,
    state: Progress,
}

impl<P: Probe> ReplayChip<'_, '_, P> {
    /// Lays out the lists of the graph, if they are not on the device.
    fn prepare(&mut self, graph: &Graph) -> Answer<()> {
        if self.resident.sent.is_some() { Ok(()) } else { self.send(graph) }
    }

    fn send(&mut self, graph: &Graph) -> Answer<()> {
        let mut before: HashMap<SlotIndex, Vec<u32>> = HashMap::new();
        let mut batch = Batch::new(self.chip.device.blocks());
        let mut tasks = Vec::new();
        let executor = self.chip.executor(0);
        self.resident.blocks = 0;
        self.resident.writes.clear();
        self.resident.nodes = Nodes::default();
        for &slot in graph.order() {
            // SAFETY: a graph's records never change.
            let record = unsafe { executor.record(slot) };
            let mut predecessors = before.remove(&slot).unwrap_or_default();
            predecessors.sort_unstable();
            predecessors.dedup();
            for (space, start, bytes, contents) in graph.inits(slot) {
                let init = Initialized { space, start, bytes, contents };
                let number = batch.push_init(&predecessors, &init);
                if self.policy != Policy::Lists {
                    self.resident.nodes.push_init(&predecessors, &init);
                }
                tasks.push(None);
                predecessors = vec![number];
            }
            let number = tasks.len() as u32;
            push(&mut batch, self.chip.launcher, &executor, &record, &predecessors)?;
            if self.policy != Policy::Lists {
                let encoded = encode_blocks(self.chip.launcher, &executor, &record)?;
                self.resident.nodes.push(&predecessors, record.flags.has_outputs(), &encoded);
            }
            tasks.push(Some((slot, record)));
            // SAFETY: as above.
            for (external, bytes) in unsafe { executor.external_writes(&record) } {
                let all = self.resident.writes.entry(external).or_insert(NOTHING);
                *all = hull(all, &bytes);
            }
            self.resident.blocks += u64::from(record.total_blocks());
            for successor in graph.successors(slot) {
                before.entry(successor).or_default().push(number);
            }
        }
        let lists = self.chip.launcher.upload(&batch, Upload::Now)?;
        self.resident.sent = Some(Sent { tasks, batch, lists });
        Ok(())
    }

    /// Runs the graph.
    fn run(&mut self) {
        self.state = Progress::Done;
        let Some(mut sent) = self.resident.sent.take() else { return };
        let (launched, timing) = (self.chip.clock.present(), self.chip.timing());
        let mut noted = None;
        let outcome = self.chip.spaces().and_then(|spaces| {
            if self.policy != Policy::Lists {
                return self.run_nodes(&sent, spaces);
            }
            // SAFETY: the spaces and the graph's memory stay until the replay has ended; tasks that conflict wait for each
            // other's flags.
            let started = unsafe { self.chip.launcher.start(&mut sent.lists, spaces, timing) }?;
            // Initializations of memory are no tasks of the run.
            let tasks = sent.tasks.iter().flatten().count();
            let waits_from = self.chip.clock.present();
            noted = Some((self.chip.launches.launched(tasks, launched, waits_from), waits_from));
            self.chip.launcher.finish(&sent.lists, started, timing)
        });
        let is_ok = outcome.is_ok();
        match outcome {
            Ok(outcome) if !outcome.is_halted() && !P::WATCHES => {
                self.chip.executor(0).pass_blocks(self.resident.blocks);
            }
            outcome => self.chip.settle_outcome(&sent, outcome, launched),
        }
        if let Some((noted, waits_from)) = noted {
            self.chip.launches.settled(noted, waits_from, self.chip.clock.present());
        }
        // After an error the next replay lays it out again: its kernels may not be in the program.
        self.resident.sent = is_ok.then_some(sent);
    }

    /// Runs the graph with a launch for each task.
    fn run_nodes(&mut self, sent: &Sent, spaces: Address) -> Answer<Outcome> {
        let (nodes, timing) = (&mut self.resident.nodes, self.chip.timing());
        // SAFETY: the spaces and the graph's memory stay until the replay has ended; the nodes are ordered as tasks are.
        let mut of_blocks =
            unsafe { self.chip.launcher.run_nodes(nodes, self.policy, spaces, timing) }?.into_iter();
        let mut outcome = Outcome::default();
        if of_blocks.len() > 0 {
            // By the numbers of entries, as settling expects them.
            outcome.times = vec![Times::default(); sent.lists.entries()];
            for place in (0..sent.tasks.len() as u32).flat_map(|task| sent.batch.places_of(task)) {
                outcome.times[sent.lists.number_of(place) as usize] = of_blocks.next().unwrap_or_default();
            }
        }
        Ok(outcome)
    }

    /// Runs every task alone, in submission order: values are captured, or the run was stopped.
    fn run_alone(&mut self, sent: &Sent) {
        self.state = Progress::Done;
        sent.tasks.iter().flatten().for_each(|&(slot, _)| self.chip.run_alone(slot));
    }
}

impl<P: Probe> Chip for ReplayChip<'_, '_, P> {
    fn memory(&self) -> impl EngineMemory {
        self.chip.memory()
    }

    fn external(&mut self, buffer: &External) -> Result<Space> {
        self.chip.external(buffer)
    }

    fn holds(&self, external: usize) -> bool {
        self.chip.holds(external)
    }

    fn written(&self, external: usize) -> Range<u64> {
        self.resident.writes.get(&external).cloned().unwrap_or(NOTHING)
    }

    fn publish(&mut self, _: SlotIndex) {}

    fn relax(&mut self) {
        if self.state == Progress::Done {
            return;
        }
        if self.chip.runs_alone()
            && let Some(sent) = self.resident.sent.take()
        {
            self.run_alone(&sent);
            self.resident.sent = Some(sent);
            return;
        }
        self.run();
    }

    fn now(&self) -> Ticks {
        self.chip.now()
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}
