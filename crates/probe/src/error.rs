//! The errors of recording.

use std::io;
use std::path::PathBuf;

use ringlane_task::Explain;

use crate::settings::ModelCounters;

/// Why a recording cannot be started or read back.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ProbeError {
    /// There is no memory for the records.
    NoMemory { kind: &'static str, bytes: u64, source: io::Error },
    /// The buffers of a kind of record are too few or have an invalid size.
    UnfitBuffers { kind: &'static str, buffers: u32, buffer_bytes: u32 },
    /// A group of counters is too large.
    TooManyCounters { given: usize },
    /// A kind of record is registered twice.
    KindTwice { kind: &'static str },
    /// The collector thread cannot be started.
    NoCollector { source: io::Error },
    /// The collector thread died.
    CollectorDied,
    /// The spooled records cannot be read back.
    SpoolUnreadable { kind: &'static str, path: PathBuf, source: io::Error },
}

ringlane_task::display_explained!(ProbeError);

impl Explain for ProbeError {
    fn name(&self) -> &'static str {
        match self {
            ProbeError::NoMemory { .. } => "NoMemory",
            ProbeError::UnfitBuffers { .. } => "UnfitBuffers",
            ProbeError::TooManyCounters { .. } => "TooManyCounters",
            ProbeError::KindTwice { .. } => "KindTwice",
            ProbeError::NoCollector { .. } => "NoCollector",
            ProbeError::CollectorDied => "CollectorDied",
            ProbeError::SpoolUnreadable { .. } => "SpoolUnreadable",
        }
    }

    fn summary(&self) -> String {
        match self {
            ProbeError::NoMemory { .. } => "there is no memory for the records",
            ProbeError::UnfitBuffers { .. } => {
                "the buffers of a kind of record are too few or have an invalid size"
            }
            ProbeError::TooManyCounters { .. } => "a group of counters is too large",
            ProbeError::KindTwice { .. } => "a kind of record is registered twice",
            ProbeError::NoCollector { .. } => "the collector thread cannot be started",
            ProbeError::CollectorDied => "the collector thread died",
            ProbeError::SpoolUnreadable { .. } => "the spooled records cannot be read back",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            ProbeError::NoMemory { kind, bytes, source } => format!("{kind}: {bytes} bytes: {source}"),
            ProbeError::UnfitBuffers { kind, buffers, buffer_bytes } => {
                format!("{kind}: {buffers} buffers of {buffer_bytes} bytes")
            }
            ProbeError::TooManyCounters { given } => {
                format!("{given} counters in addition to cycles, at most {}", ModelCounters::MAX)
            }
            ProbeError::KindTwice { kind } => kind.to_string(),
            ProbeError::NoCollector { source } => source.to_string(),
            ProbeError::CollectorDied => "the records of this run are lost".to_string(),
            ProbeError::SpoolUnreadable { kind, path, source } => {
                format!("{kind}: {}: {source}", path.display())
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            ProbeError::NoMemory { .. } => "turn on fewer diagnostics, or use fewer threads",
            ProbeError::UnfitBuffers { .. } => {
                "a lane needs at least 2 buffers, each a multiple of 64 bytes and at most 1 GiB"
            }
            ProbeError::TooManyCounters { .. } => "define groups with fewer counters",
            ProbeError::KindTwice { .. } => "give each kind its own number",
            ProbeError::NoCollector { .. } => "check the limit of threads (`ulimit -u`)",
            ProbeError::CollectorDied => {
                "this is a bug in Ringlane: please report it, and run without diagnostics until it is fixed"
            }
            ProbeError::SpoolUnreadable { .. } => "repeat the run with another output directory",
        }
        .to_string()
    }
}
