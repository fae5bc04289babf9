//! Record lanes: how one writer's records reach the collector without either waiting for the other.
//!
//! ```text
//!            ┌──────────── full: filled buffers ───────────▶┐
//!  Writer ───┤                                              ├─── Drain (collector)
//!            └◀─────────── free: empty buffers ─────────────┘
//! ```
//! A lane is a fixed number of equal buffers, one [`Writer`] and one drain. Each buffer is at any moment in exactly
//! one place: with the writer (at most one), in `full`, with the drain, or in `free`. Both queues have room for all
//! buffers, so that handing one over cannot fail and cannot wait.
//!
//! | what | who writes it | who reads it |
//! |---|---|---|
//! | bytes of a buffer | the writer, while it has the buffer | the drain, from taking it out of `full` until it puts it into `free` |
//! | `full` | the writer pushes | the drain pops |
//! | `free` | the drain pushes (at first, all buffers) | the writer pops |
//! | published counts | the writer, when it hands a buffer over and when it closes | anyone; exact once the writer is closed |
//! | `halted` | the collector, once | the writer, when a buffer is full and while it waits |
//!
//! What makes it right:
//! - The push of a buffer is a release and its pop an acquire (see `ring`), in both directions. So the drain sees every
//!   byte that the writer wrote, and the writer overwrites nothing that is still being read.
//! - A record is stored in one buffer, so that a buffer can be read without its neighbours.
//! - Every record is counted in exactly one place: handed over with its buffer, or dropped by the writer. What the
//!   collector cannot keep it counts as discarded. Hence in the end `total == collected + dropped`.
//! - Closing (also by dropping the writer) hands over the last, partly filled buffer. A writer can thus stop anywhere.
//! - `halted` says that further records will not be kept (a write error, or the collector is gone): the writer then drops
//!   and counts by itself and never waits.

mod memory;
mod pool;
mod ring;
mod writer;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::Thread;

use ringlane_task::Overflow;

pub(crate) use memory::Filled;
use memory::{Buffer, Memory};
pub use pool::Pool;
use ring::{Consumer, Producer};
pub use writer::Writer;

use crate::clock::Clock;
use crate::sync::{AtomicBool, AtomicU64, Ordering, Padded};

/// What one or more writers count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records that were to be written.
    pub total: u64,
    /// Records that found no place.
    pub dropped: u64,
    /// Ticks that writers waited for an empty buffer.
    pub waited_ticks: u64,
    /// Bytes of records that were handed over.
    pub bytes: u64,
}

impl core::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.total += other.total;
        self.dropped += other.dropped;
        self.waited_ticks += other.waited_ticks;
        self.bytes += other.bytes;
    }
}

/// Counts as the writer last published them. Relaxed throughout: a reader that needs them exact has the writer's last update (it
/// was closed on this thread, or its thread was joined), and that orders them.
#[derive(Debug, Default)]
struct Published {
    total: AtomicU64,
    dropped: AtomicU64,
    waited_ticks: AtomicU64,
    bytes: AtomicU64,
}

impl Published {
    fn set(&self, counts: Counts) {
        self.total.store(counts.total, Ordering::Relaxed);
        self.dropped.store(counts.dropped, Ordering::Relaxed);
        self.waited_ticks.store(counts.waited_ticks, Ordering::Relaxed);
        self.bytes.store(counts.bytes, Ordering::Relaxed);
    }

