//! What a case is run on: a chip in this process, or workers with chips of their own.

use ringlane_chip_sim::Totals;
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Orch, Result};
use ringlane_node::Memories;
use ringlane_scenes::PartAccess;
use ringlane_task::{CallConfig, Explain};
use ringlane_trace::{ChildRun, GraphFacts, ModelFacts, RunDir};

use crate::execute::Setup;
use crate::select::SelectedCase;
use crate::signals::is_stop_asked;
use crate::workers::parts::{SceneSpec, parts_of, spread};
use crate::workers::{NodeRun, NodeRuntime, shares};
use ringlane::observe::ObservedRun;
use ringlane::{Graph, GraphRuntime, Remote, RunRequest, Runtime, SetupError};

/// What a case is run on.
pub enum Machine {
    /// A chip in this process.
    Chip(Box<ChipMachine>),
    /// Workers; the configuration is what each of their runs is asked for.
    Workers(Box<(NodeRuntime, CallConfig)>),
}

/// A chip in this process, and the graph that it replays if the case is captured.
pub struct ChipMachine {
    runtime: Runtime,
    graph_runtime: GraphRuntime,
    graph_memory: Option<u64>,
    /// Captured in the first round.
    graph: Option<Graph>,
}

impl ChipMachine {
    /// Runs a case once: streamed, or captured before the first round and then replayed.
    fn run(
        &mut self,
        dir: Option<&RunDir>,
        job: &SelectedCase,
        buffers: &mut Buffers<'_>,
    ) -> ObservedRun<()> {
        let (runtime, site) = (&mut self.runtime, job.scene.site);
        if self.graph_runtime == GraphRuntime::TensormapAndRingbuffer {
            return runtime.run_in(dir, site, buffers, |o| job.program.orchestrate(o));
        }
        let graph = match self.graph.take() {
            Some(graph) => Ok(graph),
            None => {
                let orchestrate = |o: &mut Orch<'_, '_>| job.program.orchestrate(o);
                runtime.capture_from(site, buffers, self.graph_memory, orchestrate).map(|((), graph)| graph)
            }
        };
        match graph {
            Ok(graph) => runtime.replay_in(dir, site, self.graph.insert(graph), buffers),
            Err(error) => ObservedRun::refused(error),
        }
    }
}

impl Machine {
    /// What a setup asks for, with the configuration of its runs.
    pub fn new(setup: &Setup, config: &CallConfig) -> core::result::Result<Self, Box<dyn Explain>> {
        match &setup.workers {
            None => {
                let request = setup.request.clone().with_config(*config);
                let runtime = Runtime::request(&request);
                let mut runtime = runtime.map_err(|error| Box::new(error) as Box<dyn Explain>)?;
                runtime.give_up_export_when(is_stop_asked);
                let RunRequest { runtime: graph_runtime, graph_memory, .. } = request;
                Ok(Machine::Chip(Box::new(ChipMachine { runtime, graph_runtime, graph_memory, graph: None })))
            }
            Some(plan) => {
                let started = NodeRuntime::start(&Memories::default(), plan, &setup.request);
                let runtime = started.map_err(|error| Box::new(error) as Box<dyn Explain>)?;
                Ok(Machine::Workers(Box::new((runtime, *config))))
            }
        }
    }

    /// Threads, or workers.
    pub fn threads(&self) -> u32 {
        match self {
            Machine::Chip(chip) => chip.runtime.threads(),
            Machine::Workers(workers) => workers.0.workers(),
        }
    }

    /// How its modelled chip is run.
    pub fn model_facts(&self) -> Option<ModelFacts> {
        match self {
            Machine::Chip(chip) => chip.runtime.model_facts(),
            Machine::Workers(..) => None,
        }
    }

    /// A hand for other threads.
    pub fn remote(&self) -> Remote {
        match self {
            Machine::Chip(chip) => chip.runtime.remote(),
            Machine::Workers(workers) => workers.0.remote(),
        }
    }

    /// Sets what is recorded of the runs to come.
    pub fn observe(&mut self, config: &CallConfig) -> core::result::Result<(), SetupError> {
        match self {
            Machine::Chip(chip) => chip.runtime.observe(config)?,
            Machine::Workers(workers) => workers.1 = *config,
        }
        Ok(())
    }

    /// What the last run was like on a modelled chip in this process.
    pub fn modelled(&self) -> Option<&Totals> {
        match self {
            Machine::Chip(chip) => chip.runtime.modelled(),
            Machine::Workers(..) => None,
        }
    }

    /// The graph that a chip in this process replays, if the case was captured.
    pub fn graph_facts(&self) -> Option<GraphFacts> {
        match self {
            Machine::Chip(chip) => chip.graph.as_ref().map(|graph| chip.runtime.graph_facts(graph)),
            Machine::Workers(..) => None,
        }
    }

    /// Runs a case once, recording into a directory or nowhere; gives the runs that its workers recorded too.
    pub(crate) fn run(
        &mut self,
        dir: Option<&RunDir>,
        job: &SelectedCase,
        buffers: &mut Buffers<'_>,
    ) -> (ObservedRun<()>, Vec<ChildRun>) {
        match self {
            Machine::Chip(chip) => (chip.run(dir, job, buffers), Vec::new()),
            Machine::Workers(workers) => {
                let (runtime, config) = &mut **workers;
                let config = match dir {
                    Some(_) => *config,
                    None => config.with_dfx_flags(CallConfig::DEFAULT.dfx_flags),
                };
                let run = match job.program.shares() {
                    Some(program) => shares::run(runtime, program, &config, dir, job, buffers),
                    None => run_in_parts(runtime, &config, dir, job, buffers),
                };
                match run {
                    Ok(NodeRun { watched, children }) => (watched, children),
                    Err(error) => (ObservedRun::refused(error), Vec::new()),
                }
            }
        }
    }
}

/// Runs a case over workers: its buffers go into their memory, and what they wrote comes back.
fn run_in_parts(
    runtime: &mut NodeRuntime,
    config: &CallConfig,
    dir: Option<&RunDir>,
    job: &SelectedCase,
    buffers: &mut Buffers<'_>,
) -> Result<NodeRun<()>> {
    let (site, parts): (Site, _) = (job.scene.site, parts_of(&*job.program, job.scene.name)?);
    let scene = SceneSpec::of(job).bytes();
    let (mut shared, units) = (runtime.buffers(), 0..parts.units());
    let mut ids = vec![shared.add(&[scene.len() as u32], &scene)?];
    let own = parts.part_buffers()?;
    for id in &own {
        ids.push(shared.add_copy(buffers, *id)?);
    }
    let run = runtime.run_in(dir, config, site, shared.buffers(), |o| {
        let tensors = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
        spread(o, parts, units.clone(), &tensors, config)
    });
    let written = parts.arguments(units)?.into_iter().map(|argument| argument.access != PartAccess::Read);
    for ((id, copy), _) in own.iter().zip(&ids[1..]).zip(written).filter(|(_, written)| *written) {
        buffers.copy_from(*id, shared.buffers(), *copy)?;
    }
    Ok(run)
}
