//! The platforms of the modelled chips, and their chip runtime, as the layers above the engine use it.

use ringlane_engine::api::backend::Site;
use ringlane_engine::api::buffers::Buffers;
use ringlane_engine::api::orch::Orch;
use ringlane_engine::chip_runtime::{
    Capabilities, ChipFacts, ChipOptions, ChipRuntime, ClockSource, CopyLog, CopyRecord, CoreLayout,
    CostForm, CounterColumns, CounterGroup, Counters, HookThreads, ModelledAs, Observable,
};
use ringlane_engine::graph::Graph;
use ringlane_engine::remote::{OneThread, Remote};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::Probe;
use ringlane_engine::table::Table;
use ringlane_engine::{Fault, Result};
use ringlane_task::{CallConfig, ChipSpec, HostMemory, Ticks};
use std::sync::Arc;

use crate::cost::{BlockCosts, CostTable};
use crate::link::{Copied, Direction, Link};
use crate::pmu::{Group, PmuModel};
use crate::policy::PolicyName;
use crate::runtime::{SimOptions, SimRuntime};
use crate::spec;
use crate::time::SimClock;

const fn modelled(name: &'static str, about: &'static str, spec: fn() -> ChipSpec) -> Capabilities {
    Capabilities {
        name,
        about,
        listed: true,
        availability: || Ok(()),
        virtual_time: true,
        // The times of a model are as exact as the model.
        clock: || ClockSource { name: "virtual", error_ppm: 0.0 },
        host_threads: false,
        spec: Some(spec),
        counters: Counters::Own(&GROUPS),
        policies: &POLICIES,
    }
}

fn built_in(name: &str) -> ChipSpec {
    spec::builtin(name).expect("it comes with the program")
}

const GROUPS: [CounterGroup; Group::ALL.len()] = {
    let mut groups = [CounterGroup { number: 0, name: "" }; Group::ALL.len()];
    let mut i = 0;
    while i < groups.len() {
        groups[i] = CounterGroup { number: Group::ALL[i].number(), name: Group::ALL[i].name() };
        i += 1;
    }
    groups
};

const POLICIES: [&str; PolicyName::ALL.len()] = {
    let mut names = [""; PolicyName::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = PolicyName::ALL[i].as_str();
        i += 1;
    }
    names
};

// SAFETY: the submitting thread does everything.
unsafe impl Observable for SimRuntime {
    type Clock = SimClock;
    const HOOKS: HookThreads = HookThreads::One;

    fn clock(&self) -> SimClock {
        self.chip.clock.clone()
    }

    fn table(&self) -> &Table {
        self.bound.as_ref().unwrap_or(&self.table)
    }

    fn last_report(&self) -> RunReport {
        self.complete(self.state.last_report().clone())
    }

    fn layout(&self) -> CoreLayout {
        CoreLayout {
            core_types: self.core_kinds().map(|kind| kind.as_str()).collect(),
            threads: self.chip.spec.schedulers,
            core_to_thread: self.core_threads(),
        }
    }

    fn count(&mut self, group: Option<i32>) -> CounterColumns {
        let chosen = group.and_then(|number| Group::from_number(number).ok()).unwrap_or_default();
        self.chip.pmu = group.map(|_| PmuModel::new(&self.chip.spec, chosen));
        let columns = chosen.columns(self.chip.spec.pmu_counters).to_vec();
        CounterColumns { group: chosen.number().into(), columns, measured: false }
    }

    fn facts(&self) -> ChipFacts {
        let (clock, totals) = (&self.chip.clock, &self.totals);
        let copies = totals.copies.iter().map(|copy| CopyRecord {
            to_chip: matches!(copy.direction, Direction::In),
            what: copy.what.to_string(),
            bytes: copy.bytes,
            start: clock.ticks(copy.start),
            end: clock.ticks(copy.end),
        });
        let dropped = totals.copy_count - totals.copies.len() as u64;
        ChipFacts {
            copies: (self.chip.spec.host_memory == HostMemory::Copied)
                .then(|| CopyLog { copies: copies.collect(), dropped }),
            launches: None,
            // In virtual time.
            record_wait_ticks: Some(clock.ticks(totals.record_waits).0),
        }
    }
}

impl ChipRuntime for SimRuntime {
    const PLATFORMS: &'static [Capabilities] = &[
        modelled("a2a3sim", "A modelled Ascend A2/A3, one die, in virtual time", || built_in("a2a3sim")),
        modelled("a5sim", "A modelled Ascend A5, one device, in virtual time", || built_in("a5sim")),
    ];

    fn new(platform: &'static Capabilities, config: &CallConfig, options: &ChipOptions) -> Result<Self> {
        let spec = options.spec.clone().unwrap_or_else(|| built_in(platform.name));
        let mut runtime = SimRuntime::new(&spec, config, SimOptions::from_options(options)?)?;
        runtime.slow_down(&options.slow);
        if let Some(durations) = &options.durations {
            runtime.replay_recorded(Arc::new(BlockCosts::from(&**durations)));
        }
        Ok(runtime)
    }

    fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        SimRuntime::run_at(self, site, buffers, probe, f)
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
        self.bound = Some(graph.table().clone());
    }

    fn replay_at<P: Probe>(&mut self, graph: &mut Graph, buffers: &mut Buffers<'_>, probe: &P) -> Run<()> {
        self.replay(graph, buffers, probe)
    }

    fn upload_ticks(&self, graph: &Graph) -> Option<Ticks> {
        let end = Link::new(self.chip.spec.link).copy(0, Direction::In, Copied::Upload, graph.bytes());
        Some(self.chip.clock.ticks(end))
    }

    fn remote(&self) -> Remote {
        Remote::new(Arc::new(OneThread { table: self.table.clone(), replayed: self.replayed.clone() }))
    }

    fn threads(&self) -> u32 {
        self.chip.spec.schedulers + 1
    }

    fn modelled_as(&self) -> Option<ModelledAs> {
        let SimOptions { policy, chaos, costs } = &self.chip.options;
        let costs = costs.as_ref().map(|table| table.chip().to_string());
        let (chip, spec) = (self.chip.spec.name.clone(), self.chip.spec.clone());
        Some(ModelledAs { chip, policy: policy.as_str(), chaos: *chaos, costs, spec })
    }
}

impl CostForm for CostTable {
    fn to_text(&self) -> String {
        self.to_json()
    }
}

impl SimOptions {
    fn from_options(options: &ChipOptions) -> Result<Self> {
        let refused = |what: String| Fault::BadChip { detail: what };
        let policy = match options.policy {
            None => PolicyName::default(),
            Some(name) => {
                PolicyName::from_name(name).ok_or_else(|| refused(format!("unknown policy {name}")))?
            }
        };
        let costs = match &options.costs {
            None => None,
            Some(costs) => {
                let table = costs.get::<CostTable>();
                Some(table.ok_or_else(|| refused("`costs` is not a cost table".to_string()))?.clone())
            }
        };
        Ok(SimOptions { policy, chaos: options.chaos, costs })
    }
}
