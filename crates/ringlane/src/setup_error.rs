//! Why a runtime cannot be made.

use ringlane_engine::{Error, Fault};
use ringlane_task::{ConfigError, Explain, Resource, UnknownPmuGroup};

use crate::observe::cannot_record;

/// Why a runtime cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SetupError {
    Config(ConfigError),
    /// The capacities are larger than the machine's memory.
    CapacityTooLarge {
        resource: Resource,
        value: u64,
        reserved_bytes: u64,
        memory_bytes: u64,
        fits: u64,
    },
    Pmu(UnknownPmuGroup),
    Chip(Error),
}

ringlane_task::display_explained!(SetupError);

impl Explain for SetupError {
    fn name(&self) -> &'static str {
        match self {
            SetupError::Config(error) => error.name(),
            SetupError::CapacityTooLarge { .. } => "CapacityTooLarge",
            SetupError::Pmu(error) => error.name(),
            SetupError::Chip(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            SetupError::Config(error) => return error.summary(),
            SetupError::CapacityTooLarge { .. } => "the capacities are larger than the machine's memory",
            SetupError::Pmu(error) => return error.summary(),
            SetupError::Chip(error) => return error.summary(),
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            SetupError::Config(error) => error.detail(),
            SetupError::CapacityTooLarge { resource, value, reserved_bytes, memory_bytes, .. } => format!(
                "{}: all capacities together reserve {reserved_bytes} bytes, the machine has {memory_bytes}",
                resource.setting(value)
            ),
            SetupError::Pmu(error) => error.detail(),
            SetupError::Chip(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            SetupError::Config(error) => error.hint(),
            SetupError::CapacityTooLarge { resource, fits, .. } => resource.setting(fits),
            SetupError::Pmu(error) => error.hint(),
            SetupError::Chip(error) => error.hint(),
        }
    }
}

/// So that `?` carries it out of a function that answers with the engine's error; the name stays the same.
impl From<SetupError> for Error {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Config(error) => Fault::Config(error).into(),
            SetupError::CapacityTooLarge { resource, value, .. } => {
                Fault::Config(ConfigError::CapacityTooLarge { resource, ring: None, value }).into()
            }
            SetupError::Pmu(error) => cannot_record(&error),
            SetupError::Chip(error) => error,
        }
    }
}
