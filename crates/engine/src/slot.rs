//! A task in its slot: one cache line that the submitter fills, producers count down and the executing core closes.
//!
//! ```text
//!  submitter                       core that runs a predecessor          core that runs the task
//!  prepare: record, fan-in = GUARD
//!  link into each predecessor's    close: swap(fan-out, CLOSED)
//!    fan-out, unless CLOSED        for each linked successor:
//!  release(GUARD − links) ─0→ ready  release(1) ─0→ ready ─────────────▶ record, run, close, done tag
//! ```
//!
//! Invariants
//! - `record` is written only between `prepare` and the release that publishes the task, by the submitter; read only
//!   by cores that got the task from a ready queue (or got it from a release).
//! - A slot is prepared again only after its done tag was seen by the submitter (acquire).
//! - Where times are watched, each task has a *floor*: no task that it follows ended later. It travels with the dependencies,
//!   from `close` to the successors and from a closed slot to tasks that would have waited, so that a clock can be read without
//!   waiting for the memory that says that a task is ready: what was read too early is below the floor.
//! - An edge entry belongs to its *successor*: it is reused only after the successor is done, hence after the core
//!   that walked the list released the successor, hence after it read the entry.

mod captured;
mod release;

use crate::api::launch::MAX_LANES;
use crate::limits::{BLOCKS_MAX, FANIN_MAX, GRAPH_FANIN_MAX};
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering, Shared, Zeroed, prefetch};
pub use crate::task_flags::TaskFlags;
use release::Release;

/// Index of a slot over all rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotIndex(pub u32);

/// Bits of a time in a slot: five days of a counter of 2.5 GHz.
const FLOOR_BITS: u32 = 50;
/// The latest time that a slot can hold.
pub const FLOOR_MAX: u64 = (1 << FLOOR_BITS) - 1;
/// One predecessor, above the time.
const ONE: u64 = 1 << FLOOR_BITS;
/// Fan-in while the submitter is still linking.
const GUARD: u64 = 1 << 63;
const _: () = assert!((FANIN_MAX as u64) < GUARD / ONE && (GRAPH_FANIN_MAX as u64) < GUARD / ONE);
/// Fan-out of a task that is done.
const CLOSED: u32 = u32::MAX;
/// Fan-out of a task without successors.
const EMPTY: u32 = 0;
/// Set on an edge that also passes failure on.
const EXPLICIT: u32 = 1 << 31;

/// A kernel of the task failed.
pub const FAILED: u32 = 1 << 31;
/// The task must not run: a task it follows explicitly failed or was skipped, or it read poisoned bytes.
pub const SKIPPED: u32 = 1 << 30;
/// What may become of a task; the count of its blocks is in the bits below.
const FATE: u32 = FAILED | SKIPPED;
const _: () = assert!(BLOCKS_MAX as u64 * (MAX_LANES as u64) < SKIPPED as u64);

/// What a core needs to know to run a task.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct TaskRecord {
    /// Submission order.
    pub seq: u64,
    /// Where its argument records start, in words of the ring's argument memory.
    pub args_at: u32,
    /// The task's number within its ring.
    pub local: u32,
    /// Blocks of each kernel.
    pub blocks: u32,
    /// Where it was submitted.
    pub site: u32,
    /// Where the scope around it was opened.
    pub scope_site: u32,
    /// How many words its argument records take.
    pub args_words: u16,
    /// Its kernels; the first `lanes` count.
    pub kernels: [u16; 3],
    /// Number of kernels (two bits) and which lane of a cluster each takes (two bits each).
    pub shape: LaneShape,
    /// Whether it makes tensors, and whether it is annotated.
    pub flags: TaskFlags,
    /// Which ring it is on.
    pub ring: u8,
    /// What its done tag will be.
    pub tag: u8,
}

impl TaskRecord {
    /// Number of kernels: 0 for a task that runs none.
    #[inline]
    pub fn lanes(&self) -> u32 {
        (self.shape.0 & 3) as u32
    }

    /// Kernel blocks in all.
    #[inline]
    pub fn total_blocks(&self) -> u32 {
        self.blocks * self.lanes()
    }
}

/// Which lanes of a cluster a task's kernels take: 0 AIC, 1 and 2 AIV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct LaneShape(u8);

impl LaneShape {
    /// One kernel, on lane 0.
    pub const SINGLE: LaneShape = LaneShape(1);

