//! Runs orchestrations on a device: the chip runtime of two platforms, `cuda` and, for tests, `cuda-host`.

use std::sync::Arc;

use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::chip_runtime::{
    Capabilities, ChipFacts, ChipOptions, ChipRuntime, ClockSource, CopyLog, CoreLayout, CounterColumns,
    CounterGroup, Counters, HookThreads, Observable,
};
use ringlane_engine::graph::Graph;
use ringlane_engine::memory::Space;
use ringlane_engine::orchestrator::State;
use ringlane_engine::prelude::*;
use ringlane_engine::remote::{Controlled, Remote, ReplayedTable};
use ringlane_engine::report::{Run, RunReport, Status};
use ringlane_engine::seams::Probe;
use ringlane_engine::session;
use ringlane_engine::table::{Stop, Table};
use ringlane_task::{CallConfig, Capacities, RINGS, Ticks};

use crate::chip::CudaChip;
use crate::clock::CudaClock;
use crate::device::Device;
use crate::error::DeviceError;
use crate::expected::Expected;
use crate::externals::Externals;
use crate::gpu::{self, Gpu};
use crate::host_threads::HostThreads;
use crate::launcher::Launcher;
use crate::launches::Launches;
use crate::memory::Copies;
use crate::policy::{self, Policy};
use crate::pool::Memory;
use crate::replay::Resident;
use crate::source::Machine;

const fn platform(
    name: &'static str,
    about: &'static str,
    availability: fn() -> core::result::Result<(), String>,
) -> Capabilities {
    Capabilities {
        name,
        about,
        listed: true,
        availability,
        virtual_time: false,
        clock: || ClockSource { name: "monotonic", error_ppm: 0.0 },
        host_threads: false,
        spec: None,
        counters: Counters::Own(&[CounterGroup { number: 1, name: "blocks" }]),
        policies: policy::NAMES,
    }
}

const CUDA: Capabilities = platform("cuda", "An NVIDIA GPU", || {
    gpu::unavailable().map_or(Ok(()), |error| Err(ringlane_task::Explain::detail(&error)))
});
const CUDA_HOST: Capabilities = Capabilities {
    listed: false,
    ..platform("cuda-host", "The device code of cuda on threads of this machine, for tests", || {
        HostThreads::open().map(drop).map_err(|error| ringlane_task::Explain::detail(&error))
    })
};

/// Runs orchestrations on a device.
pub struct CudaRuntime {
    /// The graph that was replayed last, or is about to be. The first field, because it is dropped before the device.
    pub(crate) resident: Option<Resident>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) state: State,
    pub(crate) launcher: Launcher,
    pub(crate) externals: Externals,
    pub(crate) config: CallConfig,
    /// How captured graphs are run.
    pub(crate) policy: Policy,
}

pub(crate) struct Shared {
    table: Table,
    pub(crate) device: Arc<dyn Device>,
    pub(crate) clock: CudaClock,
    pub(crate) copies: Copies,
    pub(crate) launches: Launches,
    /// The graph that is replayed now.
    pub(crate) replayed: ReplayedTable,
    /// The table's heap rings, dropped after it.
    _heaps: Vec<Memory>,
}

impl Controlled for Shared {
    fn table(&self) -> &Table {
        &self.table
    }

    fn interrupt(&self) {
        self.replayed.get().as_deref().unwrap_or(&self.table).stop(Stop::Interrupted);
    }

    fn status(&self) -> Status {
        self.replayed.get().as_deref().unwrap_or(&self.table).status()
    }
}

/// Whether the heap rings fit. The size that is proposed leaves as much for buffers.
fn rings_fit(capacities: &Capacities, free: u64) -> core::result::Result<(), DeviceError> {
    let wanted = capacities.heap.iter().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
    if wanted <= free {
        return Ok(());
    }
    let each = (free / 2 / RINGS as u64).max(1);
    // A power of two, as sizes of rings are.
    Err(DeviceError::OutOfDeviceMemory { wanted, free, ring_heap: Some(1 << each.ilog2()) })
}

impl CudaRuntime {
    fn on(device: Arc<dyn Device>, machine: Machine, config: &CallConfig, policy: Policy) -> Result<Self> {
        let capacities = Capacities::of(config);
        rings_fit(&capacities, device.free_bytes()?)?;
        let launcher = Launcher::new(device.clone(), machine, policy.entries())?;
        let mut heaps = Vec::new();
        let heap = |bytes| {
            let memory = launcher.reserve(bytes)?;
            let space = Space { base: memory.at as *mut u8, bytes };
            heaps.push(memory);
            Ok(space)
        };
        let cores = device.blocks() as usize;
        // SAFETY: fresh memory of the device, which every run has, kept as long as the table.
        let table = unsafe { Table::in_memory(&capacities, cores, heap) }?;
        let state = State::new(&table);
        let clock = CudaClock::new();
        let (copies, launches) = (Copies::new(clock.clone()), Launches::default());
        let replayed = ReplayedTable::default();
        let shared = Arc::new(Shared { table, device, clock, copies, launches, replayed, _heaps: heaps });
        let externals = Externals::default();
        Ok(CudaRuntime { shared, state, launcher, externals, config: *config, policy, resident: None })
    }

