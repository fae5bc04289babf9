//! The successors of a task that is done, released one by one.

use core::mem::MaybeUninit;

use super::{EMPTY, EXPLICIT, Edge, SKIPPED, Slot, SlotIndex};
use crate::sync::prefetch;

/// Successors that are brought into the order of their submission together.
const GROUP: usize = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// What a core does with each successor of a task.
pub(super) struct Release<'a, R, F> {
    pub(super) slots: &'a [Slot],
    pub(super) edges: &'a [Edge],
    /// What became of the task.
    pub(super) fate: u32,
    /// Counts a successor down; its floor if it is ready.
    pub(super) count_down: R,
    /// Hands on a successor that is ready, with its floor.
    pub(super) ready: F,
}

impl<R: Fn(&Slot) -> Option<u64>, F: FnMut(SlotIndex, u64)> Release<'_, R, F> {
    /// Releases every successor on a closed list of which `head` is the first: the last linked first.
    ///
    /// # Safety
    /// The caller closed the list, and walks it once.
    #[inline(always)]
    pub(super) unsafe fn newest_first(mut self, mut head: u32) {
        while head != EMPTY {
            // SAFETY: linked entries are not reused before their successor is done, and it is released below.
            let edge = unsafe { self.edges[head as usize - 1].0.get() };
            head = edge.next;
            self.release(edge.successor);
        }
    }

    /// As `newest_first`, but in the order of submission, within groups. What was submitted first is most often what the others
    /// wait for: the caller keeps the first that is ready for itself and runs it next. The slots come over from other cores
    /// while the list is walked.
    ///
    /// # Safety
    /// As for `newest_first`.
    #[inline(always)]
    pub(super) unsafe fn oldest_first(mut self, mut head: u32) {
        let mut group = [const { MaybeUninit::<u32>::uninit() }; GROUP];
        while head != EMPTY {
            let mut count = 0;
            while head != EMPTY && count < GROUP {
                // SAFETY: as in `newest_first`; no successor of the group is released yet.
                let edge = unsafe { self.edges[head as usize - 1].0.get() };
                head = edge.next;
                prefetch(&self.slots[(edge.successor & !EXPLICIT) as usize]);
                group[count].write(edge.successor);
                count += 1;
            }
            for successor in group[..count].iter().rev() {
                // SAFETY: the first `count` were written above.
                self.release(unsafe { successor.assume_init() });
            }
        }
    }

    /// Releases one successor, as its edge names it.
    #[inline(always)]
    fn release(&mut self, successor: u32) {
        let task = SlotIndex(successor & !EXPLICIT);
        let slot = &self.slots[task.0 as usize];
        if self.fate != 0 && successor & EXPLICIT != 0 {
            slot.mark(SKIPPED);
        }
        if let Some(floor) = (self.count_down)(slot) {
            (self.ready)(task, floor);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::super::{EdgeKind, Linked, TaskRecord, Zeroed};
    use super::*;

    /// The tasks 1 to `count` follow task 0, which is then closed: the order in which they become ready.
    fn released(count: usize) -> Vec<usize> {
        let slots: Vec<Slot> = (0..=count).map(|_| Slot::zero()).collect();
        let edges: Vec<Edge> = (0..count).map(|_| Edge::zero()).collect();
        // SAFETY: one thread does everything, in the order that the protocol asks for.
        slots.iter().for_each(|slot| unsafe { slot.prepare(TaskRecord::default()) });
        for task in 1..=count {
            let (edge, successor) = (task as u32 - 1, SlotIndex(task as u32));
            // SAFETY: as above; each edge is used once.
            let linked = unsafe { slots[0].link(&edges, edge, successor, EdgeKind::Data) };
            assert_eq!(linked, Linked::Waiting);
            assert_eq!(slots[task].release_guard(1, None), None);
        }
        let mut order = Vec::new();
        // SAFETY: as above; it is closed once.
        unsafe { slots[0].close(&slots, &edges, 0, None, |task, _| order.push(task.0 as usize)) };
        order
    }

    #[test]
    fn successors_become_ready_in_the_order_of_their_submission_within_groups() {
        assert_eq!(released(0), []);
        assert_eq!(released(GROUP), (1..=GROUP).collect::<Vec<_>>());
        let newest_group_first = (3..=GROUP + 2).chain(1..=2);
        assert_eq!(released(GROUP + 2), newest_group_first.collect::<Vec<_>>());
    }
}
