//! What a block takes, and what it did.
//!
//! ```text
//! a table recorded on another chip ─▶ `taking` at submit ─▶ time, ticks or roofline of the kernel ─▶ the chip's default
//!                                                                                      the first that there is
//! ```
//! The roofline is the longer of two times: operations against the rate of the core's kind, bytes against the core's share
//! of memory. The share is a fixed one, the memory's rate divided by *all* cores of the chip, busy or not: so the duration of a
//! block is a function of its arguments, never of what else happens to run. A schedule can then be compared with a lower
//! bound, and one policy with another.
//!
//! A cost model is code of a user's. What it gets wrong never ends a run: a result that is not a number, negative or
//! infinite counts as no cost model, and so does a panic.

mod limits;
mod record;
mod table;
mod table_error;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ringlane_engine::prelude::{Args, Cost, Kernel};
use ringlane_task::{Access, ChipSpec, TaskId};

use crate::core::CoreKind;
use crate::time::{NANOSECOND, Ps, SECOND};

pub use limits::{BLOCK_MAX, RECORDED_BLOCKS_MAX, SPREAD_GROUPS, TABLE_BYTES_MAX};
pub use record::{BlockTimes, Programs, TableRecorder};
pub use table::{CostTable, KernelCost, RecordedTask};
pub use table_error::CostTableError;

/// What a block takes, and what it did. What its kernel's cost model does not tell is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCost {
    /// Its duration: from 1 to [`BLOCK_MAX`].
    pub picoseconds: Ps,
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes moved between memory and core.
    pub bytes: f64,
    /// Those of them that go to memory. Cost models tell one number of bytes; it is divided as the block's arguments are:
    /// what is read against what is written, an `inout` counting as both.
    pub written: f64,
}

/// The work that a roofline told.
#[derive(Clone, Copy, Default)]
struct Work {
    flops: f64,
    bytes: f64,
}

/// What a kernel's own cost model says.
enum Told {
    /// Nothing, or nothing of use.
    Nothing,
    /// A duration.
    Time(Ps),
    /// Work.
    Work(Work),
}

/// Which block of which task a cost is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WhichBlock {
    /// The task.
    pub task: TaskId,
    /// The block's number among the task's blocks of its kernel: by lane, then by block.
    pub index: u32,
    /// What its submit said that it takes.
    pub duration: Option<Ps>,
}

/// The cost of blocks on one chip.
///
/// ```
/// use ringlane_chip_sim::core::CoreKind;
/// use ringlane_chip_sim::cost::{CostModel, WhichBlock};
/// # fn example(spec: &ringlane_task::ChipSpec, kernel: &ringlane_engine::prelude::Kernel, args: &ringlane_engine::prelude::Args<'_>) {
/// let model = CostModel::new(spec);
/// let cost = model.block(kernel, CoreKind::Aiv, args, WhichBlock::default());
/// assert!(cost.picoseconds >= 1);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CostModel {
    table: Option<CostTable>,
    tick: Ps,
    rates: CoreRates,
    default_block: Ps,
}

/// What one core can do in a picosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CoreRates {
    aic_flops: f64,
    aiv_flops: f64,
    bytes: f64,
}

impl CoreRates {
    pub(crate) fn of(spec: &ChipSpec) -> Self {
        let per_picosecond = |rate: f64| rate / SECOND as f64;
        CoreRates {
            aic_flops: per_picosecond(spec.rates.aic_flops),
            aiv_flops: per_picosecond(spec.rates.aiv_flops),
            bytes: per_picosecond(spec.rates.memory_bytes) / f64::from(spec.cores()),
        }
    }

    /// Picoseconds that operations take on a core.
    #[inline]
    pub(crate) fn computing(&self, core: CoreKind, flops: f64) -> f64 {
        match core {
            CoreKind::Aic => flops / self.aic_flops,
            CoreKind::Aiv => flops / self.aiv_flops,
        }
    }

    /// Picoseconds that bytes take between memory and one core.
    #[inline]
    pub(crate) fn moving(&self, bytes: f64) -> f64 {
        bytes / self.bytes
    }
}

