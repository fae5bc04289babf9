//! The error of a program whose own code panicked.

use std::any::Any;

use ringlane_engine::panic_text;
use ringlane_task::Explain;

/// A program's own code panicked, outside of a kernel.
#[derive(Debug)]
pub struct Panicked {
    message: String,
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
        self.message.clone()
    }
    fn hint(&self) -> String {
        "the program's own code panicked outside a kernel: fix it at that line".to_string()
    }
}

impl Panicked {
    /// With the message of the panic.
    pub fn new(message: String) -> Self {
        Panicked { message }
    }

    /// With the message in the payload of the panic.
    pub fn from_payload(payload: &(dyn Any + Send)) -> Self {
        Panicked { message: panic_text(payload).to_string() }
    }
}
