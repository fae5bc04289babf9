//! The runtime on a modelled chip: a table, a chip's description, and runs.

use core::panic::Location;
use std::collections::HashSet;
use std::sync::Arc;

use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::graph::{self, CaptureOptions, Graph};
use ringlane_engine::orchestrator::State;
use ringlane_engine::remote::ReplayedTable;
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::Probe;
use ringlane_engine::slowdown::Slowdown;
use ringlane_engine::table::Table;
use ringlane_engine::{Fault, Result, session};
use ringlane_task::{CallConfig, Capacities, ChipSpec, ConfigError};

use crate::chaos::Chaos;
use crate::chip::SimChip;
use crate::core::CoreKind;
use crate::cost::{BlockCosts, CostModel, CostTable};
use crate::machine::Machine;
use crate::pmu::PmuModel;
use crate::policy::PolicyName;
use crate::spec;
use crate::time::SimClock;
use crate::totals::Totals;

/// Options of a modelled chip.
#[derive(Clone, Debug, Default)]
pub struct SimOptions {
    /// The policy that chooses which ready task runs next.
    pub policy: PolicyName,
    /// The seed from which faults are drawn; `None` injects no faults.
    pub chaos: Option<u64>,
    /// Durations of blocks, recorded on another chip.
    pub costs: Option<CostTable>,
}

/// How a chip is modelled.
#[derive(Debug)]
pub(crate) struct ModelledChip {
    pub(crate) spec: ChipSpec,
    costs: CostModel,
    pub(crate) pmu: Option<PmuModel>,
    pub(crate) options: SimOptions,
    pub(crate) clock: SimClock,
}

impl ModelledChip {
    /// The chip, about to run the tasks of a table.
    fn machine<'t, P: Probe>(&'t self, table: &'t Table, probe: &'t P) -> Machine<'t, P> {
        let ModelledChip { spec, costs, options, clock, pmu } = self;
        let policy = options.policy.make(table.slot_count(), spec.clusters);
        let mut machine = Machine::new(table, probe, spec, costs, clock.clone(), policy);
        machine.chaos = options.chaos.map(|seed| Chaos::new(seed, spec.cores()));
        machine.pmu = pmu.as_ref();
        machine
    }
}

/// Runs orchestrations on a modelled chip, on the calling thread. It can be reused after any outcome.
#[derive(Debug)]
pub struct SimRuntime {
    pub(crate) table: Arc<Table>,
    pub(crate) state: State,
    pub(crate) chip: ModelledChip,
    pub(crate) totals: Totals,
    pub(crate) config: CallConfig,
    /// The table of the graph that was replayed last, until a streamed run begins.
    pub(crate) bound: Option<Arc<Table>>,
    pub(crate) replayed: Arc<ReplayedTable>,
    /// Edges that a replay of a recording does without.
    dropped_edges: Option<Arc<HashSet<(u64, u64)>>>,
}

impl SimRuntime {
    /// A runtime with the capacities, clusters and control threads of `config`.
    pub fn new(spec: &ChipSpec, config: &CallConfig, options: SimOptions) -> Result<Self> {
        config.validate().map_err(Fault::Config)?;
        let spec = in_use(spec, config)?;
        let table = Table::new(&Capacities::of(config), spec.cores() as usize)?;
        let (state, clock) = (State::new(&table), SimClock::new(spec.counter_hz));
        let costs = CostModel::new(&spec).with_table(options.costs.clone());
        let chip = ModelledChip { spec, costs, pmu: None, options, clock };
        Ok(SimRuntime {
            table: Arc::new(table),
            state,
            chip,
            totals: Totals::default(),
            config: *config,
            bound: None,
            replayed: Arc::default(),
            dropped_edges: None,
        })
    }

    /// The description of the chip.
    pub fn spec(&self) -> &ChipSpec {
        &self.chip.spec
    }

    /// The options of the runtime.
    pub fn options(&self) -> &SimOptions {
        &self.chip.options
    }

    /// Makes kernels slower.
    pub fn slow_down(&mut self, slowdowns: &[Slowdown]) {
        self.chip.costs.slow_down(slowdowns);
    }

    /// Replays a recorded run from now on: blocks take as long as these, and no values are computed.
    pub fn replay_recorded(&mut self, costs: Arc<BlockCosts>) {
        self.chip.costs.replay(costs);
    }

