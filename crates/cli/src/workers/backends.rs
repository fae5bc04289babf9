//! What `ringlane worker` brings to its calls: a chip, or a node of its own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use ringlane_chip_cpu::CpuClock;
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::seams::Clock;
use ringlane_node::{
    CallError, ChipProgram, ChipTimes, HasRunDir, NODE_CLOCK_HZ, NodeProgram, RunOutcome, Title,
    WorkerBackend, now_ns,
};
use ringlane_scenes::Scene;
use ringlane_task::CallConfig;
use ringlane_trace::{Manifest, RunDir, UtcTime};

use super::{NodeRun, NodeRuntime, node_flags};
use crate::errors::warn;
use crate::monitor::Monitor;
use crate::progress::{Bar, Progress};
use crate::signals::is_stop_asked;
use ringlane::manifest::{node_clock, with_outcome};
use ringlane::observe::ObservedRun;
use ringlane::{Graph, GraphRuntime, RunRequest, Runtime};

/// One chip.
pub struct OneChip {
    /// What its runs are asked for; the configuration of each comes with its call.
    pub(crate) request: RunRequest,
    /// The runtime of the last call, and what it was made with.
    pub(crate) runtime: Option<(CallConfig, Runtime)>,
    /// The parts of the case that this worker has captured.
    pub(crate) graphs: BTreeMap<(String, String, (u32, u32)), Graph>,
    pub(crate) monitor: Monitor,
}

impl OneChip {
    /// The runtime for a configuration: the last one, if it would be made alike.
    fn runtime(&mut self, config: &CallConfig) -> Result<&mut Runtime, CallError> {
        let mut made_with = *config;
        (made_with.dfx_flags, made_with.pmu_group) = (CallConfig::DEFAULT.dfx_flags, 0);
        made_with.set_output_prefix("").map_err(|error| CallError::of(&error))?;
        let made_with = made_with.with_overflow(Default::default());
        if self.runtime.as_ref().is_none_or(|(last, _)| *last != made_with) {
            let request = self.request.clone().with_config(made_with);
            let mut runtime = Runtime::request(&request).map_err(|error| CallError::of(&error))?;
            runtime.give_up_export_when(is_stop_asked);
            self.graphs.clear();
            self.runtime = Some((made_with, runtime));
        }
        Ok(&mut self.runtime.as_mut().expect("just made").1)
    }
}

impl WorkerBackend for OneChip {
    fn run_chip(
        &mut self,
        title: Title<'_>,
        config: &CallConfig,
        buffers: &mut Buffers<'_>,
        program: &mut ChipProgram<'_>,
    ) -> RunOutcome {
        let runtime = match self.runtime(config) {
            Ok(runtime) => runtime,
            Err(error) => return (None, Err(error)),
        };
        if let Err(error) = runtime.observe(config) {
            return (None, Err(CallError::of(&error)));
        }
        runtime.set_title(title.scene, title.case);
        let (remote, is_modelled, begun_ns) =
            (runtime.remote(), self.request.platform.capabilities().virtual_time, now_ns());
        let bar = Bar::start(Progress::Hidden, title.scene);
        let _watch = self.monitor.watch(remote, bar, directory_of(config));
        let runtime = &mut self.runtime.as_mut().expect("made above").1;
        let captured = title.part.filter(|_| self.request.runtime == GraphRuntime::HostBuildGraph);
        let Run { result, report } = match captured {
            None => runtime.run_from(site_of(title), buffers, |o: &mut Orch<'_, '_>| program(o)),
            Some(part) => {
                let key = (title.scene.to_string(), title.case.to_string(), part);
                let graph = match self.graphs.entry(key) {
                    Entry::Occupied(graph) => Ok(graph.into_mut()),
                    Entry::Vacant(room) => {
                        let (site, limit) = (site_of(title), self.request.graph_memory);
                        let captured = runtime.capture_from(site, buffers, limit, |o| program(o));
                        captured.map(|((), graph)| room.insert(graph))
                    }
                };
                match graph {
                    Ok(graph) => runtime.replay(graph, buffers),
                    Err(error) => Run { result: Err(error), report: RunReport::default() },
                }
            }
        };
        runtime
            .recording()
            .iter()
            .flat_map(|recording| recording.problems())
            .for_each(|problem| warn(problem));
        let start_ns = if is_modelled { begun_ns } else { on_node_clock(report.started_ticks) };
        // A run that could not begin has no clock.
        let times = (report.clock_freq_hz != 0).then_some(ChipTimes {
            start_ns,
            ticks: report.makespan_ticks,
            freq_hz: report.clock_freq_hz,
            recorded: recorded(config),
        });
        (times, result.map_err(|error| CallError::of(&error)))
    }
}

