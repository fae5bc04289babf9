//! The errors of a frame, from its writer or its reader.

use ringlane_task::{BlobError, ConfigError, Explain};

use super::layout::VERSION;

/// Why a frame is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum FrameError {
    /// A frame from another host has an invalid value.
    CorruptFrame {
        field: &'static str,
        value: u64,
    },
    /// A frame from another host has another version.
    UnknownFrameVersion {
        version: u32,
    },
    /// A frame from another host is truncated.
    FrameTruncated {
        field: &'static str,
        need_bytes: u64,
        have_bytes: u64,
    },
    /// A call or an answer is too large for one frame.
    FrameTooLarge {
        field: &'static str,
        value: u64,
        most: u64,
    },
    Config(ConfigError),
    Arguments(BlobError),
}

impl FrameError {
    /// A field has an invalid value.
    pub(super) fn corrupt(field: &'static str, value: impl Into<u64>) -> Self {
        FrameError::CorruptFrame { field, value: value.into() }
    }
}

ringlane_task::display_explained!(FrameError);

impl Explain for FrameError {
    fn name(&self) -> &'static str {
        match self {
            FrameError::CorruptFrame { .. } => "CorruptFrame",
            FrameError::UnknownFrameVersion { .. } => "UnknownFrameVersion",
            FrameError::FrameTruncated { .. } => "FrameTruncated",
            FrameError::FrameTooLarge { .. } => "FrameTooLarge",
            FrameError::Config(error) => error.name(),
            FrameError::Arguments(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            FrameError::CorruptFrame { .. } => "a frame from another host has an invalid value",
            FrameError::UnknownFrameVersion { .. } => "a frame from another host has another version",
            FrameError::FrameTruncated { .. } => "a frame from another host is truncated",
            FrameError::FrameTooLarge { .. } => "a call or an answer is too large for one frame",
            FrameError::Config(error) => return error.summary(),
            FrameError::Arguments(error) => return error.summary(),
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            FrameError::CorruptFrame { field, value } => format!("{field} is {value} ({value:#x})"),
            FrameError::UnknownFrameVersion { version } => {
                format!("version {version}; this build reads version {VERSION}")
            }
            FrameError::FrameTruncated { field, need_bytes, have_bytes } => {
                format!("{field} takes {need_bytes} bytes, but there are only {have_bytes}")
            }
            FrameError::FrameTooLarge { field, value, most } => format!("{field}: {value}, at most {most}"),
            FrameError::Config(error) => error.detail(),
            FrameError::Arguments(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            FrameError::CorruptFrame { .. } | FrameError::FrameTruncated { .. } => {
                "the sender is faulty: check that all ranks run the same build"
            }
            FrameError::UnknownFrameVersion { .. } => "start the same build of the program on every host",
            FrameError::FrameTooLarge { .. } => {
                "send less in one call: split the task, or use smaller tensors"
            }
            FrameError::Config(error) => return error.hint(),
            FrameError::Arguments(error) => return error.hint(),
        }
        .to_string()
    }
}
