//! The duration and the work of a block.
//!
//! ```text
//! a table recorded on another chip ─▶ `taking` at submit ─▶ time, ticks or roofline of the kernel ─▶ the chip's default
//!                                                                                      the first that exists
//! ```
//! The roofline is the longer of two times: operations divided by the rate of the core's kind, bytes divided by the
//! core's share of the memory bandwidth. The share is fixed, the memory's rate divided by *all* cores of the chip,
//! busy or not: so the duration of a block is a function of its arguments, and independent of other blocks. A
//! schedule can then be compared with a lower bound, and one policy with another.
//!
//! A cost model is user code, and its errors never end a run: a result that is NaN, negative or infinite counts as no
//! cost model, and so does a panic.

mod limits;
mod record;
mod replayed;
mod table;
mod table_error;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ringlane_engine::api::dynamic::CostValue;
use ringlane_engine::observe::BlockWork;
use ringlane_engine::prelude::{Args, Cost, Kernel};
use ringlane_engine::slowdown::{Slowdown, factor_of};
use ringlane_task::{Access, ChipSpec, TaskId};

use crate::core::CoreKind;
use crate::time::{NANOSECOND, Ps, SECOND};

pub use limits::{BLOCK_MAX, RECORDED_BLOCKS_MAX, SPREAD_GROUPS, TABLE_BYTES_MAX};
pub use record::{BlockTimes, Programs, TableRecorder};
pub use replayed::{BlockCosts, ReplayedBlock, TaskDuration, scaled};
pub use table::{CostTable, KernelCost, RecordedTask};
pub use table_error::CostTableError;

/// The duration and the work of a block. What its kernel's cost model does not provide is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCost {
    /// The duration: from 1 to [`BLOCK_MAX`].
    pub picoseconds: Ps,
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes moved between memory and core.
    pub bytes: f64,
    /// The part of `bytes` that is written. Cost models provide one number of bytes; it is split in the proportion in
    /// which the block's arguments are read and written, where an `inout` counts as both.
    pub written: f64,
    /// Whether the duration follows from the work.
    pub is_roofline: bool,
}

impl BlockCost {
    /// The cost as it is recorded.
    pub(crate) fn recorded(&self) -> BlockWork {
        let amount = |amount: f64| if self.is_roofline { replayed::recorded_amount(amount) } else { 0 };
        BlockWork { picoseconds: self.picoseconds, flops: amount(self.flops), bytes: amount(self.bytes) }
    }
}

/// The work according to a roofline.
#[derive(Clone, Copy, Default)]
struct Work {
    flops: f64,
    bytes: f64,
}

/// The result of a kernel's own cost model.
enum ModelResult {
    /// Nothing, or nothing usable.
    Nothing,
    /// A duration.
    Time(Ps),
    /// Work.
    Work(Work),
}

/// Identifies a block and its task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WhichBlock {
    /// The task.
    pub task: TaskId,
    /// The index of the block among the task's blocks of its kernel: by lane, then by block.
    pub index: u32,
    /// The duration that its submit specified.
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
    /// What blocks do in a replay.
    replayed: Option<Arc<BlockCosts>>,
    /// Kernels that are made slower on purpose.
    slowdowns: Vec<Slowdown>,
}

/// The rates of one core, per picosecond.
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

    /// Picoseconds to execute these operations on a core.
    #[inline]
    pub(crate) fn computing(&self, core: CoreKind, flops: f64) -> f64 {
        match core {
            CoreKind::Aic => flops / self.aic_flops,
            CoreKind::Aiv => flops / self.aiv_flops,
        }
    }

    /// Picoseconds to move these bytes between memory and one core.
    #[inline]
    pub(crate) fn moving(&self, bytes: f64) -> f64 {
        bytes / self.bytes
    }
}

impl CostModel {
    /// The costs on a chip.
    pub fn new(spec: &ChipSpec) -> Self {
        CostModel {
            table: None,
            tick: SECOND / spec.counter_hz.clamp(1, SECOND),
            rates: CoreRates::of(spec),
            default_block: spec.default_block.clamp(1, BLOCK_MAX),
            replayed: None,
            slowdowns: Vec::new(),
        }
    }

    /// Uses the recorded costs of this table for its kernels.
    #[must_use]
    pub fn with_table(mut self, table: Option<CostTable>) -> Self {
        self.table = table;
        self
    }

