//! What `run.json` tells of a run, beside what the caller knows.

use std::any::Any;

use ringlane_engine::report::RunReport;
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::Exported;
use ringlane_task::CallConfig;
use ringlane_trace::{ClockFacts, Manifest, RunError, RunStatus};

use crate::panicked::Panicked;
use crate::platform::Platform;

/// The status that an error of the engine makes of a run.
pub fn status_of(error: &Error) -> RunStatus {
    match error.fault() {
        Fault::TaskFailed(_) | Fault::User(_) => RunStatus::Failed,
        Fault::Interrupted { .. } => RunStatus::Interrupted,
        _ => RunStatus::Fatal,
    }
}

/// A manifest that tells of a run and of what was recorded of it.
pub fn tell<R>(
    manifest: Manifest,
    report: &RunReport,
    result: core::result::Result<&Result<R>, &Box<dyn Any + Send>>,
    recording: Option<&Exported>,
    config: &CallConfig,
) -> Manifest {
    let mut manifest = tell_report(manifest, report);
    match result {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => manifest.fail(status_of(error), RunError::of(error)),
        Err(panic) => manifest.fail(RunStatus::Fatal, RunError::of(&Panicked::with(&**panic))),
    }
    match recording {
        Some(recording) => tell_recording(manifest, recording, config),
        None => manifest,
    }
}

/// A manifest with the totals of a run.
pub fn tell_report(mut manifest: Manifest, report: &RunReport) -> Manifest {
    manifest.makespan_ticks = report.makespan_ticks;
    if report.clock_freq_hz != 0 {
        manifest.clock_freq_hz = report.clock_freq_hz;
    }
    manifest.clock = clock_of(&manifest.platform);
    manifest.cores = report.cores;
    (manifest.tasks, manifest.blocks, manifest.scopes) = (report.tasks, report.blocks, report.scopes);
    (manifest.skipped, manifest.peak_heap_bytes) = (report.skipped, report.peak_heap_bytes);
    manifest
}

/// What a node's times are taken from, whatever its chips are: the clock that all processes of a machine read alike.
pub fn node_clock() -> ClockFacts {
    ClockFacts { source: "monotonic".to_string(), error_ppm: 0.0 }
}

/// Where a platform's times come from.
fn clock_of(platform: &str) -> Option<ClockFacts> {
    let source = (Platform::named(platform)?.capabilities().clock)();
    Some(ClockFacts { source: source.name.to_string(), error_ppm: source.error_ppm })
}

/// A manifest that tells which diagnostics were on and what they left.
pub fn tell_recording(manifest: Manifest, recording: &Exported, config: &CallConfig) -> Manifest {
    let mut manifest = manifest.with_dfx_flags(config.dfx_flags);
    if let Ok(overflow) = config.overflow() {
        manifest.overflow = overflow;
    }
    (manifest.pmu, manifest.dfx_cost) = (recording.pmu.clone(), recording.cost);
    manifest.files = recording.files.clone();
    manifest
}