    /// The shape of kernels on these lanes.
    #[inline]
    pub fn new(lanes: impl IntoIterator<Item = u8>) -> Self {
        let mut shape = 0;
        for (i, lane) in lanes.into_iter().enumerate() {
            shape = (shape & !3 | lane << (2 + 2 * i)) | (i as u8 + 1);
        }
        LaneShape(shape)
    }

    /// The lane of kernel `i`.
    #[inline]
    pub fn lane(self, i: usize) -> u8 {
        self.0 >> (2 + 2 * i) & 3
    }
}

/// One task's place in the table.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Slot {
    /// Unfinished predecessors, plus `GUARD` while linking; below them, where times are watched, the floor: of the task while
    /// it waits, then when it became ready, then of its successors. Counted down with AcqRel, or seen with acquire to be
    /// one's own alone: the last one sees what all predecessors wrote.
    fanin: AtomicU64,
    /// First edge of the list of successors + 1, or `EMPTY`, or `CLOSED`. Linked with release (pairs with the
    /// acquire in `close`), closed with AcqRel (pairs with the acquire in `link`).
    fanout: AtomicU32,
    /// Blocks not yet finished, of which the last one down completes the task; and above them its fate, `FAILED` and
    /// `SKIPPED`, set before the release (or the close) that lets others read it.
    blocks_left: AtomicU32,
    /// The next block to hand out; touched only by the holder of the task's one queue entry.
    next_block: AtomicU32,
    /// In a captured graph: how many tasks it follows, so that it can wait for them again in the next replay. Written before
    /// the first one.
    predecessors: AtomicU32,
    record: Shared<TaskRecord>,
}

#[cfg(not(any(loom, shuttle)))]
const _: () = assert!(size_of::<Slot>() == 64);

// SAFETY: zero bits are zero counters, an empty list and an empty record.
unsafe impl Zeroed for Slot {
    fn zero() -> Self {
        Slot {
            fanin: AtomicU64::new(0),
            fanout: AtomicU32::new(EMPTY),
            blocks_left: AtomicU32::new(0),
            next_block: AtomicU32::new(0),
            predecessors: AtomicU32::new(0),
            record: Shared::new(TaskRecord::default()),
        }
    }
}

/// The successors of a task that was closed.
#[derive(Clone, Copy, Debug)]
pub struct FanOut(u32);

/// An entry of the dependency pool: one successor in some task's fan-out.
#[derive(Debug)]
pub struct Edge(Shared<EdgeRecord>);

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct EdgeRecord {
    successor: u32,
    next: u32,
}

// SAFETY: zero bits are an edge to slot 0 that nobody has linked.
unsafe impl Zeroed for Edge {
    fn zero() -> Self {
        Edge(Shared::new(EdgeRecord::default()))
    }
}

/// Whether an edge passes failure on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// Inferred from bytes: failure travels as poison on the bytes.
    Data,
    /// Asked for by `submit_after`: a failed or skipped predecessor skips the successor.
    Explicit,
}

/// Whether a predecessor was still to be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// The successor now waits for it.
    Waiting,
    /// It is done already: nothing to wait for.
    AlreadyDone,
}

impl Slot {
    /// Fills the slot for a new task. The task is held back until `release_guard`.
    ///
    /// # Safety
    /// The caller is the submitter and has seen the slot's previous task done (or it never had one).
    #[inline]
    pub unsafe fn prepare(&self, record: TaskRecord) {
        let total = record.total_blocks();
        // SAFETY: nobody else touches a slot whose task is done and not yet published.
        unsafe { self.record.set(record) };
        self.blocks_left.store(total, Ordering::Relaxed);
        self.next_block.store(0, Ordering::Relaxed);
        self.fanin.store(GUARD, Ordering::Relaxed);
        // Relaxed, as all the rest: other threads meet the slot only after a release that hands them the task.
        self.fanout.store(EMPTY, Ordering::Relaxed);
    }

    /// Links `successor` into this task's fan-out through `edges[edge]`.
    ///
    /// # Safety
    /// The caller is the submitter; `edge` is free and belongs to `successor`.
    #[inline]
    pub unsafe fn link(&self, edges: &[Edge], edge: u32, successor: SlotIndex, kind: EdgeKind) -> Linked {
        let flag = if kind == EdgeKind::Explicit { EXPLICIT } else { 0 };
        let mut head = self.fanout.load(Ordering::Acquire);
        loop {
            if head == CLOSED {
                return Linked::AlreadyDone;
            }
            // SAFETY: the entry is free, so only the submitter touches it until the exchange publishes it.
            unsafe { edges[edge as usize].0.set(EdgeRecord { successor: successor.0 | flag, next: head }) };
            match self.fanout.compare_exchange(head, edge + 1, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return Linked::Waiting,
                Err(now) => head = now,
            }
        }
    }

