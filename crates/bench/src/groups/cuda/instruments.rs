//! What the timeline costs with tasks of 1 µs: each level compared with none, in pairs.

use std::time::Duration;

use ringlane_engine::prelude::Buffers;
use ringlane_task::DfxFlags;

use super::{POLICIES, program, runtime};
use crate::error::BenchError;
use crate::measure::{Effort, Interleaved};
use crate::rows::{Ratio, Row, Target};
use crate::scratch::Scratch;
use crate::spin;
use crate::workload::{Spin, Workload};
use crate::{Bench, Session};

/// The minimum number of pairs.
const ROUNDS_MIN: usize = 15;

/// The variants, and their largest ratios.
const VARIANTS: [(&str, DfxFlags, f64); 3] = [
    ("swimlane=1", DfxFlags::SWIMLANE_CORES, 1.05),
    ("swimlane=2", DfxFlags::SWIMLANE_TASKS, 1.08),
    ("swimlane=3", DfxFlags::SWIMLANE_PHASES, 1.15),
];

/// Measures every level on the workload `random`, streamed.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let spin = Spin::Us1;
    spin::set(spin, None);
    let (workload, scratch) = (Workload::Random, Scratch::new()?);
    let graph = workload.graph(workload.size(spin));
    let tasks = graph.tasks.len() as u64;
    let time = bench.time.map_or(crate::limits::MEASUREMENT_TIME, |time| time / 20);
    let mut runtime = runtime(bench, POLICIES[0])?;
    for (label, flags, limit) in VARIANTS {
        session.begin(&format!("{label} on {}, 1 µs", workload.as_str()), 1);
        let measured = Interleaved::take(Effort { time, rounds_min: ROUNDS_MIN }, &[tasks; 2], |variant| {
            let flags = [DfxFlags::NONE, flags][variant];
            let mut buffers = Buffers::new();
            let watched =
                scratch.watch(&mut runtime, flags, &mut buffers, |o| program(o, &graph).map(drop))?;
            let report = watched.report;
            Ok(Duration::from_secs_f64(report.makespan_ticks as f64 / report.clock_freq_hz as f64))
        })?;
        for (dfx, samples) in ["off", label].into_iter().zip(&measured.samples) {
            let mut row = Row::new(workload.as_str(), 1, spin.us(), tasks, samples).with_dfx(dfx);
            row.extra.ratio = (dfx != "off").then(|| Ratio::of(&measured, 1));
            row.extra.policy = Some("streamed");
            session.done(row.on(bench.device));
        }
        let what = format!("cuda: {label} on {}, 1 µs", workload.as_str());
        session.judge(Target::at_most(what, measured.ratio(1, 0.5), limit), 2);
    }
    Ok(())
}
