//! What a kernel answers: nothing, or why its task fails.

#![forbid(unsafe_code)]

use core::fmt;

/// What a kernel answers: an error fails its task.
pub type KernelResult = Result<(), KernelError>;

/// Why a kernel failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError(pub String);

impl core::fmt::Display for KernelError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for KernelError {}

impl KernelError {
    /// An error with a text.
    pub fn new(text: impl fmt::Display) -> Self {
        KernelError(text.to_string())
    }
}

/// What a kernel body may return: nothing, or a result.
pub trait Outcome {
    /// As the result the engine works with.
    fn outcome(self) -> KernelResult;
}

impl Outcome for () {
    #[inline]
    fn outcome(self) -> KernelResult {
        Ok(())
    }
}

impl<E: fmt::Display> Outcome for Result<(), E> {
    #[inline]
    fn outcome(self) -> KernelResult {
        self.map_err(KernelError::new)
    }
}
