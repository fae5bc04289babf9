//! What one task, one value and one large copy take on a GPU.

use std::time::{Duration, Instant};

use ringlane_chip_cuda::BareDevice;
use ringlane_engine::prelude::{BufferId, Buffers, DType, Orch};

use super::{POLICIES, runtime};
use crate::error::BenchError;
use crate::kernels::Plain;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::{Bench, Session};

/// Values that are read in one repetition.
const READS: u32 = 200;
/// Bytes of a large buffer on a GPU, and where the measurement is only tried.
const COPIED_BYTES: u32 = 256 << 20;
const COPIED_BYTES_TRIED: u32 = 1 << 20;
/// The largest time of a copy, compared with pinned memory: 80 % of its bandwidth.
const COPY_TIME_MAX: f64 = 1.25;

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

/// Copies of a buffer that the program has in ordinary memory: to the GPU, and there and back. Compared with copies of the driver
/// from and to pinned memory.
fn copies(
    session: &mut Session<'_>,
    bench: &Bench,
    runtime: &mut ringlane::Runtime,
    time: Duration,
) -> Result<(), BenchError> {
    let bytes = if bench.device.as_str() == "cuda" { COPIED_BYTES } else { COPIED_BYTES_TRIED };
    let values = vec![1.0f32; bytes as usize / size_of::<f32>()];
    let mut results = values.clone();
    let shape = [values.len() as u32];
    let bare = BareDevice::open(bench.device.as_str())?;
    for (name, bare_name, writes) in [
        ("copy in, KiB", "copy in from pinned memory, KiB", false),
        ("copy in and out, KiB", "copy in and out, pinned memory, KiB", true),
    ] {
        session.begin(name, 1);
        let samples = Samples::take(time, || {
            let mut buffers = Buffers::new();
            let id = if writes {
                buffers.lend_mut(&shape, &mut results)?
            } else {
                buffers.lend(&shape, &values)?
            };
            let start = Instant::now();
            let run = runtime.run(&mut buffers, |o| ends(o, id, values.len() as u32, writes));
            run.result?;
            Ok(start.elapsed())
        })?;
        let pinned = Samples::take(time, || {
            let (copied_in, copied_out) = bare.copy_pinned(bytes)?;
            Ok(if writes { copied_in + copied_out } else { copied_in })
        })?;
        let row = |name, samples| Row::new(name, 1, 0, u64::from(bytes / 1024), samples);
        session.done(row(name, &samples).on(bench.device));
        session.done(row(bare_name, &pinned).on(bench.device));
        let ratio = samples.quantile_ns(0.5) / pinned.quantile_ns(0.5);
        let what = format!("cuda: {name}, time compared with pinned memory");
        session.judge(Target::at_most(what, ratio, COPY_TIME_MAX), 2);
    }
    Ok(())
}

/// Tasks on the first and on the last element of a buffer: if they write, what comes back is everything between them.
fn ends(o: &mut Orch<'_, '_>, id: BufferId, len: u32, writes: bool) -> ringlane_engine::Result<()> {
    let all = o.external(id)?;
    for at in [0, len - 1] {
        let one = all.tile(&[at], &[1])?;
        let kernels = Plain::current();
        if writes {
            o.submit(&kernels.updates, [one.inout()])?;
        } else {
            o.submit(&kernels.reads, [one.read()])?;
        }
    }
    Ok(())
}
