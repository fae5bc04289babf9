//! The cpu chip's clock: the time-stamp counter where it runs evenly on all cores, else the system's monotonic clock.
//!
//! The counter is used if the processor says that it never stops and never changes its rate, and the kernel has it among
//! its clock sources (it takes it off that list when it sees cores disagree). Its rate is measured once per process
//! against the monotonic clock, over [`CALIBRATION`]. A reading of both clocks is taken between two of the counter, and half of
//! what passes between those is how far it may be off: that gives the error that is stated.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ringlane_engine::seams::Clock;
use ringlane_task::Ticks;

/// How long the counter is watched to learn its rate.
const CALIBRATION: Duration = Duration::from_millis(2);
/// Attempts at a reading of both clocks, of which the best counts.
const READINGS: u32 = 16;

/// The clock. Copies read the same time.
#[derive(Clone, Copy, Debug)]
pub struct CpuClock {
    source: TickSource,
    freq_hz: u64,
    error_ppm: f64,
    epoch: Instant,
}

/// Where the time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickSource {
    /// The processor's time-stamp counter.
    Tsc,
    /// The system's monotonic clock, in nanoseconds.
    Monotonic,
}

/// The clock of this process.
static CLOCK: OnceLock<CpuClock> = OnceLock::new();

impl CpuClock {
    /// This process's clock; the first call measures its rate.
    pub fn get() -> Self {
        *CLOCK.get_or_init(|| if tsc::is_even() { Self::calibrated() } else { Self::monotonic() })
    }

    /// Takes a rate that another process has measured on this machine since it was started, so that this one need not. It is
    /// ignored if this process has a clock already, or has no use for a rate.
    pub fn adopt(freq_hz: u64, error_ppm: f64) {
        if freq_hz > 0 && tsc::is_even() {
            let clock = CpuClock { source: TickSource::Tsc, freq_hz, error_ppm, epoch: Instant::now() };
            // Refused where there is one already.
            let _ = CLOCK.set(clock);
        }
    }

    fn monotonic() -> Self {
        CpuClock {
            source: TickSource::Monotonic,
            freq_hz: 1_000_000_000,
            error_ppm: 0.0,
            epoch: Instant::now(),
        }
    }

    fn calibrated() -> Self {
        let (tsc_from, from, width_from) = reading();
        while from.elapsed() < CALIBRATION {
            std::hint::spin_loop();
        }
        let (tsc_to, to, width_to) = reading();
        let ns = (to - from).as_nanos() as f64;
        let freq_hz = ((tsc_to - tsc_from) as f64 * 1e9 / ns).round() as u64;
        let error_ppm = (width_from + width_to) as f64 / 2.0 / (tsc_to - tsc_from) as f64 * 1e6;
        CpuClock { source: TickSource::Tsc, freq_hz, error_ppm, epoch: from }
    }

    /// Where the time comes from.
    pub fn source(&self) -> TickSource {
        self.source
    }

    /// Ticks per second.
    pub fn freq_hz(&self) -> u64 {
        self.freq_hz
    }

    /// How far that may be off, in millionths.
    pub fn error_ppm(&self) -> f64 {
        self.error_ppm
    }
}

impl Clock for CpuClock {
    #[inline]
    fn now(&self) -> Ticks {
        match self.source {
            TickSource::Tsc => Ticks(tsc::read()),
            TickSource::Monotonic => Ticks(self.epoch.elapsed().as_nanos() as u64),
        }
    }

    #[inline]
    fn now_ordered(&self) -> Ticks {
        match self.source {
            TickSource::Tsc => Ticks(tsc::read_ordered()),
            TickSource::Monotonic => self.now(),
        }
    }
}

/// Both clocks at one moment, and how many ticks that took: of some readings the one that took the fewest.
fn reading() -> (u64, Instant, u64) {
    let one = |_| {
        let before = tsc::read();
        let instant = Instant::now();
        (tsc::read() - before, before, instant)
    };
    let (width, before, instant) =
        (0..READINGS).map(one).min_by_key(|&(width, ..)| width).expect("at least one");
    (before + width / 2, instant, width)
}

#[cfg(all(target_arch = "x86_64", not(shuttle)))]
mod tsc {
    use core::arch::x86_64::{__rdtscp, _rdtsc};

    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { _rdtsc() }
    }

    /// As `read`, but not before the instructions before it are done.
    #[inline]
    pub(super) fn read_ordered() -> u64 {
        let mut core = 0;
        // SAFETY: `is_even` saw that the processor has the instruction.
        unsafe { __rdtscp(&mut core) }
    }

    /// Whether the counter runs at one rate, always, the same on all cores.
    pub(super) fn is_even() -> bool {
        let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = flags.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let has = |flag: &str| flags.split_whitespace().any(|f| f == flag);
        let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        let sources = std::fs::read_to_string(sources).unwrap_or_default();
        ["constant_tsc", "nonstop_tsc", "rdtscp"].into_iter().all(has)
            && sources.split_whitespace().any(|source| source == "tsc")
    }
}

#[cfg(any(not(target_arch = "x86_64"), shuttle))]
mod tsc {
    pub(super) fn read() -> u64 {
        0
    }

    pub(super) fn read_ordered() -> u64 {
        0
    }

    pub(super) fn is_even() -> bool {
        false
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back_and_keeps_pace_with_the_system() {
        let clock = CpuClock::get();
        let outer = Instant::now();
        let start = clock.now_ordered();
        let inner = Instant::now();
        let mut last = start;
        while inner.elapsed() < Duration::from_millis(5) {
            let now = clock.now_ordered();
            assert!(now >= last);
            last = now;
        }
        let shortest = inner.elapsed();
        let measured = (clock.now_ordered().0 - start.0) as f64 / clock.freq_hz() as f64;
        // The clock was read between the two readings of the system's at either end, however long the thread was away.
        assert!(measured > 0.9 * shortest.as_secs_f64(), "{measured} of at least {shortest:?}");
        assert!(
            measured < 1.1 * outer.elapsed().as_secs_f64(),
            "{measured} of at most {:?}",
            outer.elapsed()
        );
    }

    #[test]
    fn there_is_one_rate_in_a_process() {
        assert_eq!(CpuClock::get().freq_hz(), CpuClock::get().freq_hz());
    }
}
