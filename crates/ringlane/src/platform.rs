//! What a run is executed on, and how a modelled chip is run.

use std::fmt;
use std::path::Path;

use ringlane_chip_sim::cost::{CostTable, CostTableError};
use ringlane_chip_sim::spec::SpecError;
use ringlane_chip_sim::{SimOptions, spec};
use ringlane_engine::{Error, Fault};
use ringlane_task::{ChipSpec, Explain};

use crate::runtime::OnPlatform;

/// What a run is executed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Platform {
    /// The machine's own cores.
    #[default]
    Cpu,
    /// A modelled Ascend A2/A3, one die, in virtual time.
    A2a3sim,
    /// A modelled Ascend A5, one device, in virtual time.
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

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Platform::Cpu => "The machine's own cores",
            Platform::A2a3sim => "A modelled Ascend A2/A3, one die, in virtual time",
            Platform::A5sim => "A modelled Ascend A5, one device, in virtual time",
        }
    }

    /// The platform with this name.
    pub fn named(name: &str) -> Option<Platform> {
        Platform::ALL.iter().copied().find(|platform| platform.as_str() == name)
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

impl Model {
    /// The same with the chip that a file describes.
    pub fn with_chip_file(self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Ok(Model { chip: Some(spec::load(path.as_ref())?), ..self })
    }

    /// The same with the costs in a file, as `--costs-out` writes it.
    pub fn with_costs_file(self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Ok(self.with_costs(CostTable::read(path)?))
    }

    /// The same with these costs.
    #[must_use]
    pub fn with_costs(mut self, costs: CostTable) -> Self {
        self.options.costs = Some(costs);
        self
    }
}

impl OnPlatform {
    /// Models the chip that a file describes in place of the platform's own. Platforms that model nothing ignore it.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// # let path = std::env::temp_dir().join(format!("ringlane-chip-{}.toml", std::process::id()));
    /// # std::fs::write(&path, ringlane::chip_sim::spec::builtin_text("a2a3sim").unwrap()).unwrap();
    /// // ringlane chips show a2a3sim > mine.toml
    /// let runtime = Runtime::on(Platform::A2a3sim).chip_file(&path)?.with(&CallConfig::default())?;
    /// assert_eq!(runtime.platform(), Platform::A2a3sim);
    /// let error = Runtime::on(Platform::A2a3sim).chip_file("no/such/chip.toml").unwrap_err();
    /// assert_eq!(error.name(), "CannotReadChip");
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), Error>(())
    /// ```
    pub fn chip_file(mut self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        self.model = self.model.with_chip_file(path)?;
        Ok(self)
    }

    /// Charges what blocks took elsewhere: a file that `--costs-out` wrote, or [`recorded_costs`](crate::recorded_costs) as
    /// text. Platforms that model nothing ignore it.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let error = Runtime::on(Platform::A5sim).costs_file("no/such/costs.json").unwrap_err();
    /// assert_eq!(error.name(), "CannotReadCosts");
    /// ```
    pub fn costs_file(mut self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        self.model = self.model.with_costs_file(path)?;
        Ok(self)
    }

    /// Charges what blocks took elsewhere.
    pub fn costs(mut self, costs: CostTable) -> Self {
        self.model = self.model.with_costs(costs);
        self
    }
}

/// Why a file of a modelled chip cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It describes no chip.
    Chip(#[from] SpecError),
    /// It is no cost table.
    Costs(#[from] CostTableError),
}

ringlane_task::display_explained!(ModelError);

impl Explain for ModelError {
    fn name(&self) -> &'static str {
        match self {
            ModelError::Chip(error) => error.name(),
            ModelError::Costs(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            ModelError::Chip(error) => error.summary(),
            ModelError::Costs(error) => error.summary(),
        }
    }

    fn detail(&self) -> String {
        match self {
            ModelError::Chip(error) => error.detail(),
            ModelError::Costs(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            ModelError::Chip(error) => error.hint(),
            ModelError::Costs(error) => error.hint(),
        }
    }
}

/// So that `?` carries it out of a function that answers with the engine's error; the name stays the same.
impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Fault::CannotModel { name: error.name(), detail: error.detail(), hint: error.hint() }.into()
    }
}
