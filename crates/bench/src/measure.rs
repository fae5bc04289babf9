//! Repetitions: how many, how long each took, and how much other processes disturbed them.
//!
//! A repetition during which this process's threads were ready to run and had no core says more about the machine
//! than about the runtime. So disturbed repetitions are discarded: the quiet ones count or, if there are too few, the
//! least disturbed ones. If there are too few quiet ones, the measurement is extended to twice its time.
//!
//! A machine also has slow periods of many seconds that no counter shows. So variants to be compared are measured
//! alternately, and compared within each round:
//!
//! ```text
//! round 1   A B C ──▶ B/A, C/A        a slow period slows all variants of a round,
//! round 2   C B A ──▶ B/A, C/A        and does not change the ratios
//! ```

use std::fs;
use std::time::{Duration, Instant};

use super::error::BenchError;
use super::limits::{
    DISTURBED_SHARE, LONG_REPETITION, REPETITIONS_MAX, REPETITIONS_MIN, REPETITIONS_MIN_LONG, VARIANT_TIME,
};

/// The durations of the repetitions of one measurement.
#[derive(Clone, Debug)]
pub struct Samples {
    /// Of the repetitions that count, shortest first.
    ns: Vec<f64>,
    /// The number of discarded repetitions.
    pub disturbed: usize,
    /// Time without a core in the repetitions that count, summed over threads, divided by their duration.
    pub delay_share: f64,
}

/// Variants of one measurement, measured alternately.
#[derive(Clone, Debug)]
pub struct Interleaved {
    /// One for each variant.
    pub samples: Vec<Samples>,
    /// For each variant: its time per task divided by that of the first variant in the same round, smallest first.
    ratios: Vec<Vec<f64>>,
}

/// The effort of a measurement: rounds until the time is over, and at least a minimum.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The time for all rounds.
    pub time: Duration,
    /// The minimum, regardless of time.
    pub rounds_min: usize,
}

#[derive(Clone, Copy, Debug)]
struct Repetition {
    ns: f64,
    delay_ns: f64,
}

/// One repetition of each variant.
type Round = Vec<Repetition>;

impl Repetition {
    /// The mean of `runs` consecutive runs.
    fn measure(
        runs: u32,
        mut once: impl FnMut() -> Result<Duration, BenchError>,
    ) -> Result<Self, BenchError> {
        let delay_before = run_delay_ns();
        let took = (0..runs).map(|_| once()).sum::<Result<Duration, _>>()?;
        let delay = run_delay_ns().saturating_sub(delay_before);
        let mean = |ns: f64| ns / f64::from(runs);
        Ok(Repetition { ns: mean(took.as_nanos() as f64), delay_ns: mean(delay as f64) })
    }

    fn delay_share(&self) -> f64 {
        self.delay_ns / self.ns.max(1.0)
    }
}

impl Samples {
    /// Repeats `once` until the time is over, after one repetition that does not count.
    pub fn take(
        time: Duration,
        mut once: impl FnMut() -> Result<Duration, BenchError>,
    ) -> Result<Self, BenchError> {
        let warm_up = once()?;
        let rounds_min = if warm_up < LONG_REPETITION { REPETITIONS_MIN } else { REPETITIONS_MIN_LONG };
        let rounds = repeat(Effort { time, rounds_min }, |_| Ok(vec![Repetition::measure(1, &mut once)?]))?;
        Ok(Samples::of(rounds, rounds_min))
    }

    /// The samples that count among all rounds of one variant.
    fn of(all: Vec<Round>, at_least: usize) -> Self {
        let (rounds, disturbed) = that_count(all, at_least);
        Samples::of_variant(&rounds, 0, disturbed)
    }

    fn of_variant(rounds: &[Round], variant: usize, disturbed: usize) -> Self {
        let sum = |of: fn(&Repetition) -> f64| rounds.iter().map(|round| of(&round[variant])).sum::<f64>();
        let delay_share = sum(|r| r.delay_ns) / sum(|r| r.ns).max(1.0);
        Samples { ns: sorted(rounds.iter().map(|round| round[variant].ns)), disturbed, delay_share }
    }

    /// A measurement that cannot be repeated.
    pub fn one(took: Duration) -> Self {
        Samples::of(vec![vec![Repetition { ns: took.as_nanos() as f64, delay_ns: 0.0 }]], 1)
    }

    /// The number of repetitions that count.
    pub fn count(&self) -> usize {
        self.ns.len()
    }

    /// The duration in nanoseconds that this share of the repetitions did not exceed: 0 is the shortest, 0.5 the
    /// median.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        quantile(&self.ns, share)
    }
}

impl Interleaved {
    /// Measures variants alternately, after one run of each that does not count; `tasks` are their numbers of tasks.
    /// `once` runs the variant of an index. A variant much shorter than the longest is run several times in a row,
    /// and its mean is used.
    pub fn take(
        effort: Effort,
        tasks: &[u64],
        mut once: impl FnMut(usize) -> Result<Duration, BenchError>,
    ) -> Result<Self, BenchError> {
        let warm_ups = (0..tasks.len()).map(&mut once).collect::<Result<Vec<Duration>, _>>()?;
        let runs = runs_of_each(&warm_ups);
        let rounds = repeat(effort, |number| {
            let measure = |variant| Repetition::measure(runs[variant], || once(variant));
            // Forwards and backwards, so that the neighbours of a variant alternate.
            if number % 2 == 0 {
                return (0..tasks.len()).map(measure).collect();
            }
            let backwards: Result<Round, _> = (0..tasks.len()).rev().map(measure).collect();
            backwards.map(|round| round.into_iter().rev().collect())
        })?;
        Ok(Interleaved::of(rounds, tasks, effort.rounds_min))
    }

