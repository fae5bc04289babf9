//! The counters as they are shown, with the names of kernels and all that follows from them.

use std::collections::BTreeMap;

use ringlane_task::{KernelId, Ticks};
use serde::Serialize;

use super::{Counters, KernelCounters, Measured, Ratio};

/// What `ringlane pmu --json` and the page show of the counters of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountersAnswer {
    /// The names of the counters.
    pub columns: Vec<String>,
    /// Kernels, as in [`Counters`].
    pub kernels: Vec<KernelAnswer>,
}

/// The counters of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelAnswer {
    /// The kernel.
    pub func_id: KernelId,
    /// Its name, if it is on record.
    pub kernel: Option<String>,
    /// The kind of the cores.
    pub core_type: String,
    /// What the cycles are.
    pub measured: Measured,
    /// The number of blocks that ran.
    pub blocks: u64,
    /// Their cycles.
    pub cycles: CycleSpread,
    /// The part of the cycles, or of the time, of all kernels.
    pub share: f64,
    /// What each counter says of all blocks together.
    pub sums: BTreeMap<String, u128>,
    /// What each counter says of a block on average.
    pub means: BTreeMap<String, f64>,
    /// What follows from the counters; nothing where the lower part is 0, or nothing was counted.
    pub ratios: BTreeMap<String, Option<f64>>,
}

/// How cycles are spread over blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CycleSpread {
    /// All together.
    pub sum: u128,
    /// The mean.
    pub mean: f64,
    /// Half of the blocks are not above it.
    pub p50: Ticks,
    /// Of 100 blocks 95 are not above it.
    pub p95: Ticks,
    /// The most.
    pub max: Ticks,
}

impl Counters {
    /// The counters with the names of kernels.
    pub fn answer(&self, names: &BTreeMap<KernelId, String>) -> CountersAnswer {
        let ratios = self.ratios();
        let kernels = self.kernels.iter().map(|kernel| self.kernel_answer(kernel, names, &ratios));
        CountersAnswer { columns: self.columns.clone(), kernels: kernels.collect() }
    }

    fn kernel_answer(
        &self,
        kernel: &KernelCounters,
        names: &BTreeMap<KernelId, String>,
        ratios: &[Ratio],
    ) -> KernelAnswer {
        let sums = || self.columns.iter().cloned().zip(kernel.sums.iter().copied());
        let spread = &kernel.cycles;
        KernelAnswer {
            func_id: kernel.kernel,
            kernel: names.get(&kernel.kernel).cloned(),
            core_type: kernel.core_type.clone(),
            measured: kernel.measured,
            blocks: kernel.blocks,
            cycles: CycleSpread {
                sum: spread.total,
                mean: spread.mean(),
                p50: spread.p50,
                p95: spread.p95,
                max: spread.max,
            },
            share: self.share(kernel),
            sums: sums().collect(),
            means: sums().map(|(name, sum)| (name, kernel.per_block(sum))).collect(),
            ratios: ratios.iter().map(|ratio| (ratio.name.clone(), ratio.of(kernel))).collect(),
        }
    }
}