    /// Leaves out edges between tasks, by their places in submission order. Only a replay can: values would be wrong.
    pub fn drop_edges(&mut self, edges: Arc<HashSet<(u64, u64)>>) {
        self.dropped_edges = Some(edges).filter(|edges| self.chip.costs.is_replay() && !edges.is_empty());
    }

    /// The kind of each core.
    pub fn core_kinds(&self) -> impl Iterator<Item = CoreKind> + '_ {
        (0..self.chip.spec.cores()).map(|core| crate::machine::kind_of(&self.chip.spec, core))
    }

    /// The scheduler of each core.
    pub fn core_threads(&self) -> Vec<u32> {
        let mut threads = vec![0; self.chip.spec.cores() as usize];
        for thread in 0..self.chip.spec.schedulers {
            threads[crate::machine::share_of(&self.chip.spec, thread)].fill(thread);
        }
        threads
    }

    /// Runs an orchestration on these buffers. Returns when all tasks are done.
    #[track_caller]
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.run_at(Location::caller(), buffers, &(), f)
    }

    /// Like [`run`](Self::run), with a probe, and with `site` as the source location of the root scope.
    pub fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.bound = None;
        let table = self.table.clone();
        let mut totals = Totals::default();
        let chip = SimChip::new(self.chip.machine(&table, probe), &mut totals, self.dropped_edges.as_deref());
        // SAFETY: `&mut self` excludes another run on this table; the last run left no task; the machine runs each
        // task once.
        let run = unsafe { session::run(&table, &mut self.state, chip, probe, site, buffers, f) };
        self.totals = totals;
        Run { report: self.complete(run.report), ..run }
    }

    /// Captures an orchestration as a graph.
    pub(crate) fn capture<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<(R, Graph)> {
        let cores = self.chip.spec.cores() as usize;
        let options = CaptureOptions { memory_limit, ..CaptureOptions::of(&self.config, cores) };
        graph::capture(&options, site, buffers, graph::host_memory, f)
    }

    /// Replays a graph: the schedulers work without an orchestrator.
    pub(crate) fn replay<P: Probe>(
        &mut self,
        graph: &mut Graph,
        buffers: &mut Buffers<'_>,
        probe: &P,
    ) -> Run<()> {
        if let Err(error) = graph.check_cores(self.chip.spec.cores() as usize) {
            return Run { result: Err(error), report: RunReport::default() };
        }
        let table = graph.table().clone();
        self.bound = Some(table.clone());
        self.replayed.set(Some(table.clone()));
        let mut totals = Totals::default();
        let chip = SimChip::new(self.chip.machine(&table, probe), &mut totals, None);
        // SAFETY: `&mut Graph`: nobody else replays it; the machine runs each task once. The graph was captured for host
        // memory, where the chip's memory is modelled.
        let run = unsafe { graph::replay(graph, chip, probe, buffers) };
        self.totals = totals;
        self.replayed.set(None);
        let report = self.complete(run.report);
        self.state.set_last_report(report.clone());
        Run { report, ..run }
    }

    /// Adds to a report what the engine does not know.
    pub(crate) fn complete(&self, report: RunReport) -> RunReport {
        RunReport { clock_freq_hz: self.chip.clock.freq_hz(), cores: self.chip.spec.cores(), ..report }
    }

    /// The totals of the last run.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }
}

/// The part of a chip that a configuration uses.
fn in_use(spec: &ChipSpec, config: &CallConfig) -> Result<ChipSpec> {
    if let Some(problem) = spec::problem(spec) {
        return Err(Fault::BadChip { detail: format!("{}: {problem}", spec.name) }.into());
    }
    let take = |field, asked: i32, has: u32, default: u32| -> Result<u32> {
        match u32::try_from(asked) {
            Ok(0) => Ok(default),
            Ok(asked) if asked <= has => Ok(asked),
            _ => Err(Fault::Config(ConfigError::CountTooLarge { field, value: asked, max: has }).into()),
        }
    };
    let clusters = take("block_dim", config.block_dim, spec.clusters, spec.clusters)?;
    // A scheduler without a cluster has nothing to do.
    let (most, own) = (spec.schedulers_max.min(clusters), spec.schedulers.min(clusters));
    let schedulers = take("scheduler_threads", config.scheduler_threads, most, own)?;
    Ok(ChipSpec { clusters, schedulers, ..spec.clone() })
}
