//! The platform `cpu`: what this machine's cores can do, and the chip runtime that everything above the engine sees.

use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::chip_runtime::{
    Capabilities, ChipOptions, ChipRuntime, ClockSource, CoreLayout, Counters, HookThreads, Observable,
};
use ringlane_engine::graph::Graph;
use ringlane_engine::pace::Pace;
use ringlane_engine::remote::{Controlled, Remote, Thread};
use ringlane_engine::report::{Run, RunReport, RunningTask, Status};
use ringlane_engine::seams::Probe;
use ringlane_engine::table::{Stop, Table};
use ringlane_task::CallConfig;

use crate::clock::{self, CpuClock};
use crate::cpu_thread::Shared;
use crate::runtime::CpuRuntime;

/// This machine's own cores.
const CPU: Capabilities = Capabilities {
    name: "cpu",
    about: "The machine's own cores",
    listed: true,
    availability: || Ok(()),
    virtual_time: false,
    clock: clock_source,
    host_threads: true,
    spec: None,
    counters: Counters::Processor,
    policies: &[],
};

fn clock_source() -> ClockSource {
    let clock = CpuClock::get();
    let name = match clock.source() {
        clock::TickSource::Tsc => "tsc",
        clock::TickSource::Monotonic => "monotonic",
    };
    ClockSource { name, error_ppm: clock.error_ppm() }
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

    fn running_on(&self, thread: Thread) -> Option<RunningTask> {
        self.replayed.get().as_deref().unwrap_or(&self.table).running_on(thread.number)
    }
}

// SAFETY: a thread calls the hooks of its own core, the submitter those of core 0.
unsafe impl Observable for CpuRuntime {
    type Clock = CpuClock;
    const HOOKS: HookThreads = HookThreads::EachCore;

    fn clock(&self) -> CpuClock {
        CpuClock::get()
    }

    fn table(&self) -> &Table {
        self.bound.as_ref().map_or(&self.shared.table, |bound| &bound.table)
    }

    fn last_report(&self) -> RunReport {
        self.complete(self.state.last_report().clone())
    }

    fn layout(&self) -> CoreLayout {
        let threads = self.threads();
        let core_types = vec![CPU.name; threads as usize];
        CoreLayout { core_types, threads, core_to_thread: (0..threads).collect() }
    }
}

impl ChipRuntime for CpuRuntime {
    const PLATFORMS: &'static [Capabilities] = &[CPU];

    fn new(_: &'static Capabilities, config: &CallConfig, options: &ChipOptions) -> Result<Self> {
        let runtime = CpuRuntime::new(config)?;
        let (slow, durations) = (options.slow.clone(), options.durations.clone());
        runtime.table().set_pace(Pace { slow, durations });
        Ok(runtime)
    }

    fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        CpuRuntime::run_at(self, site, buffers, probe, f)
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
        CpuRuntime::threads(self)
    }
}
