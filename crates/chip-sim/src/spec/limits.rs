//! Limits of a chip, and their reasons.
//!
//! A value outside of its limits is refused when the file is read ([`super::SpecError::BadValue`]); no value is
//! clamped.

use std::ops::RangeInclusive;

/// Bytes of a file. A chip takes about 4 KiB; the rest is room for comments. A larger file is not read.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// Clusters. The simulator keeps a few hundred bytes for each core.
pub const CLUSTERS: RangeInclusive<u64> = 1..=1024;

/// Vector cores of a cluster. At least one: nothing else runs kernels for vector cores.
pub const AIV_PER_CLUSTER: RangeInclusive<u64> = 1..=8;

/// Counters of a core. The chip with the most of them, a5, has ten; there is no name for an eleventh.
pub const PMU_COUNTERS: RangeInclusive<u64> = 1..=10;

/// The most scheduler threads; each is a lane of the timeline.
pub const SCHEDULERS_MAX: u64 = 64;

/// Blocks that a busy core can get ahead. The hardware has one register for them.
pub const DISPATCH_AHEAD: RangeInclusive<u64> = 0..=1;

/// Frequency of the system counter in hertz. A tick must also be an integer number of picoseconds, so that time
/// stamps do not drift.
pub const COUNTER_HZ: RangeInclusive<u64> = 1_000_000..=10_000_000_000;

/// Picoseconds per second.
pub const SECOND: u64 = 1_000_000_000_000;

/// Picoseconds of an operation. With at most one second each, 64 bits hold the time of 18 million operations.
pub const TIME: RangeInclusive<u64> = 0..=SECOND;

/// Picoseconds after which a silent core is given up. Not zero, or every core would be given up at once.
pub const SILENT_AFTER: RangeInclusive<u64> = 1_000..=SECOND;

/// Bytes or operations per second. Not zero, because it is a divisor.
pub const RATE: RangeInclusive<u64> = 1..=1_000_000_000_000_000_000;

/// Record buffers of a control thread.
pub const RECORD_BUFFERS: RangeInclusive<u64> = 1..=64;

/// Bytes of a record buffer: the largest record fits, and all buffers of all threads stay below 5 GiB.
pub const RECORD_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 20;

/// Characters of a name, which becomes part of file names and tables.
pub const NAME_CHARS: usize = 64;

/// Characters of any other text: the description of the chip, or a source.
pub const TEXT_CHARS: usize = 200;

const _: () = assert!(SECOND.is_multiple_of(*COUNTER_HZ.start()) && SECOND.is_multiple_of(*COUNTER_HZ.end()));
const _: () = assert!(*CLUSTERS.end() * (1 + *AIV_PER_CLUSTER.end()) <= u16::MAX as u64);
const _: () = assert!((SCHEDULERS_MAX + 1) * *RECORD_BUFFERS.end() * *RECORD_BYTES.end() < 5 << 30);
