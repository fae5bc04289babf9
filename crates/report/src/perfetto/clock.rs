//! From ticks to the times of a trace.

/// Digits after the point of a µs are at most these. Perfetto rounds times and durations to whole ns each on its own, so with
/// more digits slices that touch would overlap, and it drops those.
const DIGITS_MAX: u32 = 3;

/// Ticks as whole multiples of a small unit. Every tick has a number of its own if the unit is not longer than a tick: on
/// clocks of up to 1 GHz.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    numerator: u128,
    denominator: u128,
    /// Digits after the point of a µs.
    digits: u32,
}

impl Clock {
    /// µs with enough digits after the point that no two ticks are equal: an error of half a digit is less than half a
    /// tick. Beyond 1 GHz whole ns.
    pub(super) fn microseconds(clock_freq_hz: u64) -> Self {
        let frequency = u128::from(clock_freq_hz.max(1));
        let fits = |&digits: &u32| 10u128.pow(6 + digits) >= frequency;
        Self::with_digits(frequency, (0..DIGITS_MAX).find(fits).unwrap_or(DIGITS_MAX))
    }

    /// Whole ns.
    pub(super) fn nanoseconds(clock_freq_hz: u64) -> Self {
        Self::with_digits(u128::from(clock_freq_hz.max(1)), 3)
    }

    fn with_digits(frequency: u128, digits: u32) -> Self {
        let scale = 10u128.pow(6 + digits);
        let divisor = greatest_common_divisor(scale, frequency);
        Clock { numerator: scale / divisor, denominator: frequency / divisor, digits }
    }

    /// Ticks in the unit, rounded to the nearest; past all counting, the largest number.
    #[inline]
    pub(super) fn units(&self, ticks: u64) -> u64 {
        let scaled = u128::from(ticks) * self.numerator;
        let units = match self.denominator {
            1 => scaled,
            by => (scaled + by / 2) / by,
        };
        u64::try_from(units).unwrap_or(u64::MAX)
    }

    /// Whether every tick has a number of its own.
    pub(super) const fn is_exact(&self) -> bool {
        self.numerator >= self.denominator
    }

    /// Digits after the point of a µs.
    pub(super) const fn digits(&self) -> usize {
        self.digits as usize
    }
}

const fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_back_from_the_digits_of_every_clock_up_to_a_gigahertz() {
        for frequency in [1_000, 19_200_000, 50_000_000, 999_999_937, 1_000_000_000] {
            let clock = Clock::microseconds(frequency);
            assert!(clock.is_exact());
            for ticks in [0, 1, 2, 3, 99, 12_345_678_901, 2_572_248_561, 1 << 45] {
                let whole = u128::from(clock.units(ticks)) * u128::from(frequency);
                let unit = 10u128.pow(6 + clock.digits() as u32);
                assert_eq!((whole + unit / 2) / unit, u128::from(ticks), "at {frequency} Hz");
            }
        }
        assert_eq!(
            (Clock::microseconds(50_000_000).digits(), Clock::microseconds(2_596_150_808).digits()),
            (2, 3)
        );
        assert!(!Clock::microseconds(2_596_150_808).is_exact());
    }

    #[test]
    fn nanoseconds_are_rounded_to_the_nearest_and_do_not_overflow() {
        let clock = Clock::nanoseconds(2_000_000_000);
        assert_eq!([0, 1, 2, 3].map(|ticks| clock.units(ticks)), [0, 1, 1, 2]);
        assert_eq!(Clock::nanoseconds(1).units(u64::MAX), u64::MAX);
        assert_eq!(Clock::nanoseconds(0).units(1), 1_000_000_000);
    }
}
