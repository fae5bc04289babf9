//! Kernels from function pointers.

use core::ffi::c_void;
use core::time::Duration;

use ringlane::dynamic::{CostValue, CudaText, DynKernel};
use ringlane::engine::prelude::{Args, CoreType, Kernel, KernelError, KernelResult, ParamKind, ParamSpec};
use ringlane::task::DType;

use crate::abi::{
    RL_CORE_AIC, RL_CORE_AIV, RL_CORE_ANY, RL_COST_NANOSECONDS, RL_COST_ROOFLINE, RL_COST_TICKS,
    RL_PARAM_CONTIGUOUS, RL_PARAM_READ, RL_PARAM_REST, RL_PARAM_SCALAR, RL_PARAM_SHARED, RL_PARAM_WRITE,
    rl_call, rl_cost, rl_kernel, rl_kernel_info, rl_param,
};
use crate::call::{Addresses, with_call};
use crate::dtype::dtype;
use crate::error::{CapiError, Failure, guarded, take_kernel_text};
use crate::read;

/// A function of the user's with its data.
#[derive(Clone, Copy)]
struct UserFn<F> {
    function: F,
    user: *mut c_void,
}

// SAFETY: the header says that several threads may run a kernel at the same time: the user's data is theirs to guard.
unsafe impl<F> Send for UserFn<F> {}
// SAFETY: as above.
unsafe impl<F> Sync for UserFn<F> {}

type Body = unsafe extern "C-unwind" fn(*mut c_void, *const rl_call) -> i32;
type Cost = unsafe extern "C-unwind" fn(*mut c_void, *const rl_call, *mut rl_cost) -> i32;

impl UserFn<Body> {
    fn run(&self, args: &mut Args<'_>) -> KernelResult {
        let place = [args.block().0, args.block_count()];
        let taken = core::iter::from_fn(|| args.next_any());
        let status = with_call(taken, place, Addresses::Given, |call| {
            // SAFETY: the user's function, with its data and a call that lives until it returns.
            unsafe { (self.function)(self.user, call) }
        });
        if status == 0 { Ok(()) } else { Err(failed(status)) }
    }
}

#[cold]
fn failed(status: i32) -> KernelError {
    let text = take_kernel_text();
    KernelError(text.unwrap_or_else(|| format!("the kernel returned {status}")))
}

impl UserFn<Cost> {
    fn evaluate(&self, args: &Args<'_>) -> CostValue {
        let struct_size = size_of::<rl_cost>() as u32;
        let mut cost = rl_cost { struct_size, kind: RL_COST_TICKS, amount: 0, flops: 0.0, bytes: 0.0 };
        let place = [args.block().0, args.block_count()];
        let status = with_call(args.each_any(), place, Addresses::Withheld, |call| {
            // SAFETY: as for a body.
            unsafe { (self.function)(self.user, call, &mut cost) }
        });
        match (status, cost.kind) {
            (0, RL_COST_TICKS) => CostValue::Ticks(cost.amount),
            (0, RL_COST_NANOSECONDS) => CostValue::Time(Duration::from_nanos(cost.amount)),
            (0, RL_COST_ROOFLINE) => CostValue::Roofline { flops: cost.flops, bytes: cost.bytes },
            // No amount: the chip takes its default.
            _ => CostValue::Roofline { flops: f64::NAN, bytes: f64::NAN },
        }
    }
}

/// Makes a kernel, which lives as long as the process: make it once, not once a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_kernel_new(info: *const rl_kernel_info, kernel: *mut *const rl_kernel) -> i32 {
    guarded(|| {
        // SAFETY: the caller passes a struct, and where the result goes.
        let (info, result) = unsafe { (read::sized(info)?, read::result("kernel", kernel)?) };
        // SAFETY: the caller passes true pointers in it.
        let made = unsafe { make(&info) }?;
        result.write(core::ptr::from_ref(made).cast());
        Ok(())
    })
}

