//! Fills `run.json` with the results of a run.

use std::any::Any;

use ringlane_engine::report::RunReport;
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::Exported;
use ringlane_task::CallConfig;
use ringlane_trace::{ClockFacts, Manifest, RunError, RunStatus};

use crate::panicked::Panicked;
use crate::platform::Platform;

/// The status of a run that failed with this error.
pub fn status_of(error: &Error) -> RunStatus {
    match error.fault() {
        Fault::TaskFailed(_) | Fault::User(_) => RunStatus::Failed,
        Fault::Interrupted { .. } => RunStatus::Interrupted,
        _ => RunStatus::Fatal,
    }
}

/// Adds the totals, the result and the recording of a run.
pub fn with_outcome<R>(
    manifest: Manifest,
    report: &RunReport,
    result: core::result::Result<&Result<R>, &Box<dyn Any + Send>>,
    recording: Option<&Exported>,
    config: &CallConfig,
) -> Manifest {
    let mut manifest = with_report(manifest, report);
    match result {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => manifest.fail(status_of(error), RunError::of(error)),
        Err(panic) => manifest.fail(RunStatus::Fatal, RunError::of(&Panicked::from_payload(&**panic))),
    }
    match recording {
        Some(recording) => with_recording(manifest, recording, config),
        None => manifest,
    }
}

/// Adds the totals of a run.
pub fn with_report(mut manifest: Manifest, report: &RunReport) -> Manifest {
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

/// The clock of a node, whatever its chips are: the one that all processes of a machine share.
pub fn node_clock() -> ClockFacts {
    ClockFacts { source: "monotonic".to_string(), error_ppm: 0.0 }
}

/// The clock of a platform.
fn clock_of(platform: &str) -> Option<ClockFacts> {
    let source = (Platform::named(platform)?.capabilities().clock)();
    Some(ClockFacts { source: source.name.to_string(), error_ppm: source.error_ppm })
}

/// Adds the diagnostics that were on, and their files.
pub fn with_recording(manifest: Manifest, recording: &Exported, config: &CallConfig) -> Manifest {
    let mut manifest = manifest.with_dfx_flags(config.dfx_flags);
    if let Ok(overflow) = config.overflow() {
        manifest.overflow = overflow;
    }
    (manifest.pmu, manifest.dfx_cost) = (recording.pmu.clone(), recording.cost);
    (manifest.record_bytes, manifest.rings) = (recording.record_bytes, recording.capacities);
    manifest.files = recording.files.clone();
    manifest
}
