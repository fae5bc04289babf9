//! Arguments of a submit, from Python objects.

use pyo3::prelude::*;
use ringlane::engine::Result;
use ringlane::engine::api::dynamic::{DynTensor, Submission};
use ringlane::engine::{Error, Fault};
use ringlane::task::{Access, DType, Scalar};

use crate::dtype::scalar_of;
use crate::error::{OrRaise, exception};
use crate::kernel::{Param, Role};
use crate::tensor::{Output, Parameter, Tensor};

/// An argument, without Python objects: a submit with such arguments needs no lock.
pub enum Given {
    Tensor(DynTensor, Access, Option<u8>),
    Output(DType, Vec<u32>, Option<u8>),
    Scalar(Scalar),
    Param(String, Scalar),
}

impl Given {
    /// Passes it to a submit.
    #[inline]
    pub fn push(&self, to: &mut Submission<'_, '_, '_>) -> Result<()> {
        match self {
            Given::Tensor(tensor, access, split) => to.tensor(tensor, *access, *split),
            Given::Output(dtype, shape, split) => to.output(*dtype, shape, *split),
            Given::Scalar(scalar) => to.scalar(*scalar),
            Given::Param(name, scalar) => to.param(name, *scalar),
        }
    }
}

/// An argument for a parameter.
pub fn given(param: Param, kernel: &str, index: usize, argument: &Bound<'_, PyAny>) -> PyResult<Given> {
    if let Ok(tensor) = argument.cast::<Tensor>() {
        let Tensor { tensor, split } = tensor.get();
        let access = match param.role {
            Role::Tensor(access) => access,
            _ => return Err(wrong(param, kernel, index, "a tensor")),
        };
        return Ok(Given::Tensor(*tensor, access, *split));
    }
    if let Role::Scalar(dtype) = param.role {
        if let Ok(parameter) = argument.cast::<Parameter>() {
            let Parameter { name, value } = parameter.get();
            return Ok(Given::Param(name.clone(), scalar_of(value.bind(argument.py()), dtype)?));
        }
        if argument.cast::<Output>().is_err() {
            return Ok(Given::Scalar(scalar_of(argument, dtype)?));
        }
    }
    match argument.cast::<Output>() {
        Ok(output) if matches!(param.role, Role::Tensor(_)) => {
            let Output { dtype, shape, split } = output.get();
            Ok(Given::Output(*dtype, shape.clone(), *split))
        }
        Ok(_) => Err(wrong(param, kernel, index, "an output")),
        Err(_) => Err(wrong(param, kernel, index, "a Python object that is no tensor of this run")),
    }
}

/// Passes an argument to a submit.
#[inline]
pub fn push(
    to: &mut Submission<'_, '_, '_>,
    param: Param,
    kernel: &str,
    index: usize,
    argument: &Bound<'_, PyAny>,
) -> PyResult<()> {
    given(param, kernel, index, argument)?.push(to).or_raise()
}

/// The error of an argument of another kind than the parameter.
#[cold]
fn wrong(param: Param, kernel: &str, arg: usize, given: &'static str) -> PyErr {
    let wanted = match param.role {
        Role::Tensor(Access::Input) => "a tensor to read",
        Role::Tensor(_) => "a tensor to write",
        Role::Scalar(_) | Role::Block => "a value",
    };
    exception(&Error::from(Fault::ArgKind { kernel: kernel.to_string(), arg, given, wanted }))
}
