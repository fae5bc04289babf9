//! What a callable answers when it fails: three texts, because its error's type may be known in the child only.

use ringlane_task::Explain;

/// Why a callable failed: what [`Explain`] says of an error, as texts that can cross a process.
///
/// ```
/// use ringlane_node::CallError;
/// let error = CallError::new("NoSuchLayer", "layer 99 of 12", "name a layer from 0 to 11");
/// assert_eq!(error.to_string(), "NoSuchLayer: layer 99 of 12");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {detail}")]
pub struct CallError {
    /// The error's name.
    pub name: String,
    /// The numbers that led to it.
    pub detail: String,
    /// What to do.
    pub hint: String,
}

impl CallError {
    /// An error with these texts.
    pub fn new(name: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        CallError { name: name.into(), detail: detail.into(), hint: hint.into() }
    }

    /// What an error says.
    pub fn of(error: &dyn Explain) -> Self {
        CallError::new(error.name(), format!("{error}; {}", error.detail()), error.hint())
    }
}
