//! What one task, one value and one large copy take on a GPU.

use std::time::{Duration, Instant};

use ringlane_engine::prelude::{Buffers, DType};

use super::{POLICIES, runtime};
use crate::error::BenchError;
use crate::kernels::Plain;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::{Bench, Session};

/// Values that are read in one repetition.
const READS: u32 = 200;
/// Bytes of a large buffer.
const COPIED_BYTES: u32 = 256 << 20;

/// Measures them.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let mut runtime = runtime(bench, POLICIES[0])?;
    let time = bench.time.map_or(crate::limits::MEASUREMENT_TIME, |time| time / 20);
    for (name, tasks, limit_us) in [("submit and read", 1u32, 9.0), ("read", 0, 12.0)] {
        session.begin(name, 1);
        let samples = Samples::take(time, || {
            let run = runtime.run(&mut Buffers::new(), |o| {
                let y = o.alloc(DType::Float32, [1])?;
                o.read::<f32>(y)?;
                let start = Instant::now();
                for _ in 0..READS {
                    for _ in 0..tasks {
                        o.submit(&Plain::current().updates, [y.inout()])?;
                    }
                    o.read::<f32>(y)?;
                }
                Ok(start.elapsed())
            });
            Ok(run.result?)
        })?;
        let row = Row::new(name, 1, 0, u64::from(READS), &samples);
        let median_us = row.ns_per_task_median / 1000.0;
        session.done(row.on(bench.device));
        session.judge(Target::at_most(format!("cuda: {name}, µs"), median_us, limit_us), 1);
    }
    copies(session, bench, &mut runtime, time)
}

/// Copies of a buffer that the program has in ordinary memory: to the GPU, and there and back.
fn copies(
    session: &mut Session<'_>,
    bench: &Bench,
    runtime: &mut ringlane::Runtime,
    time: Duration,
) -> Result<(), BenchError> {
    let values = vec![1.0f32; COPIED_BYTES as usize / size_of::<f32>()];
    let mut results = values.clone();
    let shape = [values.len() as u32];
    for name in ["copy in, KiB", "copy in and out, KiB"] {
        session.begin(name, 1);
        let samples = Samples::take(time, || {
            let mut buffers = Buffers::new();
            let writes = name != "copy in, KiB";
            let id = if writes {
                buffers.lend_mut(&shape, &mut results)?
            } else {
                buffers.lend(&shape, &values)?
            };
            let start = Instant::now();
            let run = runtime.run(&mut buffers, |o| {
                let x = o.external(id)?;
                let one = x.tile(&[0], &[1])?;
                if writes {
                    o.submit(&Plain::current().updates, [one.inout()])?;
                } else {
                    o.submit(&Plain::current().reads, [one.read()])?;
                }
                Ok(())
            });
            run.result?;
            Ok(start.elapsed())
        })?;
        let row = Row::new(name, 1, 0, u64::from(COPIED_BYTES / 1024), &samples);
        session.done(row.on(bench.device));
    }
    Ok(())
}
