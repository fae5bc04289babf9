//! The overhead of recording many scopes: wall time of `paged_attention`, case `scopes`, with and without.

use std::time::Duration;

use ringlane_scenes::{Program, Scene, SceneError};
use ringlane_task::DfxFlags;

use super::ROUNDS_MIN;
use crate::Session;
use crate::error::BenchError;
use crate::measure::{Effort, Interleaved};
use crate::rows::{Ratio, Row, Target};
use crate::scratch::Scratch;

/// The largest allowed ratio with scopes recorded.
const RATIO_MAX: f64 = 1.02;
/// For both variants: about 150 pairs.
const EFFORT: Effort = Effort { time: Duration::from_secs(16), rounds_min: ROUNDS_MIN };

/// Runs the scene with and without, alternately.
pub fn compare(session: &mut Session<'_>, scratch: &Scratch, threads: u32) -> Result<(), BenchError> {
    let mut program = program()?;
    let mut data = program.buffers()?;
    let runtime = session.runtime("dfx paged_attention", threads)?;
    let variants = [("off", DfxFlags::NONE), ("scopes", DfxFlags::SCOPES)];
    let mut tasks = 0;
    let measured = Interleaved::take(EFFORT, &[1; 2], |variant| {
        let mut once = |flags| scratch.watch(runtime, flags, &mut data, |o| program.orchestrate(o));
        // Both begin in the same state: the last export no longer affects the caches.
        once(DfxFlags::NONE)?;
        let watched = once(variants[variant].1)?;
        tasks = watched.report.tasks;
        Ok(watched.wall)
    })?;
    for (variant, (label, _)) in variants.into_iter().enumerate() {
        let mut row =
            Row::new("paged_attention", threads, 0, tasks, &measured.samples[variant]).with_dfx(label);
        row.extra.ratio = (variant > 0).then(|| Ratio::of(&measured, variant));
        session.done(row);
    }
    let what = format!("dfx: scopes on paged_attention, case scopes, --threads {threads}");
    session.judge(Target::at_most(what, measured.ratio(1, 0.5), RATIO_MAX), 1);
    Ok(())
}

fn program() -> Result<Box<dyn Program>, BenchError> {
    let make = || -> Result<Box<dyn Program>, SceneError> {
        let scene = Scene::find("paged_attention")?;
        let settings = scene.settings(scene.case("scopes")?, &[], 0)?;
        (scene.build)(&settings)
    };
    make().map_err(BenchError::Scene)
}
