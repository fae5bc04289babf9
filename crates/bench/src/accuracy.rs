//! How close predictions of `what-if` come to real runs.
//!
//! ```text
//! recording 1 ──▶ prediction 1 ─┐
//! recording 2 ──▶ prediction 2 ─┼─▶ each compared with the median of the real runs ──▶ median and worst error
//! …                             ┘   beside it: how far the real runs are from their own median
//! ```
//! An unchanged replay is compared with its own recording instead. The targets are judged for all programs together, and
//! for the scenes alone: tasks that spin do not compete for memory, so they are easier to predict.

use ringlane_insight::text_table::{Side, Table};
use ringlane_insight::units::{percent_text, time_text};
use serde::Serialize;

use super::limits::DISTURBED_SHARE;
use super::rows::Target;

/// What was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// Nothing.
    Nothing,
    /// The kernel with the most work takes twice its time.
    Kernel,
    /// The number of threads.
    Threads,
}

impl Changed {
    /// All of them, in the order of the tables.
    pub const ALL: [Changed; 3] = [Changed::Nothing, Changed::Kernel, Changed::Threads];

    const fn about(self) -> &'static str {
        match self {
            Changed::Nothing => "unchanged replay",
            Changed::Kernel => "a kernel of twice its time",
            Changed::Threads => "another number of threads",
        }
    }

    /// The largest allowed errors: the median and the worst.
    const fn limits(self) -> (f64, Option<f64>) {
        match self {
            Changed::Nothing => (0.05, Some(0.12)),
            Changed::Kernel | Changed::Threads => (0.07, None),
        }
    }
}

/// What a program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    /// Tasks that spin.
    Workload,
    /// Kernels that compute.
    Scene,
}

/// One prediction with its real runs.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Each recording's prediction, in microseconds.
    pub predicted_us: Vec<f64>,
    /// The real runs. For an unchanged replay, the recording of each prediction.
    pub real_us: Vec<f64>,
}

/// The accuracy of one prediction.
#[derive(Clone, Debug, Serialize)]
pub struct Accuracy {
    name: String,
    made: Made,
    /// Threads of the recording.
    threads: u32,
    changed: Changed,
    experiment: String,
    tasks: u64,
    /// The mean time of a block.
    task_us: f64,
    recordings: usize,
    /// The median of the real runs.
    real_us: f64,
    /// The median distance of the real runs from their median, as a part of it: no prediction can be closer.
    real_spread: f64,
    predicted_us: f64,
    /// The median of the errors, without their signs.
    error_median: f64,
    error_worst: f64,
    /// The median of the errors with their signs: whether predictions are too long or too short.
    error_signed: f64,
    /// Time without a core, of the recordings or of the real runs, summed over threads, divided by their duration.
    delay_share: f64,
    #[serde(skip)]
    errors: Vec<f64>,
}

/// What a prediction is about.
#[derive(Clone, Debug)]
pub struct Predicted {
    /// The program.
    pub name: String,
    /// What it is made of.
    pub made: Made,
    /// Threads of the recording.
    pub threads: u32,
    /// What was changed.
    pub changed: Changed,
    /// The experiment's name.
    pub experiment: String,
    /// Tasks of the program.
    pub tasks: u64,
    /// The mean time of a block.
    pub task_us: f64,
    /// Time without a core, of the recordings or of the real runs, summed over threads, divided by their duration.
    pub delay_share: f64,
}

impl Accuracy {
    /// The accuracy of a prediction, from at least one recording and one real run.
    pub fn of(predicted: Predicted, pair: &Pair) -> Self {
        let Predicted { name, made, threads, changed, experiment, tasks, task_us, delay_share } = predicted;
        let real_us = median(&pair.real_us);
        let against = |place: usize| if changed == Changed::Nothing { pair.real_us[place] } else { real_us };
        let error = |(place, us): (usize, &f64)| us / against(place).max(f64::MIN_POSITIVE) - 1.0;
        let signed: Vec<f64> = pair.predicted_us.iter().enumerate().map(error).collect();
        let errors: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        let distances: Vec<f64> = pair.real_us.iter().map(|us| (us / real_us - 1.0).abs()).collect();
        Accuracy {
            name,
            made,
            threads,
            changed,
            experiment,
            tasks,
            task_us: rounded(task_us),
            recordings: pair.predicted_us.len(),
            real_us: rounded(real_us),
            real_spread: rounded(median(&distances)),
            predicted_us: rounded(median(&pair.predicted_us)),
            error_median: rounded(median(&errors)),
            error_worst: rounded(errors.iter().copied().fold(0.0, f64::max)),
            error_signed: rounded(median(&signed)),
            delay_share: rounded(delay_share),
            errors,
        }
    }

    fn cells(&self) -> Vec<String> {
        let Accuracy { name, experiment, .. } = self;
        let mut cells =
            vec![name.clone(), self.threads.to_string(), experiment.clone(), self.tasks.to_string()];
        cells.extend([self.task_us, self.real_us].map(time_text));
        cells.push(percent_text(self.real_spread));
        cells.push(time_text(self.predicted_us));
        cells.extend([self.error_signed, self.error_median, self.error_worst].map(percent_text));
        cells.push(percent_text(self.delay_share));
        cells
    }
}

/// The shortest mean task of a program whose predictions are judged, in microseconds.
const TASK_US_MIN: f64 = 10.0;

