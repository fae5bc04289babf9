//! A worker's queue of ready tasks: first in, first out for its owner; thieves take half at once.
//!
//! ```text
//!   head = (steal, real)          tail
//!     │                            │
//!   ──▼──────▼─────────────────────▼──▶   owner pushes at tail, pops at real;
//!     copied  next to be popped           a thief moves real by half, copies, then moves steal after it
//! ```
//! While `steal ≠ real` a thief is copying: others do not steal from this queue, and the owner does not push over
//! the entries being copied. The queue holds more entries than there are slots, so the owner meets that limit only
//! if a thief is stopped by the operating system for a whole lap; then it waits for it.

use ringlane_engine::Result;
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::sync::{AtomicU32, AtomicU64, Ordering, Padded, Reserved, Word, yield_now};

/// The most tasks taken in one steal; few under loom and shuttle, which explore rare schedules.
pub(crate) const STEAL_MAX: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 256 };

/// The queue.
#[derive(Debug)]
pub(crate) struct ReadyQueue {
    /// `steal << 32 | real`; moved by exchanges (AcqRel). A pop's or steal's acquire pairs with `tail`'s release.
    head: Padded<AtomicU64>,
    /// Written by the owner only, with release.
    tail: Padded<AtomicU32>,
    entries: Reserved<Word>,
}

fn pack(steal: u32, real: u32) -> u64 {
    (steal as u64) << 32 | real as u64
}

fn unpack(head: u64) -> (u32, u32) {
    ((head >> 32) as u32, head as u32)
}

impl ReadyQueue {
    /// A queue for at most `tasks` tasks at a time.
    pub(crate) fn new(tasks: usize) -> Result<Self> {
        let entries = Reserved::new((tasks + STEAL_MAX as usize).next_power_of_two(), "a ready queue")?;
        Ok(ReadyQueue { head: Padded(AtomicU64::new(0)), tail: Padded(AtomicU32::new(0)), entries })
    }

    fn entry(&self, at: u32) -> &Word {
        &self.entries[at as usize & (self.entries.len() - 1)]
    }

    /// Adds a task. Owner only.
    #[inline]
    pub(crate) fn push(&self, task: SlotIndex) {
        let tail = self.tail.load(Ordering::Relaxed);
        let steal = unpack(self.head.load(Ordering::Acquire)).0;
        if tail.wrapping_sub(steal) as usize >= self.entries.len() {
            self.wait_for_thief(tail);
        }
        self.entry(tail).set(task.0);
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
    }

    #[cold]
    fn wait_for_thief(&self, tail: u32) {
        while tail.wrapping_sub(unpack(self.head.load(Ordering::Acquire)).0) as usize >= self.entries.len() {
            yield_now();
        }
    }

    /// Takes the oldest task. Owner only.
    #[inline]
    pub(crate) fn pop(&self) -> Option<SlotIndex> {
        let tail = self.tail.load(Ordering::Relaxed);
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let (steal, real) = unpack(head);
            if real == tail {
                return None;
            }
            let next = real.wrapping_add(1);
            let new = if steal == real { pack(next, next) } else { pack(steal, next) };
            match self.head.compare_exchange(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(SlotIndex(self.entry(real).get())),
                Err(now) => head = now,
            }
        }
    }

    /// The task that `pop` would take now, as far as the owner knows.
    #[inline]
    pub(crate) fn peek(&self) -> Option<SlotIndex> {
        let real = unpack(self.head.load(Ordering::Relaxed)).1;
        let tail = self.tail.load(Ordering::Relaxed);
        (real != tail).then(|| SlotIndex(self.entry(real).get()))
    }

    /// As `pop`, where one thread does everything.
    #[inline]
    pub(crate) fn pop_alone(&self) -> Option<SlotIndex> {
        let real = unpack(self.head.load(Ordering::Relaxed)).1;
        if real == self.tail.load(Ordering::Relaxed) {
            return None;
        }
        let next = real.wrapping_add(1);
        self.head.store(pack(next, next), Ordering::Relaxed);
        Some(SlotIndex(self.entry(real).get()))
    }

    /// How many tasks wait here, roughly.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        let real = unpack(self.head.load(Ordering::Relaxed)).1;
        self.tail.load(Ordering::Relaxed).wrapping_sub(real).min(self.entries.len() as u32)
    }

    /// Moves half of the tasks (rounded up) to `mine`, the thief's own queue, and gives the oldest of them.
    #[inline]
    pub(crate) fn steal_into(&self, mine: &ReadyQueue) -> Option<SlotIndex> {
        let mut head = self.head.load(Ordering::Acquire);
        let (first, count) = loop {
            let (steal, real) = unpack(head);
            let available = self.tail.load(Ordering::Acquire).wrapping_sub(real);
            if steal != real || available == 0 || available as usize > self.entries.len() {
                return None;
            }
            let count = available.div_ceil(2).min(STEAL_MAX);
            let claimed = pack(real, real.wrapping_add(count));
            match self.head.compare_exchange(head, claimed, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break (real, count),
                Err(now) => head = now,
            }
        };
        let oldest = SlotIndex(self.entry(first).get());
        for i in 1..count {
            mine.push(SlotIndex(self.entry(first.wrapping_add(i)).get()));
        }
        self.finish_steal();
        Some(oldest)
    }

    fn finish_steal(&self) {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let real = unpack(head).1;
            match self.head.compare_exchange(head, pack(real, real), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_thief_takes_the_older_half() {
        let (mine, other) = (ReadyQueue::new(16).unwrap(), ReadyQueue::new(16).unwrap());
        (0..4).for_each(|task| mine.push(SlotIndex(task)));
        assert_eq!(mine.steal_into(&other), Some(SlotIndex(0)));
        assert_eq!((other.pop(), other.pop()), (Some(SlotIndex(1)), None));
        assert_eq!((mine.pop(), mine.pop(), mine.pop()), (Some(SlotIndex(2)), Some(SlotIndex(3)), None));
    }
}
