//! `ringlane pmu`: hardware counters by kernel.

use std::collections::BTreeMap;

use ringlane_insight::pmu::{Counters, CountersAnswer, KernelCounters, Measured, Ratio, Unit};
use ringlane_insight::units::counted;
use ringlane_insight::{Instrument, Run};
use ringlane_task::KernelId;
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output::{self, printable};
use crate::run_arg::{Needs, RunArg};
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane run matmul --pmu=cache --dep-gen
  $ ringlane pmu
  $ ringlane run matmul --case small -p a2a3sim --pmu=pipe --dep-gen -o outputs/pipe
  $ ringlane pmu outputs/pipe --json
Kernels have their names if the run also recorded dependencies, a swimlane or a dump.";

/// Show hardware counters and their ratios for each kernel
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct PmuArgs {
    #[command(flatten)]
    run: RunArg,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl PmuArgs {
    /// Adds up the counters and reports what follows from them.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Pmu))?;
        let counters = run.counters()?;
        let view = View { names: run.kernel_names(), ratios: counters.ratios(), run: &run, counters };
        output::results(&if self.json { view.json() } else { view.text() })?;
        Ok(Exit::Ok)
    }
}

struct View<'a> {
    run: &'a Run,
    counters: Counters,
    ratios: Vec<Ratio>,
    names: BTreeMap<KernelId, String>,
}

impl View<'_> {
    fn name(&self, kernel: KernelId) -> String {
        self.names.get(&kernel).map_or(format!("func {kernel}"), |name| printable(name))
    }

    fn source(&self) -> &str {
        self.run.manifest.pmu.as_ref().map_or("unknown", |pmu| &pmu.source)
    }

    /// Describes where the numbers come from.
    fn about(&self) -> String {
        let group = self.run.manifest.pmu.as_ref().map_or(0, |pmu| pmu.group);
        match self.source() {
            "perf_event" => {
                format!("Counted by the processor, group {group}: cycles of each block's own thread")
            }
            "device" => format!(
                "Counted by the cores of {}: cycles of each block; other columns are as they are named",
                printable(&self.run.manifest.platform)
            ),
            "model" => format!(
                "From the cost model of {}, group {group}, not measured: cycles are ticks of the chip's counter, and counters that the model lacks are 0",
                printable(&self.run.manifest.platform)
            ),
            "tsc" if self.counters.any_counted() => {
                "Some threads had no processor counters: rows marked (time) are ticks of the run's clock, the others cycles".to_string()
            }
            "tsc" => {
                let hz = self.run.manifest.clock_freq_hz;
                format!(
                    "No processor counters: cycles are ticks of the run's clock ({hz} per second), and there are no other counters"
                )
            }
            other => format!("Source {:?}, group {group}", printable(other)),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.about());
        if let Some(lost) =
            self.run.entry(Instrument::Pmu).and_then(|entry| entry.dropped).filter(|&lost| lost > 0)
        {
            text += &format!("{} lost and not counted below\n", counted(lost, "block"));
        }
        if self.counters.kernels.is_empty() {
            return text + "no blocks\n";
        }
        text += &format!("\n{}", self.cycles());
        let columns: Vec<usize> =
            (0..self.counters.columns.len()).filter(|&column| self.counters.counted(column)).collect();
        if !columns.is_empty() {
            text += &format!("\nCounters, mean per block\n{}", self.sums(&columns));
        }
        let ratios: Vec<&Ratio> =
            self.ratios.iter().filter(|ratio| ratio.applies_to(&self.counters.kernels)).collect();
        if !ratios.is_empty() {
            text += &format!("\nRatios\n{}", self.derived(&ratios));
        }
        let silent: Vec<_> = (0..self.counters.columns.len())
            .filter(|column| !columns.contains(column))
            .map(|column| printable(&self.counters.columns[column]))
            .collect();
        if !silent.is_empty() && self.counters.any_counted() {
            text += &format!("\nCounters that are 0 everywhere: {}\n", silent.join(", "));
        }
        text
    }

    fn cycles(&self) -> String {
        let numbers = ["blocks", "sum", "mean", "p50", "p95", "max", "share"];
        let mut table = self.table(numbers.map(str::to_string).to_vec());
        for kernel in &self.counters.kernels {
            let spread = &kernel.cycles;
            let mut row = self.head(kernel);
            row.extend([
                kernel.blocks.to_string(),
                spread.total.to_string(),
                format!("{:.1}", kernel.per_block(spread.total)),
                spread.p50.to_string(),
                spread.p95.to_string(),
                spread.max.to_string(),
                format!("{:.1} %", self.counters.share(kernel) * 100.0),
            ]);
            table.push(row);
        }
        table.render()
    }

    fn sums(&self, columns: &[usize]) -> String {
        let mut table =
            self.table(columns.iter().map(|&column| printable(&self.counters.columns[column])).collect());
        for kernel in &self.counters.kernels {
            let mut row = self.head(kernel);
            row.extend(columns.iter().map(|&column| match kernel.measured {
                Measured::Cycles => {
                    format!("{:.1}", kernel.per_block(kernel.sums.get(column).copied().unwrap_or(0)))
                }
                Measured::Time => "-".to_string(),
            }));
            table.push(row);
        }
        table.render()
    }

    fn derived(&self, ratios: &[&Ratio]) -> String {
        let mut table = self.table(ratios.iter().map(|ratio| printable(&ratio.name)).collect());
        for kernel in &self.counters.kernels {
            let mut row = self.head(kernel);
            row.extend(ratios.iter().map(|ratio| match (ratio.of(kernel), ratio.unit) {
                (None, _) => "-".to_string(),
                (Some(share), Unit::Share) => format!("{:.2} %", share * 100.0),
                (Some(value), _) => format!("{value:.3}"),
            }));
            table.push(row);
        }
        table.render()
    }

    fn table(&self, numbers: Vec<String>) -> Table {
        let mut columns = vec![("kernel".to_string(), Side::Left), ("core".to_string(), Side::Left)];
        columns.extend(numbers.into_iter().map(|name| (name, Side::Right)));
        Table::named(columns)
    }

    fn head(&self, kernel: &KernelCounters) -> Vec<String> {
        // Where some threads could count and others not, the rows say which is which.
        let mixed = kernel.measured == Measured::Time && self.counters.any_counted();
        let name = self.name(kernel.kernel) + if mixed { " (time)" } else { "" };
        vec![name, printable(&kernel.core_type)]
    }

    fn json(&self) -> String {
        output::json(&Answer {
            run: self.run.dir.display().to_string(),
            source: self.source(),
            group: self.run.manifest.pmu.as_ref().map(|pmu| pmu.group),
            dropped: self.run.entry(Instrument::Pmu).and_then(|entry| entry.dropped),
            counters: self.counters.answer(&self.names),
        })
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    run: String,
    source: &'a str,
    group: Option<u32>,
    dropped: Option<u64>,
    #[serde(flatten)]
    counters: CountersAnswer,
}
