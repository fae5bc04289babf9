//! One core's counters: opened on its own thread, read around each block.

use std::sync::Mutex;

use crate::lane::Writer;
use crate::pmu::{COUNTERS_MAX, Counters, Group, PmuUnavailable};
use crate::records::{BlockCounters, BlockTime, COUNTED, TICKS};

/// The counters of one core.
pub(crate) struct CorePmu {
    writer: Writer,
    group: Group,
    counters: Option<Counters>,
    /// Why they are not read any more.
    pub(crate) failure: Option<PmuUnavailable>,
    begun: [u64; COUNTERS_MAX],
}

/// Why a core counts ticks instead, reported once.
pub(crate) type Refusal = Mutex<Option<PmuUnavailable>>;

impl CorePmu {
    pub(crate) fn new(writer: Writer, group: Group) -> Self {
        CorePmu { writer, group, counters: None, failure: None, begun: [0; COUNTERS_MAX] }
    }

    /// Opens the counters for the calling thread.
    pub(crate) fn open(&mut self, refusal: &Refusal) {
        match Counters::open(self.group) {
            Ok(counters) => self.counters = Some(counters),
            Err(why) => {
                refusal.lock().expect("no panic while a reason is noted").get_or_insert(why);
            }
        }
    }

    #[inline]
    pub(crate) fn begin(&mut self) {
        if let Some(counters) = &mut self.counters
            && let Err(why) = counters.read(&mut self.begun)
        {
            (self.counters, self.failure) = (None, Some(why));
        }
    }

    #[inline]
    pub(crate) fn end(&mut self, block: &BlockTime) {
        let (name, mut now) = (block.name, [0; COUNTERS_MAX]);
        // Who runs a block has also taken it.
        let thread = name.core;
        let read = self.counters.as_mut().map(|counters| counters.read(&mut now));
        if let Some(Err(why)) = read {
            (self.counters, self.failure) = (None, Some(why));
        }
        if self.counters.is_none() {
            let mut values = [0; COUNTERS_MAX];
            values[0] = block.end - block.start;
            return self.writer.push(&BlockCounters { name, thread, source: TICKS, values });
        }
        for (now, begun) in now.iter_mut().zip(self.begun) {
            *now = now.saturating_sub(begun);
        }
        // The first counter of every group counts cycles.
        self.writer.push(&BlockCounters { name, thread, source: COUNTED, values: now });
    }
}
