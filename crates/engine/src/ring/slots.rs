//! One ring as the submitter sees it: positions of tasks, bytes and edges, and the ended stretches to reclaim.

use std::collections::VecDeque;

use ringlane_task::{Capacities, Resource};

use super::bytes::ByteRing;
use crate::scope::{Marks, Segment};

/// One ring. Positions count tasks since the start of the run.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The next task's position.
    pub(crate) head: u64,
    /// The oldest task not reclaimed.
    pub(crate) tail: u64,
    /// All tasks before it are done.
    pub(crate) done: u64,
    pub(crate) window: u64,
    pub(crate) heap: ByteRing,
    pub(crate) args: ByteRing,
    pub(crate) edges_head: u64,
    pub(crate) edges_tail: u64,
    pub(crate) edges_capacity: u64,
    pub(crate) ended: VecDeque<Segment>,
}

impl Ring {
    pub(crate) fn new(capacities: &Capacities, ring: usize) -> Self {
        Ring {
            head: 0,
            tail: 0,
            done: 0,
            window: capacities.task_window[ring] as u64,
            heap: ByteRing::new(capacities.heap[ring]),
            args: ByteRing::new(capacities.args[ring] as u64),
            edges_head: 0,
            edges_tail: 0,
            edges_capacity: capacities.dep_pool[ring] as u64,
            ended: VecDeque::with_capacity((capacities.task_window[ring] as usize).min(1 << 14)),
        }
    }

    /// Empties the ring for a new run.
    pub(crate) fn reset(&mut self, capacities: &Capacities, ring: usize) {
        let ended = core::mem::take(&mut self.ended);
        let heap = ByteRing::new(capacities.heap[ring]).touched_to(self.heap.end_of_touched());
        *self = Ring { ended, heap, ..Ring::new(capacities, ring) };
        self.ended.clear();
    }

    /// Slots in use.
    #[inline]
    pub(crate) fn used(&self) -> u64 {
        self.head - self.tail
    }

    /// The ring's heap, or its argument memory.
    #[inline]
    pub(crate) fn bytes_of(&mut self, resource: Resource) -> &mut ByteRing {
        if resource == Resource::Heap { &mut self.heap } else { &mut self.args }
    }

    /// Dependency entries in use.
    #[inline]
    pub(crate) fn edges_used(&self) -> u64 {
        self.edges_head - self.edges_tail
    }

    /// Slots, heap bytes, dependency entries and argument bytes in use.
    #[inline]
    pub(crate) fn used_of_each(&self) -> [u64; 4] {
        [self.used(), self.heap.used(), self.edges_used(), self.args.used()]
    }

    /// The ring's position.
    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        let (heap, args) = (self.heap.position(), self.args.position());
        Marks { slots: self.head, heap, edges: self.edges_head, args }
    }

    /// Notes that the scope whose first task is at `first` has ended. Stretches of scopes inside it become part of it:
    /// its own tasks are between theirs.
    pub(crate) fn end_scope(&mut self, first: u64, segment: Segment) {
        while self.ended.back().is_some_and(|inner| inner.end > first) {
            self.ended.pop_back();
        }
        self.ended.push_back(segment);
    }
}