    fn of(all: Vec<Round>, tasks: &[u64], at_least: usize) -> Self {
        let (rounds, disturbed) = that_count(all, at_least);
        let per_task = |round: &Round, variant: usize| round[variant].ns / tasks[variant] as f64;
        let ratio =
            |round: &Round, variant| per_task(round, variant) / per_task(round, 0).max(f64::MIN_POSITIVE);
        let variants = 0..tasks.len();
        Interleaved {
            samples: variants.clone().map(|v| Samples::of_variant(&rounds, v, disturbed)).collect(),
            ratios: variants.map(|v| sorted(rounds.iter().map(|round| ratio(round, v)))).collect(),
        }
    }

    /// The ratio to the first variant, per task and within a round, that this share of the rounds did not exceed.
    pub fn ratio(&self, variant: usize, share: f64) -> f64 {
        quantile(&self.ratios[variant], share)
    }
}

/// The number of runs of each variant in a round: as many as fit into the time of the longest, up to a limit.
fn runs_of_each(warm_ups: &[Duration]) -> Vec<u32> {
    let longest = warm_ups.iter().max().copied().unwrap_or_default().min(VARIANT_TIME);
    let runs = |one: &Duration| longest.as_nanos() / one.as_nanos().max(1);
    warm_ups.iter().map(|one| runs(one).clamp(1, REPETITIONS_MAX as u128) as u32).collect()
}

/// Measures rounds, numbered from 0.
fn repeat(
    effort: Effort,
    mut round: impl FnMut(usize) -> Result<Round, BenchError>,
) -> Result<Vec<Round>, BenchError> {
    let mut all: Vec<Round> = Vec::new();
    let mut quiet = 0;
    let start = Instant::now();
    while all.len() < REPETITIONS_MAX {
        let limit = if quiet < effort.rounds_min { 2 * effort.time } else { effort.time };
        if all.len() >= effort.rounds_min && start.elapsed() >= limit {
            break;
        }
        let round = round(all.len())?;
        quiet += usize::from(is_quiet(&round));
        all.push(round);
    }
    Ok(all)
}

/// The rounds that count, and the number of those that do not.
fn that_count(mut all: Vec<Round>, at_least: usize) -> (Vec<Round>, usize) {
    all.sort_by(|a, b| worst_delay(a).total_cmp(&worst_delay(b)));
    let quiet = all.iter().filter(|round| is_quiet(round)).count();
    let disturbed = all.len().saturating_sub(quiet.max(at_least));
    all.truncate(all.len() - disturbed);
    (all, disturbed)
}

fn is_quiet(round: &Round) -> bool {
    worst_delay(round) <= DISTURBED_SHARE
}

/// The largest delay of a variant, as a share of its time.
fn worst_delay(round: &Round) -> f64 {
    round.iter().map(Repetition::delay_share).fold(0.0, f64::max)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value that this share of the sorted values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Nanoseconds that the threads of this process were ready to run without running; 0 if the system does not report
/// it.
pub fn run_delay_ns() -> u64 {
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
        let all: Vec<_> = all.into_iter().map(|(ns, delay_ns)| vec![Repetition { ns, delay_ns }]).collect();
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

    /// A machine that is half as fast from some round on.
    fn slow_from(round: usize, rounds: usize) -> Vec<Round> {
        let speed = |number| if number >= round { 2.0 } else { 1.0 };
        let of = |number| [100.0, 1050.0].map(|ns| Repetition { ns: ns * speed(number), delay_ns: 0.0 });
        (0..rounds).map(|number| of(number).to_vec()).collect()
    }

    #[test]
    fn a_slow_period_of_the_machine_does_not_change_the_ratios() {
        let measured = Interleaved::of(slow_from(2, 5), &[10, 100], 5);
        assert_eq!([0.0, 0.5, 1.0].map(|share| measured.ratio(1, share)), [1.05; 3]);
        assert_eq!((measured.ratio(0, 0.5), measured.samples[1].quantile_ns(0.5)), (1.0, 2100.0));
    }

    #[test]
    fn a_round_with_one_disturbed_variant_is_discarded_for_all() {
        let mut rounds = slow_from(4, 6);
        rounds[5][0].delay_ns = 100.0;
        let measured = Interleaved::of(rounds, &[1, 1], 5);
        assert_eq!(
            measured.samples.iter().map(|s| (s.count(), s.disturbed)).collect::<Vec<_>>(),
            [(5, 1); 2]
        );
    }

    #[test]
    fn rounds_go_forwards_and_backwards_and_each_time_belongs_to_its_variant() {
        let mut order = Vec::new();
        let effort = Effort { time: Duration::ZERO, rounds_min: 2 };
        let measured = Interleaved::take(effort, &[1, 1, 1], |variant| {
            order.push(variant);
            Ok(LONG_REPETITION * (variant as u32 + 1))
        });
        let measured = measured.unwrap();
        assert!(order.starts_with(&[0, 1, 2, 0, 1, 2, 2, 1, 0]), "{order:?}");
        assert_eq!([0, 1, 2].map(|variant| measured.ratio(variant, 0.5)), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_short_variant_is_run_as_often_as_fits_into_the_longest_but_not_for_long() {
        let ms = Duration::from_millis;
        assert_eq!(runs_of_each(&[ms(2), ms(10), ms(3)]), [5, 1, 3]);
        assert_eq!(runs_of_each(&[VARIANT_TIME / 10, VARIANT_TIME * 100]), [10, 1]);
        assert_eq!(runs_of_each(&[ms(10), ms(12)]), [1, 1]);
    }
}
