//! The task with the longest remaining path first, among the tasks submitted so far.
//!
//! A task's rank is its duration plus the largest rank of its successors. A submit can only raise the ranks of its
//! predecessors, and theirs in turn; that propagates up the graph until no rank changes. A task that is already ready
//! is then pushed into the heap again with its new rank; its older entries are skipped.
//!
//! Ranks are propagated only when the next task is requested, so that many submits raise a rank once. The latest task
//! propagates first: by then, everything that could raise its rank has done so. One request propagates at most
//! [`RAISES_MAX`] ranks and leaves the rest to the next one, so that a submit at the end of a large graph does not
//! walk all of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ringlane_engine::slot::SlotIndex;

use super::{Class, NextBlock, Policy, Ready, Urgent};
use crate::time::Ps;

/// Ranks that one request for the next task propagates at most.
const RAISES_MAX: usize = 1024;

/// The state of the task in a slot.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Distinguishes the tasks that use the slot one after another.
    life: u32,
    /// The number of tasks submitted before it.
    seq: u64,
    takes: Ps,
    rank: Ps,
    /// Its predecessors, with their `life`.
    predecessors: Vec<(SlotIndex, u32)>,
    waiting: Option<Waiting>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    class: Class,
    order: u64,
    next: u32,
    blocks: u32,
}

/// In the heap: by rank, then the task that became ready first.
type Entry = (Ps, Reverse<u64>, SlotIndex);

#[derive(Debug)]
pub(super) struct CriticalPath {
    nodes: Vec<Node>,
    heaps: [BinaryHeap<Entry>; Class::COUNT],
    waiting: [usize; Class::COUNT],
    order: u64,
    submitted: u64,
    /// Tasks whose ranks have not been propagated to their predecessors yet.
    rising: BinaryHeap<(u64, SlotIndex)>,
}

impl CriticalPath {
    pub(super) fn new(slots: usize) -> Self {
        let (nodes, heaps) = (vec![Node::default(); slots], Default::default());
        let (waiting, rising) = ([0; Class::COUNT], BinaryHeap::new());
        CriticalPath { nodes, heaps, waiting, order: 0, submitted: 0, rising }
    }

    fn node(&mut self, task: SlotIndex) -> &mut Node {
        &mut self.nodes[task.0 as usize]
    }

    /// Propagates the ranks of the tasks in `rising` to their predecessors.
    fn raise(&mut self) {
        let mut last = None;
        for _ in 0..RAISES_MAX {
            let Some((seq, task)) = self.rising.pop() else { return };
            if last.replace((seq, task)) == Some((seq, task)) {
                continue;
            }
            let node = self.node(task);
            let (rank, predecessors) = (node.rank, core::mem::take(&mut node.predecessors));
            for &(predecessor, life) in &predecessors {
                let before = self.node(predecessor);
                let risen = before.takes + rank;
                if before.life != life || risen <= before.rank {
                    continue;
                }
                before.rank = risen;
                let seq = before.seq;
                if let Some(Waiting { class, order, .. }) = before.waiting {
                    self.heaps[class as usize].push((risen, Reverse(order), predecessor));
                }
                self.rising.push((seq, predecessor));
            }
            self.node(task).predecessors = predecessors;
        }
    }

    /// Removes outdated entries from the top of a heap; returns the first valid one.
    fn top(&mut self, class: Class) -> Option<Entry> {
        if self.waiting[class as usize] == 0 {
            return None;
        }
        self.raise();
        loop {
            let &(rank, Reverse(order), task) = self.heaps[class as usize].peek()?;
            let node = &self.nodes[task.0 as usize];
            if node.rank == rank && node.waiting.is_some_and(|w| w.order == order) {
                return Some((rank, Reverse(order), task));
            }
            self.heaps[class as usize].pop();
        }
    }
}

impl Policy for CriticalPath {
    fn uses_graph(&self) -> bool {
        true
    }

    fn submitted(&mut self, task: SlotIndex, takes: Ps) {
        let seq = self.submitted;
        self.submitted += 1;
        let node = self.node(task);
        node.predecessors.clear();
        (node.seq, node.takes, node.rank) = (seq, takes, takes);
    }

    fn wired(&mut self, predecessor: SlotIndex, successor: SlotIndex) {
        let life = self.node(predecessor).life;
        let node = self.node(successor);
        node.predecessors.push((predecessor, life));
        let seq = node.seq;
        self.rising.push((seq, successor));
    }

    fn complete(&mut self, task: SlotIndex) {
        let node = self.node(task);
        node.life = node.life.wrapping_add(1);
        node.predecessors.clear();
    }

    fn ready(&mut self, ready: Ready) {
        let Ready { task, class, blocks, .. } = ready;
        let order = self.order;
        self.order += 1;
        let node = self.node(task);
        node.waiting = Some(Waiting { class, order, next: 0, blocks });
        let rank = node.rank;
        self.heaps[class as usize].push((rank, Reverse(order), task));
        self.waiting[class as usize] += 1;
    }

    fn waits(&self, class: Class) -> bool {
        self.waiting[class as usize] > 0
    }

    fn peek(&mut self, class: Class, _cluster: u32) -> Option<Urgent> {
        self.top(class).map(|(rank, _, task)| Urgent { urgency: u64::MAX - rank, task })
    }

    fn take(&mut self, class: Class, _cluster: u32) -> Option<NextBlock> {
        let (_, _, task) = self.top(class)?;
        let node = &mut self.nodes[task.0 as usize];
        let waiting = node.waiting.as_mut()?;
        let next = NextBlock { task, block: waiting.next };
        waiting.next += 1;
        if waiting.next == waiting.blocks {
            node.waiting = None;
            self.heaps[class as usize].pop();
            self.waiting[class as usize] -= 1;
        }
        Some(next)
    }

    fn cancel(&mut self, class: Class, task: SlotIndex) {
        if self.node(task).waiting.take().is_some() {
            self.waiting[class as usize] -= 1;
        }
    }
}
