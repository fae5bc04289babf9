//! Handles of tensors and tasks, and what else a submit takes.

use pyo3::prelude::*;
use pyo3::types::{PySequence, PyTuple};
use ringlane::engine::Result;
use ringlane::engine::api::dynamic::{DynTask, DynTensor};
use ringlane::task::{DType, MAX_RANK};

use crate::dtype::dtype_of;
use crate::error::{OrRaise, raise};

/// Lengths or starts, one for each dimension: a number, or a sequence of them.
pub struct Sizes {
    sizes: [u32; MAX_RANK + 1],
    count: usize,
}

impl Sizes {
    pub fn as_slice(&self) -> &[u32] {
        &self.sizes[..self.count]
    }
}

impl<'py> FromPyObject<'_, 'py> for Sizes {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut all = Sizes { sizes: [0; MAX_RANK + 1], count: 0 };
        if let Ok(tuple) = value.cast::<PyTuple>() {
            for one in tuple.iter_borrowed() {
                all.push(&one)?;
            }
        } else if let Ok(sequence) = value.cast::<PySequence>() {
            for one in sequence.try_iter()? {
                all.push(&one?)?;
            }
        } else {
            all.push(&value)?;
        }
        Ok(all)
    }
}

/// A length, a start, an index or an axis.
pub struct Size(u32);

impl<'py> FromPyObject<'_, 'py> for Size {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let hint = "a whole number from 0 to 2^32 - 1; axes count from 0";
        value.extract::<u32>().map(Size).map_err(|_| bad_size(&value, hint))
    }
}

impl Size {
    /// An axis for [`split`](Tensor::split); one that no tensor has if the number is larger.
    fn split(&self) -> Option<u8> {
        Some(self.0.min(u8::MAX as u32 - 1) as u8)
    }
}

#[cold]
fn bad_size(value: &Bound<'_, PyAny>, hint: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| "a value".to_string(), |text| text.to_string());
    raise("BadSize", "a length, a start or an index is not a size", &shown, hint)
}

impl Sizes {
    /// One more than a view can have is kept, for the engine to refuse.
    fn push(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let hint = "a whole number from 0 to 2^32 - 1, or one for each dimension";
        let number = value.extract::<u32>().map_err(|_| bad_size(value, hint))?;
        if self.count <= MAX_RANK {
            self.sizes[self.count] = number;
            self.count += 1;
        }
        Ok(())
    }
}

/// A tensor, or a view of one; usable until the scope that made it ends.
#[pyclass(frozen, module = "ringlane")]
pub struct Tensor {
    pub tensor: DynTensor,
    /// The axis along which blocks share it out.
    pub split: Option<u8>,
}

impl Tensor {
    pub fn new(tensor: DynTensor) -> Self {
        Tensor { tensor, split: None }
    }

    fn with(&self, view: Result<DynTensor>) -> PyResult<Tensor> {
        Ok(Tensor { tensor: view.or_raise()?, split: self.split })
    }
}

#[pymethods]
impl Tensor {
    /// The lengths of the dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tensor.shape())
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.tensor.view().dims().len()
    }

    /// The name of the data type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.tensor.dtype().as_str()
    }

    /// The window of `len[i]` elements from `start[i]` along each dimension.
    fn tile(&self, start: Sizes, len: Sizes) -> PyResult<Tensor> {
        self.with(self.tensor.tile(start.as_slice(), len.as_slice()))
    }

    /// The window of `len` elements from `start` along one dimension.
    fn slice(&self, axis: Size, start: Size, len: Size) -> PyResult<Tensor> {
        self.with(self.tensor.slice(axis.0 as usize, start.0, len.0))
    }

    /// The elements at one index of a dimension, which is dropped.
    fn select(&self, axis: Size, index: Size) -> PyResult<Tensor> {
        self.with(self.tensor.select(axis.0 as usize, index.0))
    }

    /// The same elements with two dimensions exchanged.
    fn transpose(&self, a: Size, b: Size) -> PyResult<Tensor> {
        self.with(self.tensor.transpose(a.0 as usize, b.0 as usize))
    }

    /// The same elements under another shape; only for contiguous views.
    fn reshape(&self, shape: Sizes) -> PyResult<Tensor> {
        self.with(self.tensor.reshape(shape.as_slice()))
    }

    /// The view repeated along a new leading dimension; only for reads.
    fn broadcast(&self, len: Size) -> PyResult<Tensor> {
        self.with(self.tensor.broadcast(len.0))
    }

    /// The same as an argument that blocks share out along an axis.
    fn split(&self, axis: Size) -> Tensor {
        Tensor { tensor: self.tensor, split: axis.split() }
    }

    fn __repr__(&self) -> String {
        format!("<ringlane.Tensor {} {:?}>", self.tensor.dtype(), self.tensor.shape())
    }
}

/// A submitted task and the tensors that it makes; usable until the scope that it was submitted in ends.
#[pyclass(frozen, module = "ringlane")]
pub struct Task {
    pub task: DynTask,
    pub outs: Vec<DynTensor>,
}

#[pymethods]
impl Task {
    /// The tensor of output `index`, outputs counted from 0.
    #[pyo3(signature = (index = 0))]
    fn out(&self, index: usize) -> PyResult<Tensor> {
        let none = || {
            let detail = format!("output {index} of a task that makes {}", self.outs.len());
            raise(
                "NoSuchOutput",
                "a task does not have this output",
                &detail,
                "pass `rl.out(dtype, shape)` to the submit",
            )
        };
        self.outs.get(index).copied().map(Tensor::new).ok_or_else(none)
    }

    /// The tensors of its outputs.
    #[getter]
    fn outs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.outs.iter().map(|tensor| Tensor::new(*tensor)))
    }

    fn __repr__(&self) -> String {
        format!("<ringlane.Task with {} outputs>", self.outs.len())
    }
}

/// A tensor that a submit makes.
#[pyclass(frozen, module = "ringlane")]
pub struct Output {
    pub dtype: DType,
    pub shape: Vec<u32>,
    pub split: Option<u8>,
}

#[pymethods]
impl Output {
    #[new]
    fn new(dtype: &str, shape: Sizes) -> PyResult<Self> {
        Ok(Output { dtype: dtype_of(dtype)?, shape: shape.as_slice().to_vec(), split: None })
    }

    /// The same as an argument that blocks share out along an axis.
    fn split(&self, axis: Size) -> Output {
        Output { dtype: self.dtype, shape: self.shape.clone(), split: axis.split() }
    }

    fn __repr__(&self) -> String {
        format!("rl.out({:?}, {:?})", self.dtype.as_str(), self.shape)
    }
}

/// A value that a captured graph knows by name.
#[pyclass(frozen, module = "ringlane")]
pub struct Parameter {
    pub name: String,
    pub value: Py<PyAny>,
}

#[pymethods]
impl Parameter {
    #[new]
    fn new(name: String, value: Py<PyAny>) -> Self {
        Parameter { name, value }
    }
}