    /// The copies of the last run, also those to the device before it began, which no recording has.
    pub fn copies(&self) -> CopyLog {
        self.shared.copies.since(Ticks(0))
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.shared.device
    }

    /// What the engine does not know of a run.
    pub(crate) fn complete(&self, report: RunReport) -> RunReport {
        RunReport { clock_freq_hz: 1_000_000_000, cores: self.shared.device.blocks(), ..report }
    }
}

// SAFETY: the submitter's thread reports all blocks.
unsafe impl Observable for CudaRuntime {
    type Clock = CudaClock;
    const HOOKS: HookThreads = HookThreads::One;

    fn clock(&self) -> CudaClock {
        self.shared.clock.clone()
    }

    fn table(&self) -> &Table {
        self.resident.as_ref().map_or(&self.shared.table, |resident| &resident.table)
    }

    fn last_report(&self) -> RunReport {
        self.complete(self.state.last_report().clone())
    }

    fn count(&mut self, group: Option<i32>) -> CounterColumns {
        let columns = vec!["nanoseconds", "processor"];
        group.map_or_else(CounterColumns::default, |_| CounterColumns { group: 1, columns, measured: true })
    }

    fn facts(&self) -> ChipFacts {
        let copies = self.shared.copies.since(Ticks(self.state.last_report().started_ticks));
        ChipFacts {
            copies: Some(copies),
            launches: Some(self.shared.launches.all()),
            record_wait_ticks: None,
        }
    }

    fn layout(&self) -> CoreLayout {
        let cores = self.shared.device.blocks();
        // Its processors take their blocks themselves: there are no control threads.
        CoreLayout {
            core_types: vec!["any"; cores as usize],
            threads: 0,
            core_to_thread: vec![0; cores as usize],
        }
    }
}

impl ChipRuntime for CudaRuntime {
    const PLATFORMS: &'static [Capabilities] = &[CUDA, CUDA_HOST];

    fn new(platform: &'static Capabilities, config: &CallConfig, options: &ChipOptions) -> Result<Self> {
        config.validate().map_err(Fault::Config)?;
        let policy = Policy::named(options.policy);
        if platform.name == CUDA_HOST.name {
            return CudaRuntime::on(Arc::new(HostThreads::open()?), Machine::HostThreads, config, policy);
        }
        CudaRuntime::on(Arc::new(Gpu::open()?), Machine::Gpu, config, policy)
    }

    fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        let refused = |error: DeviceError| Run { result: Err(error.into()), report: RunReport::default() };
        if self.policy != Policy::Lists {
            return refused(DeviceError::OnlyCaptured { policy: policy::NAMES[self.policy as usize] });
        }
        self.resident = None;
        self.shared.copies.clear();
        self.shared.launches.clear();
        let expected = Expected::at(site);
        expected.load(&mut self.launcher);
        let clock = self.shared.clock.clone();
        if P::WATCHES_CORES
            && let Err(error) = self.launcher.compare_clocks(|| clock.present())
        {
            return refused(error);
        }
        let table = &self.shared.table;
        self.externals.begin();
        let chip = CudaChip::new(table, probe, &mut self.launcher, &mut self.externals, &self.shared);
        // SAFETY: `&mut self`: no other run uses the table, and the last one left no task. The chip runs each task once; the
        // heap rings are in its memory.
        let run = unsafe { session::run(table, &mut self.state, chip, probe, site, buffers, f) };
        self.externals.end(run.result.is_ok());
        expected.update(self.launcher.kernels());
        Run { report: self.complete(run.report), ..run }
    }

    fn capture_at<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<(R, Graph)> {
        self.capture(site, buffers, memory_limit, f)
    }

    fn bind(&mut self, graph: &Graph) {
        self.bind_graph(graph);
    }

    fn replay_at<P: Probe>(&mut self, graph: &mut Graph, buffers: &mut Buffers<'_>, probe: &P) -> Run<()> {
        self.replay(graph, buffers, probe)
    }

    fn remote(&self) -> Remote {
        Remote::new(self.shared.clone())
    }

    fn threads(&self) -> u32 {
        1
    }
}
