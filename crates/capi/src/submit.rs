//! Submits.

use core::time::Duration;

use ringlane::dynamic::{DynOrch, DynTask, DynTensor, Submission};
use ringlane::engine::prelude::Launch;
use ringlane::task::{Access, Scalar};

use crate::abi::{
    RL_ACCESS_INOUT, RL_ACCESS_NO_DEP, RL_ACCESS_READ, RL_ACCESS_WRITE, RL_ARG_OUTPUT, RL_ARG_SCALAR,
    RL_ARG_TENSOR, RL_NO_SPLIT, rl_arg, rl_kernel, rl_launch, rl_orch, rl_task, rl_tensor,
};
use crate::dtype::dtype;
use crate::error::{CapiError, Failure};
use crate::kernel::{bad, of};
use crate::orch::{shape, tensor, with};
use crate::read;

/// Submits one block of a kernel. `outs` receives the tensors that the task makes, in order: exactly `out_count` of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_submit(
    o: *mut rl_orch,
    kernel: *const rl_kernel,
    args: *const rl_arg,
    arg_count: usize,
    outs: *mut rl_tensor,
    out_count: usize,
) -> i32 {
    // SAFETY: the caller passes the program's handle, a kernel, arguments, and where the results go.
    unsafe {
        with(o, |d, _| {
            let kernel = of(kernel).ok_or(CapiError::NullPointer { what: "kernel" })?;
            let args = Given { first: args, count: arg_count, outs, out_count };
            send(d, Launch::from(kernel), &args, |_| Ok(())).map(drop)
        })
    }
}

/// Submits a task in full. `task` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_submit_launch(
    o: *mut rl_orch,
    launch: *const rl_launch,
    args: *const rl_arg,
    arg_count: usize,
    outs: *mut rl_tensor,
    out_count: usize,
    task: *mut rl_task,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        with(o, |d, _| {
            let given = read::sized(launch)?;
            let after = read::slice("after", given.after.cast::<DynTask>(), given.after_count)?;
            let marks = read::slice("marks", given.marks, given.mark_count)?;
            let args = Given { first: args, count: arg_count, outs, out_count };
            let sent = send(d, launch_of(&given)?, &args, |submission| {
                after.iter().try_for_each(|task| submission.after(task))?;
                if !marks.is_empty() {
                    submission.mark(marks);
                }
                Ok(())
            })?;
            if !task.is_null() {
                task.cast::<DynTask>().write(sent);
            }
            Ok(())
        })
    }
}

/// The launch that C describes.
unsafe fn launch_of<'a>(given: &rl_launch) -> Result<Launch<'a>, Failure> {
    // SAFETY: the caller passes null or kernels.
    let (aic, aiv) = unsafe { (of(given.kernel), given.aiv.map(|kernel| of(kernel))) };
    let launch = match (aic, aiv) {
        (Some(only), [None, None]) => Launch::from(only),
        (aic, [Some(first), None]) | (aic, [None, Some(first)]) => Launch::mixed(aic, &[first]),
        (aic, [Some(first), Some(second)]) => Launch::mixed(aic, &[first, second]),
        (None, [None, None]) => return Err(CapiError::NullPointer { what: "kernel" }.into()),
    };
    let launch = launch.blocks(given.blocks.max(1));
    let launch = match given.duration_ns {
        0 => launch,
        ns => launch.taking(Duration::from_nanos(ns)),
    };
    // SAFETY: the caller passes null or a text.
    let label = unsafe { read::optional_text("label", given.label) }?;
    Ok(label.map_or(launch, |label| launch.labelled(label)))
}

/// Arguments as C passes them, and where the outputs go.
struct Given {
    first: *const rl_arg,
    count: usize,
    outs: *mut rl_tensor,
    out_count: usize,
}

/// Submits a task.
#[inline]
unsafe fn send(
    d: &mut DynOrch<'static>,
    launch: Launch<'_>,
    given: &Given,
    extra: impl FnOnce(&mut Submission<'_, 'static, '_>) -> Result<(), Failure>,
) -> Result<DynTask, Failure> {
    let mut submission = d.submit(launch);
    let mut outputs = 0;
    if given.count > 0 {
        if given.first.is_null() {
            return Err(CapiError::NullPointer { what: "args" }.into());
        }
        // SAFETY: the first argument begins with its size.
        let stride = unsafe { given.first.cast::<u32>().read_unaligned() } as usize;
        for i in 0..given.count {
            // SAFETY: the caller passes as many arguments, each as large as the first says.
            unsafe { outputs += push(&mut submission, given.first.byte_add(i * stride))? };
        }
    }
    if outputs != given.out_count || (outputs > 0 && given.outs.is_null()) {
        return Err(CapiError::WrongCount { what: "outs", given: given.out_count, needed: outputs }.into());
    }
    extra(&mut submission)?;
    let made = submission.send()?;
    for (i, out) in made.outs().enumerate().take(outputs) {
        // SAFETY: the caller passes room for as many.
        unsafe { given.outs.cast::<DynTensor>().add(i).write(out) };
    }
    Ok(made.task())
}

/// Adds one argument; returns how many outputs it is.
#[inline(always)]
unsafe fn push(submission: &mut Submission<'_, 'static, '_>, at: *const rl_arg) -> Result<usize, Failure> {
    // SAFETY: the caller passes an argument with its size, and true pointers in it; so below.
    let arg = unsafe { read::sized(at) }?;
    let split = match arg.split {
        RL_NO_SPLIT => None,
        axis @ 0..RL_NO_SPLIT => Some(axis as u8),
        other => return Err(bad("split", other, "an axis or RL_NO_SPLIT")),
    };
    match arg.kind {
        RL_ARG_TENSOR => {
            // SAFETY: as above.
            let tensor = unsafe { tensor(arg.tensor) }?;
            let access = match arg.access {
                RL_ACCESS_READ => Access::Input,
                RL_ACCESS_WRITE => Access::OutputExisting,
                RL_ACCESS_INOUT => Access::InOut,
                RL_ACCESS_NO_DEP => {
                    // SAFETY: the header says that the program answers for the order.
                    return unsafe { submission.no_dep(tensor) }.map(|()| 0).map_err(Failure::from);
                }
                other => return Err(bad("access", other, "RL_ACCESS_READ to RL_ACCESS_NO_DEP")),
            };
            submission.tensor(tensor, access, split)?;
            Ok(0)
        }
        RL_ARG_OUTPUT => {
            // SAFETY: as above.
            let shape = unsafe { shape(arg.ndim, arg.shape) }?;
            submission.output(dtype(arg.dtype)?, shape, split)?;
            Ok(1)
        }
        RL_ARG_SCALAR => {
            let dtype = dtype(arg.dtype)?;
            // SAFETY: any bits are an integer; unused ones are cut.
            let bits = unsafe { arg.value.bits } & (u64::MAX >> (64 - 8 * dtype.size_bytes()));
            let refused = CapiError::BadNumber { what: "bool", value: bits as i64, allowed: "0 or 1" };
            let scalar = Scalar::from_bits(bits, dtype).ok_or(refused)?;
            // SAFETY: as above.
            match unsafe { read::optional_text("name", arg.name) }? {
                Some(name) => submission.param(name, scalar)?,
                None => submission.scalar(scalar)?,
            }
            Ok(0)
        }
        other => Err(bad("kind of an argument", other, "RL_ARG_TENSOR, RL_ARG_OUTPUT or RL_ARG_SCALAR")),
    }
}
