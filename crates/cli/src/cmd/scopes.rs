//! `ringlane scopes`: how full the rings were, and which capacities suffice.

use ringlane_insight::scopes::{PER_RING, Summary, summarize};
use ringlane_insight::units::{agreeing, counted, time_text};
use ringlane_insight::{Instrument, Run};
use serde::Serialize;

use crate::errors::{CliError, Exit};
use crate::output::{self, printable};
use crate::run_arg::{Needs, RunArg};
use ringlane_insight::text_table::{Side, Table};

const EXAMPLE: &str = "\
Example:
  $ ringlane run paged_attention --scope-stats
  $ ringlane scopes
  $ ringlane scopes outputs/paged_attention_small_20261115_093012 --json | jq -r .options
The last line is a set of options to copy: with smaller capacities, a run may stop with FlowControlDeadlock.
docs/commands/scopes.md explains the tables.";

/// Show how full the rings were, and which capacities suffice
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct ScopesArgs {
    #[command(flatten)]
    run: RunArg,
    /// Print JSON on standard output
    #[arg(long)]
    json: bool,
}

impl ScopesArgs {
    /// Reads the scopes and reports what they took.
    pub fn execute(&self) -> Result<Exit, CliError> {
        let run = self.run.open(Needs::Table(Instrument::Scopes))?;
        let view = View { summary: summarize(&run.scopes()?, run.manifest.clock_freq_hz), run: &run };
        output::results(&if self.json { view.json() } else { view.text() })?;
        Ok(Exit::Ok)
    }
}

/// What is shown of a run.
struct View<'a> {
    run: &'a Run,
    summary: Summary,
}

impl View<'_> {
    fn text(&self) -> String {
        let Summary { scopes, open, sites, waits, .. } = &self.summary;
        let mut text =
            format!("{} at {}", counted(*scopes, "scope"), counted(sites.len() as u64, "source line"));
        if *open > 0 {
            text += &format!(", {open} of them open when the run stopped");
        }
        text +=
            &format!("; submits waited {}, {} in total\n", counted(waits.count, "time"), time_text(waits.us));
        text += &self.ending();
        text += &format!("\nNeed and capacity of each resource, closest to full first\n{}", self.stores());
        text += &format!(
            "\nScopes by source line: need of one scope / peak while one was open\n{}",
            self.sites()
        );
        text + &self.advice()
    }

    /// Why the run ended, if not well.
    fn ending(&self) -> String {
        let mut text = String::new();
        if let Some(fatal) = &self.summary.fatal {
            let ring = fatal.ring.map_or("of all rings".to_string(), |ring| format!("of ring {ring}"));
            text += &format!(
                "\nscope {} ({}) exhausted the {} {ring}: {} of {} {} in use, {} needed\n",
                fatal.scope,
                printable(&fatal.place()),
                fatal.resource,
                fatal.used,
                fatal.capacity,
                fatal.resource.unit(),
                fatal.need
            );
        }
        if let Some(error) = &self.run.manifest.error {
            text += &format!("{}: {}\n", printable(&error.name), printable(&error.detail));
            text += &format!("hint: {}\n", printable(&error.hint));
        }
        text
    }

    fn stores(&self) -> String {
        let mut table = Table::new(vec![
            ("ring", Side::Left),
            ("resource", Side::Left),
            ("need", Side::Right),
            ("enough", Side::Right),
            ("peak", Side::Right),
            ("capacity", Side::Right),
            ("enough/capacity", Side::Right),
            ("waits", Side::Right),
            ("waited", Side::Right),
            ("most needed by", Side::Left),
        ]);
        for store in &self.summary.stores {
            table.push(vec![
                store.ring.map_or("all".to_string(), |ring| ring.to_string()),
                store.resource.to_string(),
                store.need.map_or("?".to_string(), |need| need.to_string()),
                store.enough.to_string(),
                store.peak.to_string(),
                store.capacity.to_string(),
                format!("{:.2} %", store.share() * 100.0),
                store.waits.count.to_string(),
                time_text(store.waits.us),
                printable(&store.site),
            ]);
        }
        table.render()
    }

    fn sites(&self) -> String {
        let mut columns = vec![("opened at", Side::Left), ("ring", Side::Left)];
        columns.extend(["scopes", "tasks"].map(|name| (name, Side::Right)));
        columns.extend(PER_RING.map(|resource| (resource.as_str(), Side::Right)));
        columns.extend(["fan-in", "waits", "waited"].map(|name| (name, Side::Right)));
        let mut table = Table::new(columns);
        for site in &self.summary.sites {
            let label = site.label.as_ref().map_or(String::new(), |label| format!(" {label:?}"));
            let mut row = vec![printable(&format!("{}{label}", site.site)), site.ring.to_string()];
            row.extend([site.scopes, site.tasks].map(|number| number.to_string()));
            row.extend(site.uses.iter().map(|one| format!("{}/{}", one.need, one.peak)));
            row.extend([site.fanin_peak, site.waits.count].map(|number| number.to_string()));
            row.push(time_text(site.waits.us));
            table.push(row);
        }
        table.render()
    }

    fn advice(&self) -> String {
        let mut text = String::new();
        for note in self.notes() {
            text += &format!("\nnote: {note}");
        }
        let title = match (self.run.early_end(), &self.summary.fatal) {
            (None, None) => "Capacities that suffice",
            (_, Some(_)) => "Options that suffice to get past this scope",
            _ => "The options of the run, with the value from the hint",
        };
        let options = match self.options().as_str() {
            "" => "the defaults".to_string(),
            options => options.to_string(),
        };
        format!("{text}\n{title}\n  {options}\n")
    }

    fn options(&self) -> String {
        self.summary.options(self.run.early_end())
    }

    /// What the numbers do not say.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.summary.dropped > 0 {
            let (lost, were) =
                (counted(self.summary.dropped, "scope"), agreeing(self.summary.dropped, "was", "were"));
            notes.push(format!("{lost} {were} lost and may need more\n"));
        }
        if self.run.early_end().is_some() {
            let status = self.run.manifest.status.as_str();
            notes.push(format!("the run ended early ({status}): later scopes may need more\n"));
        }
        notes
    }

    fn json(&self) -> String {
        output::json(&Answer {
            run: self.run.dir.display().to_string(),
            status: self.run.manifest.status.as_str(),
            summary: &self.summary,
            options: self.options(),
        })
    }
}

/// What `--json` prints; fields may be added, never renamed.
#[derive(Serialize)]
struct Answer<'a> {
    run: String,
    status: &'static str,
    #[serde(flatten)]
    summary: &'a Summary,
    options: String,
}
