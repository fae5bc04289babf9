//! Runs over workers: a node and what it is made of, for `run --workers` and for workers that are nodes themselves.

mod dist;
pub mod equipment;
pub mod parts;
pub mod shape;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Result};
use ringlane_node::limits::START;
use ringlane_node::remote::RankLink;
use ringlane_node::{
    Kind, Launch, Memories, Node, NodeClock, NodeError, NodeOptions, NodeOrch, SharedBuffers, WorkerSpec,
};
use ringlane_probe::{Cores, DumpSelection, Logged, ModelCounters, Pool, Recorder, logs_submitter};
use ringlane_task::{CallConfig, DfxFlags};
use ringlane_trace::{ChildRun, RunDir};

use crate::log;
use crate::signals::is_stop_asked;
use dist::Told;
use ringlane::Platform;
use ringlane::observe::{
    ChipFacts, ObservedRun, Observing, cannot_record, facts, log_run, refused, settings,
};
use shape::{Below, Shape};

/// What a node records of a run with these flags itself: its tasks as its workers ran them, their graph and its scopes. What
/// happens inside of a call, and what data goes where, is for the workers to record; their own phases and counters too.
pub fn node_flags(flags: DfxFlags) -> DfxFlags {
    let own = flags.without(DfxFlags::DUMP.with(DfxFlags::PMU));
    own.with_swimlane_level(flags.swimlane_level().min(2)).expect("a level from 0 to 2")
}

/// How the workers of a node are made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many, level by level.
    pub shape: Shape,
    /// What their chips are.
    pub platform: Platform,
    /// How these are run: options of `ringlane worker`.
    pub chip_arguments: Vec<OsString>,
    /// How long a call may take.
    pub call_timeout: Duration,
    /// The ranks that its nodes are, if they are no processes of this machine.
    pub ranks: Vec<RankLink>,
}

impl Plan {
    fn options(&self) -> NodeOptions {
        let worker = |kind: Kind, name: String, more: &[OsString]| {
            let kind_of = ["worker".into(), "--kind".into(), kind.as_str().into()];
            let chip = ["--platform".into(), self.platform.as_str().into()];
            let arguments = kind_of.into_iter().chain(chip).chain(self.chip_arguments.iter().cloned());
            let arguments = arguments.chain(log::arguments()).chain(more.iter().cloned());
            let relay = log::relay(&name);
            let launch = Launch::new(name).with_arguments(arguments);
            let launch = match relay {
                Some(relay) => launch.with_listener(relay),
                None => launch,
            };
            // One that is a node waits for workers of its own first, and should be heard if they do not come.
            let levels = if kind == Kind::Node { u32::from(self.shape.level()) - 2 } else { 1 };
            let launch = launch.with_start_timeout(START * levels);
            WorkerSpec { kind, launch }
        };
        let workers = match self.shape.below() {
            Below::Chips(chips) => {
                let function = worker(Kind::Function, "function0".to_string(), &[]);
                let chips = (0..chips).map(|i| worker(Kind::Chip, format!("chip{i}"), &[]));
                chips.chain([function]).collect()
            }
            Below::Nodes(..) if !self.ranks.is_empty() => {
                let rank = |link| WorkerSpec { kind: Kind::Node, launch: Launch::on_rank(link) };
                self.ranks.iter().map(rank).collect()
            }
            Below::Nodes(nodes, shape) => {
                let seconds = self.call_timeout.as_secs().to_string();
                let own =
                    ["--workers".into(), shape.to_string().into(), "--call-timeout".into(), seconds.into()];
                (0..nodes).map(|i| worker(Kind::Node, format!("node{i}"), &own)).collect()
            }
        };
        let (processes, call_timeout) = (self.shape.processes(), self.call_timeout);
        NodeOptions { processes, call_timeout, ..NodeOptions::new(workers) }
    }
}

/// A node, and what is recorded of its runs.
pub struct NodeRuntime {
    node: Node,
    plan: Plan,
    observing: Observing,
}

/// A node's run, and the runs of its workers.
pub struct NodeRun<R> {
    pub(crate) watched: ObservedRun<R>,
    pub(crate) children: Vec<ChildRun>,
}

