//! Errors of Ringlane as exceptions: the package has a class for each name.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use ringlane::task::Explain;

/// The function of the package that makes an exception of an error's parts.
static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// The exception for an error.
pub fn exception(error: &dyn Explain) -> PyErr {
    raise(error.name(), &error.summary(), &error.detail(), &error.hint())
}

/// `?` on errors of Ringlane, in functions that Python calls.
pub trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Explain> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}

/// The exception for a use in a child of the process that the runtime is in.
pub fn forked(detail: &str) -> PyErr {
    let summary = "a runtime is used in a child of the process that created it";
    raise("ForkedRuntime", summary, detail, "create a runtime in the child")
}

/// The exception for an error of this package itself.
pub fn raise(name: &'static str, summary: &str, detail: &str, hint: &str) -> PyErr {
    Python::attach(|py| {
        let make = || Ok(py.import("ringlane.errors")?.getattr("make")?.unbind());
        let made = MAKE.get_or_try_init(py, make);
        let made = made.and_then(|make: &Py<PyAny>| make.bind(py).call1((name, summary, detail, hint)));
        made.map_or_else(|failed| failed, PyErr::from_value)
    })
}
