//! How every error of Ringlane speaks: a name to search for, the numbers that led to it, and what to do.

use alloc::string::String;

/// An error that a person can act on.
///
/// `Display` says in one line what happened; `detail` gives the numbers; `hint` what to change.
///
/// ```
/// use ringlane_task::{DType, Explain, TensorView};
/// let error = TensorView::contiguous(DType::Float32, &[4]).unwrap().tile(&[2], &[3]).unwrap_err();
/// assert_eq!(error.name(), "ViewOutOfBounds");
/// assert!(error.detail().contains("2..5"));
/// assert!(!error.hint().is_empty());
/// ```
pub trait Explain: core::error::Error {
    /// The error's name, the same in the library, on the command line and in `run.json`.
    fn name(&self) -> &'static str;
    /// The numbers and places that led to it.
    fn detail(&self) -> String;
    /// What to do about it, ready to paste where that is possible.
    fn hint(&self) -> String;
}
