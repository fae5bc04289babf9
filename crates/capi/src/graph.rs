//! Captured graphs.

use core::ffi::{c_char, c_void};
use core::panic::Location;

use ringlane::prelude::Graph;
use ringlane::task::Scalar;

use crate::abi::{rl_buffer, rl_graph, rl_program_fn, rl_report, rl_runtime, rl_scalar};
use crate::dtype::dtype;
use crate::error::{CapiError, Failure, guarded};
use crate::orch;
use crate::read;
use crate::runtime::{alone, buffers_of, finished, put_report};

/// Captures a program as a graph: everything is checked and planned, and nothing runs. Replays take buffers of the same types,
/// shapes, strides and permissions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_capture(
    runtime: *mut rl_runtime,
    buffers: *const rl_buffer,
    buffer_count: usize,
    program: rl_program_fn,
    user: *mut c_void,
    graph: *mut *mut rl_graph,
) -> i32 {
    // SAFETY: the caller passes a runtime, true buffers, a program with its data, and where the result goes.
    unsafe {
        alone(runtime, |runtime, state| {
            let program = program.ok_or(CapiError::NullPointer { what: "program" })?;
            let result = read::result("graph", graph)?;
            let (buffers, ids) = buffers_of(buffers, buffer_count)?;
            (*state).prepare(ids);
            let site = Location::caller();
            let captured = runtime
                .capture_from(site, &buffers, None, |o| orch::run(state, o, |handle| program(user, handle)));
            let ((), captured) = finished(captured, (*state).take_failure())?;
            result.write(Box::into_raw(Box::new(captured)).cast());
            Ok(())
        })
    }
}

/// Runs a captured graph. `report` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_replay(
    runtime: *mut rl_runtime,
    graph: *mut rl_graph,
    buffers: *const rl_buffer,
    buffer_count: usize,
    report: *mut rl_report,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        alone(runtime, |runtime, _| {
            let graph = graph_of(graph)?;
            let (mut buffers, _) = buffers_of(buffers, buffer_count)?;
            let run = runtime.replay(graph, &mut buffers);
            put_report(report, &run.report)?;
            Ok(run.result?)
        })
    }
}

unsafe fn graph_of<'g>(graph: *mut rl_graph) -> Result<&'g mut Graph, Failure> {
    // SAFETY: the caller passes null, or a graph that no other call uses.
    unsafe { graph.cast::<Graph>().as_mut() }.ok_or_else(|| CapiError::NullPointer { what: "graph" }.into())
}

/// Sets a scalar that was submitted with a name, for the following replays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_graph_set(
    graph: *mut rl_graph,
    name: *const c_char,
    dtype_code: u32,
    value: rl_scalar,
) -> i32 {
    // SAFETY: as above.
    guarded(|| unsafe {
        let dtype = dtype(dtype_code)?;
        let bits = value.bits & (u64::MAX >> (64 - 8 * dtype.size_bytes()));
        let refused = CapiError::BadNumber { what: "bool", value: bits as i64, allowed: "0 or 1" };
        let scalar = Scalar::from_bits(bits, dtype).ok_or(refused)?;
        Ok(graph_of(graph)?.set_scalar(read::text("name", name)?, scalar)?)
    })
}

/// Frees a graph; null does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_graph_free(graph: *mut rl_graph) {
    if !graph.is_null() {
        // SAFETY: the caller passes a graph that nobody uses any more.
        let _ = guarded(|| unsafe {
            drop(Box::from_raw(graph.cast::<Graph>()));
            Ok(())
        });
    }
}
