//! Runs a consumer on the cluster of its producer, if a core there is free first; otherwise first ready, first run.

use std::collections::VecDeque;

use ringlane_engine::slot::SlotIndex;

use super::{Class, NextBlock, Policy, Ready, Urgent};

/// A task in a queue; outdated if its slot has another `order`.
type Entry = (u64, SlotIndex);

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Its position in the order of becoming ready, from 1; 0 once all its blocks are dispatched.
    order: u64,
    next: u32,
    blocks: u32,
}

#[derive(Debug)]
pub(super) struct Locality {
    nodes: Vec<Node>,
    /// By class: all ready tasks.
    all: [VecDeque<Entry>; Class::COUNT],
    /// By class and cluster: the tasks whose producer ran there.
    homes: Vec<[VecDeque<Entry>; Class::COUNT]>,
    waiting: [usize; Class::COUNT],
    order: u64,
}

impl Locality {
    pub(super) fn new(slots: usize, clusters: u32) -> Self {
        Locality {
            nodes: vec![Node::default(); slots],
            all: Default::default(),
            homes: (0..clusters).map(|_| Default::default()).collect(),
            waiting: [0; Class::COUNT],
            order: 0,
        }
    }

    /// The first valid entry of a queue.
    fn front(queue: &mut VecDeque<Entry>, nodes: &[Node]) -> Option<Entry> {
        loop {
            let &(order, task) = queue.front()?;
            if nodes[task.0 as usize].order == order {
                return Some((order, task));
            }
            queue.pop_front();
        }
    }

    fn next(&mut self, class: Class, cluster: u32) -> Option<Entry> {
        let home = &mut self.homes[cluster as usize][class as usize];
        Self::front(home, &self.nodes).or_else(|| Self::front(&mut self.all[class as usize], &self.nodes))
    }
}

impl Policy for Locality {
    fn ready(&mut self, ready: Ready) {
        let Ready { task, class, blocks, home } = ready;
        self.order += 1;
        self.nodes[task.0 as usize] = Node { order: self.order, next: 0, blocks };
        self.all[class as usize].push_back((self.order, task));
        if let Some(home) = home {
            self.homes[home as usize][class as usize].push_back((self.order, task));
        }
        self.waiting[class as usize] += 1;
    }

    fn waits(&self, class: Class) -> bool {
        self.waiting[class as usize] > 0
    }

    fn peek(&mut self, class: Class, cluster: u32) -> Option<Urgent> {
        self.next(class, cluster).map(|(urgency, task)| Urgent { urgency, task })
    }

    fn take(&mut self, class: Class, cluster: u32) -> Option<NextBlock> {
        let (_, task) = self.next(class, cluster)?;
        let node = &mut self.nodes[task.0 as usize];
        let next = NextBlock { task, block: node.next };
        node.next += 1;
        if node.next == node.blocks {
            node.order = 0;
            self.waiting[class as usize] -= 1;
        }
        Some(next)
    }

    fn cancel(&mut self, class: Class, task: SlotIndex) {
        if core::mem::take(&mut self.nodes[task.0 as usize].order) != 0 {
            self.waiting[class as usize] -= 1;
        }
    }
}
