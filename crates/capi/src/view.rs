//! Views of tensors: plain arithmetic on the handle, without a run.

use ringlane::dynamic::DynTensor;

use crate::abi::rl_tensor;
use crate::error::{Failure, guarded};
use crate::orch::{put, shape, tensor};
use crate::read;

/// Writes the view that `f` makes of a tensor.
unsafe fn view(
    of: *const rl_tensor,
    out: *mut rl_tensor,
    f: impl FnOnce(&DynTensor) -> Result<DynTensor, Failure>,
) -> i32 {
    // SAFETY: the caller passes a tensor, and where the result goes; so in all functions below.
    guarded(|| unsafe { put(out, f(tensor(of)?)?) })
}

/// The window of `len[i]` elements from `start[i]` along each of the tensor's dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_tile(
    of: *const rl_tensor,
    ndim: u32,
    start: *const u32,
    len: *const u32,
    out: *mut rl_tensor,
) -> i32 {
    // SAFETY: as above.
    unsafe { view(of, out, |tensor| Ok(tensor.tile(shape(ndim, start)?, shape(ndim, len)?)?)) }
}

/// The window of `len` elements from `start` along one dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_slice(
    of: *const rl_tensor,
    axis: u32,
    start: u32,
    len: u32,
    out: *mut rl_tensor,
) -> i32 {
    // SAFETY: as above.
    unsafe { view(of, out, |tensor| Ok(tensor.slice(axis as usize, start, len)?)) }
}

/// The elements at one index of a dimension, which is dropped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_select(of: *const rl_tensor, axis: u32, index: u32, out: *mut rl_tensor) -> i32 {
    // SAFETY: as above.
    unsafe { view(of, out, |tensor| Ok(tensor.select(axis as usize, index)?)) }
}

/// The same elements with two dimensions exchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_transpose(of: *const rl_tensor, a: u32, b: u32, out: *mut rl_tensor) -> i32 {
    // SAFETY: as above.
    unsafe { view(of, out, |tensor| Ok(tensor.transpose(a as usize, b as usize)?)) }
}

/// The same elements under another shape; only for contiguous views.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_reshape(
    of: *const rl_tensor,
    ndim: u32,
    lengths: *const u32,
    out: *mut rl_tensor,
) -> i32 {
    // SAFETY: as above.
    unsafe { view(of, out, |tensor| Ok(tensor.reshape(shape(ndim, lengths)?)?)) }
}

/// The view repeated `len` times along a new leading dimension; only for reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_broadcast(of: *const rl_tensor, len: u32, out: *mut rl_tensor) -> i32 {
    // SAFETY: as above.
    unsafe { view(of, out, |tensor| Ok(tensor.broadcast(len)?)) }
}

/// What a tensor is: its type's code, its number of dimensions, and the first of their lengths, as many as `shape` has room
/// for. Any result may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_describe(
    of: *const rl_tensor,
    dtype: *mut u32,
    ndim: *mut u32,
    lengths: *mut u32,
    room: usize,
) -> i32 {
    // SAFETY: as above.
    guarded(|| unsafe {
        let view = *tensor(of)?.view();
        if !dtype.is_null() {
            dtype.write(view.dtype() as u32);
        }
        if !ndim.is_null() {
            ndim.write(view.rank() as u32);
        }
        for (i, dim) in view.dims().iter().enumerate().take(room) {
            read::result("shape", lengths.wrapping_add(i))?.write(dim.len);
        }
        Ok(())
    })
}
