//! What a callable answers when it fails: three texts, because its error's type may be known in the child only.

use core::fmt;

use ringlane_task::Explain;

/// Why a callable failed: what [`Explain`] says of an error, as texts that can cross a process.
///
/// ```
/// use ringlane_node::CallError;
/// let error = CallError::new("NoSuchLayer", "layer 99 of 12", "name a layer from 0 to 11");
/// assert_eq!(error.to_string(), "NoSuchLayer: layer 99 of 12 (hint: name a layer from 0 to 11)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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

    /// Its name and detail, where the hint is given elsewhere.
    pub(crate) fn without_hint(&self) -> String {
        format!("{}: {}", self.name, self.detail)
    }

    /// What an error says.
    pub fn of(error: &dyn Explain) -> Self {
        CallError::new(error.name(), format!("{}; {}", error.summary(), error.detail()), error.hint())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        ringlane_task::write_reasons(&self.detail, &self.hint, f)
    }
}
