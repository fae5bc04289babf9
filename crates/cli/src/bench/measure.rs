//! Repetitions: how many, how long each took, and how much other processes were in the way.

use std::fs;
use std::time::{Duration, Instant};

use super::error::BenchError;
use super::limits::{LONG_REPETITION, REPETITIONS_MAX, REPETITIONS_MIN, REPETITIONS_MIN_LONG};

/// How long each repetition of one measurement took, shortest first.
#[derive(Clone, Debug)]
pub struct Samples {
    ns: Vec<f64>,
    /// Time that this process's threads, added up, were ready to run and had no core, against the time that passed.
    pub delay_share: f64,
}

impl Samples {
    /// Repeats `once` after one repetition that does not count, until the time is over.
    pub fn take(
        time: Duration,
        mut once: impl FnMut() -> Result<Duration, BenchError>,
    ) -> Result<Self, BenchError> {
        let warm_up = once()?;
        let at_least = if warm_up < LONG_REPETITION { REPETITIONS_MIN } else { REPETITIONS_MIN_LONG };
        let mut ns = Vec::new();
        let (delay, start) = (run_delay_ns(), Instant::now());
        while ns.len() < REPETITIONS_MAX && (ns.len() < at_least || start.elapsed() < time) {
            ns.push(once()?.as_nanos() as f64);
        }
        let delay_share = (run_delay_ns() - delay) as f64 / start.elapsed().as_nanos() as f64;
        ns.sort_by(f64::total_cmp);
        Ok(Samples { ns, delay_share })
    }

    /// A measurement that cannot be repeated.
    pub fn one(took: Duration) -> Self {
        Samples { ns: vec![took.as_nanos() as f64], delay_share: 0.0 }
    }

    /// How many repetitions there were.
    pub fn count(&self) -> usize {
        self.ns.len()
    }

    /// Nanoseconds that a share of the repetitions did not exceed: 0 is the shortest, 0.5 the median.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        let place = share * (self.ns.len() - 1) as f64;
        let (below, above) = (self.ns[place.floor() as usize], self.ns[place.ceil() as usize]);
        below + (above - below) * place.fract()
    }
}

/// Nanoseconds that the threads of this process have been ready to run without running; 0 where it is not told.
fn run_delay_ns() -> u64 {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return 0 };
    let waited = threads.flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    waited.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repetition_does_not_count_and_the_others_are_sorted() {
        let mut next = [900, 5, 1, 4, 2, 3].into_iter().map(Duration::from_nanos);
        let samples = Samples::take(Duration::ZERO, || Ok(next.next().unwrap())).unwrap();
        assert_eq!(samples.count(), REPETITIONS_MIN);
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|q| samples.quantile_ns(q)), [1.0, 2.0, 3.0, 5.0]);
    }

    #[test]
    fn a_long_measurement_is_repeated_less() {
        let samples = Samples::take(Duration::ZERO, || Ok(LONG_REPETITION)).unwrap();
        assert_eq!(samples.count(), REPETITIONS_MIN_LONG);
    }
}
