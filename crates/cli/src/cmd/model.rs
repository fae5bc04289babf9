//! The options of `run` that configure a modelled chip.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ringlane_chip_sim::policy::PolicyName;
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
    /// Which ready task runs next [default: fifo]
    #[arg(long, value_name = "NAME", value_parser = policy())]
    policy: Option<PolicyName>,
    /// Inject faults derived from SEED: varying costs, late completions, slow and hanging cores
    #[arg(long, value_name = "SEED", allow_negative_numbers = true, value_parser = options::chaos)]
    chaos: Option<u64>,
    /// Use the durations of blocks that --costs-out recorded
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
}

fn policy() -> impl TypedValueParser<Value = PolicyName> {
    let names = PossibleValuesParser::new(PolicyName::ALL.map(PolicyName::as_str));
    names.map(|name| PolicyName::from_name(&name).expect("one of the names"))
}

impl ModelArgs {
    /// What they say, for a platform.
    pub fn options(&self, platform: Platform) -> Result<ChipOptions, CliError> {
        let given = [
            ("--chip", self.chip.is_some()),
            ("--policy", self.policy.is_some()),
            ("--chaos", self.chaos.is_some()),
            ("--costs", self.costs.is_some()),
        ];
        if let Some((option, _)) =
            given.into_iter().find(|(_, given)| *given && platform.capabilities().spec.is_none())
        {
            return Err(CliError::OnlyOnSimulators { option, platform });
        }
        let costs = self.costs.as_deref().map(costs::given).transpose()?;
        let spec = self.chip.as_deref().map(spec::load).transpose()?;
        let policy = self.policy.map(PolicyName::as_str);
        let costs = costs.map(Costs::new);
        Ok(ChipOptions { spec, policy, chaos: self.chaos, costs, ..ChipOptions::default() })
    }

    /// Whether costs are given that are of no use to a scene. `options` are what [`options`](Self::options) gave.
    pub fn unused_costs(&self, options: &ChipOptions, scene: &'static Scene) -> Option<CostsUnused> {
        let (path, table) = (self.costs.as_deref()?, options.costs.as_ref()?.get()?);
        CostsUnused::find(path, table, scene)
    }
}
