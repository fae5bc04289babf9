//! The limits of costs: unit, reason, and what happens when one is reached.

use crate::time::{Ps, SECOND};

/// The longest block, in picoseconds: 1000 s. Longer ones are clamped, so that sums of thousands of them fit into 64
/// bits.
pub const BLOCK_MAX: Ps = 1000 * SECOND;

/// Blocks whose individual durations a cost table keeps, over all kernels; about 24 bytes of the file each. A table
/// of more has only the distribution of each kernel, from the first of its blocks.
pub const RECORDED_BLOCKS_MAX: usize = 1 << 18;

/// Groups of a kernel's blocks, by duration, whose means a cost table keeps; 8 bytes each. Enough to show the tail of
/// a distribution.
pub const SPREAD_GROUPS: usize = 16;

/// Bytes of a cost table file: enough for a hundred thousand kernels, or for all blocks that it may keep. A longer
/// file is refused before it is parsed.
pub const TABLE_BYTES_MAX: u64 = 16 << 20;

const _: () = assert!(RECORDED_BLOCKS_MAX as u64 * 48 < TABLE_BYTES_MAX);
const _: () = assert!(BLOCK_MAX < u64::MAX / 10_000);
