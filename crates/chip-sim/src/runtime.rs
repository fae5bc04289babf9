//! The runtime on a modelled chip: a table, a chip's description, and runs.

use core::panic::Location;
use std::sync::Arc;

use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::orchestrator::State;
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::Probe;
use ringlane_engine::table::Table;
use ringlane_engine::{Fault, Result, session};
use ringlane_task::{CallConfig, Capacities, ChipSpec, ConfigError};

use crate::chaos::Chaos;
use crate::chip::SimChip;
use crate::core::CoreKind;
use crate::cost::{CostModel, CostTable};
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

/// Runs orchestrations on a modelled chip, on the calling thread. It can be reused after any outcome.
#[derive(Debug)]
pub struct SimRuntime {
    pub(crate) table: Arc<Table>,
    pub(crate) state: State,
    pub(crate) spec: ChipSpec,
    model: CostModel,
    pub(crate) pmu: Option<PmuModel>,
    pub(crate) options: SimOptions,
    pub(crate) clock: SimClock,
    pub(crate) totals: Totals,
}

impl SimRuntime {
    /// A runtime with the capacities, clusters and control threads of `config`.
    pub fn new(spec: &ChipSpec, config: &CallConfig, options: SimOptions) -> Result<Self> {
        config.validate().map_err(Fault::Config)?;
        let spec = in_use(spec, config)?;
        let table = Table::new(&Capacities::of(config), spec.cores() as usize)?;
        let (state, clock) = (State::new(&table), SimClock::new(spec.counter_hz));
        let model = CostModel::new(&spec).with_table(options.costs.clone());
        let (table, totals, pmu) = (Arc::new(table), Totals::default(), None);
        Ok(SimRuntime { table, state, spec, model, pmu, options, clock, totals })
    }

    /// The description of the chip.
    pub fn spec(&self) -> &ChipSpec {
        &self.spec
    }

    /// The options of the runtime.
    pub fn options(&self) -> &SimOptions {
        &self.options
    }

    /// The kind of each core.
    pub fn core_kinds(&self) -> impl Iterator<Item = CoreKind> + '_ {
        (0..self.spec.cores()).map(|core| crate::machine::kind_of(&self.spec, core))
    }

    /// The scheduler of each core.
    pub fn core_threads(&self) -> Vec<u32> {
        let mut threads = vec![0; self.spec.cores() as usize];
        for thread in 0..self.spec.schedulers {
            threads[crate::machine::share_of(&self.spec, thread)].fill(thread);
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
        let policy = self.options.policy.make(self.table.slot_count(), self.spec.clusters);
        let chaos = self.options.chaos.map(|seed| Chaos::new(seed, self.spec.cores()));
        let (spec, model, clock) = (&self.spec, &self.model, self.clock.clone());
        let mut machine = Machine::new(&self.table, probe, spec, model, clock, policy);
        (machine.chaos, machine.pmu) = (chaos, self.pmu.as_ref());
        let chip = SimChip::new(machine, &mut self.totals);
        // SAFETY: `&mut self` excludes another run on this table; the last run left no task; the machine runs each
        // task once.
        let run = unsafe { session::run(&self.table, &mut self.state, chip, probe, site, buffers, f) };
        Run { report: self.complete(run.report), ..run }
    }

    /// Adds to a report what the engine does not know.
    pub(crate) fn complete(&self, report: RunReport) -> RunReport {
        RunReport { clock_freq_hz: self.clock.freq_hz(), cores: self.spec.cores(), ..report }
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
