//! Options of a modelled chip: another chip, a policy, recorded costs, chaos.

use std::path::Path;

use ringlane_chip_sim::cost::{CostTable, CostTableError};
use ringlane_chip_sim::spec::SpecError;
use ringlane_chip_sim::{SimOptions, spec};
use ringlane_engine::chip_runtime::{ChipOptions, Costs};
use ringlane_engine::{Error, Fault};
use ringlane_task::{ChipSpec, Explain};

use crate::runtime::OnPlatform;

/// Options of a modelled chip; other platforms ignore them.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// A chip to use instead of the platform's own.
    pub chip: Option<ChipSpec>,
    /// Its policy, its costs, and its chaos seed.
    pub options: SimOptions,
}

impl Model {
    /// Uses the chip that a file describes.
    pub fn with_chip_file(self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Ok(Model { chip: Some(spec::load(path.as_ref())?), ..self })
    }

    /// Uses the costs in a file, as `--costs-out` writes it.
    pub fn with_costs_file(self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        Ok(self.with_costs(CostTable::read(path)?))
    }

    /// Uses these costs.
    #[must_use]
    pub fn with_costs(mut self, costs: CostTable) -> Self {
        self.options.costs = Some(costs);
        self
    }
}

impl From<Model> for ChipOptions {
    fn from(model: Model) -> Self {
        let SimOptions { policy, chaos, costs } = model.options;
        ChipOptions {
            spec: model.chip,
            policy: Some(policy.as_str()),
            chaos,
            costs: costs.map(Costs::new),
            ..ChipOptions::default()
        }
    }
}

impl OnPlatform {
    /// Sets the options of a modelled chip: another chip, a policy, costs, chaos.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// use ringlane::{Model, PolicyName, SimOptions};
    /// let options = SimOptions { policy: PolicyName::CriticalPath, ..SimOptions::default() };
    /// let model = Model { options, ..Model::default() };
    /// let runtime = Runtime::on(Platform::A2a3sim).model(model).with(&CallConfig::default())?;
    /// assert_eq!(runtime.threads(), 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn model(mut self, model: Model) -> Self {
        self.request.options = model.into();
        self
    }

    /// Models the chip that a file describes instead of the platform's own. Platforms without a model ignore it.
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
        self.request.options.spec = Model::default().with_chip_file(path)?.chip;
        Ok(self)
    }

    /// Uses recorded durations of blocks: a file that `--costs-out` wrote, or
    /// [`recorded_costs`](crate::recorded_costs) as text. Platforms without a model ignore it.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let error = Runtime::on(Platform::A5sim).costs_file("no/such/costs.json").unwrap_err();
    /// assert_eq!(error.name(), "CannotReadCosts");
    /// ```
    pub fn costs_file(mut self, path: impl AsRef<Path>) -> Result<Self, ModelError> {
        self.request.options.costs = Some(Costs::new(CostTable::read(path)?));
        Ok(self)
    }

    /// Uses recorded durations of blocks.
    pub fn costs(mut self, costs: CostTable) -> Self {
        self.request.options.costs = Some(Costs::new(costs));
        self
    }
}

/// Why a file of a modelled chip cannot be used.
#[derive(Debug)]
pub enum ModelError {
    /// It does not describe a chip.
    Chip(SpecError),
    /// It is not a cost table.
    Costs(CostTableError),
}

ringlane_task::explained_error!(ModelError);

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

impl From<SpecError> for ModelError {
    fn from(error: SpecError) -> Self {
        ModelError::Chip(error)
    }
}

impl From<CostTableError> for ModelError {
    fn from(error: CostTableError) -> Self {
        ModelError::Costs(error)
    }
}

/// Lets `?` convert it to the engine's error; the name stays the same.
impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Fault::CannotModel { name: error.name(), detail: error.detail(), hint: error.hint() }.into()
    }
}
