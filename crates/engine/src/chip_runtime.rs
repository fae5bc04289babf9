//! A chip runtime: everything above the engine runs programs through this, and asks what a chip *can do*, never which one it is.
//!
//! ```text
//! Capabilities  what a platform is and can do, as data
//! ChipRuntime   makes a runtime of a configuration, and runs orchestrations on it
//!   └ Observable  what a recorder must know to observe its runs: a node has this too
//! ```
//! A new chip is a crate that implements [`ChipRuntime`] and one line that registers it.

use core::any::Any;
use core::fmt;
use std::sync::Arc;

use ringlane_task::{CallConfig, ChipSpec, Ticks};

use crate::api::backend::Site;
use crate::api::buffers::Buffers;
use crate::api::orch::Orch;
use crate::graph::Graph;
use crate::pace::BlockDurations;
use crate::remote::Remote;
use crate::report::{Run, RunReport};
use crate::seams::{Clock, Probe};
use crate::slowdown::Slowdown;
use crate::table::Table;
use crate::{Fault, Result};

/// What a platform is and can do.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// Its name on the command line and in every artifact.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Whether lists of platforms show it. One that is for tests of this project is not shown, and can still be named.
    pub listed: bool,
    /// Whether this machine has it: if not, why.
    pub availability: fn() -> core::result::Result<(), String>,
    /// Whether its clock shows time that it models, which has nothing to do with the machine's.
    pub virtual_time: bool,
    /// Where its times come from.
    pub clock: fn() -> ClockSource,
    /// Whether its cores are threads of this machine, whose number [`CallConfig`] chooses.
    pub host_threads: bool,
    /// The description of the chip, if it is modelled: then another one, a policy, costs and chaos may be given.
    pub spec: Option<fn() -> ChipSpec>,
    /// What can be counted of a block.
    pub counters: Counters,
    /// The scheduling policies that it knows; the first is the default.
    pub policies: &'static [&'static str],
}

/// What can be counted of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    /// Nothing.
    None,
    /// What the processor counts.
    Processor,
    /// What the chip counts itself, in groups.
    Own(&'static [CounterGroup]),
}

/// Counters of a chip that count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterGroup {
    /// Its number, from 1 on.
    pub number: u8,
    /// Its name.
    pub name: &'static str,
}

/// Where a chip's times come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockSource {
    /// The name in `run.json`.
    pub name: &'static str,
    /// How far its rate may be off, in millionths.
    pub error_ppm: f64,
}

/// How a chip is run, beside its configuration. A chip ignores what its [`Capabilities`] do not name.
#[derive(Clone, Debug, Default)]
pub struct ChipOptions {
    /// Another chip than the platform's own.
    pub spec: Option<ChipSpec>,
    /// The policy that chooses what runs next; the chip's default without one.
    pub policy: Option<&'static str>,
    /// What goes wrong is drawn from this seed; nothing does without one.
    pub chaos: Option<u64>,
    /// What blocks took elsewhere.
    pub costs: Option<Costs>,
    /// Kernels that are made slower on purpose.
    pub slow: Vec<Slowdown>,
    /// How long each block takes, whatever its kernel does; for the replay of a graph. It does not travel to other processes.
    pub durations: Option<Arc<BlockDurations>>,
}

/// What blocks took elsewhere, in a form that the chip knows.
#[derive(Clone)]
pub struct Costs(Arc<dyn CostForm>);

/// A form of costs: as text they reach chips in other processes.
pub trait CostForm: Any + Send + Sync {
    /// The text.
    fn to_text(&self) -> String;
}

impl Costs {
    /// Costs of this form.
    pub fn new(costs: impl CostForm) -> Self {
        Costs(Arc::new(costs))
    }

    /// The costs as text.
    pub fn to_text(&self) -> String {
        self.0.to_text()
    }

    /// The costs, if they have this form.
    pub fn get<T: Any>(&self) -> Option<&T> {
        let costs: &dyn Any = &*self.0;
        costs.downcast_ref()
    }
}

impl fmt::Debug for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Costs(..)")
    }
}

/// The cores of a chip, as artifacts name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreLayout {
    /// The type of each core.
    pub core_types: Vec<&'static str>,
    /// Number of control threads.
    pub threads: u32,
    /// The control thread of each core.
    pub core_to_thread: Vec<u32>,
}

/// Which threads call the hooks of a probe that name a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookThreads {
    /// Each core is a thread and calls its own.
    EachCore,
    /// One thread calls all of them, and reports whole blocks ([`Probe::block`]).
    One,
}

/// The counters of the runs to come, as `pmu.csv` names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterColumns {
    /// The group's number.
    pub group: u32,
    /// The columns after that of all cycles.
    pub columns: Vec<&'static str>,
    /// Whether they are measured; otherwise a model computes them.
    pub measured: bool,
}

