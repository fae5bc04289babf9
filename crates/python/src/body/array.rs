//! Arguments of a kernel as NumPy arrays on the runtime's own memory.

use numpy::PyArrayDescrMethods;
use numpy::npyffi::{
    NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp,
};
use pyo3::prelude::*;
use ringlane::engine::api::dynamic::RawTensor;
use ringlane::task::MAX_RANK;

use crate::dtype::descriptor;

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
    // own its memory, or null with an exception set. The memory is the task's while its kernel runs, and `Shown` keeps it longer if
    // the kernel keeps the array.
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
