//! Every limit of what crosses a boundary: its unit, its cost, its reason, and what happens when it is reached.
//!
//! A run's capacities are bounded from below by what one task needs and from above by what an index or a
//! machine can hold. Memory is reserved and not touched until it is used, so a large capacity costs address
//! space, not memory.

/// Number of rings. Scope depth `d` uses ring `min(d, 3)`; task ids keep the ring in their upper half.
pub const RINGS: usize = 4;

/// Tensors one task can take. Costs 12 KiB of argument blob at most. One more is refused at submit.
///
/// The widest kernels known take 69; 128 leaves room and keeps an argument's index in seven bits.
pub const MAX_TENSORS: usize = 128;

/// Scalars one task can take. Costs 1.1 KiB of argument blob at most. One more is refused at submit.
pub const MAX_SCALARS: usize = 128;

/// Bytes of the output prefix in a `CallConfig`, the closing NUL included. A longer path is refused when set.
///
/// Fixed so that the configuration stays one plain block in a mailbox.
pub const OUTPUT_PREFIX_BYTES: usize = 1024;

/// Most elements a view from outside can show. More is refused by the blob reader and writer.
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

/// What a capacity may be. All three are powers of two, so that a position becomes an index by masking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityRange {
    /// What 0 in a `CallConfig` stands for.
    pub default: u64,
    /// The smallest capacity that is not refused.
    pub min: u64,
    /// The largest capacity that is not refused.
    pub max: u64,
}

impl CapacityRange {
    const fn new(min: u64, default: u64, max: u64) -> Self {
        assert!(min.is_power_of_two() && default.is_power_of_two() && max.is_power_of_two());
        assert!(min <= default && default <= max);
        CapacityRange { default, min, max }
    }
}

/// Slots of a ring. Below 4 a ring cannot hold a producer, its consumer and a scope's bookkeeping; 2^24 slots
/// reserve 4 GiB a ring and hold any scope of up to sixteen million tasks.
pub const TASK_WINDOW: CapacityRange = CapacityRange::new(4, 1 << 14, 1 << 24);

/// Bytes of a ring's output heap. The maximum, 1 TiB, fits four times into the 47 bits of a user's address space.
pub const HEAP: CapacityRange = CapacityRange::new(64, 1 << 28, 1 << 40);

/// Dependency entries of a ring, one for each edge. The maximum reserves 4 GiB a ring.
pub const DEP_POOL: CapacityRange = CapacityRange::new(1, 1 << 16, 1 << 28);

/// Bytes of a ring's arguments. The maximum is the largest power of two of a 31-bit offset.
pub const ARGS: CapacityRange = CapacityRange::new(1, 1 << 23, 1 << 30);

/// Entries of the tensor map, for all rings together. The maximum reserves 8 GiB.
pub const TENSORMAP: CapacityRange = CapacityRange::new(1, 1 << 16, 1 << 26);

// The widest kernels known take 69 tensors and 64 scalars; capacities are stored in 32 bits, heaps in 64.
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