/// What a chip knows of its last run beside the engine's report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChipFacts {
    /// Copies between host and chip; `None` where the host sees the chip's memory.
    pub copies: Option<CopyLog>,
    /// Launches of batches of tasks; `None` where the chip takes tasks one by one.
    pub launches: Option<LaunchLog>,
    /// How long the chip's own threads waited for room for records, in its ticks, where it keeps that itself.
    pub record_wait_ticks: Option<u64>,
}

/// Copies between host and chip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyLog {
    /// The first of them, in order.
    pub copies: Vec<CopyRecord>,
    /// How many more there were.
    pub dropped: u64,
}

/// Launches of batches of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchLog {
    /// The first of them, in order.
    pub launches: Vec<LaunchRecord>,
    /// How many more there were.
    pub dropped: u64,
}

/// A batch of tasks that were submitted one after another, and what the submitter's thread did for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchRecord {
    /// How many there are.
    pub tasks: u64,
    /// When the thread began to lay the batch out.
    pub start: Ticks,
    /// When the batch was launched.
    pub end: Ticks,
    /// From when on the thread waited for its end, or when it saw it.
    pub wait: Ticks,
    /// When all its tasks were complete.
    pub settled: Ticks,
}

/// A copy between host and chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyRecord {
    /// Whether it went to the chip.
    pub to_chip: bool,
    /// What was copied.
    pub what: String,
    /// Number of bytes.
    pub bytes: u64,
    /// When it began.
    pub start: Ticks,
    /// When it ended.
    pub end: Ticks,
}

/// How a modelled chip is run, as `run.json` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelledAs {
    /// The name of the chip's description.
    pub chip: String,
    /// The policy.
    pub policy: &'static str,
    /// The seed of what goes wrong.
    pub chaos: Option<u64>,
    /// The chip where the costs were recorded.
    pub costs: Option<String>,
    /// The part of the chip that its runs use.
    pub spec: ChipSpec,
}

/// What a recorder must know of a chip to observe its runs.
///
/// # Safety
/// The threads that call a probe's hooks are those that [`HOOKS`](Self::HOOKS) says: a recorder keeps a state for each core
/// without a lock.
pub unsafe trait Observable {
    /// The clock of its runs.
    type Clock: Clock + Clone + Send + 'static;
    /// Which threads call the hooks of a probe that name a core.
    const HOOKS: HookThreads;

    /// The clock of its runs.
    fn clock(&self) -> Self::Clock;
    /// What the last run's numbers mean, and how large its table is.
    fn table(&self) -> &Table;
    /// Totals of the last run, also of one that unwound.
    fn last_report(&self) -> RunReport;
    /// Its cores.
    fn layout(&self) -> CoreLayout;
    /// Sets the group of counters of the runs to come: 0 is the default, `None` counts nothing. Gives the columns of the
    /// group, where the chip counts itself.
    fn count(&mut self, _group: Option<i32>) -> CounterColumns {
        CounterColumns::default()
    }
    /// What it knows of its last run.
    fn facts(&self) -> ChipFacts {
        ChipFacts::default()
    }
}

/// A chip that runs orchestrations. It can be used again after any outcome.
pub trait ChipRuntime: Observable + Sized + Send + 'static {
    /// The platforms that it runs: most chips have one.
    const PLATFORMS: &'static [Capabilities];

    /// A runtime for one of its platforms.
    fn new(platform: &'static Capabilities, config: &CallConfig, options: &ChipOptions) -> Result<Self>;
    /// Runs an orchestration on these buffers with a probe; the root scope is reported at `site`. Returns when every task is done.
    fn run_at<'e, R, P: Probe>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        probe: &P,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R>;
    /// Captures an orchestration on these buffers as a graph, whose tensors may take `memory_limit` bytes. Runs nothing. By
    /// default a chip cannot.
    fn capture_at<'e, R>(
        &mut self,
        _site: Site,
        _buffers: &'e Buffers<'_>,
        _memory_limit: Option<u64>,
        _f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Result<(R, Graph)> {
        Err(Fault::NoReplay { platform: Self::PLATFORMS[0].name }.into())
    }
    /// The next run is a replay of this graph: [`table`](Observable::table) is the graph's until a streamed run begins.
    fn bind(&mut self, _graph: &Graph) {}
    /// Replays a graph that this runtime captured on these buffers with a probe. Returns when every task is done.
    fn replay_at<P: Probe>(&mut self, _graph: &mut Graph, _buffers: &mut Buffers<'_>, _probe: &P) -> Run<()> {
        let platform = Self::PLATFORMS[0].name;
        Run { result: Err(Fault::NoReplay { platform }.into()), report: RunReport::default() }
    }
    /// What it takes to copy a graph to the chip, once, before its first replay: no part of a replay's time.
    fn upload_ticks(&self, _graph: &Graph) -> Option<Ticks> {
        None
    }
    /// The runtime from other threads.
    fn remote(&self) -> Remote;
    /// Number of threads, the submitting one included; of a modelled chip, its control threads.
    fn threads(&self) -> u32;
    /// How it is modelled, if it is.
    fn modelled_as(&self) -> Option<ModelledAs> {
        None
    }
}
