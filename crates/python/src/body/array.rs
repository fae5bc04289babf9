//! Arguments of a kernel as NumPy arrays on the runtime's own memory.

use std::sync::atomic::{AtomicBool, Ordering};

use numpy::PyArrayDescrMethods;
use numpy::npyffi::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp,
};
use pyo3::prelude::*;
use ringlane::engine::api::dynamic::RawTensor;
use ringlane::task::MAX_RANK;

use crate::dtype::descriptor;

/// Whether a kernel kept an array after it returned. From then on no memory that kernels have seen is given back: the array would
/// show memory that is not there.
static KEPT: AtomicBool = AtomicBool::new(false);

/// Whether any kernel of this process kept an array.
pub fn any_kept() -> bool {
    KEPT.load(Ordering::Relaxed)
}

/// Takes note that a kernel kept an array.
pub fn set_kept() {
    KEPT.store(true, Ordering::Relaxed);
}

/// An array on a tensor's memory. It is valid while the kernel runs.
pub fn of_tensor<'py>(py: Python<'py>, tensor: &RawTensor) -> PyResult<Bound<'py, PyAny>> {
    let (mut lengths, mut strides) = ([0 as npy_intp; MAX_RANK], [0 as npy_intp; MAX_RANK]);
    let size_bytes = tensor.dtype().size_bytes() as npy_intp;
    for (axis, dim) in tensor.dims().iter().enumerate() {
        lengths[axis] = dim.len as npy_intp;
        strides[axis] = dim.stride as npy_intp * size_bytes;
    }
    let writable = if tensor.is_writable() { NPY_ARRAY_WRITEABLE } else { 0 };
    let descriptor = descriptor(py, tensor.dtype())?.clone();
    // SAFETY: the lock is held. The call takes the descriptor over, copies lengths and strides, and returns an array that does not
    // own its memory, or null with an exception set. The memory is the task's while its kernel runs; `python::call` sees to it that
    // none is given back that an array may still show.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descriptor.into_dtype_ptr(),
            tensor.dims().len() as i32,
            lengths.as_mut_ptr(),
            strides.as_mut_ptr(),
            tensor.data().cast(),
            NPY_ARRAY_ALIGNED | writable,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)
    }
}
