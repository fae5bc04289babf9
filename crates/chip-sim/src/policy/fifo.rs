//! First ready, first run.

use std::collections::VecDeque;

use ringlane_engine::slot::SlotIndex;

use super::{Class, NextBlock, Policy, Ready, Urgent};

#[derive(Debug)]
struct Waiting {
    task: SlotIndex,
    order: u64,
    next: u32,
    blocks: u32,
}

/// One queue per class.
#[derive(Debug, Default)]
pub(super) struct Fifo {
    queues: [VecDeque<Waiting>; Class::COUNT],
    order: u64,
}

impl Policy for Fifo {
    fn ready(&mut self, ready: Ready) {
        let Ready { task, class, blocks, .. } = ready;
        self.queues[class as usize].push_back(Waiting { task, order: self.order, next: 0, blocks });
        self.order += 1;
    }

    fn waits(&self, class: Class) -> bool {
        !self.queues[class as usize].is_empty()
    }

    fn peek(&mut self, class: Class, _cluster: u32) -> Option<Urgent> {
        self.queues[class as usize]
            .front()
            .map(|waiting| Urgent { urgency: waiting.order, task: waiting.task })
    }

    fn take(&mut self, class: Class, _cluster: u32) -> Option<NextBlock> {
        let queue = &mut self.queues[class as usize];
        let front = queue.front_mut()?;
        let next = NextBlock { task: front.task, block: front.next };
        front.next += 1;
        if front.next == front.blocks {
            queue.pop_front();
        }
        Some(next)
    }

    fn cancel(&mut self, class: Class, task: SlotIndex) {
        self.queues[class as usize].pop_front_if(|front| front.task == task);
    }
}
