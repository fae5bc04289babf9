//! What a block takes.

use ringlane_engine::api::args::Args;
use ringlane_engine::api::kernel::{Cost, Kernel};
use ringlane_task::ChipSpec;

use crate::core::CoreKind;
use crate::time::{Ps, SECOND};

/// What a block takes and does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCost {
    /// Picoseconds.
    pub picoseconds: Ps,
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes moved.
    pub bytes: f64,
}

/// What blocks take on a chip.
#[derive(Clone, Debug)]
pub struct CostModel {
    spec: ChipSpec,
}

impl CostModel {
    /// The model of a chip.
    pub fn new(spec: &ChipSpec) -> Self {
        CostModel { spec: spec.clone() }
    }

    /// What a block takes.
    pub fn block(&self, kernel: &'static Kernel, core: CoreKind, args: &Args<'_>) -> BlockCost {
        let (mut flops, mut bytes) = (0.0, 0.0);
        let picoseconds = match kernel.cost() {
            Some(Cost::Ticks(ticks)) => ticks(args) * (SECOND / self.spec.counter_hz),
            Some(Cost::Roofline { flops: f, bytes: b }) => {
                (flops, bytes) = (f(args), b(args));
                let rate = match core {
                    CoreKind::Aic => self.spec.rates.aic_flops,
                    CoreKind::Aiv => self.spec.rates.aiv_flops,
                };
                let share = self.spec.rates.memory_bytes / f64::from(self.spec.cores());
                ((flops / rate).max(bytes / share) * 1e12) as u64
            }
            None => self.spec.default_block,
        };
        BlockCost { picoseconds: picoseconds.max(1), flops, bytes }
    }
}
