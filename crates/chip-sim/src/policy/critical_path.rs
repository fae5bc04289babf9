//! Whoever has the longest path behind it, among what was submitted so far.
//!
//! A task's rank is what it takes plus the largest rank of those that wait for it. A submit can only raise ranks of those it
//! waits for, and of those these wait for; that goes up the graph until nothing rises. A task that is ready already is then
//! put into the heap again with its new rank; what is in it with an older one is passed over.
//!
//! Nothing rises before somebody asks who is next, so that many submits raise a rank once. The latest task goes first: all who
//! could raise a rank have done so before it is passed on. One question passes on at most [`RAISES_MAX`] ranks; the rest goes on
//! with the next one, so that a submit behind a whole graph does not cost a walk through all of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ringlane_engine::slot::SlotIndex;

use super::{Class, NextBlock, Policy, Ready, Urgent};
use crate::time::Ps;

/// Ranks that are passed on when somebody asks who is next.
const RAISES_MAX: usize = 1024;

/// What is known of the task in a slot.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Which task of the slot: counts its tasks.
    life: u32,
    /// How many were submitted before it.
    seq: u64,
    takes: Ps,
    rank: Ps,
    /// Whom it waits for, with their lives.
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

/// In the heap: rank, then whoever was ready first.
type Entry = (Ps, Reverse<u64>, SlotIndex);

#[derive(Debug)]
pub(super) struct CriticalPath {
    nodes: Vec<Node>,
    heaps: [BinaryHeap<Entry>; Class::COUNT],
    waiting: [usize; Class::COUNT],
    order: u64,
    submitted: u64,
    /// Tasks whose ranks those that they wait for do not know yet.
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

    /// Those that the tasks in `rising` wait for have at least their ranks behind them.
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

    /// Takes what is out of date off the top of a heap; gives what is then there.
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
    fn looks_ahead(&self) -> bool {
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
