//! Why a runtime cannot be created.

use ringlane_engine::{Error, Fault};
use ringlane_task::{ConfigError, Explain, Reader, Resource, UnknownPmuGroup};

/// Why a runtime cannot be created.
#[derive(Clone, Debug)]
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
    /// This machine does not have the platform.
    NotAvailable {
        platform: &'static str,
        reason: String,
    },
    /// Diagnostics are on, in a program that was built without the feature `record`.
    NoRecorder,
    Chip(Error),
}

ringlane_task::explained_error!(SetupError);

impl Explain for SetupError {
    fn name(&self) -> &'static str {
        match self {
            SetupError::Config(error) => error.name(),
            SetupError::CapacityTooLarge { .. } => "CapacityTooLarge",
            SetupError::Pmu(error) => error.name(),
            SetupError::NotAvailable { .. } => "PlatformNotAvailable",
            SetupError::NoRecorder => "NoRecorder",
            SetupError::Chip(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            SetupError::Config(error) => return error.summary(),
            SetupError::CapacityTooLarge { .. } => "the capacities are larger than the machine's memory",
            SetupError::Pmu(error) => return error.summary(),
            SetupError::NotAvailable { .. } => "this machine does not have the platform",
            SetupError::NoRecorder => "diagnostics are on, but the program cannot record",
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
            SetupError::NotAvailable { platform, reason } => format!("{platform}: {reason}"),
            SetupError::NoRecorder => "the program was built without the feature `record`".to_string(),
            SetupError::Chip(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            SetupError::Config(error) => error.hint(),
            SetupError::CapacityTooLarge { resource, fits, .. } => resource.setting(fits),
            SetupError::Pmu(error) => error.hint(),
            SetupError::NotAvailable { .. } => Reader::choose(
                "run on `Platform::Cpu`, which every machine has",
                "run with --platform cpu, which every machine has",
            )
            .to_string(),
            SetupError::NoRecorder => {
                "turn the feature on in Cargo.toml: ringlane = { …, features = [\"record\"] }".to_string()
            }
            SetupError::Chip(error) => error.hint(),
        }
    }
}

/// Lets `?` convert it to the engine's error; the name stays the same.
impl From<SetupError> for Error {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::Config(error) => Fault::Config(error).into(),
            SetupError::CapacityTooLarge { resource, value, .. } => {
                Fault::Config(ConfigError::CapacityTooLarge { resource, ring: None, value }).into()
            }
            SetupError::Chip(error) => error,
            error @ (SetupError::Pmu(_) | SetupError::NoRecorder) => {
                Fault::CannotRecord { name: error.name(), detail: error.detail(), hint: error.hint() }.into()
            }
            error @ SetupError::NotAvailable { .. } => Fault::BadChip { detail: error.detail() }.into(),
        }
    }
}
