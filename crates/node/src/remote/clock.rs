//! How far apart the clocks of two hosts are, by pings.
//!
//! ```text
//! here    sent ───────┐               ┌──▶ heard
//! there               └──▶ echoed ────┘
//! ```
//! The echo happened between `sent` and `heard`. Taken for the middle, it is wrong by half of the round trip at most; the
//! shortest of several round trips bounds it best.

use crate::frame::HostTime;

/// What to add to a moment on another host's clock to have it on ours, and how wrong that can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// Nanoseconds to add.
    pub add_ns: i64,
    /// Nanoseconds by which it can be wrong, both ways.
    pub within_ns: u64,
}

impl ClockOffset {
    /// What one ping tells.
    pub(super) fn of(sent: HostTime, echoed: HostTime, heard: HostTime) -> Self {
        let round_trip = heard.0.saturating_sub(sent.0);
        let middle = sent.0.wrapping_add(round_trip / 2);
        ClockOffset { add_ns: middle.wrapping_sub(echoed.0) as i64, within_ns: round_trip.div_ceil(2) }
    }

    /// A moment of the other host, on our clock.
    pub fn here(&self, there: HostTime) -> HostTime {
        HostTime(there.0.saturating_add_signed(self.add_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_ahead_or_behind_is_put_right_within_half_a_round_trip() {
        for (there_now, add_ns) in [(5_150, -5_000), (50, 100)] {
            let offset = ClockOffset::of(HostTime(100), HostTime(there_now), HostTime(200));
            assert_eq!(offset, ClockOffset { add_ns, within_ns: 50 });
            assert_eq!(offset.here(HostTime(there_now)), HostTime(150));
        }
    }

    #[test]
    fn moments_that_cannot_be_do_not_overflow() {
        let offset = ClockOffset::of(HostTime(u64::MAX), HostTime(0), HostTime(3));
        assert_eq!(offset.within_ns, 0);
        ClockOffset { add_ns: i64::MAX, within_ns: 0 }.here(HostTime(u64::MAX));
    }
}
