//! What a chip may be at most, and why.
//!
//! A value outside is refused when the file is read ([`super::SpecError::BadValue`]); nothing is cut down silently.

use std::ops::RangeInclusive;

/// Bytes of a file. A chip takes about 4 KiB; the rest is room for comments. What is larger is no chip, and is not read.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// Clusters. The simulator keeps a few hundred bytes for each core.
pub const CLUSTERS: RangeInclusive<u64> = 1..=1024;

/// Vector cores of a cluster. At least one: kernels for vector cores run on nothing else.
pub const AIV_PER_CLUSTER: RangeInclusive<u64> = 1..=8;

/// Counters of a core. The chip with the most of them, a5, has ten; a further one would have no name.
pub const PMU_COUNTERS: RangeInclusive<u64> = 1..=10;

/// The most threads that schedule; each is a lane of the timeline.
pub const SCHEDULERS_MAX: u64 = 64;

/// Blocks that a busy core is given ahead. The hardware has one register for them.
pub const DISPATCH_AHEAD: RangeInclusive<u64> = 0..=1;

/// Hertz of the system counter. Also, a tick is a whole number of picoseconds, so that no stamp drifts.
pub const COUNTER_HZ: RangeInclusive<u64> = 1_000_000..=10_000_000_000;

/// Picoseconds in a second.
pub const SECOND: u64 = 1_000_000_000_000;

/// Picoseconds of any operation. With a second at most for each, 64 bits hold the time of 18 million of them.
pub const TIME: RangeInclusive<u64> = 0..=SECOND;

/// Picoseconds until a silent core is given up: never at once, or every core would be.
pub const SILENT_AFTER: RangeInclusive<u64> = 1_000..=SECOND;

/// Bytes or operations a second. Not zero, because bytes and flops are divided by it.
pub const RATE: RangeInclusive<u64> = 1..=1_000_000_000_000_000_000;

/// Buffers that a control thread records into.
pub const RECORD_BUFFERS: RangeInclusive<u64> = 1..=64;

/// Bytes of such a buffer: the largest record fits, and all buffers of all threads stay below 5 GiB.
pub const RECORD_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 20;

/// Characters of a name: it becomes part of files and tables.
pub const NAME_CHARS: usize = 64;

/// Characters of any other text: what the chip stands for, a source.
pub const TEXT_CHARS: usize = 200;

const _: () = assert!(SECOND.is_multiple_of(*COUNTER_HZ.start()) && SECOND.is_multiple_of(*COUNTER_HZ.end()));
const _: () = assert!(*CLUSTERS.end() * (1 + *AIV_PER_CLUSTER.end()) <= u16::MAX as u64);
const _: () = assert!((SCHEDULERS_MAX + 1) * *RECORD_BUFFERS.end() * *RECORD_BYTES.end() < 5 << 30);