    /// The cost of a block of a kernel on a core of this kind. `args` are those of the block, none of them taken.
    pub fn block(&self, kernel: &Kernel, core: CoreKind, args: &Args<'_>, which: WhichBlock) -> BlockCost {
        let result = self.evaluate(kernel, args);
        let recorded = self.recorded(kernel).map(|cost| cost.block_ps(which.task, which.index));
        let known = recorded.or(which.duration).map(|time| time.clamp(1, BLOCK_MAX));
        let modelled = match result {
            ModelResult::Nothing => None,
            ModelResult::Time(time) => Some(time.clamp(1, BLOCK_MAX)),
            ModelResult::Work(work) => self.roofline(core, work.flops, work.bytes),
        };
        let usual = known.or(modelled).unwrap_or(self.default_block);
        let factor = factor_of(&self.slowdowns, kernel.name());
        let picoseconds = factor.map_or(usual, |factor| scaled(usual, factor));
        let is_roofline = known.is_none() && modelled.is_some() && factor.is_none();
        match result {
            ModelResult::Work(Work { flops, bytes }) => {
                let written = bytes * written_share(args);
                BlockCost { picoseconds, flops, bytes, written, is_roofline }
            }
            ModelResult::Nothing | ModelResult::Time(_) => BlockCost { picoseconds, ..BlockCost::default() },
        }
    }

    /// Makes kernels slower.
    pub(crate) fn slow_down(&mut self, slowdowns: &[Slowdown]) {
        self.slowdowns = slowdowns.to_vec();
    }

    /// Replays these blocks; no values are computed.
    pub(crate) fn replay(&mut self, costs: Arc<BlockCosts>) {
        self.replayed = Some(costs);
    }

    /// Whether a recorded run is replayed.
    #[inline]
    pub(crate) fn is_replay(&self) -> bool {
        self.replayed.is_some()
    }

    /// The longer of two times: operations at the rate of the core, bytes at its share of the memory's.
    fn roofline(&self, core: CoreKind, flops: f64, bytes: f64) -> Option<Ps> {
        let (computing, moving) = (self.rates.computing(core, flops), self.rates.moving(bytes));
        // `max` would ignore NaN, the result of a rate of 0.
        if computing.is_finite() && moving.is_finite() { duration(computing.max(moving)) } else { None }
    }

    /// The recorded costs of a kernel.
    fn recorded(&self, kernel: &Kernel) -> Option<&KernelCost> {
        self.table.as_ref().and_then(|table| table.kernel(kernel.name()))
    }

    /// The longest of a task's blocks of a kernel, if the table has all of them.
    pub(crate) fn longest_recorded(&self, kernel: &Kernel, task: TaskId) -> Option<Ps> {
        let blocks = self.recorded(kernel)?.of_task(task)?;
        let usual = blocks.iter().max().map(|&time| time.clamp(1, BLOCK_MAX))?;
        Some(factor_of(&self.slowdowns, kernel.name()).map_or(usual, |factor| scaled(usual, factor)))
    }

    /// What a cost model computed.
    fn result(&self, value: CostValue) -> ModelResult {
        match value {
            CostValue::Ticks(ticks) => ModelResult::Time(ticks.saturating_mul(self.tick)),
            CostValue::Time(time) => {
                let picoseconds = time.as_nanos().saturating_mul(u128::from(NANOSECOND));
                ModelResult::Time(Ps::try_from(picoseconds).unwrap_or(Ps::MAX))
            }
            CostValue::Roofline { flops, bytes } => ModelResult::Work(Work { flops, bytes }),
        }
    }

    /// Evaluates the kernel's own cost model.
    fn evaluate(&self, kernel: &Kernel, args: &Args<'_>) -> ModelResult {
        let result = || match kernel.cost() {
            None => ModelResult::Nothing,
            Some(Cost::Ticks(ticks)) => self.result(CostValue::Ticks(ticks(args))),
            Some(Cost::Time(time)) => self.result(CostValue::Time(time(args))),
            Some(Cost::Roofline { flops, bytes }) => {
                self.result(CostValue::Roofline { flops: flops(args), bytes: bytes(args) })
            }
            Some(Cost::Computed(model)) => self.result(model(args)),
        };
        match catch_unwind(AssertUnwindSafe(result)) {
            Ok(ModelResult::Work(work)) if !is_amount(work.flops) || !is_amount(work.bytes) => {
                ModelResult::Nothing
            }
            Ok(result) => result,
            Err(panic) => {
                ringlane_engine::drop_panic(panic);
                ModelResult::Nothing
            }
        }
    }
}

/// Whether a value is a possible amount.
fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Whole picoseconds, within the limits of a block.
fn duration(picoseconds: f64) -> Option<Ps> {
    is_amount(picoseconds).then(|| (picoseconds.round() as u64).clamp(1, BLOCK_MAX))
}

/// The written share of the bytes that a block's arguments move.
fn written_share(args: &Args<'_>) -> f64 {
    let (mut read, mut written) = (0u64, 0u64);
    for tensor in args.tensors() {
        let bytes = tensor.bytes();
        match tensor.access() {
            // The use of a `no_dep` argument is unknown; most of them are read.
            Access::Input | Access::NoDep => read += bytes,
            Access::Output | Access::OutputExisting => written += bytes,
            Access::InOut => (read, written) = (read + bytes, written + bytes),
        }
    }
    if written == 0 { 0.0 } else { written as f64 / (read as f64 + written as f64) }
}

#[cfg(test)]
pub(crate) mod tests;
