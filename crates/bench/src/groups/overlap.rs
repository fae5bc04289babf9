//! `ringlane bench overlap`: a lookup among 1, 10 and 100 live disjoint tiles of one buffer.
//!
//! Updates of the tiles are submitted in turn to a chip that runs nothing meanwhile, so all tiles stay live. The
//! first pass, which makes them live, is not timed. Tiles are windows of a matrix, or parts of a vector.

use std::time::{Duration, Instant};

use ringlane_engine::Result;
use ringlane_engine::prelude::{
    BufferId, Buffers, CoreType, DType, Kernel, KernelParam, Orch, Tensor, ViewMut,
};

use crate::deferred::DeferredRuntime;
use crate::error::BenchError;
use crate::limits::SCOPE_TASKS;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::{Bench, Session};

/// The number of live tiles.
const LIVE: [u32; 3] = [1, 10, 100];
/// Tiles along each side of the matrix; the vector has as many as the matrix.
const SIDE_TILES: u32 = 10;
/// Elements along each side of a tile.
const TILE: u32 = 64;
/// A lookup among the most tiles may cost at most this multiple of one among the fewest.
const RATIO_MAX: f64 = 2.0;

const _: () = assert!(LIVE[2] == SIDE_TILES * SIDE_TILES && LIVE[2] < SCOPE_TASKS as u32);

static UPDATE_WINDOW: Kernel =
    Kernel::new("UPDATE_WINDOW", CoreType::Any, &[<ViewMut<f32, 2> as KernelParam>::SPEC], |_| Ok(()));
static UPDATE_PART: Kernel =
    Kernel::new("UPDATE_PART", CoreType::Any, &[<ViewMut<f32, 1> as KernelParam>::SPEC], |_| Ok(()));

/// The tensor that is divided into tiles.
#[derive(Clone, Copy)]
enum Whole {
    Matrix,
    Vector,
}

impl Whole {
    fn name(self) -> &'static str {
        match self {
            Whole::Matrix => "overlap",
            Whole::Vector => "overlap_vector",
        }
    }

    fn shape(self) -> Vec<u32> {
        match self {
            Whole::Matrix => vec![SIDE_TILES * TILE; 2],
            Whole::Vector => vec![SIDE_TILES * SIDE_TILES * TILE],
        }
    }

    fn kernel(self) -> &'static Kernel {
        match self {
            Whole::Matrix => &UPDATE_WINDOW,
            Whole::Vector => &UPDATE_PART,
        }
    }

    fn tile(self, whole: Tensor<'_>, index: u32) -> Result<Tensor<'_>> {
        match self {
            Whole::Matrix => {
                whole.tile(&[index / SIDE_TILES * TILE, index % SIDE_TILES * TILE], &[TILE, TILE])
            }
            Whole::Vector => whole.slice(0, index * TILE, TILE),
        }
    }
}

/// Measures lookups among few and many tiles.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let time = bench.time_of_each(2 * LIVE.len());
    let mut runtime = DeferredRuntime::new()?;
    for whole in [Whole::Matrix, Whole::Vector] {
        let mut buffers = Buffers::new();
        let buffer = buffers.add_zeroed(DType::Float32, &whole.shape())?;
        let mut medians = Vec::new();
        for live in LIVE {
            let name = format!("{}/{live}", whole.name());
            session.begin(&name, 1);
            let samples = Samples::take(time, || once(&mut runtime, &mut buffers, buffer, whole, live))?;
            let timed = SCOPE_TASKS as u64 - u64::from(LIVE[2]);
            let row = Row::new(name, 1, 0, timed, &samples);
            medians.push(row.ns_per_task_median);
            session.done(row);
        }
        let what = format!("{}: {} live tiles against {}", whole.name(), LIVE[2], LIVE[0]);
        session.judge(Target::at_most(what, medians[2] / medians[0], RATIO_MAX), LIVE.len());
    }
    Ok(())
}

fn once(
    runtime: &mut DeferredRuntime,
    buffers: &mut Buffers<'_>,
    buffer: BufferId,
    whole: Whole,
    live: u32,
) -> Result<Duration, BenchError> {
    let took = runtime.run(buffers, |o| {
        let all = o.external(buffer)?;
        let tiles = (0..live).map(|index| whole.tile(all, index)).collect::<Result<Vec<_>>>()?;
        o.scope(|o| {
            let (first_lap, rest) = (LIVE[2] as usize, SCOPE_TASKS - LIVE[2] as usize);
            update(o, whole.kernel(), &tiles, first_lap)?;
            let start = Instant::now();
            update(o, whole.kernel(), &tiles, rest)?;
            Ok(start.elapsed())
        })
    });
    Ok(took?)
}

fn update<'s>(
    o: &mut Orch<'s, '_>,
    kernel: &'static Kernel,
    tiles: &[Tensor<'s>],
    count: usize,
) -> Result<()> {
    for tile in tiles.iter().cycle().take(count) {
        o.submit(kernel, [tile.inout()])?;
    }
    Ok(())
}