/// Makes a kernel.
///
/// # Safety
/// The pointers in `info` are null or true.
pub(crate) unsafe fn make(info: &rl_kernel_info) -> Result<&'static Kernel, Failure> {
    // SAFETY: the caller's promise; so below.
    let (name, params) =
        unsafe { (read::text("name", info.name)?, read::array(info.params, info.param_count)?) };
    let core = match info.core {
        RL_CORE_AIC => CoreType::Aic,
        RL_CORE_AIV => CoreType::Aiv,
        RL_CORE_ANY => CoreType::Any,
        other => return Err(bad("core", other, "RL_CORE_AIC, RL_CORE_AIV or RL_CORE_ANY")),
    };
    let specs = params.iter().map(spec).collect::<Result<Vec<_>, _>>()?;
    let function = info.function.ok_or(CapiError::NullPointer { what: "function" })?;
    let body = UserFn::<Body> { function, user: info.user };
    let mut kernel = DynKernel::new(name, core, specs, move |args| body.run(args));
    if let Some(function) = info.cost {
        let cost = UserFn::<Cost> { function, user: info.user };
        kernel = kernel.cost(move |args| cost.evaluate(args));
    }
    // SAFETY: as above.
    if let Some(source) = unsafe { read::optional_text("cuda_source", info.cuda_source) }? {
        // SAFETY: as above.
        let name =
            |param: &rl_param| unsafe { read::text("name of a parameter", param.name) }.map(str::to_string);
        let params = params.iter().map(name).collect::<Result<Vec<_>, _>>()?;
        kernel =
            kernel.cuda(CudaText { source: source.to_string(), params, file: name_of_source(info), line: 1 });
    }
    Ok(kernel.build()?)
}

/// What errors of the CUDA compiler name as the file.
fn name_of_source(info: &rl_kernel_info) -> String {
    // SAFETY: it was read as a text before.
    let name = unsafe { read::text("name", info.name) };
    format!("cuda_source of {}", name.unwrap_or_default())
}

fn spec(param: &rl_param) -> Result<ParamSpec, Failure> {
    let kind = match param.kind {
        RL_PARAM_READ => ParamKind::Read,
        RL_PARAM_WRITE => ParamKind::Write,
        RL_PARAM_SHARED => ParamKind::Shared,
        RL_PARAM_SCALAR => ParamKind::Scalar,
        other => return Err(bad("kind of a parameter", other, "RL_PARAM_READ to RL_PARAM_SCALAR")),
    };
    let rank = match param.rank {
        -1 => None,
        rank @ 0..=8 => Some(rank as u8),
        other => {
            let (what, allowed) = ("rank of a parameter", "-1 to 8");
            return Err(CapiError::BadNumber { what, value: i64::from(other), allowed }.into());
        }
    };
    if param.flags & !(RL_PARAM_CONTIGUOUS | RL_PARAM_REST) != 0 {
        return Err(bad("flags of a parameter", param.flags, "RL_PARAM_CONTIGUOUS and RL_PARAM_REST"));
    }
    let dtype: DType = dtype(param.dtype)?;
    let spec = match kind {
        ParamKind::Scalar => ParamSpec::scalar(dtype),
        kind => ParamSpec::new(kind, dtype, rank, param.flags & RL_PARAM_CONTIGUOUS != 0),
    };
    Ok(if param.flags & RL_PARAM_REST != 0 { spec.rest() } else { spec })
}

pub(crate) fn bad(what: &'static str, value: u32, allowed: &'static str) -> Failure {
    CapiError::BadNumber { what, value: i64::from(value), allowed }.into()
}

/// The kernel that a pointer from `rl_kernel_new` names.
///
/// # Safety
/// The pointer is null or one from `rl_kernel_new`.
#[inline]
pub(crate) unsafe fn of(kernel: *const rl_kernel) -> Option<&'static Kernel> {
    // SAFETY: kernels are never freed.
    unsafe { kernel.cast::<Kernel>().as_ref() }
}
