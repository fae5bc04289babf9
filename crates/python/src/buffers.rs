//! Arrays of the caller, lent to a run.

use pyo3::prelude::*;
use ringlane::engine::api::buffers::Permission;
use ringlane::engine::prelude::{BufferId, Buffers};

use crate::dtype::dtype_of;
use crate::error::OrRaise;

/// An array as the package describes it: address, data type, lengths, strides in elements, whether tasks may write it; and the array,
/// whose memory stays as long as this does.
pub type Lent = (usize, String, Vec<u32>, Vec<u32>, bool, Py<PyAny>);

/// The buffers of a run: the caller's own memory.
pub fn lend<'d>(arrays: &[Lent]) -> PyResult<(Buffers<'d>, Vec<BufferId>)> {
    let mut buffers = Buffers::new();
    let mut ids = Vec::with_capacity(arrays.len());
    for (address, dtype, shape, strides, writable, _) in arrays {
        let permission = if *writable { Permission::ReadWrite } else { Permission::Read };
        let (base, dtype) = (*address as *mut u8, dtype_of(dtype)?);
        // SAFETY: the package took address, lengths, strides and permission from a NumPy array, which callers keep until the run is over;
        // it refuses negative strides. That nobody else writes the array meanwhile is what `docs/from-python.md` asks of programs.
        ids.push(unsafe { buffers.lend_strided(base, dtype, shape, strides, permission) }.or_raise()?);
    }
    Ok((buffers, ids))
}
