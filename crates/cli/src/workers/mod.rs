//! Runs over workers: a node and what it is made of, for `run --workers` and for workers that are nodes themselves.

pub mod backends;
mod dist;
pub mod parts;
pub mod shape;
pub mod shares;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Result};
use ringlane_engine::remote::Remote;
use ringlane_engine::report::Run;
use ringlane_engine::seams::Probe;
use ringlane_node::limits::START;
use ringlane_node::remote::RankLink;
use ringlane_node::{
    ChildLaunch, Memories, Node, NodeError, NodeOptions, NodeOrch, SharedBuffers, WorkerKind, WorkerSpec,
};
use ringlane_task::{CallConfig, DfxFlags};
use ringlane_trace::{ChildRun, RunDir};

use crate::cmd::common_arguments;
use crate::log;
use crate::signals::is_stop_asked;
use dist::RunFacts;
use ringlane::observe::{self, ObservedRun, Observing, ProbedRun};
use ringlane::{Platform, RunRequest};
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
    /// How long a call may take.
    pub call_timeout: Duration,
    /// The ranks that its nodes are, if they are no processes of this machine.
    pub ranks: Vec<RankLink>,
}

impl Plan {
    fn options(&self, request: &RunRequest) -> NodeOptions {
        let request: Arc<[u8]> = request.encode().into();
        // One that is a node waits for workers of its own first, and should be heard if they do not come.
        let start_of_a_node = START * (u32::from(self.shape.level()) - 2);
        let worker = |kind: WorkerKind, name: String, more: &[OsString]| {
            let kind_of = ["worker".into(), "--kind".into(), kind.as_str().into()];
            let arguments = kind_of.into_iter().chain(common_arguments()).chain(more.iter().cloned());
            let relay = log::relay(&name);
            let launch = ChildLaunch::new(name).with_arguments(arguments).with_run_request(request.clone());
            let launch = match relay {
                Some(relay) => launch.with_listener(relay),
                None => launch,
            };
            let timeout = if kind == WorkerKind::Node { start_of_a_node } else { START };
            WorkerSpec { kind, launch: launch.with_start_timeout(timeout) }
        };
        let workers = match self.shape.below() {
            Below::Chips(chips) => {
                let function = worker(WorkerKind::Function, "function0".to_string(), &[]);
                let chips = (0..chips).map(|i| worker(WorkerKind::Chip, format!("chip{i}"), &[]));
                chips.chain([function]).collect()
            }
            Below::Nodes(..) if !self.ranks.is_empty() => {
                let rank = |link| {
                    let launch = ChildLaunch::on_rank(link).with_run_request(request.clone());
                    WorkerSpec { kind: WorkerKind::Node, launch: launch.with_start_timeout(start_of_a_node) }
                };
                self.ranks.iter().map(rank).collect()
            }
            Below::Nodes(nodes, shape) => {
                let seconds = self.call_timeout.as_secs().to_string();
                let own =
                    ["--workers".into(), shape.to_string().into(), "--call-timeout".into(), seconds.into()];
                (0..nodes).map(|i| worker(WorkerKind::Node, format!("node{i}"), &own)).collect()
            }
        };
        let (processes, call_timeout) = (self.shape.processes(), self.call_timeout);
        NodeOptions { processes, call_timeout, ..NodeOptions::new(workers) }
    }
}

/// A node, and what is recorded of its runs.
pub struct NodeRuntime {
    node: Node,
    platform: Platform,
    level: u8,
    observing: Observing,
}

/// A node's run, and the runs of its workers.
pub struct NodeRun<R> {
    pub(crate) watched: ObservedRun<R>,
    pub(crate) children: Vec<ChildRun>,
}

impl NodeRuntime {
    /// Starts the workers, each for runs that are asked for this.
    pub fn start(
        above: &Memories,
        plan: &Plan,
        request: &RunRequest,
    ) -> core::result::Result<Self, NodeError> {
        let config = CallConfig::default();
        let node = Node::start(above, &config, &plan.options(request))?;
        let observing = Observing { stop_asked: Some(is_stop_asked), ..Observing::new(config) };
        Ok(NodeRuntime { node, platform: request.platform, level: plan.shape.level(), observing })
    }

    /// What its chips are.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// How many workers it has.
    pub fn workers(&self) -> u32 {
        self.node.workers().len() as u32
    }

    /// How many of them have chips.
    pub fn chips(&self) -> u32 {
        self.node.workers().iter().filter(|worker| worker.kind == WorkerKind::Chip).count() as u32
    }

    /// Buffers that its workers see.
    pub fn buffers(&self) -> SharedBuffers {
        self.node.buffers()
    }

    /// The node from other threads.
    pub fn remote(&self) -> Remote {
        self.node.remote()
    }

    /// Runs an orchestration, recording into a directory or nowhere. `config` says what is recorded.
    pub(crate) fn run_in<'e, R>(
        &mut self,
        dir: Option<&RunDir>,
        config: &CallConfig,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'o, 'r> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R>,
    ) -> NodeRun<R> {
        self.observing.config = config.with_dfx_flags(node_flags(config.dfx_flags));
        let (platform, workers) = (self.platform().as_str(), self.workers());
        let prefix = dir.and_then(|dir| dir.path().to_str()).unwrap_or_default();
        let run = OnNode { site, buffers, prefix, f };
        let mut watched = observe::log_run(platform, workers, site, || {
            observe::run(&mut self.node, &self.observing, platform, dir, run)
        });
        let is_on = self.observing.config.dfx_flags.contains(DfxFlags::NODE_SWIMLANE);
        if let (true, Some(dir), Some(exported)) = (is_on, dir, &mut watched.recording) {
            let (node, platform, level) = (&self.node, self.platform, self.level);
            dist::export(&RunFacts { node, platform, level, report: &watched.report }, dir, exported);
        }
        NodeRun { watched, children: dist::children(&self.node) }
    }
}

/// A run on a node, with any probe.
struct OnNode<'a, 'b, 'e, F> {
    site: Site,
    buffers: &'e mut Buffers<'b>,
    prefix: &'a str,
    f: F,
}

impl<'e, F, R> ProbedRun<Node> for OnNode<'_, '_, 'e, F>
where
    F: for<'o, 'r> FnOnce(&mut NodeOrch<'o, 'r, 'e>) -> Result<R>,
{
    type Answer = R;

    fn run(self, node: &mut Node, probe: &impl Probe) -> Run<R> {
        node.run_at(self.site, self.buffers, probe, self.prefix, self.f)
    }
}