/// The directory of a run that is recorded.
fn directory_of(config: &CallConfig) -> Option<&Path> {
    let prefix = config.output_prefix().ok().flatten();
    prefix.filter(|_| !config.dfx_flags.is_empty()).map(Path::new)
}

/// Where the root scope of a run is said to be: where its scene is written, if it is one.
fn site_of(title: Title<'_>) -> Site {
    Scene::find(title.scene).map_or(core::panic::Location::caller(), |scene| scene.site)
}

/// Whether a run has left its directory, complete with `run.json`.
fn recorded(config: &CallConfig) -> HasRunDir {
    match config.output_prefix() {
        Ok(Some(prefix)) if !config.dfx_flags.is_empty() && Manifest::read(prefix).is_ok() => HasRunDir::Yes,
        _ => HasRunDir::No,
    }
}

/// A stamp of the processor's clock on the clock that all processes share: both are read once more, and the distance counts.
fn on_node_clock(ticks: u64) -> u64 {
    let clock = CpuClock::get();
    let (now, ns) = (clock.now().0, now_ns());
    let ago = u128::from(now.saturating_sub(ticks)) * u128::from(NODE_CLOCK_HZ) / u128::from(clock.freq_hz());
    ns.saturating_sub(ago as u64)
}

/// A node of its own.
pub struct OwnNode {
    pub(crate) runtime: NodeRuntime,
    pub(crate) monitor: Monitor,
}

impl WorkerBackend for OwnNode {
    fn run_node(
        &mut self,
        title: Title<'_>,
        config: &CallConfig,
        buffers: &mut Buffers<'_>,
        program: &mut NodeProgram<'_>,
    ) -> RunOutcome {
        let (remote, bar) = (self.runtime.remote(), Bar::start(Progress::Hidden, title.scene));
        let _watch = self.monitor.watch(remote, bar, directory_of(config));
        let dir = match config.output_prefix() {
            _ if config.dfx_flags.is_empty() => None,
            Ok(prefix) => match directory(prefix.unwrap_or_default(), config) {
                Ok(dir) => Some(dir),
                Err(error) => return (None, Err(error)),
            },
            Err(error) => return (None, Err(CallError::of(&error))),
        };
        let (started_at, site) = (UtcTime::now(), site_of(title));
        let run = self.runtime.run_in(dir.as_ref(), config, site, buffers, |o| program(o));
        let recorded = match &dir {
            Some(dir) => write_manifest(title, dir, started_at, &self.runtime, config, &run),
            None => HasRunDir::No,
        };
        let ObservedRun { result, report: RunReport { started_ticks, makespan_ticks, .. }, .. } = run.watched;
        let times =
            ChipTimes { start_ns: started_ticks, ticks: makespan_ticks, freq_hz: NODE_CLOCK_HZ, recorded };
        let result = match result {
            Ok(result) => result.map_err(|error| CallError::of(&error)),
            Err(panic) => std::panic::resume_unwind(panic),
        };
        (Some(times), result)
    }
}

fn directory(prefix: &str, config: &CallConfig) -> Result<RunDir, CallError> {
    let dir = RunDir::create_exact(prefix).map_err(|error| CallError::of(&error))?;
    match dir.reserve(node_flags(config.dfx_flags)) {
        Ok(()) => Ok(dir),
        Err(error) => {
            dir.abandon();
            Err(CallError::of(&error))
        }
    }
}

fn write_manifest(
    title: Title<'_>,
    dir: &RunDir,
    started_at: UtcTime,
    runtime: &NodeRuntime,
    config: &CallConfig,
    run: &NodeRun<()>,
) -> HasRunDir {
    let ObservedRun { result, report, wall, recording } = &run.watched;
    let mut manifest = Manifest::new(title.scene, title.case, runtime.platform().as_str(), started_at);
    (manifest.threads, manifest.seed) = (runtime.workers(), config.seed);
    manifest.wall_us = wall.as_nanos() as f64 / 1e3;
    manifest.children = run.children.clone();
    let config = (*config).with_dfx_flags(node_flags(config.dfx_flags));
    let mut manifest = with_outcome(manifest, report, result.as_ref(), recording.as_ref(), &config);
    manifest.clock = Some(node_clock());
    match manifest.write(dir) {
        Ok(()) => HasRunDir::Yes,
        Err(_) => HasRunDir::No,
    }
}
