//! The limits of costs: unit, reason, and what happens when one is reached.

use crate::time::{Ps, SECOND};

/// The longest block there is, in picoseconds: 1000 s. Longer ones take this long, so that sums of thousands of them stay
/// within 64 bits.
pub const BLOCK_MAX: Ps = 1000 * SECOND;

/// Bytes of a cost table's file: room for a hundred thousand kernels. A longer file is refused before it is parsed.
pub const TABLE_BYTES_MAX: u64 = 16 << 20;

const _: () = assert!(BLOCK_MAX < u64::MAX / 10_000);
