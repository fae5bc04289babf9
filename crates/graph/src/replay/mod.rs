//! Runs a recorded program again in virtual time: by the ordinary engine on a modelled chip, with blocks that take as long as
//! they took and compute nothing.
//!
//! An unchanged replay takes exactly as long as the recorded run: the engine submits, waits and reclaims as it did, the chip's
//! control threads poll and dispatch as they did, and records cost what they cost.

mod orchestrate;
mod probe;
mod stand_ins;

use std::panic::Location;
use std::sync::Arc;

use ringlane_chip_sim::cost::BlockCosts;
use ringlane_chip_sim::{SimOptions, SimRuntime, Totals};
use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::BufferId;
use ringlane_engine::api::kernel::Kernel;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::arena::Arena;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::Probe;
use ringlane_task::{CallConfig, Capacities};

use crate::error::ReplayError;
use crate::recorded::{GraphBuild, Program, Setup};
pub use orchestrate::ReplayBuffers;
use probe::ReplayProbe;

/// What a replay gives.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// How long it takes, in ticks of the chip's counter.
    pub makespan_ticks: u64,
    /// The same in picoseconds.
    pub makespan_ps: u64,
    /// What the chip knows of it.
    pub totals: Totals,
}

/// A program that can be replayed, with kernels that stand in for its own.
#[derive(Clone, Debug)]
pub struct Replayable<'p> {
    program: &'p Program,
    kernels: Vec<&'static Kernel>,
    /// What its uploads copy: memory that is reserved and never written.
    zeros: Arc<Arena>,
}

impl<'p> Replayable<'p> {
    /// Prepares a program for replays.
    pub fn new(program: &'p Program) -> Result<Self, ReplayError> {
        let kernels = program.kernels.iter().map(stand_ins::kernel).collect();
        let zeros = Arc::new(Arena::new(program.upload_bytes_max.max(1), "what uploads copy")?);
        Ok(Replayable { program, kernels, zeros })
    }

    /// This many bytes for an upload.
    fn zeros(&self, bytes: u64) -> &[u8] {
        assert!(bytes <= self.zeros.bytes(), "as large as the largest upload");
        // SAFETY: the arena has this many bytes, which are zero and never written.
        unsafe { core::slice::from_raw_parts(self.zeros.base(), bytes as usize) }
    }

    /// The external buffers, whose memory is reserved and not touched.
    pub fn buffers(&self) -> Result<ReplayBuffers, ReplayError> {
        orchestrate::buffers(self.program)
    }

    /// The orchestration of the program, on buffers from [`buffers`](Self::buffers).
    pub fn orchestrate(
        &self,
        ids: &[BufferId],
        o: &mut Orch<'_, '_>,
        site: Site,
    ) -> ringlane_engine::Result<()> {
        orchestrate::run(self, ids, o, site)
    }

    /// Replays it on a chip.
    #[track_caller]
    pub fn replay(&self, setup: &Setup, costs: Arc<BlockCosts>) -> Result<Replayed, ReplayError> {
        let mut runtime = runtime(setup, costs)?;
        let site = Location::caller();
        let run = if setup.captured.is_empty() {
            self.run_on(&mut runtime, setup.build, &ReplayProbe::<false>::new(setup), site)?
        } else {
            self.run_on(&mut runtime, setup.build, &ReplayProbe::<true>::new(setup), site)?
        };
        run.result?;
        let RunReport { makespan_ticks, .. } = run.report;
        let totals = runtime.totals().clone();
        Ok(Replayed { makespan_ticks, makespan_ps: totals.makespan, totals })
    }

    /// Runs it: streamed, or captured first. A capture takes no time of the run.
    fn run_on<P: Probe>(
        &self,
        runtime: &mut SimRuntime,
        build: GraphBuild,
        probe: &P,
        site: Site,
    ) -> Result<Run<()>, ReplayError> {
        let ReplayBuffers { mut buffers, ids } = self.buffers()?;
        Ok(match build {
            GraphBuild::Streamed => {
                runtime.run_at(site, &mut buffers, probe, |o| self.orchestrate(&ids, o, site))
            }
            GraphBuild::Captured { memory_limit } => {
                let orchestrate = |o: &mut Orch<'_, '_>| self.orchestrate(&ids, o, site);
                let ((), mut graph) = runtime.capture_at(site, &buffers, memory_limit, orchestrate)?;
                runtime.replay_at(&mut graph, &mut buffers, probe)
            }
        })
    }
}

/// A chip that replays these blocks.
pub fn runtime(setup: &Setup, costs: Arc<BlockCosts>) -> Result<SimRuntime, ReplayError> {
    let options = SimOptions { policy: setup.policy, chaos: setup.chaos, ..SimOptions::default() };
    let mut runtime = SimRuntime::new(&setup.chip, &config(&setup.rings), options)?;
    runtime.replay_recorded(costs);
    runtime.drop_edges(setup.dropped_edges.clone());
    Ok(runtime)
}

/// A configuration with these capacities.
pub fn config(rings: &Capacities) -> CallConfig {
    let mut config = CallConfig::default();
    (config.ring_task_window, config.ring_heap) = (rings.task_window, rings.heap);
    (config.ring_dep_pool, config.ring_args) = (rings.dep_pool, rings.args);
    config.tensormap = rings.tensormap;
    config
}
