//! An experiment as a run directory: the replay is recorded like any other run.

use std::panic::Location;
use std::sync::Arc;

use ringlane_chip_sim::SimRuntime;
use ringlane_engine::api::backend::Site;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::graph::Graph;
use ringlane_engine::prelude::{Error, Fault};
use ringlane_engine::report::Run;
use ringlane_engine::seams::Probe;
use ringlane_graph::ReplayError;
use ringlane_graph::recorded::{GraphBuild, Recorded};
use ringlane_graph::replay::{self, ReplayBuffers, Replayable};
use ringlane_graph::what_if::Experiment;
use ringlane_task::DfxFlags;
use ringlane_trace::{Manifest, RunDir, UtcTime};

use crate::graph::graph_facts;
use crate::manifest::with_outcome;
use crate::observe::{self, ObservedRun, Observing, ProbedRun};
use crate::platform::Platform;
use crate::record::model_facts;

/// What is not recorded of a replay: it computes no values, and counts nothing.
const NOT_REPLAYED: DfxFlags = DfxFlags::DUMP.with(DfxFlags::PMU);

/// A replay on a chip; of a graph, if it was captured.
struct Orchestrated<'r, 'p> {
    replayable: &'r Replayable<'p>,
    buffers: ReplayBuffers,
    site: Site,
    graph: Option<Graph>,
}

impl ProbedRun<SimRuntime> for Orchestrated<'_, '_> {
    type Answer = ();

    fn run(self, chip: &mut SimRuntime, probe: &impl Probe) -> Run<()> {
        let Orchestrated { replayable, buffers: ReplayBuffers { mut buffers, ids }, site, graph } = self;
        match graph {
            Some(mut graph) => chip.replay_at(&mut graph, &mut buffers, probe),
            None => chip.run_at(site, &mut buffers, probe, |o| replayable.orchestrate(&ids, o, site)),
        }
    }
}

/// Captures the program of an experiment that captures it.
fn captured(
    chip: &mut SimRuntime,
    build: GraphBuild,
    replayable: &Replayable<'_>,
    site: Site,
) -> Result<Option<Graph>, ReplayError> {
    let GraphBuild::Captured { memory_limit } = build else { return Ok(None) };
    let ReplayBuffers { buffers, ids } = replayable.buffers()?;
    let ((), graph) =
        chip.capture_at(site, &buffers, memory_limit, |o| replayable.orchestrate(&ids, o, site))?;
    chip.bind(&graph);
    Ok(Some(graph))
}

/// Writes an experiment on a recorded run as a run directory of its own. It has the recorded run's instruments but the dump and
/// the counters: a replay computes no values.
#[track_caller]
pub fn keep_experiment(
    recorded: &Recorded,
    experiment: &Experiment,
    dir: &RunDir,
) -> Result<Manifest, ReplayError> {
    let (setup, costs) = experiment.apply(recorded)?;
    let mut chip = replay::runtime(&setup, Arc::new(costs))?;
    let platform = Platform::named(&recorded.manifest.platform)
        .ok_or_else(|| ReplayError::NoModel { platform: recorded.manifest.platform.clone() })?;
    let mut config = replay::config(&setup.rings);
    config.dfx_flags = recorded.manifest.dfx_flags().without(NOT_REPLAYED);
    config.seed = recorded.manifest.seed;
    let path = dir.path().to_str().unwrap_or_default();
    config.set_output_prefix(path).map_err(|error| Error::from(Fault::Config(error)))?;
    dir.reserve(config.dfx_flags)?;
    let started_at = UtcTime::now();
    let replayable = Replayable::new(&recorded.program)?;
    let site = Location::caller();
    let graph = captured(&mut chip, setup.build, &replayable, site)?;
    let facts = graph.as_ref().map(|graph| graph_facts(graph, chip.upload_ticks(graph)));
    let run = Orchestrated { replayable: &replayable, buffers: replayable.buffers()?, site, graph };
    let observing = Observing::new(config);
    let observed = observe::run(&mut chip, &observing, platform.as_str(), Some(dir), run);
    let ObservedRun { result, report, wall, recording } = observed;
    let mut manifest =
        Manifest::new(&recorded.manifest.scene, &recorded.manifest.case, platform.as_str(), started_at);
    manifest.params = recorded.manifest.params.clone();
    manifest.params.insert("what-if".to_string(), experiment.name());
    (manifest.runtime, manifest.graph) = (setup.build.runtime().to_string(), facts);
    manifest.threads = chip.threads();
    manifest.model = chip.modelled_as().map(model_facts);
    (manifest.seed, manifest.wall_us) = (recorded.manifest.seed, wall.as_nanos() as f64 / 1e3);
    let manifest = with_outcome(manifest, &report, result.as_ref(), recording.as_ref(), &observing.config);
    manifest.write(dir)?;
    match result {
        Ok(Ok(())) => Ok(manifest),
        Ok(Err(error)) => Err(error.into()),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