    fn get(&self) -> Counts {
        Counts {
            total: self.total.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            waited_ticks: self.waited_ticks.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// What the writer and the drain of a lane share beside the queues.
#[derive(Debug)]
struct Common {
    memory: Memory,
    counts: Padded<Published>,
    /// Records of this lane are no longer kept. Relaxed: it carries no data, and seeing it late costs one buffer.
    halted: AtomicBool,
}

impl Common {
    /// Buffers of a part of the lane: this number of filled ones wakes the collector.
    fn part(&self) -> u32 {
        self.memory.buffers().div_ceil(PARTS)
    }
}

/// How a writer that waits wakes the collector.
#[derive(Debug, Default)]
pub(crate) struct CollectorWaker(OnceLock<Thread>);

impl CollectorWaker {
    /// Sets the thread to wake.
    pub(crate) fn set(&self, collector: Thread) {
        let _ = self.0.set(collector);
    }

    /// Ends the collector's sleep. This may be a system call.
    pub(crate) fn wake(&self) {
        if let Some(collector) = self.0.get() {
            collector.unpark();
        }
    }
}

/// What the writers of a recording have in common.
#[derive(Clone)]
pub(crate) struct Rules {
    pub(crate) overflow: Overflow,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) waker: Arc<CollectorWaker>,
}

/// The collector's end of a lane.
#[derive(Debug)]
pub(crate) struct Drain {
    common: Arc<Common>,
    free: Producer<Buffer>,
    full: Consumer<Filled>,
    /// Bytes of buffers taken so far, and up to the last poll.
    taken: usize,
    polled: usize,
}

/// Bytes of a lane that get their pages before the writer comes to them, at least, once its first buffer was full.
const AHEAD_BYTES: usize = 256 << 10;
/// Parts of a lane: a writer wakes the collector whenever it has filled one.
const PARTS: u32 = 8;

/// Makes a lane. The memory is reserved, not touched.
pub(crate) fn lane(
    rules: &Rules,
    pool: &Pool,
    buffers: u32,
    buffer_bytes: u32,
) -> io::Result<(Writer, Drain)> {
    let (memory, tokens) = Memory::new(pool, buffers, buffer_bytes)?;
    let (mut empty, free) = ring::ring(buffers);
    let (filled, full) = ring::ring(buffers);
    tokens.into_iter().for_each(|buffer| empty.push(buffer));
    let common = Arc::new(Common { memory, counts: Padded::default(), halted: AtomicBool::new(false) });
    let writer = Writer::new(rules.clone(), common.clone(), free, filled);
    Ok((writer, Drain { common, free: empty, full, taken: 0, polled: 0 }))
}

impl Drain {
    /// The next filled buffer, in the order written.
    pub(crate) fn take(&mut self) -> Option<Filled> {
        let filled = self.full.pop()?;
        self.taken = self.taken.saturating_add(self.common.memory.buffer_bytes() as usize);
        Some(filled)
    }

    /// Gives the memory that the writer will come to next its pages, so that the writer need not wait for them. Buffers
    /// are used in the order of their addresses until all have been used once. The next poll may be twice as far away as the last,
    /// but comes when the writer has filled another part of its lane.
    pub(crate) fn prepare(&mut self) {
        if self.taken > 0 {
            let part = self.common.part() as usize * self.common.memory.buffer_bytes() as usize;
            let ahead = (self.taken - self.polled).saturating_mul(2);
            let ahead = ahead.clamp(AHEAD_BYTES, part.saturating_add(AHEAD_BYTES));
            self.common.memory.prepare(self.taken.saturating_add(ahead));
        }
        self.polled = self.taken;
    }

    /// Gives the first bytes their pages, before anybody waits for them.
    pub(crate) fn make_ready(&self, bytes: u32) {
        self.common.memory.prepare(bytes as usize);
    }

    /// Its records.
    pub(crate) fn records<'a>(&'a self, filled: &'a Filled) -> &'a [u8] {
        self.common.memory.records(filled)
    }

    /// Gives a buffer back, empty.
    pub(crate) fn give_back(&mut self, filled: Filled) {
        self.free.push(filled.buffer);
    }

    /// Signals the writer that nothing more is kept.
    pub(crate) fn halt(&self) {
        self.common.halted.store(true, Ordering::Relaxed);
    }

    /// Number of buffers.
    pub(crate) fn buffers(&self) -> u32 {
        self.common.memory.buffers()
    }

    /// Bytes that are reserved for the lane.
    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.common.memory.bytes() as u64
    }

    /// What the writer counted, as of its last report.
    pub(crate) fn counts(&self) -> Counts {
        self.common.counts.get()
    }
}

impl Drop for Drain {
    /// Without its drain a lane is a dead end: its writer must not wait.
    fn drop(&mut self) {
        self.halt();
    }
}
