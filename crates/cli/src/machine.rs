//! What a case is run on: a chip in this process, or workers with chips of their own.

use ringlane_chip_sim::Totals;
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Result};
use ringlane_node::Memories;
use ringlane_scenes::PartAccess;
use ringlane_task::{CallConfig, Explain};
use ringlane_trace::{ChildRun, ModelFacts, RunDir};

use crate::execute::Setup;
use crate::select::Job;
use crate::signals::is_stop_asked;
use crate::workers::parts::{SceneSpec, parts_of, spread};
use crate::workers::{NodeRun, NodeRuntime};
use ringlane::observe::ObservedRun;
use ringlane::{Remote, Runtime, SetupError};

/// What a case is run on.
pub enum Machine {
    /// A chip in this process.
    Chip(Box<Runtime>),
    /// Workers; the configuration is what each of their runs is asked for.
    Workers(Box<(NodeRuntime, CallConfig)>),
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
                Ok(Machine::Chip(Box::new(runtime)))
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
            Machine::Chip(runtime) => runtime.threads(),
            Machine::Workers(workers) => workers.0.workers(),
        }
    }

    /// How its modelled chip is run.
    pub fn model_facts(&self) -> Option<ModelFacts> {
        match self {
            Machine::Chip(runtime) => runtime.model_facts(),
            Machine::Workers(..) => None,
        }
    }

    /// A hand for other threads.
    pub fn remote(&self) -> Remote {
        match self {
            Machine::Chip(runtime) => runtime.remote(),
            Machine::Workers(workers) => workers.0.remote(),
        }
    }

    /// Sets what is recorded of the runs to come.
    pub fn observe(&mut self, config: &CallConfig) -> core::result::Result<(), SetupError> {
        match self {
            Machine::Chip(runtime) => runtime.observe(config)?,
            Machine::Workers(workers) => workers.1 = *config,
        }
        Ok(())
    }

    /// What the last run was like on a modelled chip in this process.
    pub fn modelled(&self) -> Option<&Totals> {
        match self {
            Machine::Chip(runtime) => runtime.modelled(),
            Machine::Workers(..) => None,
        }
    }

    /// Runs a case once, recording into a directory or nowhere; gives the runs that its workers recorded too.
    pub(crate) fn run(
        &mut self,
        dir: Option<&RunDir>,
        job: &Job,
        buffers: &mut Buffers<'_>,
    ) -> (ObservedRun<()>, Vec<ChildRun>) {
        match self {
            Machine::Chip(runtime) => {
                let watched = runtime.run_in(dir, job.scene.site, buffers, |o| job.program.orchestrate(o));
                (watched, Vec::new())
            }
            Machine::Workers(workers) => {
                let (runtime, config) = &mut **workers;
                let config = match dir {
                    Some(_) => *config,
                    None => config.with_dfx_flags(CallConfig::DEFAULT.dfx_flags),
                };
                match run_in_parts(runtime, &config, dir, job, buffers) {
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
    job: &Job,
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
    let written = parts.arguments(units).into_iter().map(|argument| argument.access != PartAccess::Read);
    for ((id, copy), _) in own.iter().zip(&ids[1..]).zip(written).filter(|(_, written)| *written) {
        buffers.copy_from(*id, shared.buffers(), *copy)?;
    }
    Ok(run)
}
