//! The error of a program whose own code panicked.

use std::any::Any;

use ringlane_engine::panic_text;
use ringlane_task::Explain;

/// A program's own code panicked, outside of a kernel.
#[derive(Debug)]
pub struct Panicked {
    said: String,
}

ringlane_task::explained_error!(Panicked);

impl Explain for Panicked {
    fn name(&self) -> &'static str {
        "ProgramPanicked"
    }
    fn summary(&self) -> String {
        "the program panicked".to_string()
    }
    fn detail(&self) -> String {
        self.said.clone()
    }
    fn hint(&self) -> String {
        "the program's own code panicked outside of a kernel: mend it there".to_string()
    }
}

impl Panicked {
    /// With what the panic said.
    pub fn saying(said: String) -> Self {
        Panicked { said }
    }

    /// With what the payload of the panic says.
    pub fn with(payload: &(dyn Any + Send)) -> Self {
        Panicked { said: panic_text(payload).to_string() }
    }
}
