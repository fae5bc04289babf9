//! The options of `run` that select a part of a modelled chip.

use ringlane_task::{CallConfig, ChipSpec};

use crate::errors::CliError;
use ringlane::Platform;

/// The part of a modelled chip to use. The chip determines the limits, so the numbers are parsed once it is known.
#[derive(clap::Args)]
#[command(next_help_heading = "Simulators (a2a3sim, a5sim)")]
pub struct SizeArgs {
    /// Use only N of the chip's clusters [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    block_dim: Option<String>,
    /// Use N of the chip's control threads as schedulers, at most one per cluster [default: set by the chip]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    scheduler_threads: Option<String>,
}

impl SizeArgs {
    /// The configuration with what they say, for a platform; `spec` is the chip, if it is not the platform's own.
    pub fn apply(
        &self,
        config: CallConfig,
        platform: Platform,
        spec: Option<&ChipSpec>,
    ) -> Result<CallConfig, CliError> {
        let given = [("--block-dim", &self.block_dim), ("--scheduler-threads", &self.scheduler_threads)];
        let first = given.into_iter().find(|(_, value)| value.is_some());
        let Some((option, _)) = first else { return Ok(config) };
        let Some(chip) = spec.cloned().or_else(|| platform.modelled()) else {
            return Err(CliError::OnlyOnSimulators { option, platform });
        };
        let clusters = format!("the clusters of {}", chip.name);
        let block_dim = count("--block-dim", self.block_dim.as_deref(), chip.clusters, &clusters)?;
        let in_use = block_dim.map_or(chip.clusters, |clusters| clusters as u32);
        let (most, why) = match chip.schedulers_max <= in_use {
            true => (chip.schedulers_max, format!("the control threads of {} that can schedule", chip.name)),
            false => (in_use, "one for each cluster in use".to_string()),
        };
        let schedulers = count("--scheduler-threads", self.scheduler_threads.as_deref(), most, &why)?;
        Ok(config
            .with_block_dim(block_dim.unwrap_or_default())
            .with_scheduler_threads(schedulers.unwrap_or_default()))
    }
}

/// A number from 1 to `most`, if one is given; `why` says what there are this many of.
fn count(option: &str, text: Option<&str>, most: u32, why: &str) -> Result<Option<i32>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let number = text.parse().ok().filter(|number| (1..=i64::from(most)).contains(number));
    let number = number.and_then(|number| i32::try_from(number).ok());
    let allowed = || format!("a whole number from 1 to {most}, {why}");
    let refused = || CliError::bad_value(option, text, allowed(), format!("{option} {most}"));
    number.map(Some).ok_or_else(refused)
}
