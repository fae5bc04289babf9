//! A product of bf16 matrices on tensor cores, captured: by lists and as a CUDA graph in turn, and its share of the peak.
//!
//! The kernel and the sizes are those of a case of the scene `matmul`. A and B stay on the device; the first task of each tile of
//! C makes the tile, so that nothing is copied back.

use ringlane_chip_cuda::BareDevice;
use ringlane_engine::Result;
use ringlane_engine::prelude::{BufferId, Buffers, DType, Kernel, Orch, Tensor, out};
use ringlane_scenes::{Rng, Scene, SceneResult};
use ringlane_task::bf16;

use super::{POLICIES, ROUNDS_MIN, Replayed};
use crate::error::BenchError;
use crate::measure::{Effort, Interleaved};
use crate::rows::{Ratio, Row, Target};
use crate::{Bench, Session};

/// The case on a GPU, and where the measurement is only tried.
const CASE: &str = "h200";
const CASE_TRIED: &str = "bf16";
const SEED: u64 = 1;

/// The sizes of a product and of the tiles of a task.
#[derive(Clone, Copy)]
struct Sizes {
    m: u32,
    n: u32,
    k: u32,
    rows: u32,
    cols: u32,
    depth: u32,
    kernel: &'static Kernel,
}

impl Sizes {
    fn of_case(name: &str) -> SceneResult<Self> {
        let scene = Scene::find("matmul")?;
        let settings = scene.settings(scene.case(name)?, &[], SEED)?;
        let side = |name| settings.u32(name, 1..=u32::MAX);
        let (m, n, k) = (side("m")?, side("n")?, side("k")?);
        let (rows, cols, depth) = (side("tile")?, side("n_tile")?, side("k_tile")?);
        Ok(Sizes { m, n, k, rows, cols, depth, kernel: scene.kernel("MATMUL_BF16")? })
    }

    fn tasks(&self) -> u64 {
        let pieces = [(self.m, self.rows), (self.n, self.cols), (self.k, self.depth)];
        pieces.into_iter().map(|(len, tile)| u64::from(len.div_ceil(tile))).product()
    }

    /// A multiplication and an addition for each term.
    fn operations(&self) -> f64 {
        2.0 * f64::from(self.m) * f64::from(self.n) * f64::from(self.k)
    }

    /// A and B.
    fn data(&self) -> Result<(Buffers<'static>, [BufferId; 2])> {
        let (mut data, mut rng) = (Buffers::new(), Rng::new(SEED));
        let mut add = |shape: [u32; 2]| {
            let values = rng.signed(shape[0] as usize * shape[1] as usize);
            data.add(&shape, &values.into_iter().map(bf16::from_f32).collect::<Vec<_>>())
        };
        let ids = [add([self.m, self.k])?, add([self.k, self.n])?];
        Ok((data, ids))
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>, [a, b]: [BufferId; 2]) -> Result<()> {
        let (a, b) = (o.external(a)?, o.external(b)?);
        for (i, rows) in pieces(self.m, self.rows) {
            for (j, cols) in pieces(self.n, self.cols) {
                let mut made: Option<Tensor<'_>> = None;
                for (k, depth) in pieces(self.k, self.depth) {
                    let (a, b) = (a.tile(&[i, k], &[rows, depth])?, b.tile(&[k, j], &[depth, cols])?);
                    let c = made.map_or(out(DType::Float32, [rows, cols]), Tensor::inout);
                    let submitted = o.submit(self.kernel, [a.read(), b.read(), c])?;
                    made = made.or_else(|| Some(submitted.out(0)));
                }
            }
        }
        Ok(())
    }
}

/// Starts and lengths of the pieces of a side.
fn pieces(len: u32, tile: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..len).step_by(tile as usize).map(move |start| (start, tile.min(len - start)))
}

/// Measures it.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> core::result::Result<(), BenchError> {
    let case = if bench.device.as_str() == "cuda" { CASE } else { CASE_TRIED };
    let sizes = Sizes::of_case(case).map_err(BenchError::Scene)?;
    let name = format!("matmul {case}");
    session.begin(&name, 1);
    let peak = BareDevice::open(bench.device.as_str())?.matrix_operations_max();
    let mut variants = Vec::new();
    for policy in POLICIES {
        let (data, ids) = sizes.data()?;
        variants.push(Replayed::of(bench, policy, data, |o| sizes.orchestrate(o, ids))?);
    }
    let time = bench.time.map_or(crate::limits::MEASUREMENT_TIME, |time| time / 20);
    let effort = Effort { time, rounds_min: ROUNDS_MIN };
    let tasks = [sizes.tasks(); POLICIES.len()];
    let measured = Interleaved::take(effort, &tasks, |variant| variants[variant].once())?;
    for (variant, policy) in POLICIES.into_iter().enumerate() {
        let samples = &measured.samples[variant];
        let mut row = Row::new(name.as_str(), 1, 0, sizes.tasks(), samples);
        // One in a nanosecond is 10⁹ in a second.
        let tflops = sizes.operations() / samples.quantile_ns(0.5) / 1e3;
        row.extra.policy = Some(policy);
        row.extra.runtime = Some(ringlane::GraphRuntime::HostBuildGraph.as_str());
        row.extra.ratio = (variant > 0).then(|| Ratio::of(&measured, variant));
        row.extra.tflops = Some(tflops);
        row.extra.peak_share = peak.map(|peak| tflops * 1e12 / peak);
        session.done(row.on(bench.device));
    }
    let what = format!("cuda: {name}, compared with a CUDA graph");
    session.judge(Target::at_most(what, 1.0 / measured.ratio(1, 0.5), 1.0), POLICIES.len());
    Ok(())
}
