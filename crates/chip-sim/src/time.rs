//! Virtual time: picoseconds internally, ticks of the chip's counter externally.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ringlane_engine::seams::Clock;
use ringlane_task::Ticks;

/// Picoseconds since the run began.
pub type Ps = u64;

/// Picoseconds per second.
pub(crate) const SECOND: u64 = 1_000_000_000_000;

/// Picoseconds per nanosecond.
pub(crate) const NANOSECOND: u64 = 1000;

/// Virtual time ends here, after two months: far below an overflow of picoseconds, including events already
/// scheduled.
pub(crate) const TIME_MAX: Ps = Ps::MAX / 4;

/// A time `ps` later, or the end of virtual time.
pub(crate) fn later(at: Ps, ps: Ps) -> Ps {
    at.saturating_add(ps).min(TIME_MAX)
}

/// The chip's counter. All clones show the same time: that of the current event.
#[derive(Clone, Debug)]
pub struct SimClock {
    ticks: Arc<AtomicU64>,
    ps_per_tick: u64,
    freq_hz: u64,
}

impl SimClock {
    /// A counter at 0.
    pub fn new(freq_hz: u64) -> Self {
        let freq_hz = freq_hz.clamp(1, SECOND);
        SimClock { ticks: Arc::default(), ps_per_tick: SECOND / freq_hz, freq_hz }
    }

    /// Ticks per second.
    pub fn freq_hz(&self) -> u64 {
        self.freq_hz
    }

    /// The counter at a time, rounded down.
    #[inline]
    pub fn ticks(&self, at: Ps) -> Ticks {
        Ticks(at / self.ps_per_tick)
    }

    /// The number of ticks that an interval begins: at least one.
    pub(crate) fn ticks_begun(&self, ps: Ps) -> u64 {
        ps.div_ceil(self.ps_per_tick).max(1)
    }

    /// The duration of this number of ticks.
    pub fn ps(&self, ticks: u64) -> Ps {
        ticks.saturating_mul(self.ps_per_tick)
    }

    /// Sets the time.
    #[inline]
    pub(crate) fn show(&self, at: Ps) {
        self.ticks.store(at / self.ps_per_tick, Ordering::Relaxed);
    }
}

impl Clock for SimClock {
    #[inline]
    fn now(&self) -> Ticks {
        Ticks(self.ticks.load(Ordering::Relaxed))
    }

    /// Every run begins at 0.
    fn epoch(&self) -> Ticks {
        Ticks(0)
    }
}
