//! A thread's queue of ready tasks: first in, first out for its owner; thieves take several at once.
//!
//! ```text
//!           head                     tail
//!            │                        │
//!   ─────────▼────────────────────────▼──▶   the owner pushes at tail and pops at head;
//!   may be    tasks that wait here           a thief reads some entries from head on, then moves head past them
//!   overwritten
//! ```
//! Who touches what
//! - `tail` and `entries` are written by the owner only, and so is `seen`, which nobody else reads. A push stores into lines
//!   that thieves only read, and loads nothing that they write.
//! - `shown` is a `tail` of a moment ago, which the submitter stores once for several submits. Thieves that search for a batch read
//!   it in place of `tail`: each of their reads of `tail` takes the line away from the owner, whose next push waits for it.
//! - `head` is moved by the owner's pop and by thieves, always by an exchange, always forward. Positions are 64 bits and
//!   never wrap, so an exchange succeeds only if no task was taken since `head` was loaded.
//!
//! Why an entry that a thief has read is the task at that position
//! - The thief loads `head`, then `tail` (acquire, pairs with the push's release), and reads only entries between the two:
//!   they were written before `tail` was stored.
//! - The owner overwrites the entry of a position only after it has seen (acquire, in `make_room`) a `head` beyond it. If the
//!   thief read an entry that was overwritten, `head` had moved, the exchange fails, and what was read is discarded. The
//!   exchange's release, which `make_room` acquires, keeps the reads of a thief that succeeded before the overwriting.
//!
//! A thief that the operating system stops in the middle therefore holds up nobody.

use ringlane_engine::Result;
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::sync::{AtomicU32, AtomicU64, Ordering, Padded, Reserved, Zeroed};

/// The most tasks taken in one steal: what a thief reads before its exchange, during which the tasks may go to another. Few
/// under loom and shuttle, which explore rare schedules.
pub(crate) const STEAL_MAX: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 128 };

/// The queue.
#[derive(Debug)]
pub(crate) struct ReadyQueue {
    /// The position of the oldest task.
    head: Padded<AtomicU64>,
    owner: Padded<OwnerLine>,
    /// What `tail` was at the last `show`. A hint.
    shown: Padded<AtomicU64>,
    entries: Reserved<Entry>,
}

/// What only the owner writes.
#[derive(Debug)]
struct OwnerLine {
    /// One past the newest task's position. Stored with release: what it covers is written.
    tail: AtomicU64,
    /// A position that `head` has reached, as the owner knows: entries before it are free. Relaxed, the owner's own.
    seen: AtomicU64,
}

/// A slot's index. Relaxed; `tail` and `head` order the accesses that count (see above).
#[derive(Debug)]
struct Entry(AtomicU32);

// SAFETY: zero bits are the index 0.
unsafe impl Zeroed for Entry {
    fn zero() -> Self {
        Entry(AtomicU32::new(0))
    }
}

impl ReadyQueue {
    /// A queue for at most `tasks` tasks at a time.
    pub(crate) fn new(tasks: usize) -> Result<Self> {
        let entries = Reserved::new((tasks + STEAL_MAX as usize).next_power_of_two(), "a ready queue")?;
        let owner = OwnerLine { tail: AtomicU64::new(0), seen: AtomicU64::new(0) };
        let [head, shown] = [0, 0].map(|position| Padded(AtomicU64::new(position)));
        Ok(ReadyQueue { head, owner: Padded(owner), shown, entries })
    }

    #[inline]
    fn entry(&self, position: u64) -> &AtomicU32 {
        &self.entries[position as usize & (self.entries.len() - 1)].0
    }

    #[inline]
    fn task_at(&self, position: u64) -> SlotIndex {
        SlotIndex(self.entry(position).load(Ordering::Relaxed))
    }

    /// Adds a task. Owner only.
    #[inline]
    pub(crate) fn push(&self, task: SlotIndex) {
        let tail = self.room_for(1);
        self.entry(tail).store(task.0, Ordering::Relaxed);
        self.owner.tail.store(tail + 1, Ordering::Release);
    }

    /// Where the next task goes; that entry and the `count` - 1 after it are free. Owner only.
    #[inline]
    fn room_for(&self, count: u64) -> u64 {
        let tail = self.owner.tail.load(Ordering::Relaxed);
        if tail + count - self.owner.seen.load(Ordering::Relaxed) > self.entries.len() as u64 {
            self.make_room(tail + count);
        }
        tail
    }

    /// Learns how far `head` has come, so that positions up to `end` have entries.
    #[cold]
    fn make_room(&self, end: u64) {
        let head = self.head.load(Ordering::Acquire);
        assert!(end - head <= self.entries.len() as u64, "there are more entries than tasks");
        self.owner.seen.store(head, Ordering::Relaxed);
    }

    /// Takes the oldest task. Owner only.
    #[inline]
    pub(crate) fn pop(&self) -> Option<SlotIndex> {
        let tail = self.owner.tail.load(Ordering::Relaxed);
        let mut head = self.head.load(Ordering::Relaxed);
        while head != tail {
            // Read before the exchange, like a thief: afterwards another push may use the entry.
            let task = self.task_at(head);
            match self.head.compare_exchange(head, head + 1, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(task),
                Err(now) => head = now,
            }
        }
        None
    }

