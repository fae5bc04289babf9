//! `ringlane chips`: the modelled chips that come with the program, and the file of each, to copy and change.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use ringlane_chip_sim::spec;
use ringlane_task::{ChipSpec, HostMemory};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output;
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane chips
  $ ringlane chips show a2a3sim > mine.toml
  $ ringlane chips --json | jq -r '.chips[].name'
docs/chips.md explains the fields of a chip file.";

const SHOW_EXAMPLE: &str = "\
Example:
  $ ringlane chips show a5sim > mine.toml";

/// List the modelled chips, or print the file of one to copy and edit
#[derive(clap::Args)]
#[command(after_help = EXAMPLE, args_conflicts_with_subcommands = true)]
pub struct ChipsArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    /// Print a chip's file, every number with its unit and source
    #[command(after_help = SHOW_EXAMPLE)]
    Show {
        /// The chip
        #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
        name: String,
    },
}

/// Everything that has a file.
fn names() -> impl Iterator<Item = &'static str> {
    spec::NAMES.into_iter().chain(spec::EXAMPLES)
}

#[derive(Serialize)]
struct Listing {
    chips: Vec<ChipRow>,
    examples: Vec<ChipRow>,
}

/// A chip in numbers; fields may be added, never renamed.
#[derive(Serialize)]
struct ChipRow {
    name: String,
    about: String,
    clusters: u32,
    cores: u32,
    aic: u32,
    aiv: u32,
    control_threads: u32,
    control_threads_max: u32,
    counter_hz: u64,
    pmu_counters: u32,
    host_memory: &'static str,
}

impl ChipsArgs {
    /// Prints the list, or a file.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let text = match &self.action {
            // The parser lets no other name through.
            Some(Action::Show { name }) => spec::builtin_text(name).unwrap_or_default().to_string(),
            None if self.json => Listing::of_all().json(),
            None => Listing::of_all().text(),
        };
        output::results(&text)?;
        Ok(Exit::Ok)
    }
}

impl Listing {
    fn of_all() -> Self {
        let rows =
            |names: &[&str]| names.iter().filter_map(|name| spec::builtin(name)).map(ChipRow::of).collect();
        Listing { chips: rows(&spec::NAMES), examples: rows(&spec::EXAMPLES) }
    }

    fn json(&self) -> String {
        output::json(self)
    }

    fn text(&self) -> String {
        let mut table = Table::new(vec![
            ("name", Side::Left),
            ("models", Side::Left),
            ("clusters", Side::Right),
            ("cores", Side::Left),
            ("control threads", Side::Left),
            ("counter", Side::Right),
            ("host memory", Side::Left),
        ]);
        self.chips.iter().for_each(|chip| table.push(chip.cells()));
        let mut text = table.render() + "Example chip files\n";
        for ChipRow { name, about, .. } in &self.examples {
            text += &format!("  {name}  {about}\n");
        }
        text
    }
}

impl ChipRow {
    fn of(chip: ChipSpec) -> Self {
        ChipRow {
            clusters: chip.clusters,
            cores: chip.cores(),
            aic: chip.aic_cores(),
            aiv: chip.aiv_cores(),
            control_threads: chip.schedulers + 1,
            control_threads_max: chip.schedulers_max + 1,
            counter_hz: chip.counter_hz,
            pmu_counters: chip.pmu_counters,
            host_memory: match chip.host_memory {
                HostMemory::Mapped => "mapped",
                HostMemory::Copied => "copied",
            },
            name: chip.name,
            about: chip.about,
        }
    }

    fn cells(&self) -> Vec<String> {
        let control = match self.control_threads_max {
            most if most > self.control_threads => format!("{} of {most}", self.control_threads),
            _ => self.control_threads.to_string(),
        };
        vec![
            self.name.clone(),
            self.about.clone(),
            self.clusters.to_string(),
            format!("{} AIC, {} AIV", self.aic, self.aiv),
            control,
            spec::frequency_text(self.counter_hz),
            self.host_memory.to_string(),
        ]
    }
}
