//! Repetitions: how many, how long each took, and how much other processes were in the way.
//!
//! A repetition during which this process's threads were ready to run and had no core tells more about the machine
//! than about the runtime. So disturbed repetitions are set aside: those that count are all the quiet ones or, if
//! there are too few, the least disturbed. Too few quiet ones are a reason to go on for as long again.

use std::fs;
use std::time::{Duration, Instant};

use super::error::BenchError;
use super::limits::{
    DISTURBED_SHARE, LONG_REPETITION, REPETITIONS_MAX, REPETITIONS_MIN, REPETITIONS_MIN_LONG,
};

/// How long each repetition of one measurement took.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Of the repetitions that count, shortest first.
    ns: Vec<f64>,
    /// How many were set aside.
    pub disturbed: usize,
    /// Time without a core in the repetitions that count, all threads added up, against the time they took.
    pub delay_share: f64,
}

#[derive(Clone, Copy, Debug)]
struct Repetition {
    ns: f64,
    delay_ns: f64,
}

impl Repetition {
    fn delay_share(&self) -> f64 {
        self.delay_ns / self.ns.max(1.0)
    }

    fn is_quiet(&self) -> bool {
        self.delay_share() <= DISTURBED_SHARE
    }
}

impl Samples {
    /// Repeats `once` after one repetition that does not count, until the time is over.
    pub fn take(
        time: Duration,
        mut once: impl FnMut() -> Result<Duration, BenchError>,
    ) -> Result<Self, BenchError> {
        let warm_up = once()?;
        let at_least = if warm_up < LONG_REPETITION { REPETITIONS_MIN } else { REPETITIONS_MIN_LONG };
        let mut all: Vec<Repetition> = Vec::new();
        let mut quiet = 0;
        let start = Instant::now();
        let mut delay = run_delay_ns();
        while all.len() < REPETITIONS_MAX {
            let limit = if quiet < at_least { 2 * time } else { time };
            if all.len() >= at_least && start.elapsed() >= limit {
                break;
            }
            let ns = once()?.as_nanos() as f64;
            let delay_before = std::mem::replace(&mut delay, run_delay_ns());
            let repetition = Repetition { ns, delay_ns: delay.saturating_sub(delay_before) as f64 };
            quiet += usize::from(repetition.is_quiet());
            all.push(repetition);
        }
        Ok(Samples::of(all, at_least))
    }

    /// Of all repetitions, those that count.
    fn of(mut all: Vec<Repetition>, at_least: usize) -> Self {
        all.sort_by(|a, b| a.delay_share().total_cmp(&b.delay_share()));
        let quiet = all.iter().filter(|repetition| repetition.is_quiet()).count();
        let (count, disturbed) = all.split_at(quiet.max(at_least).min(all.len()));
        let sum = |of: fn(&Repetition) -> f64| count.iter().map(of).sum::<f64>();
        let delay_share = sum(|r| r.delay_ns) / sum(|r| r.ns).max(1.0);
        let mut ns: Vec<f64> = count.iter().map(|repetition| repetition.ns).collect();
        ns.sort_by(f64::total_cmp);
        Samples { ns, disturbed: disturbed.len(), delay_share }
    }

    /// A measurement that cannot be repeated.
    pub fn one(took: Duration) -> Self {
        Samples::of(vec![Repetition { ns: took.as_nanos() as f64, delay_ns: 0.0 }], 1)
    }

    /// How many repetitions count.
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
    fn the_first_repetition_does_not_count() {
        let mut times = 0..;
        let samples = Samples::take(Duration::ZERO, || Ok(Duration::from_nanos(times.next().unwrap())));
        assert_eq!((samples.unwrap().count(), times.start), (REPETITIONS_MIN, 1 + REPETITIONS_MIN as u64));
    }

    #[test]
    fn quantiles_are_of_the_quiet_repetitions_if_there_are_enough() {
        let all = [(500.0, 400.0), (5.0, 0.0), (1.0, 0.0), (4.0, 0.4), (2.0, 0.0), (3.0, 0.0)];
        let all: Vec<_> = all.into_iter().map(|(ns, delay_ns)| Repetition { ns, delay_ns }).collect();
        let samples = Samples::of(all.clone(), 5);
        assert_eq!((samples.count(), samples.disturbed), (5, 1));
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|q| samples.quantile_ns(q)), [1.0, 2.0, 3.0, 5.0]);
        assert_eq!(Samples::of(all, 6).disturbed, 0);
    }

    #[test]
    fn a_long_measurement_is_repeated_less() {
        let samples = Samples::take(Duration::ZERO, || Ok(LONG_REPETITION)).unwrap();
        assert_eq!(samples.count(), REPETITIONS_MIN_LONG);
    }
}
