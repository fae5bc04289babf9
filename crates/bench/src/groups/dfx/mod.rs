//! `ringlane bench dfx`: instrumentation overhead. Each instrument compared with none, in pairs, and its cost before
//! and after the run.
//!
//! The ratio is of makespans: from the start of the orchestration to the last completion. The cost of a recording
//! before the run (memory, a thread, files) and after it (writing the artifacts) is measured separately: `fixed` is a
//! run of one task with all instruments compared with the same run without, from call to return. `scopes` is a
//! program with thousands of scopes of a few tasks each.

mod scopes;

use std::time::{Duration, Instant};

use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_probe::Exported;
use ringlane_task::{CallConfig, DfxFlags};

use crate::error::BenchError;
use crate::graph::Graph;
use crate::measure::{Effort, Interleaved};
use crate::rows::{Ratio, Row, Target};
use crate::scratch::Scratch;
use crate::spin::{self, Calibration};
use crate::submit::{self, Data};
use crate::workload::{Spin, Workload};
use crate::{Bench, Session};
use ringlane::ObservedRun;
use ringlane::Runtime;

/// The minimum number of pairs. On a shared machine two runs of one pair differ by several percent, and the lowest
/// limit is one percent.
const ROUNDS_MIN: usize = 41;
/// The largest allowed fixed cost of a run with all instruments.
const FIXED_MS_MAX: f64 = 5.0;
/// The largest allowed time to write the timeline, per block.
const EXPORT_US_MAX: f64 = 0.5;

/// All instruments but the dump, whose cost is the bytes that a program moves.
const ALL_BUT_DUMP: DfxFlags =
    DfxFlags::SWIMLANE_PHASES.with(DfxFlags::PMU).with(DfxFlags::DEPS).with(DfxFlags::SCOPES);

/// The variants, and their largest allowed ratios with tasks of 1 µs and of 10 µs.
const VARIANTS: [(&str, DfxFlags, [Option<f64>; 2]); 9] = [
    ("swimlane=1", DfxFlags::SWIMLANE_CORES, [Some(1.04), None]),
    ("swimlane=2", DfxFlags::SWIMLANE_TASKS, [Some(1.07), None]),
    ("swimlane=3", DfxFlags::SWIMLANE_PHASES, [Some(1.15), Some(1.03)]),
    ("deps", DfxFlags::DEPS, [Some(1.08), None]),
    ("scopes", DfxFlags::SCOPES, [Some(1.01), None]),
    ("pmu", DfxFlags::PMU, [None, Some(1.15)]),
    ("dump", DfxFlags::DUMP, [None, None]),
    ("all-but-dump", ALL_BUT_DUMP, [None, Some(1.20)]),
    ("all", ALL_BUT_DUMP.with(DfxFlags::DUMP), [None, None]),
];

/// Measures every variant on the chosen workloads.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let calibration = Calibration::measure();
    session.results.calibration = Some(calibration);
    let scratch = Scratch::new()?;
    let combinations = bench.workloads.len() * bench.spins.len() * bench.threads.len() * VARIANTS.len();
    let effort = Effort { time: bench.time_of_each(combinations), rounds_min: ROUNDS_MIN };
    for &workload in &bench.workloads {
        for &spin in &bench.spins {
            let graph = workload.graph(workload.size(spin));
            let mut data = Data::of(&graph)?;
            spin::set(spin, Some(calibration));
            for &threads in &bench.threads {
                compare(session, &scratch, effort, (workload, spin, threads), &graph, &mut data)?;
            }
        }
    }
    spin::set_iterations(0);
    for &threads in &bench.threads {
        scopes::compare(session, &scratch, threads)?;
        fixed(session, &scratch, threads)?;
    }
    Ok(())
}

