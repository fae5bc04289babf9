//! A toy chip: one core that runs tasks in the order in which they were submitted, in memory that the host cannot see.
//!
//! It shows what a chip has to bring, and tests that nothing in the engine goes around the memory seam: the addresses that it
//! gives out are [far](FAR) from where the bytes are, and the processor faults on every access to one.

mod chip;
mod memory;

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

use ringlane_engine::api::backend::Site;
use ringlane_engine::arena::Arena;
use ringlane_engine::chip_runtime::{
    Capabilities, ChipOptions, ChipRuntime, ClockSource, CoreLayout, Counters, HookThreads, Observable,
};
use ringlane_engine::orchestrator::State;
use ringlane_engine::prelude::*;
use ringlane_engine::remote::{Controlled, Remote};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::{Clock, Probe};
use ringlane_engine::session;
use ringlane_engine::table::Table;
use ringlane_task::{CallConfig, Capacities, CoreId, Ticks};

use chip::ToyChip;
pub use memory::{FAR, Failing, ToyMemory};

ringlane::register_chip!(ToyRuntime);

const TOY: Capabilities = Capabilities {
    name: "toy",
    about: "One core that runs tasks in order, in memory that the host cannot see",
    listed: true,
    availability: || Ok(()),
    virtual_time: false,
    clock: || ClockSource { name: "monotonic", error_ppm: 0.0 },
    host_threads: false,
    spec: None,
    // Its core is a thread of this machine.
    counters: Counters::Processor,
    policies: &[],
};

/// Nanoseconds since the chip was made.
#[derive(Clone, Copy, Debug)]
pub struct ToyClock(Instant);

impl Clock for ToyClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.elapsed().as_nanos() as u64)
    }
}

/// Runs orchestrations on the toy chip.
pub struct ToyRuntime {
    shared: Arc<Shared>,
    state: State,
    clock: ToyClock,
}

struct Shared {
    table: Table,
    /// The table's heap rings, dropped after it.
    _heaps: Vec<Arena>,
}

impl Controlled for Shared {
    fn table(&self) -> &Table {
        &self.table
    }
}

impl ToyRuntime {
    /// A toy chip with the capacities of `config`.
    pub fn new(config: &CallConfig) -> Result<Self> {
        config.validate().map_err(Fault::Config)?;
        let mut heaps = Vec::new();
        let heap = |bytes| {
            heaps.push(Arena::new(bytes, "a heap ring")?);
            Ok(memory::far(&heaps[heaps.len() - 1]))
        };
        // SAFETY: fresh arenas, in the memory that every run has, kept as long as the table.
        let table = unsafe { Table::in_memory(&Capacities::of(config), 1, heap) }?;
        let (state, shared) = (State::new(&table), Arc::new(Shared { table, _heaps: heaps }));
        Ok(ToyRuntime { shared, state, clock: ToyClock(Instant::now()) })
    }

    /// Runs an orchestration on these buffers. Returns when every task is done.
    #[track_caller]
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.run_at(Location::caller(), buffers, &(), f)
    }
}

/// What the engine does not know of a run.
fn complete(report: RunReport) -> RunReport {
    RunReport { clock_freq_hz: 1_000_000_000, cores: 1, ..report }
}

// SAFETY: the chip's one core is the thread that submits.
unsafe impl Observable for ToyRuntime {
    type Clock = ToyClock;
    const HOOKS: HookThreads = HookThreads::EachCore;

    fn clock(&self) -> ToyClock {
        self.clock
    }

    fn table(&self) -> &Table {
        &self.shared.table
    }

    fn last_report(&self) -> RunReport {
        complete(self.state.last_report().clone())
    }

    fn layout(&self) -> CoreLayout {
        // The type of a core that runs kernels of any type.
        CoreLayout { core_types: vec!["cpu"], threads: 1, core_to_thread: vec![0] }
    }
}

impl ChipRuntime for ToyRuntime {
    const PLATFORMS: &'static [Capabilities] = &[TOY];

    fn new(_: &'static Capabilities, config: &CallConfig, _: &ChipOptions) -> Result<Self> {
        ToyRuntime::new(config)
    }

    fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        let (table, clock, memory) = (&self.shared.table, self.clock, ToyMemory::default());
        let (ready, externals) = (BTreeMap::new(), Vec::new());
        let chip = ToyChip { table, probe, memory: &memory, ready, externals, clock };
        probe.enter(CoreId(0));
        let _leave = Leave(probe);
        // SAFETY: `&mut self`: no other run uses the table, and the last one left no task. The chip runs each task once; the
        // heap rings are in its memory.
        let run = unsafe { session::run(table, &mut self.state, chip, probe, site, buffers, f) };
        Run { report: complete(run.report), ..run }
    }

    fn remote(&self) -> Remote {
        Remote::new(self.shared.clone())
    }

    fn threads(&self) -> u32 {
        1
    }
}

/// The core has done its last of the run, also while the orchestration unwinds.
struct Leave<'p, P: Probe>(&'p P);

impl<P: Probe> Drop for Leave<'_, P> {
    fn drop(&mut self) {
        self.0.leave(CoreId(0));
    }
}
