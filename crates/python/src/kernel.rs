//! Kernels of Python programs.

use std::ffi::c_void;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use ringlane::engine::api::args::Args;
use ringlane::engine::api::dynamic::{CostValue, CudaText, DynKernel};
use ringlane::engine::api::kernel::ParamKind;
use ringlane::engine::prelude::{CoreType, ParamSpec};
use ringlane::task::{Access, DType};

use crate::body::native::NativeBody;
use crate::body::{cost, python};
use crate::dtype::dtype_of;
use crate::error::{OrRaise, raise};

/// What a kernel does with one of its parameters.
#[derive(Clone, Copy)]
pub enum Role {
    /// It takes a tensor, and accesses it so.
    Tensor(Access),
    /// It takes a value of this type.
    Scalar(DType),
    /// It takes no argument: the block's own index and the number of blocks.
    Block,
}

/// A parameter of a kernel.
#[derive(Clone, Copy)]
pub struct Param {
    pub role: Role,
    /// Whether it takes all arguments that are left.
    pub rest: Rest,
}

/// How many arguments a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    One,
    All,
}

/// A parameter as the package describes it: role, data type, number of dimensions, whether it must be contiguous, whether it takes
/// all arguments that are left.
type Declared = (String, Option<String>, Option<u8>, bool, bool);

fn param_of(declared: &Declared) -> PyResult<(Param, ParamSpec)> {
    let (role, dtype, rank, contiguous, rest) = declared;
    let dtype = dtype.as_deref().map(dtype_of).transpose()?;
    let tensor = |access, kind| match dtype {
        Some(dtype) => (Role::Tensor(access), ParamSpec::new(kind, dtype, *rank, *contiguous)),
        // Of any type, which the name of a type here does not say.
        None => (Role::Tensor(access), ParamSpec::new(ParamKind::Tensor, DType::UInt8, *rank, *contiguous)),
    };
    let (role, spec) = match role.as_str() {
        "in" => tensor(Access::Input, ParamKind::Read),
        "out" => tensor(Access::OutputExisting, ParamKind::Write),
        "inout" => tensor(Access::InOut, ParamKind::Write),
        "block" => (Role::Block, ParamSpec::new(ParamKind::Context, DType::UInt8, None, false)),
        _ => {
            let dtype = dtype.unwrap_or(DType::Float64);
            (Role::Scalar(dtype), ParamSpec::scalar(dtype))
        }
    };
    let (rest, spec) = if *rest { (Rest::All, spec.rest()) } else { (Rest::One, spec) };
    Ok((Param { role, rest }, spec))
}

/// A kernel. Calling it calls its Python function, outside of any run.
#[pyclass(frozen, module = "ringlane", subclass)]
pub struct Kernel {
    pub kernel: &'static ringlane::engine::prelude::Kernel,
    pub params: Vec<Param>,
    /// The Python function, or what describes the kernel's source.
    function: Py<PyAny>,
}

/// What a kernel runs, as the package passes it.
#[derive(FromPyObject)]
enum Code {
    /// The address of a function with the calling convention of [`NativeBody`].
    Address(usize),
    /// A Python function.
    Function(Py<PyAny>),
}

/// A body for GPUs: statements, names of parameters, file, line.
type Cuda = (String, Vec<String>, String, u32);

#[pymethods]
impl Kernel {
    #[new]
    #[pyo3(signature = (name, core, params, code, function, cost = None, cuda = None))]
    fn new(
        name: &str,
        core: &str,
        params: Vec<Declared>,
        code: Code,
        function: Py<PyAny>,
        cost: Option<Py<PyAny>>,
        cuda: Option<Cuda>,
    ) -> PyResult<Self> {
        let core = match core {
            "aic" => CoreType::Aic,
            "aiv" => CoreType::Aiv,
            "any" => CoreType::Any,
            _ => return Err(bad_kernel(&format!("{core:?} of kernel {name:?}"), "aic, aiv or any")),
        };
        let params = params.iter().map(param_of).collect::<PyResult<Vec<_>>>()?;
        let (params, specs): (Vec<_>, Vec<_>) = params.into_iter().unzip();
        let made = match code {
            Code::Address(address) => {
                let body = NativeBody::new(address as *const c_void);
                DynKernel::new(name, core, specs, move |args: &mut Args<'_>| body.call(args))
            }
            Code::Function(function) => {
                let params = params.clone();
                DynKernel::new(name, core, specs, move |args: &mut Args<'_>| {
                    python::call(&function, &params, args)
                })
            }
        };
        let made = match cost {
            Some(cost) => made.cost(cost_of(cost)?),
            None => made,
        };
        let made = match cuda {
            Some((source, params, file, line)) => made.cuda(CudaText { source, params, file, line }),
            None => made,
        };
        Ok(Kernel { kernel: made.build().or_raise()?, params, function })
    }

    /// The kernel's name.
    #[getter]
    fn name(&self) -> &'static str {
        self.kernel.name()
    }

    /// The kind of core that it runs on.
    #[getter]
    fn core(&self) -> &'static str {
        self.kernel.core().as_str()
    }

    /// The Python function.
    #[getter]
    fn function(&self, py: Python<'_>) -> Py<PyAny> {
        self.function.clone_ref(py)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.function.call(py, args, kwargs)
    }

    fn __repr__(&self) -> String {
        format!("<ringlane.Kernel {:?} on {}>", self.name(), self.core())
    }
}

fn bad_kernel(detail: &str, hint: &str) -> PyErr {
    raise("BadKernel", "a kernel's declaration is not valid", detail, hint)
}

/// A cost model: seconds of a block, or a function of shapes and values that returns them.
fn cost_of(cost: Py<PyAny>) -> PyResult<impl Fn(&Args<'_>) -> CostValue + Send + Sync + 'static> {
    let (constant, callable) =
        Python::attach(|py| (cost.extract::<f64>(py).ok(), cost.bind(py).is_callable()));
    if let Some(seconds) = constant.filter(|seconds| !(0.0..=1.0).contains(seconds)) {
        return Err(bad_kernel(&format!("a cost of {seconds} s"), "from 0 to 1 second a block"));
    }
    if constant.is_none() && !callable {
        let hint = "seconds of a block, or a function of shapes and values that returns them";
        return Err(bad_kernel("a cost that is neither a number nor a function", hint));
    }
    Ok(move |args: &Args<'_>| match constant {
        Some(seconds) => CostValue::Time(Duration::from_secs_f64(seconds)),
        None => CostValue::Time(cost::of_block(&cost, args)),
    })
}
