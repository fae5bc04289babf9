//! Slots and edges of captured graphs, which are filled once and used in every replay.
//!
//! Invariant: between two replays a slot is as [`Slot::capture`] left it. The core that completes a task restores that itself
//! ([`Slot::rearm`]) after it has released the successors and before it sets the done tag, whose release the next replay
//! acquires: in between nobody else uses the slot.

use super::{CLOSED, EMPTY, EXPLICIT, Edge, EdgeKind, EdgeRecord, FanOut, ONE, Slot, SlotIndex, TaskRecord};
use crate::sync::Ordering;

impl Slot {
    /// Makes a task of a captured graph wait again for all that it follows, after its own successors are released and before
    /// its done tag is set: nobody else uses the slot in between.
    pub(crate) fn rearm(&self, fanout: FanOut, blocks: u32) {
        let predecessors = u64::from(self.predecessors.load(Ordering::Relaxed));
        self.fanin.store(predecessors * ONE, Ordering::Relaxed);
        self.blocks_left.store(blocks, Ordering::Relaxed);
        self.next_block.store(0, Ordering::Relaxed);
        self.fanout.store(fanout.0, Ordering::Relaxed);
    }

    /// Takes back what became of a task, with this many blocks to run in the next replay. Only where one thread does everything.
    pub(crate) fn forget_fate(&self, blocks: u32) {
        self.blocks_left.store(blocks, Ordering::Relaxed);
    }

    /// Fills the slot of a captured graph, which nothing uses yet: a task that waits for this many others, and whose successors
    /// are the edges from the `first` on.
    ///
    /// # Safety
    /// Nobody else uses the slot.
    pub(crate) unsafe fn capture(&self, record: TaskRecord, predecessors: u32, first_edge: Option<u32>) {
        // SAFETY: the caller's promise.
        unsafe { self.record.set(record) };
        self.predecessors.store(predecessors, Ordering::Relaxed);
        self.rearm(FanOut(first_edge.map_or(EMPTY, |edge| edge + 1)), record.total_blocks());
    }

    /// Whether none of the task's blocks was handed out yet; the caller holds the task's queue entry.
    #[inline]
    pub(crate) fn is_unbegun(&self) -> bool {
        self.next_block.load(Ordering::Relaxed) == 0
    }

    /// The successors of a task that is not closed, with the kinds of the edges, the last linked first. Only where one thread
    /// does everything.
    pub(crate) fn successors(&self, edges: &[Edge]) -> impl Iterator<Item = (SlotIndex, EdgeKind)> {
        let mut head = self.fanout.load(Ordering::Relaxed);
        core::iter::from_fn(move || {
            if head == EMPTY || head == CLOSED {
                return None;
            }
            // SAFETY: entries of a list that is not closed are written and stay; nobody else is there.
            let edge = unsafe { edges[head as usize - 1].0.get() };
            head = edge.next;
            let kind = if edge.successor & EXPLICIT != 0 { EdgeKind::Explicit } else { EdgeKind::Data };
            Some((SlotIndex(edge.successor & !EXPLICIT), kind))
        })
    }
}

impl Edge {
    /// Writes an entry of a captured graph, in front of the entry `next`.
    ///
    /// # Safety
    /// Nobody else uses the entry.
    pub(crate) unsafe fn capture(&self, successor: SlotIndex, kind: EdgeKind, next: Option<u32>) {
        let flag = if kind == EdgeKind::Explicit { EXPLICIT } else { 0 };
        let next = next.map_or(EMPTY, |edge| edge + 1);
        // SAFETY: the caller's promise.
        unsafe { self.0.set(EdgeRecord { successor: successor.0 | flag, next }) };
    }
}
