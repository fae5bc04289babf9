//! The virtual time of a run on a modelled chip: the same numbers on every machine.

use ringlane_insight::CoreKind;
use ringlane_insight::bound::RunBound;
use ringlane_insight::units::microseconds;
use ringlane_task::Ticks;
use serde::Serialize;

use ringlane_insight::text_table::{Side, Table};

use super::rows::Row;

/// The virtual time of a run on a modelled chip.
#[derive(Clone, Debug, Serialize)]
pub struct Modelled {
    case: String,
    chip: String,
    policy: &'static str,
    /// Virtual time from the first submit to the end of the last task.
    pub makespan_us: f64,
    bound_us: f64,
    /// Makespan divided by the lower bound.
    pub bound_ratio: f64,
    utilization_aic: f64,
    utilization_aiv: f64,
    /// How much longer `fifo` takes: its makespan / this makespan − 1.
    gain: f64,
}

impl Modelled {
    /// The numbers of a recorded run; `fifo_us` is the makespan of the same program with `fifo`, unless this is
    /// `fifo`.
    pub fn of(run: &RunBound, case: String, chip: &str, policy: &'static str, fifo_us: Option<f64>) -> Self {
        let us = |Ticks(ticks)| microseconds(ticks as f64, run.clock_freq_hz);
        let busy =
            |kind| run.kinds.iter().find(|used| used.kind == kind).map_or(0.0, |used| used.utilization);
        let makespan_us = us(run.makespan);
        Modelled {
            case,
            chip: chip.to_string(),
            policy,
            makespan_us,
            bound_us: us(run.bound.ticks),
            // A run without work is as short as possible.
            bound_ratio: run.ratio().unwrap_or(1.0),
            utilization_aic: busy(CoreKind::Aic),
            utilization_aiv: busy(CoreKind::Aiv),
            gain: fifo_us.filter(|_| makespan_us > 0.0).map_or(0.0, |fifo| fifo / makespan_us - 1.0),
        }
    }

    /// Whether the run is shorter than its lower bound: then the model or the bound is wrong.
    pub fn beats_its_bound(&self) -> bool {
        self.bound_ratio < 1.0
    }

    fn cells(&self, name: &str, tasks: u64) -> Vec<String> {
        let mut cells = [name, &self.case, &self.chip, self.policy].map(str::to_string).to_vec();
        cells.push(tasks.to_string());
        cells.extend([self.makespan_us, self.bound_us].map(|us| format!("{us:.1}")));
        cells.push(format!("{:.3}", self.bound_ratio));
        cells.extend(
            [self.utilization_aic, self.utilization_aiv].map(|share| format!("{:.1} %", share * 100.0)),
        );
        cells.push(format!("{:+.1} %", self.gain * 100.0));
        cells
    }
}

/// The rows of modelled runs as a table; nothing if there are none.
pub fn text(rows: &[&Row]) -> String {
    let names = [("name", Side::Left), ("case", Side::Left), ("chip", Side::Left), ("policy", Side::Left)];
    let numbers = ["tasks", "makespan µs", "bound µs", "ratio", "aic busy", "aiv busy", "gain"];
    let mut table = Table::new(names.into_iter().chain(numbers.map(|name| (name, Side::Right))).collect());
    let mut is_empty = true;
    for row in rows {
        if let Some(modelled) = &row.extra.modelled {
            table.push(modelled.cells(&row.name, row.tasks));
            is_empty = false;
        }
    }
    if is_empty { String::new() } else { table.render() }
}