impl CostModel {
    /// The costs of a chip.
    pub fn new(spec: &ChipSpec) -> Self {
        CostModel {
            table: None,
            tick: SECOND / spec.counter_hz.clamp(1, SECOND),
            rates: CoreRates::of(spec),
            default_block: spec.default_block.clamp(1, BLOCK_MAX),
        }
    }

    /// The same costs, but for the kernels in this table.
    #[must_use]
    pub fn with_table(mut self, table: Option<CostTable>) -> Self {
        self.table = table;
        self
    }

    /// What a block of a kernel takes on a core of this kind. `args` are those of the block, none of them taken.
    pub fn block(&self, kernel: &Kernel, core: CoreKind, args: &Args<'_>, which: WhichBlock) -> BlockCost {
        let told = self.ask(kernel, args);
        let recorded = self.recorded(kernel).map(|cost| cost.block_ps(which.task, which.index));
        let known = recorded.or(which.duration).map(|time| time.clamp(1, BLOCK_MAX));
        let modelled = match told {
            Told::Nothing => None,
            Told::Time(time) => Some(time.clamp(1, BLOCK_MAX)),
            Told::Work(work) => {
                let (computing, moving) =
                    (self.rates.computing(core, work.flops), self.rates.moving(work.bytes));
                // `max` would pass over a time that is not a number, as a rate of 0 gives it.
                if computing.is_finite() && moving.is_finite() {
                    duration(computing.max(moving))
                } else {
                    None
                }
            }
        };
        let picoseconds = known.or(modelled).unwrap_or(self.default_block);
        match told {
            Told::Work(Work { flops, bytes }) => {
                BlockCost { picoseconds, flops, bytes, written: bytes * written_share(args) }
            }
            Told::Nothing | Told::Time(_) => BlockCost { picoseconds, ..BlockCost::default() },
        }
    }

    /// What a table says of a kernel.
    fn recorded(&self, kernel: &Kernel) -> Option<&KernelCost> {
        self.table.as_ref().and_then(|table| table.kernel(kernel.name()))
    }

    /// The longest of a task's blocks of a kernel, where a table has them all.
    pub(crate) fn longest_recorded(&self, kernel: &Kernel, task: TaskId) -> Option<Ps> {
        let blocks = self.recorded(kernel)?.of_task(task)?;
        blocks.iter().max().map(|&time| time.clamp(1, BLOCK_MAX))
    }

    /// Asks the kernel's own cost model.
    fn ask(&self, kernel: &Kernel, args: &Args<'_>) -> Told {
        let told = || match kernel.cost() {
            None => Told::Nothing,
            Some(Cost::Ticks(ticks)) => Told::Time(ticks(args).saturating_mul(self.tick)),
            Some(Cost::Time(time)) => {
                let picoseconds = time(args).as_nanos().saturating_mul(u128::from(NANOSECOND));
                Told::Time(Ps::try_from(picoseconds).unwrap_or(Ps::MAX))
            }
            Some(Cost::Roofline { flops, bytes }) => {
                Told::Work(Work { flops: flops(args), bytes: bytes(args) })
            }
        };
        match catch_unwind(AssertUnwindSafe(told)) {
            Ok(Told::Work(work)) if !is_amount(work.flops) || !is_amount(work.bytes) => Told::Nothing,
            Ok(told) => told,
            Err(panic) => {
                ringlane_engine::drop_panic(panic);
                Told::Nothing
            }
        }
    }
}

/// Whether there can be this much of something.
fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Whole picoseconds, within the limits of a block.
fn duration(picoseconds: f64) -> Option<Ps> {
    is_amount(picoseconds).then(|| (picoseconds.round() as u64).clamp(1, BLOCK_MAX))
}

/// How much of what a block's arguments move is written.
fn written_share(args: &Args<'_>) -> f64 {
    let (mut read, mut written) = (0u64, 0u64);
    for tensor in args.tensors() {
        let bytes = tensor.bytes();
        match tensor.access() {
            // Nothing says what is done with an argument that is not followed; most of them are looked up.
            Access::Input | Access::NoDep => read += bytes,
            Access::Output | Access::OutputExisting => written += bytes,
            Access::InOut => (read, written) = (read + bytes, written + bytes),
        }
    }
    if written == 0 { 0.0 } else { written as f64 / (read as f64 + written as f64) }
}

#[cfg(test)]
pub(crate) mod tests;
