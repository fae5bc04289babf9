//! What a run is executed on, and how a modelled chip is run.

use std::fmt;

use ringlane_chip_sim::{SimOptions, spec};
use ringlane_task::ChipSpec;

/// What a run is executed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
#[non_exhaustive]
pub enum Platform {
    /// The machine's own cores.
    #[default]
    Cpu,
    /// A modelled Ascend A2/A3, one die, in virtual time.
    #[value(name = "a2a3sim")]
    A2a3sim,
    /// A modelled Ascend A5, one device, in virtual time.
    #[value(name = "a5sim")]
    A5sim,
}

impl Platform {
    /// Every platform that this build knows.
    pub const ALL: &'static [Platform] = &[Platform::Cpu, Platform::A2a3sim, Platform::A5sim];

    /// The name used in every artifact and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Platform::Cpu => "cpu",
            Platform::A2a3sim => "a2a3sim",
            Platform::A5sim => "a5sim",
        }
    }

    /// Whether this machine has it.
    pub const fn is_available(self) -> bool {
        match self {
            Platform::Cpu | Platform::A2a3sim | Platform::A5sim => true,
        }
    }

    /// The chip that it models, if it does.
    pub fn modelled(self) -> Option<ChipSpec> {
        spec::builtin(self.as_str())
    }

    /// Whether it is a model that keeps its own time.
    pub const fn is_modelled(self) -> bool {
        !matches!(self, Platform::Cpu)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a modelled chip is run; other platforms do not look at it.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Another chip than the platform's own.
    pub chip: Option<ChipSpec>,
    /// Its policy, its costs, and what goes wrong.
    pub options: SimOptions,
}
