//! A scene's program that all chips of a node run together: what they are called for.
//!
//! ```text
//! SCENE_SHARE (each chip) ─▶ ALL_REDUCE (function) ─▶ SCENE_SHARE (each chip) ─▶ …
//! ```

use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Arg, Buffers, Result, Tensor, scalar};
use ringlane_engine::{Error, Fault};
use ringlane_node::{CallError, NodeOrch, On, Title, WorkerKind, callable};
use ringlane_scenes::{Numbers, Share, SharedTensor, Shares, Step};
use ringlane_task::CallConfig;
use ringlane_trace::RunDir;

use super::parts::{SceneSpec, chip_config};
use super::{NodeRun, NodeRuntime};
use crate::select::SelectedCase;

callable! {
    /// A chip's share of a step. Tensors: the scene's spec, and those of the program. Scalars: the step, the chip, the chips.
    pub(super) static SCENE_SHARE = chip fn(call; tensors: 2 .., scalars: [UInt32, UInt32, UInt32]) {
        let scene = SceneSpec::read(call.slice(0)?)?;
        let (step, share) = (call.scalar(0)?, Share { chip: call.scalar(1)?, chips: call.scalar(2)? });
        let program = scene.program()?;
        let shares = program.shares().ok_or_else(|| CallError::of(&not_shared(&scene)))?;
        shares.check(share.chips).map_err(|error| CallError::of(&error))?;
        // A chip's share of a step is the same in every round.
        let part = Some((step, step + 1));
        call.on_chip(Title { part, ..scene.title() }, |o, ids| {
            let tensors = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
            shares.orchestrate_share(o, step, share, &tensors)
        })
    }
}

callable! {
    /// Adds what each chip computed, in the order of the chips, to a sum that all of them see.
    pub(super) static ALL_REDUCE = function fn(call; tensors: 2, scalars: []) {
        let (total, partial) = (call.slice_mut::<f32>(0)?, call.slice_mut::<f32>(1)?);
        for row in partial.chunks_exact(total.len()) {
            total.iter_mut().zip(row).for_each(|(total, value)| *total += value);
        }
        partial.fill(0.0);
        Ok(())
    }
}

fn not_shared(scene: &SceneSpec) -> Error {
    Error::user(format!("{} cannot be shared by several chips", scene.title().scene))
}

/// Runs a case that the chips of a node share: its data goes into their memory, and the results come back.
pub fn run(
    runtime: &mut NodeRuntime,
    shares: &dyn Shares,
    config: &CallConfig,
    dir: Option<&RunDir>,
    job: &SelectedCase,
    buffers: &mut Buffers<'_>,
) -> Result<NodeRun<()>> {
    let (site, chips, scene): (Site, _, _) = (job.scene.site, runtime.chips(), SceneSpec::of(job).bytes());
    let mut data = shares.divide(chips, buffers)?;
    let mut shared = runtime.buffers();
    let spec = shared.add(&[scene.len() as u32], &scene)?;
    let copies = data.tensors.iter().map(|tensor| shared.add_copy(&data.buffers, tensor.buffer));
    let copies = copies.collect::<Result<Vec<_>>>()?;
    let run = runtime.run_in(dir, config, site, shared.buffers(), |o| {
        let spec = o.external(spec)?;
        let tensors = copies.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
        let program = Shared { spec, tensors, chips, layout: &data.tensors, config: chip_config(config) };
        for step in 0..shares.steps() {
            // A scope for each, so that the calls of a long program pass through the rings.
            o.scope_named(&shares.label(step), |o| program.submit(o, step, shares.step(step)))?;
        }
        Ok(())
    });
    for (tensor, copy) in data.tensors.iter().zip(copies) {
        data.buffers.copy_from(tensor.buffer, shared.buffers(), copy)?;
    }
    shares.collect(chips, &data, buffers)?;
    Ok(run)
}

/// A program in the memory of a node.
struct Shared<'s, 'a> {
    spec: Tensor<'s>,
    tensors: Vec<Tensor<'s>>,
    chips: u32,
    layout: &'a [SharedTensor],
    config: CallConfig,
}

impl<'s> Shared<'s, '_> {
    fn submit<'c>(&self, o: &mut NodeOrch<'_, 'c, '_>, step: u32, what: Step) -> Result<()>
    where
        's: 'c,
    {
        match what {
            Step::Each { written } => {
                (0..self.chips).try_for_each(|chip| self.call(o, (step, chip), true, written))
            }
            Step::One { written } => self.call(o, (step, 0), false, written),
            Step::AllReduce { partial, total } => {
                let args = [self.tensors[total].inout(), self.tensors[partial].inout()];
                o.submit(&ALL_REDUCE, &args, &self.config, On::Any).map(drop)
            }
        }
    }

    /// A call on one chip: with its own row of divided tensors, or with all rows.
    fn call<'c>(
        &self,
        o: &mut NodeOrch<'_, 'c, '_>,
        (step, chip): (u32, u32),
        own_rows: bool,
        written: Numbers,
    ) -> Result<()>
    where
        's: 'c,
    {
        let mut args: Vec<Arg<'c>> = vec![self.spec.read()];
        for (number, (tensor, layout)) in self.tensors.iter().zip(self.layout).enumerate() {
            let view = if own_rows && layout.is_divided { tensor.select(0, chip)? } else { *tensor };
            args.push(if written.contains(&number) { view.inout() } else { view.read() });
        }
        args.extend([scalar(step), scalar(chip), scalar(self.chips)]);
        let worker = o.workers().iter().enumerate().filter(|(_, worker)| worker.kind == WorkerKind::Chip);
        let worker = worker.map(|(at, _)| at as u32).nth(chip as usize);
        let worker =
            worker.ok_or_else(|| Error::from(Fault::BadLaunch { detail: format!("no chip {chip}") }))?;
        o.submit(&SCENE_SHARE, &args, &self.config, On::Worker(worker)).map(drop)
    }
}
