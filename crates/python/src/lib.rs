//! The extension module of the Python package `ringlane`: what the package's Python files cannot do themselves.
//!
//! ```text
//! python/ringlane/*.py ──▶ ringlane._ringlane (this crate) ──▶ ringlane
//! names, decorators, dataclasses       objects and functions
//! ```
//! It has no interface of its own: `python/ringlane/_ringlane.pyi` describes it to the package, and `docs/from-python.md` describes
//! the package to people.
#![deny(missing_docs)]

mod attach;
mod body;
mod buffers;
mod config;
mod dtype;
mod error;
mod interrupt;
mod kernel;
mod orch;
mod recorded;
mod runtime;
mod scene;
mod submit;
mod tensor;

use pyo3::prelude::*;

/// The extension module. An interpreter without the GIL turns it on: nothing here has been tested without.
#[pymodule(gil_used = true)]
mod _ringlane {
    #[pymodule_export]
    use crate::kernel::Kernel;
    #[pymodule_export]
    use crate::orch::Orch;
    #[pymodule_export]
    use crate::recorded::{answer, checked, first_difference, manifest, tables, what_if, write_report};
    #[pymodule_export]
    use crate::runtime::{Graph, Runtime};
    #[pymodule_export]
    use crate::tensor::{Output, Parameter, Task, Tensor};
}