    /// As `link`, where one thread does everything: no exchange is needed.
    ///
    /// # Safety
    /// As for `link`; no other thread runs tasks.
    #[inline]
    pub unsafe fn link_alone(
        &self,
        edges: &[Edge],
        edge: u32,
        successor: SlotIndex,
        kind: EdgeKind,
    ) -> Linked {
        let flag = if kind == EdgeKind::Explicit { EXPLICIT } else { 0 };
        let head = self.fanout.load(Ordering::Relaxed);
        if head == CLOSED {
            return Linked::AlreadyDone;
        }
        // SAFETY: as in `link`.
        unsafe { edges[edge as usize].0.set(EdgeRecord { successor: successor.0 | flag, next: head }) };
        self.fanout.store(edge + 1, Ordering::Relaxed);
        Linked::Waiting
    }

    /// Whether the task is done (its successors may not all be released yet).
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.fanout.load(Ordering::Acquire) == CLOSED
    }

    /// Ends the submitter's hold after `links` edges were linked; the task's floor if it is ready now. `floor` is that of what
    /// it follows and did not have to wait for, if times are watched.
    #[inline]
    pub fn release_guard(&self, links: u32, floor: Option<u64>) -> Option<u64> {
        // Without links nobody else knows the slot: no exchange is needed.
        if links == 0 { Some(floor.unwrap_or(0)) } else { self.release(GUARD - links as u64 * ONE, floor) }
    }

    /// As `release_guard`, where one thread does everything.
    #[inline]
    pub fn release_guard_alone(&self, links: u32, floor: Option<u64>) -> Option<u64> {
        self.release_alone(GUARD - links as u64 * ONE, floor)
    }

    /// Counts down; the task's floor if it waits for nothing any more.
    #[inline]
    fn release(&self, count: u64, floor: Option<u64>) -> Option<u64> {
        let Some(floor) = floor else {
            return (self.fanin.fetch_sub(count, Ordering::AcqRel) == count).then_some(0);
        };
        let mut seen = self.fanin.load(Ordering::Acquire);
        loop {
            let floor = floor.max(seen & FLOOR_MAX);
            let left = (seen & !FLOOR_MAX) - count;
            // The last thread to hold the task is the only one that uses it.
            if left == 0 {
                return Some(floor);
            }
            match self.fanin.compare_exchange(seen, left | floor, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return None,
                Err(now) => seen = now,
            }
        }
    }

    /// As `release`, where one thread does everything.
    #[inline]
    fn release_alone(&self, count: u64, floor: Option<u64>) -> Option<u64> {
        let mut left = self.fanin.load(Ordering::Relaxed) - count;
        if let Some(floor) = floor {
            left = left & !FLOOR_MAX | floor.max(left & FLOOR_MAX);
        }
        self.fanin.store(left, Ordering::Relaxed);
        (left <= FLOOR_MAX).then_some(left)
    }

    /// Before the task runs: asks for the line of the successor that will be released first, if there is one yet.
    #[inline]
    pub fn warm_successor(&self, slots: &[Slot], edges: &[Edge]) {
        let head = self.fanout.load(Ordering::Acquire);
        if head != EMPTY && head != CLOSED {
            // SAFETY: the entry was published by the exchange that we acquired, and is not reused before its successor
            // is done, which waits for this task.
            let edge = unsafe { edges[head as usize - 1].0.get() };
            prefetch(&slots[(edge.successor & !EXPLICIT) as usize]);
        }
    }

    /// Marks the task done and calls `ready` for each successor that waited only for it, with its floor. `ended` is when the
    /// task did, if times are watched.
    ///
    /// # Safety
    /// The caller is the core that completed the task, once.
    #[inline]
    pub unsafe fn close(
        &self,
        slots: &[Slot],
        edges: &[Edge],
        fate: u32,
        ended: Option<u64>,
        ready: impl FnMut(SlotIndex, u64),
    ) -> FanOut {
        // For threads that find the task closed.
        if let Some(ended) = ended {
            self.set_floor(ended);
        }
        let head = self.fanout.swap(CLOSED, Ordering::AcqRel);
        let count_down = |slot: &Slot| slot.release(ONE, ended);
        // SAFETY: the list is closed, and this is the core that closed it.
        unsafe { Release { slots, edges, fate, count_down, ready }.oldest_first(head) };
        FanOut(head)
    }

    /// As `close`, where one thread does everything.
    ///
    /// # Safety
    /// As for `close`; no other thread runs tasks.
    #[inline(always)]
    pub unsafe fn close_alone(
        &self,
        slots: &[Slot],
        edges: &[Edge],
        fate: u32,
        ended: Option<u64>,
        ready: impl FnMut(SlotIndex, u64),
    ) -> FanOut {
        if let Some(ended) = ended {
            self.set_floor(ended);
        }
        let head = self.fanout.load(Ordering::Relaxed);
        self.fanout.store(CLOSED, Ordering::Relaxed);
        let count_down = |slot: &Slot| slot.release_alone(ONE, ended);
        // SAFETY: as in `close`.
        unsafe { Release { slots, edges, fate, count_down, ready }.newest_first(head) };
        FanOut(head)
    }

    /// How many tasks wait for this one. Only where one thread does everything.
    pub fn fan_out(&self, edges: &[Edge]) -> u32 {
        let (mut head, mut count) = (self.fanout.load(Ordering::Relaxed), 0);
        while head != EMPTY && head != CLOSED {
            // SAFETY: entries of a list that is not closed are written and stay; nobody else is there.
            head = unsafe { edges[head as usize - 1].0.get() }.next;
            count += 1;
        }
        count
    }

    /// Adds to the task's fate, before the release or close that lets others see it.
    #[cold]
    pub fn mark(&self, fate: u32) {
        self.blocks_left.fetch_or(fate, Ordering::Relaxed);
    }

    /// What became of the task so far.
    #[inline]
    pub fn fate(&self) -> u32 {
        self.blocks_left.load(Ordering::Relaxed) & FATE
    }

    /// Stores a floor: of a task that is ready, before it is handed on, or of its successors, before it is closed.
    #[inline]
    pub fn set_floor(&self, floor: u64) {
        self.fanin.store(floor, Ordering::Relaxed);
    }

    /// The floor of a task that the caller holds, or of the successors of one that is closed.
    #[inline]
    pub fn floor(&self) -> u64 {
        self.fanin.load(Ordering::Relaxed) & FLOOR_MAX
    }

    /// What a core needs to run the task.
    ///
    /// # Safety
    /// The caller holds the task: it came from a ready queue or from the release that made it ready, or the caller
    /// is the submitter.
    #[inline]
    pub unsafe fn record(&self) -> TaskRecord {
        // SAFETY: between publication and done nobody writes the record.
        unsafe { self.record.get() }
    }

    /// Hands out the next block; the caller holds the task's queue entry.
    #[inline]
    pub fn next_block(&self) -> u32 {
        let block = self.next_block.load(Ordering::Relaxed);
        self.next_block.store(block + 1, Ordering::Relaxed);
        block
    }

    /// Counts a finished block; true for the last one, which sees what all others wrote.
    #[inline]
    pub fn finish_block(&self) -> bool {
        self.blocks_left.fetch_sub(1, Ordering::AcqRel) & !FATE == 1
    }
}

/// One byte per slot that says which lap's task is done, so that the submitter checks 64 tasks with one cache line.
#[derive(Debug)]
pub struct DoneTag(AtomicU8);

// SAFETY: zero bits are tag 0, which no lap has.
unsafe impl Zeroed for DoneTag {
    fn zero() -> Self {
        DoneTag(AtomicU8::new(0))
    }
}

impl DoneTag {
    /// Says that the slot's task with this lap tag is done and nothing of it is used any more. Release: pairs with
    /// the acquire in `is`; what the task wrote and read happens before the slot's reuse.
    #[inline]
    pub fn set(&self, tag: u8) {
        self.0.store(tag, Ordering::Release);
    }

    /// Whether the task with this lap tag is done.
    #[inline]
    pub fn is(&self, tag: u8) -> bool {
        self.0.load(Ordering::Acquire) == tag
    }
}

/// The tag of the task at `position` in a ring of `1 << shift` slots: never 0, and never that of the lap before.
#[inline]
pub fn lap_tag(position: u64, shift: u32) -> u8 {
    (position >> shift) as u8 & 0x7f | 0x80
}
