//! The chip's clock: nanoseconds of the host, into which the times of the device are converted.

#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use ringlane_engine::seams::Clock;
use ringlane_task::Ticks;

/// Nanoseconds since the chip was made.
#[derive(Clone, Debug)]
pub struct CudaClock {
    start: Instant,
    /// A time to show instead of the present, or 0: the host settles tasks after the device ran them, and shows when that was.
    shown: Arc<AtomicU64>,
}

impl CudaClock {
    pub(crate) fn new() -> Self {
        CudaClock { start: Instant::now(), shown: Arc::default() }
    }

    /// The present, whatever is shown.
    pub(crate) fn present(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Shows this time until [`show_present`](Self::show_present).
    pub(crate) fn show(&self, time: u64) {
        self.shown.store(time.max(1), Ordering::Relaxed);
    }

    pub(crate) fn show_present(&self) {
        self.shown.store(0, Ordering::Relaxed);
    }
}

impl Clock for CudaClock {
    fn now(&self) -> Ticks {
        match self.shown.load(Ordering::Relaxed) {
            0 => Ticks(self.present()),
            shown => Ticks(shown),
        }
    }
}
