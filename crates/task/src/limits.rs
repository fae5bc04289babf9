//! All limits of data that crosses a boundary: unit, cost, reason, and what happens at the limit.
//!
//! The lower bound of a capacity is the need of one task, the upper bound is the range of an index or the size of a
//! machine. Memory is reserved, and allocated only on use, so a large capacity costs address space, not memory.

/// Number of rings. Scope depth `d` uses ring `min(d, 3)`; task ids keep the ring in their upper half.
pub const RINGS: usize = 4;

/// The most tensors of a task. Costs 12 KiB of argument blob at most. One more is refused at submit.
///
/// The kernels with the most arguments take 69; 128 leaves room and keeps an argument's index in seven bits.
pub const MAX_TENSORS: usize = 128;

/// The most scalars of a task. Costs 1.1 KiB of argument blob at most. One more is refused at submit.
pub const MAX_SCALARS: usize = 128;

/// Bytes of the output prefix in a `CallConfig`, including the final NUL. A longer path is refused when set.
///
/// Fixed so that the configuration stays one plain block in a mailbox.
pub const OUTPUT_PREFIX_BYTES: usize = 1024;

/// The most elements of a view from outside. The blob reader and writer refuse more.
///
/// A broadcast repeats elements without memory, so the size of its buffer does not bound their number; this
/// keeps every product of lengths far from 2^64.
pub const MAX_VIEW_ELEMENTS: u64 = 1 << 48;

/// Bytes reserved for one slot of a task window: an upper bound that the engine's layout must keep.
pub const SLOT_BYTES: u64 = 256;

/// Bytes reserved for one dependency entry: an upper bound that the engine's layout must keep.
pub const DEP_ENTRY_BYTES: u64 = 16;

/// Bytes reserved for one entry of the tensor map: an upper bound that the engine's layout must keep.
pub const TENSORMAP_ENTRY_BYTES: u64 = 128;

/// The range of a capacity. All three are powers of two, so that a position becomes an index by masking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityRange {
    /// The meaning of 0 in a `CallConfig`.
    pub default: u64,
    /// The smallest allowed capacity.
    pub min: u64,
    /// The largest allowed capacity.
    pub max: u64,
}

impl CapacityRange {
    const fn new(min: u64, default: u64, max: u64) -> Self {
        assert!(min.is_power_of_two() && default.is_power_of_two() && max.is_power_of_two());
        assert!(min <= default && default <= max);
        CapacityRange { default, min, max }
    }
}

/// Slots of a ring. Below 4 a ring cannot hold a producer, its consumer and the bookkeeping of a scope; 2^24 slots
/// reserve 4 GiB per ring and hold any scope of up to sixteen million tasks.
pub const TASK_WINDOW: CapacityRange = CapacityRange::new(4, 1 << 14, 1 << 24);

/// Bytes of a ring's output heap. The maximum, 1 TiB, fits four times into the 47 bits of a user address space.
pub const HEAP: CapacityRange = CapacityRange::new(64, 1 << 28, 1 << 40);

/// Dependency entries of a ring, one for each edge. The maximum reserves 4 GiB per ring.
pub const DEP_POOL: CapacityRange = CapacityRange::new(1, 1 << 16, 1 << 28);

/// Bytes of a ring's arguments. The maximum is the largest power of two of a 31-bit offset.
pub const ARGS: CapacityRange = CapacityRange::new(1, 1 << 23, 1 << 30);

/// Entries of the tensor map, for all rings together. The maximum reserves 8 GiB.
pub const TENSORMAP: CapacityRange = CapacityRange::new(1, 1 << 16, 1 << 26);

// Existing kernels take up to 69 tensors and 64 scalars; capacities are stored in 32 bits, heaps in 64.
const _: () = assert!(MAX_TENSORS >= 69 && MAX_SCALARS >= 64);
const _: () = {
    let narrow = [TASK_WINDOW, DEP_POOL, ARGS, TENSORMAP];
    let mut i = 0;
    while i < narrow.len() {
        assert!(narrow[i].max <= u32::MAX as u64);
        i += 1;
    }
};
const _: () = assert!(RINGS as u64 * HEAP.max < 1 << 47);
