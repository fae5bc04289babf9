//! Kernels that are Python functions.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use ringlane::engine::api::args::Args;
use ringlane::engine::api::dynamic::AnyArg;
use ringlane::engine::prelude::{KernelError, KernelResult};

use super::array;
use super::running::InKernel;
use super::shown::note_kept;
use crate::attach::with_lock;
use crate::dtype::number_of;
use crate::interrupt;
use crate::kernel::{Param, Rest, Role};

/// Calls a function with the arguments of a task.
pub fn call(function: &Py<PyAny>, params: &[Param], args: &mut Args<'_>) -> KernelResult {
    with_lock(|py| {
        let given = arguments(py, params, args).map_err(|error| KernelError::new(error.to_string()))?;
        let running = InKernel::enter();
        let called = PyTuple::new(py, &given).and_then(|tuple| function.bind(py).call1(tuple));
        drop(running);
        let outcome = outcome(py, called);
        let kept = given.iter().any(is_shared) && {
            // Cycles of the function's own may still refer to its arrays.
            let collected = py.import("gc").and_then(|gc| gc.call_method0("collect"));
            collected.is_err() || given.iter().any(is_shared)
        };
        if kept {
            note_kept();
            outcome?;
            return Err(KernelError::new(KEPT));
        }
        outcome
    })
}

const KEPT: &str = "the kernel kept an array that it was given, or a view of one, after it returned: \
                    the memory is the runtime's, so copy what is to be kept";

/// Whether someone else has a reference to an array of a tensor. Numbers are not arrays.
fn is_shared(argument: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is there, and the lock is held.
    argument.cast::<numpy::PyUntypedArray>().is_ok() && unsafe { ffi::Py_REFCNT(argument.as_ptr()) } > 1
}

/// The arguments of the function.
fn arguments<'py>(
    py: Python<'py>,
    params: &[Param],
    args: &mut Args<'_>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut given = Vec::with_capacity(params.len());
    for param in params {
        if let Role::Block = param.role {
            given.push((args.block().0, args.block_count()).into_pyobject(py)?.into_any());
            continue;
        }
        while let Some(argument) = args.next_any() {
            given.push(match argument {
                AnyArg::Tensor(tensor) => array::of_tensor(py, &tensor)?,
                AnyArg::Scalar(scalar) => number_of(py, scalar)?,
            });
            if param.rest == Rest::One {
                break;
            }
        }
    }
    Ok(given)
}

/// What became of the call: an exception fails the task, with its traceback.
fn outcome(py: Python<'_>, called: PyResult<Bound<'_, PyAny>>) -> KernelResult {
    match called {
        Ok(returned) if returned.is_none() => Ok(()),
        Ok(returned) => {
            let kind =
                returned.get_type().name().map_or_else(|_| "value".to_string(), |name| name.to_string());
            Err(KernelError::new(format!(
                "the kernel returned a value of type {kind}; a kernel writes its results into its arguments and returns None"
            )))
        }
        Err(error) => {
            if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                interrupt::in_kernel();
            }
            Err(KernelError::new(text_of(py, &error)))
        }
    }
}

/// An exception and its traceback.
pub fn text_of(py: Python<'_>, error: &PyErr) -> String {
    let lines = || -> PyResult<String> {
        let lines = py
            .import("traceback")?
            .call_method1("format_exception", (error.get_type(py), error.value(py), error.traceback(py)))?;
        let lines: Vec<String> = lines.extract()?;
        Ok(format!("{error}\n{}", lines.concat().trim_end()))
    };
    lines().unwrap_or_else(|_| error.to_string())
}
