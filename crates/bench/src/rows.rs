//! Results: one row per measurement, as a table and as JSON.

use serde::Serialize;

use ringlane::Platform;
use ringlane_insight::text_table::{Side, Table};

use super::accuracy::{self, Accuracy};
use super::limits::DISTURBED_SHARE;
use super::measure::{Interleaved, Samples};
use super::modelled::{self, Modelled};
use super::spin::Calibration;

/// One measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    platform: &'static str,
    /// Threads, including the submitting one.
    pub threads: u32,
    spin_us: u32,
    /// Tasks of one repetition.
    pub tasks: u64,
    dfx: &'static str,
    ns_per_task_min: f64,
    ns_per_task_p25: f64,
    /// The value that is compared.
    pub ns_per_task_median: f64,
    ns_per_task_p75: f64,
    repetitions: usize,
    /// Repetitions that do not count because other processes used the cores.
    repetitions_disturbed: usize,
    /// Time without a core in those that count, summed over threads, divided by their duration.
    delay_share: f64,
    /// Values that only some benchmarks have.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Values that only some benchmarks have.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Extra {
    /// The time of the best possible schedule divided by the best measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<f64>,
    /// How the task graph was built, where it was not built while tasks ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<&'static str>,
    /// How a captured graph is run, where there are several ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<&'static str>,
    /// The first replay of a graph, which is brought to the device then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ns_per_task: Option<f64>,
    /// Dependencies that were checked in each repetition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edges: Option<usize>,
    /// Tasks that ran too early, twice or not at all, over all repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violations: Option<u64>,
    /// Allocations of all threads after start-up, over all repetitions, including the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocations: Option<u64>,
    /// Bytes of memory for each task in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_task: Option<f64>,
    /// Time per task divided by that of the first of the variants that were measured alternately with this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Ratio>,
    /// 10¹² floating-point operations per second, at the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tflops: Option<f64>,
    /// That divided by what the device can do at most, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_share: Option<f64>,
    /// Time to write the artifacts after the run, median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub export_ns_per_task: Option<f64>,
    /// The peak memory of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// The virtual time of the run.
    #[serde(flatten)]
    pub modelled: Option<Modelled>,
}

/// Times per task divided by those of another variant in the same round: the median of all rounds, and the quartiles.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratio {
    p25: f64,
    median: f64,
    p75: f64,
}

impl Ratio {
    /// The ratio of a variant.
    pub fn of(measured: &Interleaved, variant: usize) -> Self {
        let [p25, median, p75] =
            [0.25, 0.5, 0.75].map(|share| (measured.ratio(variant, share) * 1000.0).round() / 1000.0);
        Ratio { p25, median, p75 }
    }
}

impl Row {
    /// The row of a measurement of `tasks` tasks.
    pub fn new(name: impl Into<String>, threads: u32, spin_us: u32, tasks: u64, samples: &Samples) -> Self {
        let per_task = |share| tenths(samples.quantile_ns(share) / tasks as f64);
        Row {
            name: name.into(),
            platform: Platform::Cpu.as_str(),
            threads,
            spin_us,
            tasks,
            dfx: "off",
            ns_per_task_min: per_task(0.0),
            ns_per_task_p25: per_task(0.25),
            ns_per_task_median: per_task(0.5),
            ns_per_task_p75: per_task(0.75),
            repetitions: samples.count(),
            repetitions_disturbed: samples.disturbed,
            delay_share: (samples.delay_share * 1000.0).round() / 1000.0,
            extra: Extra::default(),
        }
    }

    /// The same row, measured on another platform.
    pub fn on(mut self, platform: Platform) -> Self {
        self.platform = platform.as_str();
        self
    }

    /// The same row, measured with diagnostics.
    pub fn with_dfx(mut self, label: &'static str) -> Self {
        self.dfx = label;
        self
    }

    /// Whether a modelled run is shorter than its lower bound.
    pub fn beats_its_bound(&self) -> bool {
        self.extra.modelled.as_ref().is_some_and(Modelled::beats_its_bound)
    }

    /// Whether other processes disturbed the measurement much.
    fn is_disturbed(&self) -> bool {
        self.delay_share > DISTURBED_SHARE
    }

    fn cells(&self) -> Vec<String> {
        let name = if self.dfx == "off" { self.name.clone() } else { format!("{} {}", self.name, self.dfx) };
        let mut cells = vec![name];
        cells.extend([self.threads, self.spin_us].map(|n| n.to_string()));
        cells.push(self.tasks.to_string());
        let times =
            [self.ns_per_task_min, self.ns_per_task_p25, self.ns_per_task_median, self.ns_per_task_p75];
        cells.extend(times.map(|ns| format!("{ns:.1}")));
        cells.push(self.repetitions.to_string());
        cells.push(self.note());
        cells
    }