impl NodeRuntime {
    /// Starts the workers.
    pub fn start(above: &Memories, plan: &Plan) -> core::result::Result<Self, NodeError> {
        let config = CallConfig::default();
        let node = Node::start(above, &config, &plan.options())?;
        let (dump, pool, stop_asked) =
            (DumpSelection::default(), Pool::default(), Some(is_stop_asked as fn() -> bool));
        let observing = Observing { config, dump, pool, stop_asked };
        Ok(NodeRuntime { node, plan: plan.clone(), observing })
    }

    /// What its chips are.
    pub fn platform(&self) -> Platform {
        self.plan.platform
    }

    /// How many workers it has.
    pub fn workers(&self) -> u32 {
        self.node.workers().len() as u32
    }

    /// Buffers that its workers see.
    pub fn buffers(&self) -> SharedBuffers {
        self.node.buffers()
    }

    /// A hand for other threads.
    pub fn remote(&self) -> ringlane_node::Remote {
        self.node.remote()
    }

    /// Runs an orchestration, recording into a directory or nowhere. `config` tells what is recorded.
    pub(crate) fn run_in<'e, R>(
        &mut self,
        dir: Option<&RunDir>,
        config: &CallConfig,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'o, 'r> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R>,
    ) -> NodeRun<R> {
        self.observing.config = config.with_dfx_flags(node_flags(config.dfx_flags));
        let recorder = match dir.map(|dir| self.recorder(dir)).transpose() {
            Ok(recorder) => recorder,
            Err(error) => return NodeRun { watched: refused(error), children: Vec::new() },
        };
        let (platform, workers) = (self.platform(), self.workers());
        let watched = log_run(platform, workers, site, || self.run_watched(dir, recorder, site, buffers, f));
        NodeRun { watched, children: dist::children(&self.node) }
    }

    fn run_watched<'e, R>(
        &mut self,
        dir: Option<&RunDir>,
        recorder: Option<Recorder<NodeClock>>,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'o, 'r> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R>,
    ) -> ObservedRun<R> {
        let prefix = dir.and_then(|dir| dir.path().to_str()).unwrap_or_default();
        let (start, node) = (Instant::now(), &mut self.node);
        let run = catch_unwind(AssertUnwindSafe(|| match &recorder {
            _ if logs_submitter() => node.run_at(site, buffers, &Logged::new(recorder.as_ref()), prefix, f),
            Some(recorder) => node.run_at(site, buffers, &recorder.probe(), prefix, f),
            None => node.run_at(site, buffers, &(), prefix, f),
        }));
        let wall = start.elapsed();
        let (report, result) = (self.node.last_report(), run.map(|run| run.result));
        let recording = recorder.zip(dir).map(|(recorder, dir)| {
            let facts = facts(self.chip_facts(), self.node.table(), &report, &result);
            let mut exported = recorder.export(&facts);
            if self.observing.config.dfx_flags.contains(DfxFlags::NODE_SWIMLANE) {
                let (node, platform, level) = (&self.node, self.plan.platform, self.plan.shape.level());
                dist::export(&Told { node, platform, level, report: &report }, dir, &mut exported);
            }
            exported
        });
        ObservedRun { result, report, wall, recording }
    }

    fn recorder(&self, dir: &RunDir) -> Result<Recorder<NodeClock>> {
        let cores = Cores::Modelled { count: self.workers(), counters: ModelCounters::default() };
        let mut settings = settings(&self.observing, self.node.table(), cores)?;
        // The timeline over processes is the node's own.
        settings.flags = settings.flags.without(DfxFlags::NODE_SWIMLANE);
        // SAFETY: it is used by `run_at` of a `Node` alone, which does everything on this thread.
        #[allow(unsafe_code)]
        let recorder = unsafe { Recorder::start(NodeClock, dir, settings) };
        recorder.map_err(|error| cannot_record(&error))
    }

    fn chip_facts(&self) -> ChipFacts {
        let workers = self.node.workers();
        ChipFacts {
            platform: self.plan.platform.as_str().to_string(),
            core_types: workers.iter().map(|worker| worker.kind.as_str().to_string()).collect(),
            threads: 1,
            core_to_thread: vec![0; workers.len()],
            copies: None,
        }
    }
}
