//! A scene's program over workers: what they are called for.
//!
//! ```text
//! SCENE_PARTS (node) ─▶ SCENE_PART (chip) ─▶ CHECK_FINITE (function)      for each part of the scene, if it has parts
//! ```
//! A worker makes the program itself, from its name and settings, which are in a tensor of their own: what travels is what a
//! part touches.

use core::ops::Range;

use ringlane_engine::prelude::{Arg, Element, Result, Tensor, scalar};
use ringlane_engine::{Error, Fault};
use ringlane_node::{Call, CallError, Callable, NodeOrch, On, Title, WorkerKind, callable};
use ringlane_scenes::{PartAccess, PartArgument, Parts, Program, Scene, SceneError, Settings, share_out};
use ringlane_task::{CallConfig, DfxFlags};
use serde::{Deserialize, Serialize};

use crate::select::SelectedCase;

/// Parts for each chip: several, so that one that is done early takes over from one that is not.
const PARTS_A_CHIP: u32 = 2;

callable! {
    /// The units of a scene from one number to another, on a chip. Tensors: the scene's spec, and what the units touch.
    pub(super) static SCENE_PART = chip fn(call; tensors: 2 .., scalars: [UInt32, UInt32]) {
        let (scene, units) = (SceneSpec::read(call.slice(0)?)?, units_of(call)?);
        let program = scene.program()?;
        let parts = parts_of(&*program, &scene.scene).map_err(|error| CallError::of(&error))?;
        let part = Some((units.start, units.end));
        call.on_chip(Title { part, ..scene.title() }, |o, ids| {
            let tensors = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
            parts.orchestrate_part(o, units.clone(), &tensors)
        })
    }
}

callable! {
    /// The same over the workers of a node.
    pub(super) static SCENE_PARTS = node fn(call; tensors: 2 .., scalars: [UInt32, UInt32]) {
        let (scene, units, config) = (SceneSpec::read(call.peek(0)?)?, units_of(call)?, *call.config());
        let program = scene.program()?;
        let parts = parts_of(&*program, &scene.scene).map_err(|error| CallError::of(&error))?;
        call.on_node(scene.title(), |o, ids| {
            let tensors = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
            spread(o, parts, units.clone(), &tensors, &config)
        })
    }
}

callable! {
    /// Fails if a result is no finite number, and says which.
    pub(super) static CHECK_FINITE = function fn(call; tensors: 1, scalars: [UInt32, UInt32]) {
        let (from, to) = (call.scalar::<u32>(0)?, call.scalar::<u32>(1)?);
        let values = call.slice::<f32>(0)?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => {
                let detail = format!("value {at} of the result of units {from} to {to} is {}", values[at]);
                Err(CallError::new("NotFinite", detail, "`ringlane dump bad` on the run of this part finds the task"))
            }
        }
    }
}

/// Which case of which scene, with which settings: what another process makes the program from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SceneSpec {
    scene: String,
    case: String,
    seed: u64,
    params: std::collections::BTreeMap<String, String>,
}

impl SceneSpec {
    /// What a job's program was made from.
    pub fn of(job: &SelectedCase) -> Self {
        let Settings { seed, params } = job.settings.clone();
        SceneSpec { scene: job.scene.name.to_string(), case: job.case.name.to_string(), seed, params }
    }

    /// Makes the job again.
    pub fn job(&self) -> core::result::Result<SelectedCase, SceneError> {
        let scene = Scene::find(&self.scene)?;
        let (case, settings) = (scene.case(&self.case)?, self.settings());
        let program = (scene.build)(&settings)?;
        Ok(SelectedCase { scene, case, settings, program })
    }

    fn settings(&self) -> Settings {
        Settings { seed: self.seed, params: self.params.clone() }
    }

