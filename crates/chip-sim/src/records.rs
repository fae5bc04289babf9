//! The buffers in the chip's memory in which a control thread records, until the host has read them.
//!
//! A full buffer goes to the host: read in place if the memory is mapped, copied over the link if not. A thread
//! without an empty buffer waits, in virtual time: recording costs what it would cost on the chip.

use std::collections::VecDeque;

use ringlane_task::{HostMemory, RecordMemory};

use crate::link::{Copied, Direction, Link};
use crate::time::{Ps, later};

/// The buffers of one control thread.
#[derive(Debug)]
pub(crate) struct RecordLog {
    memory: RecordMemory,
    host: HostMemory,
    thread: u32,
    /// Bytes in the current buffer.
    filled: u64,
    /// When each of the full buffers is empty again.
    on_their_way: VecDeque<Ps>,
}

impl RecordLog {
    pub(crate) fn new(memory: RecordMemory, host: HostMemory, thread: u32) -> Self {
        RecordLog { memory, host, thread, filled: 0, on_their_way: VecDeque::new() }
    }

    /// Stores `bytes` bytes; returns how long the thread waits for a buffer.
    pub(crate) fn store(&mut self, at: Ps, bytes: u64, link: &mut Link) -> Ps {
        let mut waits = 0;
        self.filled += bytes;
        while self.filled > self.memory.buffer_bytes {
            self.filled -= self.memory.buffer_bytes;
            waits += self.send(at + waits, self.memory.buffer_bytes, link);
        }
        waits
    }

    /// Sends the last, partly filled buffer.
    pub(crate) fn flush(&mut self, at: Ps, link: &mut Link) {
        let rest = core::mem::take(&mut self.filled);
        if rest > 0 {
            self.send(at, rest, link);
        }
    }

    /// Sends a buffer; returns how long the thread waits for an empty one.
    fn send(&mut self, at: Ps, full: u64, link: &mut Link) -> Ps {
        let taken = match self.host {
            HostMemory::Copied => link.copy(at, Direction::Out, Copied::Records(self.thread), full),
            // Read in place, at the rate of the link, by a host that does nothing else.
            HostMemory::Mapped => {
                later(self.on_their_way.back().map_or(at, |&last| last.max(at)), link.takes(full))
            }
        };
        self.on_their_way.push_back(taken);
        while self.on_their_way.front().is_some_and(|&empty| empty <= at) {
            self.on_their_way.pop_front();
        }
        if self.on_their_way.len() < self.memory.buffers as usize {
            return 0;
        }
        self.on_their_way.pop_front().map_or(0, |empty| empty.saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::LinkSpec;

    #[test]
    fn a_thread_waits_only_when_all_its_buffers_are_in_transit() {
        let memory = RecordMemory { buffers: 2, buffer_bytes: 100 };
        let mut link = Link::new(LinkSpec { latency: 1_000, bytes_per_second: 1_000_000_000_000 });
        let mut log = RecordLog::new(memory, HostMemory::Copied, 0);
        assert_eq!([0; 2].map(|_| log.store(0, 50, &mut link)), [0, 0]);
        // The first buffer is full: it is in transit until 1,100, and the second one is empty.
        assert_eq!(log.store(0, 50, &mut link), 0);
        assert_eq!(log.store(0, 50, &mut link), 0);
        // Both are in transit: the first is empty again at 1,100.
        assert_eq!(log.store(100, 50, &mut link), 1_000);
        assert_eq!(link.copies.len(), 2);
    }
}