    /// The task that `pop` would take now, as far as the owner knows.
    #[inline]
    pub(crate) fn peek(&self) -> Option<SlotIndex> {
        let head = self.head.load(Ordering::Relaxed);
        (head != self.owner.tail.load(Ordering::Relaxed)).then(|| self.task_at(head))
    }

    /// As `pop`, where one thread does everything.
    #[inline]
    pub(crate) fn pop_alone(&self) -> Option<SlotIndex> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.owner.tail.load(Ordering::Relaxed) {
            return None;
        }
        self.head.store(head + 1, Ordering::Relaxed);
        Some(self.task_at(head))
    }

    /// Shows to all thieves what was pushed so far. Owner only.
    #[inline]
    pub(crate) fn show(&self) {
        self.shown.store(self.owner.tail.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// As `state`, with the tasks that were shown.
    #[inline]
    pub(crate) fn shown_state(&self) -> QueueState {
        let head = self.head.load(Ordering::Relaxed);
        // What was taken since then may be more than what was shown.
        let waiting = self.shown.load(Ordering::Relaxed).saturating_sub(head);
        QueueState { head, waiting: waiting as u32 }
    }

    /// How many tasks wait here, and the position of the oldest; for any thread, out of date at once.
    #[inline]
    pub(crate) fn state(&self) -> QueueState {
        let head = self.head.load(Ordering::Acquire);
        // `head` never passes `tail`, and its acquire makes this load at least as recent.
        let waiting = self.owner.tail.load(Ordering::Acquire) - head;
        QueueState { head, waiting: waiting as u32 }
    }

    /// Moves some tasks to `mine`, the thief's own queue, and gives the oldest of them. `share` gives how many of those that
    /// wait are wanted, at least one.
    #[inline]
    pub(crate) fn steal_into(&self, mine: &ReadyQueue, share: impl Fn(u32) -> u32) -> Option<SlotIndex> {
        loop {
            let QueueState { head, waiting } = self.state();
            if waiting == 0 {
                return None;
            }
            let count = u64::from(share(waiting).clamp(1, waiting.min(STEAL_MAX)));
            let oldest = self.task_at(head);
            // Beyond the own tail, which no other thread reads before it is moved.
            let to = mine.room_for(count - 1);
            for i in 1..count {
                mine.entry(to + i - 1).store(self.task_at(head + i).0, Ordering::Relaxed);
            }
            if self.head.compare_exchange(head, head + count, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                mine.owner.tail.store(to + count - 1, Ordering::Release);
                return Some(oldest);
            }
        }
    }
}

/// What a thread sees of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueState {
    /// Position of the oldest task: changes with every task that is taken.
    pub(crate) head: u64,
    /// Tasks that wait.
    pub(crate) waiting: u32,
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn queue_of(tasks: u32) -> ReadyQueue {
        let queue = ReadyQueue::new(16).unwrap();
        (0..tasks).for_each(|task| queue.push(SlotIndex(task)));
        queue
    }

    fn drained(queue: &ReadyQueue) -> Vec<u32> {
        core::iter::from_fn(|| queue.pop()).map(|task| task.0).collect()
    }

    #[test]
    fn a_thief_takes_the_oldest_in_order() {
        let (victim, mine) = (queue_of(5), queue_of(0));
        assert_eq!(victim.steal_into(&mine, |waiting| waiting.div_ceil(2)), Some(SlotIndex(0)));
        assert_eq!((drained(&mine), drained(&victim)), (vec![1, 2], vec![3, 4]));
    }

    #[test]
    fn a_share_is_at_least_one_task_and_at_most_what_is_there() {
        let (victim, mine) = (queue_of(3), queue_of(0));
        assert_eq!(victim.steal_into(&mine, |_| 0), Some(SlotIndex(0)));
        assert_eq!(drained(&mine), []);
        assert_eq!(victim.steal_into(&mine, |_| u32::MAX), Some(SlotIndex(1)));
        assert_eq!((drained(&mine), drained(&victim)), (vec![2], vec![]));
        assert_eq!(victim.steal_into(&mine, |_| 1), None);
    }

    #[test]
    fn tasks_that_are_not_shown_are_there_and_can_be_taken() {
        let (victim, mine) = (queue_of(5), queue_of(0));
        assert_eq!((victim.shown_state().waiting, victim.state().waiting), (0, 5));
        victim.show();
        assert_eq!(victim.shown_state(), victim.state());
        victim.push(SlotIndex(5));
        assert_eq!((victim.shown_state().waiting, victim.state().waiting), (5, 6));
        assert_eq!(victim.steal_into(&mine, |waiting| waiting), Some(SlotIndex(0)));
        assert_eq!((victim.shown_state().waiting, drained(&mine)), (0, vec![1, 2, 3, 4, 5]));
    }

    #[test]
    fn entries_are_used_again_lap_after_lap() {
        let (victim, mine) = (queue_of(0), queue_of(0));
        let laps = 5 * victim.entries.len() as u32;
        for task in (0..laps).step_by(3) {
            (task..task + 3).for_each(|task| victim.push(SlotIndex(task)));
            assert_eq!(victim.pop(), Some(SlotIndex(task)));
            assert_eq!(victim.steal_into(&mine, |waiting| waiting), Some(SlotIndex(task + 1)));
            assert_eq!(drained(&mine), [task + 2]);
        }
    }
}