/// The targets of all programs, and those of the scenes alone if there are others too.
pub fn targets(rows: &[Accuracy]) -> Vec<Target> {
    let scenes: Vec<&Accuracy> = rows.iter().filter(|row| row.made == Made::Scene).collect();
    let mut targets = targets_among("", &rows.iter().collect::<Vec<_>>());
    if scenes.len() < rows.len() {
        targets.extend(targets_among("scenes alone, ", &scenes));
    }
    targets
}

/// The targets: of each kind of change, on each number of threads, over all recordings of the predictions that were not
/// disturbed.
fn targets_among(which: &str, rows: &[&Accuracy]) -> Vec<Target> {
    let mut threads: Vec<u32> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let kinds = Changed::ALL.into_iter().flat_map(|changed| threads.iter().map(move |&t| (changed, t)));
    kinds.flat_map(|(changed, threads)| targets_of(which, rows, changed, threads)).collect()
}

fn targets_of(which: &str, rows: &[&Accuracy], changed: Changed, threads: u32) -> Vec<Target> {
    let judged =
        |row: &&Accuracy| row.changed == changed && row.threads == threads && row.task_us >= TASK_US_MIN;
    let all: Vec<&Accuracy> = rows.iter().copied().filter(judged).collect();
    let (disturbed, quiet): (Vec<&Accuracy>, _) =
        all.iter().partition(|row| row.delay_share > DISTURBED_SHARE);
    let is_open = disturbed.len() > quiet.len();
    let counted = if is_open { &all } else { &quiet };
    let errors: Vec<f64> = counted.iter().flat_map(|row| &row.errors).copied().collect();
    if errors.is_empty() {
        return Vec::new();
    }
    let (about, programs) = (changed.about(), counted.len());
    let what = format!("what-if: {which}{about}, recorded with --threads {threads}, {programs} predictions");
    let (median_max, worst_max) = changed.limits();
    let mut targets = vec![Target::at_most(format!("{what}, median error"), median(&errors), median_max)];
    let worst = errors.iter().copied().fold(0.0, f64::max);
    targets.extend(worst_max.map(|max| Target::at_most(format!("{what}, worst error"), worst, max)));
    targets.into_iter().map(|target| target.open_if(is_open)).collect()
}

/// The rows as a table; nothing if there are none.
pub fn text(rows: &[Accuracy]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let names = [("name", Side::Left), ("threads", Side::Right), ("experiment", Side::Left)];
    let numbers = ["tasks", "task", "real", "spread", "predicted", "bias", "error", "worst", "delay"];
    let mut table = Table::new(names.into_iter().chain(numbers.map(|name| (name, Side::Right))).collect());
    rows.iter().for_each(|row| table.push(row.cells()));
    table.render()
}

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        count => (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0,
    }
}

/// Rounds to four decimals: a hundredth of a percent.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accuracy(changed: Changed, predicted_us: &[f64], real_us: &[f64]) -> Accuracy {
        let predicted = Predicted {
            name: "chain".to_string(),
            made: Made::Workload,
            threads: 2,
            changed,
            experiment: String::new(),
            tasks: 7,
            task_us: 10.0,
            delay_share: 0.0,
        };
        Accuracy::of(predicted, &Pair { predicted_us: predicted_us.to_vec(), real_us: real_us.to_vec() })
    }

    #[test]
    fn a_replay_is_compared_with_its_own_recording_and_a_prediction_with_the_median_of_real_runs() {
        let replay = accuracy(Changed::Nothing, &[100.0, 220.0, 300.0], &[100.0, 200.0, 300.0]);
        assert_eq!((replay.error_median, replay.error_worst), (0.0, 0.1));
        let prediction = accuracy(Changed::Kernel, &[90.0, 110.0, 130.0], &[80.0, 100.0, 140.0]);
        assert_eq!((prediction.error_median, prediction.error_worst), (0.1, 0.3));
        assert_eq!((prediction.error_signed, prediction.real_spread), (0.1, 0.2));
    }

    #[test]
    fn targets_are_over_all_programs_whose_tasks_are_long_enough() {
        let exact = accuracy(Changed::Nothing, &[100.0], &[100.0]);
        let wrong = accuracy(Changed::Nothing, &[200.0], &[100.0]);
        let short = Accuracy { task_us: 1.0, ..wrong.clone() };
        let of = |rows: &[Accuracy]| targets(rows).iter().map(Target::is_reached).collect::<Vec<_>>();
        assert_eq!(of(&[exact.clone(), short]), [Some(true); 2]);
        assert_eq!(of(&[exact.clone(), exact.clone(), wrong.clone()]), [Some(true), Some(false)]);
        let disturbed = Accuracy { delay_share: 0.5, ..wrong };
        assert_eq!(of(&[disturbed]), [None; 2]);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn scenes_are_judged_alone_too() {
        let exact = accuracy(Changed::Nothing, &[100.0], &[100.0]);
        let wrong = Accuracy { made: Made::Scene, ..accuracy(Changed::Nothing, &[110.0], &[100.0]) };
        let of = |rows: &[Accuracy]| targets(rows).iter().map(Target::is_reached).collect::<Vec<_>>();
        let all = [exact.clone(), exact.clone(), exact, wrong.clone()];
        assert_eq!(of(&all), [Some(true), Some(true), Some(false), Some(true)]);
        assert_eq!(of(&[wrong]), [Some(false), Some(true)], "once, if there is nothing else");
    }
}
