//! Errors of a run request that is read from bytes.

#[cfg(feature = "sim")]
use ringlane_chip_sim::cost::CostTableError;
use ringlane_task::{ConfigError, Explain};

use super::encoding::REQUEST_VERSION;
use super::wire::Field;

/// Why the bytes are not a request that this build can read.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum RequestError {
    /// The request has another version.
    UnknownVersion {
        version: u32,
    },
    /// The request has a field that this build does not know.
    UnknownField {
        number: u32,
        bytes: u64,
    },
    /// The request lacks a required field.
    MissingField {
        field: &'static str,
    },
    /// The request is truncated.
    Truncated {
        part: &'static str,
        need_bytes: u64,
        have_bytes: u64,
    },
    /// The request has an invalid value.
    Corrupt {
        part: &'static str,
        value: u64,
    },
    /// A text of the request is not UTF-8.
    NotText {
        field: &'static str,
        at: usize,
    },
    /// The request names something that this build does not have.
    UnknownName {
        field: &'static str,
        name: String,
        known: String,
    },
    Config(ConfigError),
    #[cfg(feature = "sim")]
    Costs(CostTableError),
}

impl RequestError {
    pub(super) fn corrupt(part: &'static str, value: impl Into<u64>) -> Self {
        RequestError::Corrupt { part, value: value.into() }
    }

    pub(super) fn unknown_name(field: Field, name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let known = known.collect::<Vec<_>>().join(", ");
        RequestError::UnknownName { field: field.as_str(), name: name.to_string(), known }
    }
}

ringlane_task::explained_error!(RequestError);

impl Explain for RequestError {
    fn name(&self) -> &'static str {
        match self {
            RequestError::UnknownVersion { .. } => "UnknownRequestVersion",
            RequestError::UnknownField { .. } => "UnknownRequestField",
            RequestError::MissingField { .. } => "MissingRequestField",
            RequestError::Truncated { .. } => "RequestTruncated",
            RequestError::Corrupt { .. } | RequestError::NotText { .. } => "CorruptRequest",
            RequestError::UnknownName { .. } => "UnknownRequestName",
            RequestError::Config(error) => error.name(),
            #[cfg(feature = "sim")]
            RequestError::Costs(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            RequestError::UnknownVersion { .. } => "a run request has another version",
            RequestError::UnknownField { .. } => "a run request has a field that this build does not know",
            RequestError::MissingField { .. } => "a run request lacks a required field",
            RequestError::Truncated { .. } => "a run request is truncated",
            RequestError::Corrupt { .. } | RequestError::NotText { .. } => {
                "a run request has an invalid value"
            }
            RequestError::UnknownName { .. } => "a run request names something that this build does not have",
            RequestError::Config(error) => return error.summary(),
            #[cfg(feature = "sim")]
            RequestError::Costs(error) => return error.summary(),
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            RequestError::UnknownVersion { version } => {
                format!("version {version}; this build reads version {REQUEST_VERSION}")
            }
            RequestError::UnknownField { number, bytes } => format!("field {number}, of {bytes} bytes"),
            RequestError::MissingField { field } => format!("the field {field}"),
            RequestError::Truncated { part, need_bytes, have_bytes } => {
                format!("{part} takes {need_bytes} bytes, but there are only {have_bytes}")
            }
            RequestError::Corrupt { part, value } => format!("{part}: {value} ({value:#x})"),
            RequestError::NotText { field, at } => format!("{field}: not UTF-8 from byte {at} on"),
            RequestError::UnknownName { field, name, known } => {
                format!("{field} `{name}`; this build has {known}")
            }
            RequestError::Config(error) => error.detail(),
            #[cfg(feature = "sim")]
            RequestError::Costs(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            RequestError::UnknownVersion { .. }
            | RequestError::UnknownField { .. }
            | RequestError::UnknownName { .. } => "start the same build of the program everywhere",
            RequestError::MissingField { .. }
            | RequestError::Truncated { .. }
            | RequestError::Corrupt { .. }
            | RequestError::NotText { .. } => {
                "its writer is faulty: write requests with `RunRequest::encode`"
            }
            RequestError::Config(error) => return error.hint(),
            #[cfg(feature = "sim")]
            RequestError::Costs(error) => return error.hint(),
        }
        .to_string()
    }
}