/// All variants of one workload, each alternating with a run without instruments.
fn compare(
    session: &mut Session<'_>,
    scratch: &Scratch,
    effort: Effort,
    (workload, spin, threads): (Workload, Spin, u32),
    graph: &Graph,
    data: &mut Data,
) -> Result<(), BenchError> {
    let tasks = graph.tasks.len() as u64;
    for (variant, (label, flags, limits)) in VARIANTS.into_iter().enumerate() {
        let runtime = session.runtime(&format!("dfx {} {label}", workload.as_str()), threads)?;
        let mut exports = Vec::new();
        let measured = Interleaved::take(effort, &[tasks; 2], |watched| {
            // Both begin in the same state: the last export no longer affects the caches.
            once(runtime, scratch, DfxFlags::NONE, data, graph)?;
            let (took, recording) = once(runtime, scratch, [DfxFlags::NONE, flags][watched], data, graph)?;
            exports.extend(recording.map(|r| r.cost.export_us as f64 * 1e3 / tasks as f64));
            Ok(took)
        })?;
        let [off, on] =
            [0, 1].map(|v| Row::new(workload.as_str(), threads, spin.us(), tasks, &measured.samples[v]));
        if variant == 0 {
            session.done(off);
        }
        let mut row = on.with_dfx(label);
        exports.sort_by(f64::total_cmp);
        row.extra.export_ns_per_task = exports.get(exports.len() / 2).copied();
        row.extra.ratio = Some(Ratio::of(&measured, 1));
        let limit = match spin {
            Spin::Us1 => limits[0],
            Spin::Us10 => limits[1],
            _ => None,
        };
        let export = row.extra.export_ns_per_task;
        session.done(row);
        let what = format!("{label} on {}, {} µs, --threads {threads}", workload.as_str(), spin.us());
        if let Some(limit) = limit {
            session.judge(Target::at_most(format!("dfx: {what}"), measured.ratio(1, 0.5), limit), 1);
        }
        if let Some(export) = export.filter(|_| label == "swimlane=3" && spin == Spin::Us1) {
            session.judge(
                Target::at_most(format!("dfx: export in µs a block, {what}"), export / 1e3, EXPORT_US_MAX),
                1,
            );
        }
    }
    Ok(())
}

/// One run of a workload: its makespan, and its recording.
fn once(
    runtime: &mut Runtime,
    scratch: &Scratch,
    flags: DfxFlags,
    data: &mut Data,
    graph: &Graph,
) -> Result<(Duration, Option<Exported>), BenchError> {
    let (buffers, ids) = data.parts();
    let watched = scratch.watch(runtime, flags, buffers, |o| {
        let handles = ids.handles(o)?;
        submit::plain(o, &graph.tasks, &handles)
    })?;
    let seconds = watched.report.makespan_ticks as f64 / watched.report.clock_freq_hz as f64;
    Ok((Duration::from_secs_f64(seconds), watched.recording))
}

/// A run of one task, from call to return, with all instruments and without.
fn fixed(session: &mut Session<'_>, scratch: &Scratch, threads: u32) -> Result<(), BenchError> {
    let graph = Workload::Chain.graph(1);
    let mut data = Data::of(&graph)?;
    let runtime = session.runtime("dfx fixed", threads)?;
    let everything = [DfxFlags::NONE, ALL_BUT_DUMP.with(DfxFlags::DUMP)];
    let effort = Effort { time: Duration::from_millis(300), rounds_min: ROUNDS_MIN };
    let measured = Interleaved::take(effort, &[1; 2], |variant| {
        let start = Instant::now();
        once(runtime, scratch, everything[variant], &mut data, &graph)?;
        Ok(start.elapsed())
    })?;
    for (label, samples) in ["off", "all"].into_iter().zip(&measured.samples) {
        session.done(Row::new("fixed", threads, 0, 1, samples).with_dfx(label));
    }
    let cost_ms = (measured.samples[1].quantile_ns(0.5) - measured.samples[0].quantile_ns(0.5)) / 1e6;
    let what = format!("dfx: turning everything on, in ms a run, --threads {threads}");
    session.judge(Target::at_most(what, cost_ms, FIXED_MS_MAX), 2);
    Ok(())
}

impl Scratch {
    /// Runs an orchestration, recorded into a new directory if any instrument is on.
    #[track_caller]
    pub fn watch<'e>(
        &self,
        runtime: &mut Runtime,
        flags: DfxFlags,
        buffers: &'e mut Buffers<'_>,
        orchestrate: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> ringlane_engine::Result<()>,
    ) -> Result<ObservedRun<()>, BenchError> {
        let site = std::panic::Location::caller();
        let dir = if flags.is_empty() { None } else { Some(self.fresh()?) };
        if let Some(dir) = &dir {
            let mut config = CallConfig::default().with_dfx_flags(flags);
            config.set_output_prefix(&dir.path().to_string_lossy()).map_err(ringlane::SetupError::Config)?;
            runtime.observe(&config)?;
        }
        let mut watched = runtime.run_in(dir.as_ref(), site, buffers, orchestrate);
        match std::mem::replace(&mut watched.result, Ok(Ok(()))) {
            Ok(result) => result?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
        Ok(watched)
    }
}