    /// As bytes.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings and numbers")
    }

    pub(super) fn read(bytes: &[u8]) -> core::result::Result<Self, CallError> {
        serde_json::from_slice(bytes).map_err(|error| {
            CallError::new(
                "BadSettings",
                error.to_string(),
                "do not write settings by hand: a node writes them itself",
            )
        })
    }

    pub(super) fn title(&self) -> Title<'_> {
        Title { scene: &self.scene, case: &self.case, part: None }
    }

    /// Makes the program again.
    pub(super) fn program(&self) -> core::result::Result<Box<dyn Program>, CallError> {
        let make =
            || -> core::result::Result<_, SceneError> { (Scene::find(&self.scene)?.build)(&self.settings()) };
        make().map_err(|error| CallError::of(&error))
    }
}

fn units_of(call: &Call<'_>) -> core::result::Result<Range<u32>, CallError> {
    Ok(call.scalar::<u32>(0)?..call.scalar::<u32>(1)?)
}

/// How a program is run in parts; an error if it cannot be.
pub fn parts_of<'p>(program: &'p dyn Program, scene: &str) -> Result<&'p dyn Parts> {
    program.parts().ok_or_else(|| Error::user(format!("{scene} cannot be run in parts")))
}

/// Submits these units to the workers of a node: to its chips, or to its nodes. The first tensor is the scene's spec, the
/// others are what the units touch.
pub fn spread<'s>(
    o: &mut NodeOrch<'_, 's, '_>,
    parts: &dyn Parts,
    units: Range<u32>,
    tensors: &[Tensor<'s>],
    config: &CallConfig,
) -> Result<()> {
    let (scene, tensors) =
        tensors.split_first().ok_or_else(|| Error::user("a scene without its settings"))?;
    let whole = parts.arguments(units.clone())?;
    let (callable, count, config): (&'static Callable, u32, CallConfig) = match o.count(WorkerKind::Chip) {
        0 => (&SCENE_PARTS, o.count(WorkerKind::Node), *config),
        chips => (&SCENE_PART, chips.saturating_mul(PARTS_A_CHIP), chip_config(config)),
    };
    for part in share_out(units, count) {
        let touched = parts.arguments(part.clone())?;
        let views = views(tensors, &whole, &touched)?;
        let ends = [scalar(part.start), scalar(part.end)];
        let args = core::iter::once(scene.read()).chain(views.iter().map(|(_, arg)| *arg)).chain(ends);
        o.submit(callable, &args.collect::<Vec<_>>(), &config, On::Any)?;
        if o.count(WorkerKind::Function) > 0 {
            for (view, _) in
                views.iter().zip(&touched).filter(|(_, t)| t.access != PartAccess::Read).map(|(v, _)| v)
            {
                if view.dtype() == f32::DTYPE && view.view().is_contiguous() {
                    let args = [view.read(), scalar(part.start), scalar(part.end)];
                    o.submit(&CHECK_FINITE, &args, &config, On::Any)?;
                }
            }
        }
    }
    Ok(())
}

/// What a call on a chip is asked for: a chip has no workers to report.
pub(super) fn chip_config(config: &CallConfig) -> CallConfig {
    config.with_dfx_flags(config.dfx_flags.without(DfxFlags::NODE_SWIMLANE))
}

/// What a part touches of tensors that are themselves what `whole` says of the buffers.
fn views<'s>(
    tensors: &[Tensor<'s>],
    whole: &[PartArgument],
    part: &[PartArgument],
) -> Result<Vec<(Tensor<'s>, Arg<'s>)>> {
    if tensors.len() != whole.len() || part.len() != whole.len() {
        let (given, wanted) = (tensors.len(), whole.len());
        return Err(Fault::ArgCount {
            kernel: "a part of a scene".to_string(),
            given,
            wanted,
            or_more: false,
        }
        .into());
    }
    let each = tensors.iter().zip(whole).zip(part).map(|((tensor, whole), part)| {
        let view = match (&whole.rows, &part.rows) {
            (Some(whole), Some(part)) => {
                let outside =
                    || Error::user("a part of the scene uses rows that the whole does not".to_string());
                let start = part.start.checked_sub(whole.start).ok_or_else(outside)?;
                tensor.slice(0, start, part.len() as u32)?
            }
            _ => *tensor,
        };
        let arg = match part.access {
            PartAccess::Read => view.read(),
            PartAccess::Write => view.write(),
            PartAccess::InOut => view.inout(),
        };
        Ok((view, arg))
    });
    each.collect()
}
