//! Runs a program as a captured graph: each replay must end as the oracle says, with and without a limit on memory.
//!
//! Programs that read values, or whose orchestration fails or panics, cannot be captured and are left out.
#![forbid(unsafe_code)]

use ringlane::{Platform, Runtime};
use ringlane_engine::oracle::Fate;
use ringlane_task::{CallConfig, Explain};

use super::check::{Failure, compare};
use super::modelled;
use super::outcome::{Counts, Engine as _, OnDevice, Outcome, Verdict, on_graph};
use super::program::Program;

/// Replays of each graph.
const REPLAYS: usize = 2;

/// Captures and replays a program on `cpu` and on its modelled chip, if it has one.
pub(crate) fn check(program: &Program, expected: &(Outcome, Vec<Fate>)) -> Result<(), Failure> {
    if cannot_be_captured(expected) {
        return Ok(());
    }
    let config = CallConfig::default().with_threads(program.threads);
    let mut cpu = Runtime::on(Platform::Cpu).with(&config).map_err(|error| format!("{error:?}"))?;
    replays(&mut cpu, program, expected, Counts::Blocks)?;
    match &program.modelled {
        Some(plan) => {
            let chip = modelled::platform(plan, None).with(&modelled::config_of(plan, CallConfig::default()));
            let mut chip = chip.map_err(|error| format!("{error:?}"))?;
            replays(&mut chip, program, expected, Counts::Blocks)
        }
        None => Ok(()),
    }
}

/// Captures and replays a program on a device.
pub(crate) fn check_device(
    device: &mut OnDevice,
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
) -> Result<(), Failure> {
    if cannot_be_captured(expected) {
        return Ok(());
    }
    replays(&mut device.0, program, expected, OnDevice::COUNTS)
}

fn cannot_be_captured(expected: &(Outcome, Vec<Fate>)) -> bool {
    let fails = matches!(expected.0.verdict, Verdict::Panicked(_));
    fails || expected.0.log.iter().any(|line| line.starts_with("read"))
}

fn replays(
    runtime: &mut Runtime,
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    counts: Counts,
) -> Result<(), Failure> {
    let (mut limit, on) = (None, format!("{runtime:?}"));
    loop {
        let named = |failure| format!("{on}, limit {limit:?}: {failure}");
        let (runs, plan) = match on_graph(runtime, program, limit, REPLAYS, counts) {
            Ok(replayed) => replayed,
            // The orchestration itself ends with an error.
            Err(_) if matches!(expected.0.verdict, Verdict::Failed(_)) => return Ok(()),
            Err(error) if error.name() == "GraphMemory" && limit.is_some() => return Ok(()),
            Err(error) if error.name() == "GraphFanIn" => return Ok(()),
            Err(error) => return Err(named(format!("not captured: {error}"))),
        };
        for (number, (got, report)) in runs.iter().enumerate() {
            let replay = |failure| format!("replay {number}: {failure}");
            compare(program, expected, got, Some(report)).map_err(replay).map_err(named)?;
        }
        if limit.is_some() || plan.bytes == plan.lower_bound {
            return Ok(());
        }
        limit = Some((plan.bytes + plan.lower_bound) / 2);
    }
}
