//! Cost models that are Python functions.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use ringlane::engine::api::args::Args;

use crate::attach::with_lock;

/// The longest that a block can take on a modelled chip, in seconds.
const LONGEST: f64 = 1.0;

/// What a block takes, by a function of the shapes of its tensors and its values, in order. A function that fails or returns no
/// time is reported as an exception that nobody can catch, and the block takes no time.
pub fn of_block(function: &Py<PyAny>, args: &Args<'_>) -> Duration {
    with_lock(|py| {
        let seconds = || -> PyResult<f64> {
            let shapes = args.tensors().map(|tensor| {
                PyTuple::new(py, (0..8).map_while(|axis| tensor.len(axis)).collect::<Vec<_>>())
            });
            let mut given = shapes.map(|shape| shape.map(Bound::into_any)).collect::<PyResult<Vec<_>>>()?;
            for scalar in args.scalars() {
                given.push(crate::dtype::number_of(py, scalar)?);
            }
            let seconds: f64 = function.bind(py).call1(PyTuple::new(py, given)?)?.extract()?;
            let error =
                || pyo3::exceptions::PyValueError::new_err(format!("a cost of {seconds} s, not 0 to 1 s"));
            (0.0..=LONGEST).contains(&seconds).then_some(seconds).ok_or_else(error)
        };
        match seconds() {
            Ok(seconds) => Duration::from_secs_f64(seconds),
            Err(error) => {
                error.write_unraisable(py, Some(function.bind(py)));
                Duration::ZERO
            }
        }
    })
}