    fn note(&self) -> String {
        let Extra { efficiency, edges, violations, allocations, bytes_per_task, .. } = &self.extra;
        let Extra { ratio, export_ns_per_task, peak_memory_bytes, tflops, peak_share, .. } = &self.extra;
        let disturbed = self.is_disturbed().then(|| {
            format!("disturbed: threads without a core for {:.0} % of the time", self.delay_share * 100.0)
        });
        let notes = [
            self.extra.policy.map(str::to_string),
            efficiency.map(|share| format!("efficiency {share:.2}")),
            self.extra.first_ns_per_task.map(|ns| format!("first replay {ns:.0} ns a task")),
            violations.map(|count| format!("{count} violations of {} edges", edges.unwrap_or(0))),
            allocations.map(|count| format!("{count} allocations")),
            bytes_per_task.map(|bytes| format!("{bytes} bytes a task")),
            ratio.map(|Ratio { p25, median, p75 }| format!("{median:.3} × ({p25:.3}–{p75:.3})")),
            tflops.map(|tflops| format!("{tflops:.3} TFLOP/s")),
            peak_share.map(|share| format!("{:.1} % of the peak", share * 100.0)),
            export_ns_per_task.map(|ns| format!("export {ns:.0} ns a task")),
            peak_memory_bytes.map(|bytes| format!("peak memory {:.1} MiB", bytes as f64 / MIB)),
            disturbed,
        ];
        notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// A target of the project, and the measured value.
#[derive(Clone, Debug, Serialize)]
pub struct Target {
    what: String,
    value: f64,
    limit: f64,
    /// `None` if the measurements were too disturbed to decide.
    reached: Option<bool>,
}

impl Target {
    /// A value that must not exceed the limit.
    pub fn at_most(what: impl Into<String>, value: f64, limit: f64) -> Self {
        Target { what: what.into(), value, limit, reached: Some(value <= limit) }
    }

    /// The same target, undecided if the measurements were disturbed.
    pub fn open_if(mut self, disturbed: bool) -> Self {
        self.reached = self.reached.filter(|_| !disturbed);
        self
    }

    /// Whether it is reached; `None` if that is undecided.
    #[cfg(test)]
    pub fn is_reached(&self) -> Option<bool> {
        self.reached
    }

    /// The same target, undecided if one of its rows was disturbed.
    pub fn judged_by<'r>(mut self, rows: impl IntoIterator<Item = &'r Row>) -> Self {
        self.reached = self.reached.filter(|_| !rows.into_iter().any(Row::is_disturbed));
        self
    }

    fn text(&self) -> String {
        let verdict = match self.reached {
            Some(true) => "reached",
            Some(false) => "missed",
            None => "open, the measurements are disturbed",
        };
        let numbers = [self.value, self.limit].map(|number| (number * 1000.0).round() / 1000.0);
        format!("{}: {} (target {}: {verdict})\n", self.what, numbers[0], numbers[1])
    }
}

/// All results of a command.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    /// In the order of measurement.
    #[serde(rename = "results")]
    pub rows: Vec<Row>,
    /// Predictions, compared with real runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<Accuracy>,
    /// The targets of the measurements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Target>,
    /// The cost of a task's work, if tasks do work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

impl Results {
    /// Whether everything that does not depend on the machine is correct: the order of tasks, no allocations, and no
    /// modelled run that is shorter than its bound.
    pub fn are_sound(&self) -> bool {
        let faults = |extra: &Extra| extra.violations.unwrap_or(0) + extra.allocations.unwrap_or(0);
        self.rows.iter().all(|row| faults(&row.extra) == 0 && !row.beats_its_bound())
    }

    /// As JSON.
    pub fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("names and finite numbers");
        format!("{text}\n")
    }

    /// As tables.
    pub fn text(&self) -> String {
        let numbers = ["threads", "spin µs", "tasks", "min ns/task", "p25", "median", "p75", "runs"];
        let mut columns = vec![("name", Side::Left)];
        columns.extend(numbers.map(|name| (name, Side::Right)));
        columns.push(("", Side::Left));
        let mut table = Table::new(columns);
        let (modelled, measured): (Vec<&Row>, _) =
            self.rows.iter().partition(|row| row.extra.modelled.is_some());
        measured.iter().for_each(|row: &&Row| table.push(row.cells()));
        let measured = if measured.is_empty() { String::new() } else { table.render() };
        let tables = measured + &modelled::text(&modelled) + &accuracy::text(&self.predictions);
        self.bars.iter().fold(tables, |text, target| text + &target.text())
    }
}

/// Bytes of a mebibyte.
const MIB: f64 = 1024.0 * 1024.0;

/// Rounds to one decimal, the precision of a measurement at best.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn a_product_shows_its_operations_per_second_and_its_share_of_the_peak() {
        let mut row = Row::new("matmul", 1, 0, 10, &Samples::one(Duration::from_micros(5)));
        row.extra.tflops = Some(494.7);
        assert_eq!(row.note(), "494.700 TFLOP/s");
        row.extra.peak_share = Some(0.5);
        assert_eq!(row.note(), "494.700 TFLOP/s; 50.0 % of the peak");
    }
}
