//! The options of `run` that configure a modelled chip.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use ringlane_chip_sim::spec;
use ringlane_engine::chip_runtime::{ChipOptions, Costs};
use ringlane_scenes::Scene;

use crate::costs::{self, CostsUnused};
use crate::errors::CliError;
use crate::options;
use ringlane::Platform;

/// The configuration of a modelled chip.
#[derive(clap::Args)]
#[command(next_help_heading = "Simulators (a2a3sim, a5sim)")]
pub struct ModelArgs {
    /// Use the chip described in FILE instead of the platform's own; `ringlane chips show` prints one to start from
    #[arg(long, value_name = "FILE")]
    chip: Option<PathBuf>,
    /// Which ready task runs next [default: fifo]; on cuda, how a captured graph runs [default: lists]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(policies()))]
    policy: Option<String>,
    /// Inject faults derived from SEED: varying costs, late completions, slow and hanging cores
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = options::chaos)]
    chaos: Option<u64>,
    /// Use the durations of blocks that --costs-out recorded
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
}

/// The policies of all platforms, each once.
fn policies() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for name in Platform::all().iter().flat_map(|platform| platform.capabilities().policies) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

/// The policy of this name, if a platform has it.
fn policy(name: &str, platform: Platform) -> Result<&'static str, CliError> {
    let known = platform.capabilities().policies;
    let found = known.iter().copied().find(|known| *known == name);
    let refused = || {
        let hint =
            known.first().map_or("leave --policy out".to_string(), |first| format!("--policy {first}"));
        CliError::bad_value("--policy", name, known.join(", "), hint)
    };
    found.ok_or_else(refused)
}

impl ModelArgs {
    /// What they say, for a platform.
    pub fn options(&self, platform: Platform) -> Result<ChipOptions, CliError> {
        let (is_model, has_policies) =
            (platform.capabilities().spec.is_some(), !platform.capabilities().policies.is_empty());
        let given = [
            ("--chip", self.chip.is_some() && !is_model),
            ("--policy", self.policy.is_some() && !has_policies),
            ("--chaos", self.chaos.is_some() && !is_model),
            ("--costs", self.costs.is_some() && !is_model),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, is_refused)| *is_refused) {
            return Err(CliError::OnlyOnSimulators { option, platform });
        }
        let costs = self.costs.as_deref().map(costs::given).transpose()?;
        let spec = self.chip.as_deref().map(spec::load).transpose()?;
        let policy = self.policy.as_deref().map(|name| policy(name, platform)).transpose()?;
        let costs = costs.map(Costs::new);
        Ok(ChipOptions { spec, policy, chaos: self.chaos, costs, ..ChipOptions::default() })
    }

    /// Whether costs are given that are of no use to a scene. `options` are what [`options`](Self::options) gave.
    pub fn unused_costs(&self, options: &ChipOptions, scene: &'static Scene) -> Option<CostsUnused> {
        let (path, table) = (self.costs.as_deref()?, options.costs.as_ref()?.get()?);
        CostsUnused::find(path, table, scene)
    }
}
