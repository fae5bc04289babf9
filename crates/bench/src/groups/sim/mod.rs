//! `ringlane bench sim`: the modelled chips. The makespan of each scene with each policy, its distance from the best
//! possible, and the speed of the model itself.
//!
//! ```text
//! speed    stream on a2a3sim, nothing recorded           ns of host time per task, memory
//! scenes   each scene × each chip × each policy          makespan, its bound, cores busy, gain against fifo
//! ```
//! The third chip is `a2a3-free`, whose control costs nothing: it shows the policy alone.
//!
//! Makespans are virtual time: the same numbers on every machine and in every run. No run can be shorter than its
//! bound; if one is, the command fails. With `--verify` the scenes are small and their values are compared as well.

mod cases;
mod speed;

use std::time::Instant;

use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::{SimOptions, spec};
use ringlane_insight::bound::of_run;
use ringlane_scenes::{Scene, scenes};
use ringlane_task::{CallConfig, DfxFlags};

use crate::error::BenchError;
use crate::measure::Samples;
use crate::modelled::Modelled;
use crate::rows::{Row, Target};
use crate::scratch::Scratch;
use crate::{Bench, Mode, Session};
use cases::Subject;
use ringlane::{Model, Platform, Runtime};

/// The instruments that the bound requires.
const RECORDED: DfxFlags = DfxFlags::SWIMLANE_CORES.with(DfxFlags::DEPS);
const RECORDED_LABEL: &str = "swimlane=1 deps";
/// The chip whose control costs nothing.
const FREE_CHIP: &str = "a2a3-free";
/// The policy that must be close to the bound if control is free.
const JUDGED: PolicyName = PolicyName::CriticalPath;
/// With free control the makespan may be at most this multiple of the lower bound.
const FREE_RATIO_MAX: f64 = 1.05;

/// Runs the measurements.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    if bench.mode == Mode::Measure {
        // First, so that the peak memory is that of this measurement.
        speed::measure(bench, session)?;
    }
    let scratch = Scratch::new()?;
    for scene in scenes() {
        for platform in Platform::all().into_iter().filter(|platform| platform.modelled().is_some()) {
            let subject = Subject::of(scene, bench.mode)?;
            compare(session, &scratch, bench.mode, &subject, (platform, platform.as_str()))?;
        }
        free(session, &scratch, bench.mode, scene)?;
    }
    let beaten = session.results.rows.iter().filter(|row| row.beats_its_bound()).count();
    session.judge(Target::at_most("sim: runs shorter than their lower bound", beaten as f64, 0.0), 0);
    Ok(())
}

/// Scheduling with free control.
fn free(
    session: &mut Session<'_>,
    scratch: &Scratch,
    mode: Mode,
    scene: &'static Scene,
) -> Result<(), BenchError> {
    let judged = cases::JUDGED.iter().filter(|subject| subject.is_of(scene)).collect::<Vec<_>>();
    if judged.is_empty() {
        let subject = Subject::of(scene, mode)?;
        return compare(session, scratch, mode, &subject, (Platform::A2a3sim, FREE_CHIP)).map(drop);
    }
    for chosen in judged {
        let subject = chosen.subject(scene)?;
        let ratio = compare(session, scratch, mode, &subject, (Platform::A2a3sim, FREE_CHIP))?;
        let what = format!("sim: {} {} on {FREE_CHIP} with {JUDGED}", scene.name, subject.label());
        session.judge(Target::at_most(format!("{what}, against its bound"), ratio, FREE_RATIO_MAX), 0);
    }
    Ok(())
}

/// One program on one chip with every policy, `fifo` first; returns the ratio to the bound with the policy
/// [`JUDGED`].
fn compare(
    session: &mut Session<'_>,
    scratch: &Scratch,
    mode: Mode,
    subject: &Subject,
    chip: (Platform, &str),
) -> Result<f64, BenchError> {
    let mut fifo_us = None;
    let mut ratio = 1.0;
    for policy in PolicyName::ALL {
        session.begin(&format!("sim {} {} {policy}", subject.scene.name, chip.1), 1);
        let row = once(scratch, mode, subject, chip, policy, fifo_us)?;
        if let Some(modelled) = &row.extra.modelled {
            fifo_us.get_or_insert(modelled.makespan_us);
            if policy == JUDGED {
                ratio = modelled.bound_ratio;
            }
        }
        session.done(row);
    }
    Ok(ratio)
}

/// One recorded run, and its result.
fn once(
    scratch: &Scratch,
    mode: Mode,
    subject: &Subject,
    (platform, chip): (Platform, &str),
    policy: PolicyName,
    fifo_us: Option<f64>,
) -> Result<Row, BenchError> {
    let dir = scratch.vacant();
    let mut config = CallConfig::default().with_dfx_flags(RECORDED);
    config.set_output_prefix(&dir.to_string_lossy()).map_err(ringlane::SetupError::Config)?;
    let options = SimOptions { policy, ..SimOptions::default() };
    let model = Model { chip: spec::builtin(chip), options };
    let mut runtime = Runtime::on(platform).model(model).with(&config)?;
    let mut program = subject.program()?;
    let mut buffers = program.buffers()?;
    let start = Instant::now();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    let took = start.elapsed();
    run.result?;
    if mode == Mode::Verify && !program.golden(&buffers)?.passed() {
        return Err(BenchError::Golden { scene: subject.scene.name, chip: chip.to_string() });
    }
    let bound = of_run(&dir).map_err(BenchError::Bound)?;
    let row = Row::new(subject.scene.name, 1, 0, run.report.tasks, &Samples::one(took));
    let mut row = row.on(platform).with_dfx(RECORDED_LABEL);
    row.extra.modelled = Some(Modelled::of(&bound, subject.label(), chip, policy.as_str(), fifo_us));
    Ok(row)
}
