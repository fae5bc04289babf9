//! Errors of cost tables.

use std::io;
use std::path::PathBuf;

use ringlane_task::{Explain, Reader};

use super::limits::TABLE_BYTES_MAX;

/// Why a cost table cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CostTableError {
    /// The cost table cannot be read.
    CannotRead { path: PathBuf, source: io::Error },
    /// The cost table is too long.
    TooLong { path: PathBuf },
    /// The cost table cannot be parsed.
    Damaged { path: PathBuf, what: String },
    /// The version of the cost table is unknown.
    UnknownVersion { path: PathBuf, version: u64 },
    /// The cost table names a kernel twice.
    DuplicateKernel { path: PathBuf, kernel: String },
    /// The cost table has impossible values for a kernel.
    ImpossibleCost { path: PathBuf, kernel: String, what: String },
}

ringlane_task::display_explained!(CostTableError);

impl Explain for CostTableError {
    fn name(&self) -> &'static str {
        match self {
            CostTableError::CannotRead { .. } => "CannotReadCosts",
            CostTableError::TooLong { .. } => "CostsTooLong",
            CostTableError::Damaged { .. } => "DamagedCosts",
            CostTableError::UnknownVersion { .. } => "UnknownCostsVersion",
            CostTableError::DuplicateKernel { .. } => "DuplicateKernelCosts",
            CostTableError::ImpossibleCost { .. } => "ImpossibleCosts",
        }
    }

    fn summary(&self) -> String {
        match self {
            CostTableError::CannotRead { .. } => "the cost table cannot be read",
            CostTableError::TooLong { .. } => "the cost table is too long",
            CostTableError::Damaged { .. } => "the cost table cannot be parsed",
            CostTableError::UnknownVersion { .. } => "the cost table has an unknown version",
            CostTableError::DuplicateKernel { .. } => "the cost table names a kernel twice",
            CostTableError::ImpossibleCost { .. } => "the cost table has impossible values for a kernel",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            CostTableError::CannotRead { path, source } => format!("{}: {source}", path.display()),
            CostTableError::TooLong { path } => {
                format!("{} is longer than {TABLE_BYTES_MAX} bytes", path.display())
            }
            CostTableError::Damaged { path, what } => format!("{}: {what}", path.display()),
            CostTableError::UnknownVersion { path, version } => {
                format!(
                    "{} has version {version}, known versions: 1 to {}",
                    path.display(),
                    super::table::VERSION
                )
            }
            CostTableError::DuplicateKernel { path, kernel } => format!("{}: {kernel:?}", path.display()),
            CostTableError::ImpossibleCost { path, kernel, what } => {
                format!("{}: {kernel:?}: {what}", path.display())
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            CostTableError::CannotRead { .. } => "check that it is a file with read permission",
            CostTableError::DuplicateKernel { .. } => "keep one entry of it",
            CostTableError::TooLong { .. }
            | CostTableError::Damaged { .. }
            | CostTableError::UnknownVersion { .. }
            | CostTableError::ImpossibleCost { .. } => Reader::choose(
                "record it again: the text of `recorded_costs([dir])` of a recorded run",
                "record it again: ringlane run SCENE --chip-swimlane=1 --costs-out FILE",
            ),
        }
        .to_string()
    }
}
