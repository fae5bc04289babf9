//! Runtimes and their runs.

use core::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use ringlane::engine::api::buffers::{BufferId, Buffers, Permission};
use ringlane::prelude::{CallConfig, DfxFlags, Overflow, Platform, Remote, Runtime};
use ringlane::task::{ConfigError, Explain, ViewError};
use ringlane::{RunReport, SetupError};

use crate::abi::{
    RL_ABI_VERSION, RL_BUFFER_READ, RL_BUFFER_WRITE, rl_buffer, rl_program_fn, rl_report, rl_runtime,
    rl_runtime_options,
};
use crate::dtype::of_dlpack;
use crate::error::{CapiError, Failure, guarded};
use crate::kernel::bad;
use crate::orch::{self, Program};
use crate::read;

/// What an `rl_runtime` is.
pub(crate) struct Handle {
    pub(crate) runtime: Runtime,
    pub(crate) program: Program,
    remote: Remote,
    /// Whether a call uses the two first fields.
    is_busy: AtomicBool,
}

/// Frees a runtime again for the next call.
struct Busy<'b>(&'b AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Does a call that uses a runtime alone.
///
/// # Safety
/// The pointer is null or one from `rl_runtime_new` that was not freed.
pub(crate) unsafe fn alone(
    at: *mut rl_runtime,
    f: impl FnOnce(&mut Runtime, *mut Program) -> Result<(), Failure>,
) -> i32 {
    guarded(|| {
        let at = at.cast::<Handle>();
        if at.is_null() {
            return Err(CapiError::NullPointer { what: "runtime" }.into());
        }
        // SAFETY: the caller's promise; this field is shared.
        let is_busy = unsafe { &(*at).is_busy };
        if is_busy.swap(true, Ordering::Acquire) {
            return Err(CapiError::RuntimeBusy.into());
        }
        let _busy = Busy(is_busy);
        // SAFETY: no other call uses these fields while it is busy.
        unsafe { f(&mut (*at).runtime, &raw mut (*at).program) }
    })
}

/// Makes a runtime. Null options: the platform `cpu` with every default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_runtime_new(
    options: *const rl_runtime_options,
    runtime: *mut *mut rl_runtime,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller passes where the result goes, and null or options.
        let result = unsafe { read::result("runtime", runtime) }?;
        let made = if options.is_null() {
            Runtime::on(Platform::Cpu).with(&CallConfig::default())?
        } else {
            // SAFETY: as above.
            let options = unsafe { read::sized(options) }?;
            // SAFETY: as above, and true pointers in them.
            let (platform, config) = unsafe { (platform_of(&options)?, config_of(&options)?) };
            Runtime::on(platform).with(&config)?
        };
        let remote = made.remote();
        let handle =
            Handle { runtime: made, program: Program::new(), remote, is_busy: AtomicBool::new(false) };
        result.write(Box::into_raw(Box::new(handle)).cast());
        Ok(())
    })
}

unsafe fn platform_of(options: &rl_runtime_options) -> Result<Platform, Failure> {
    if options.abi_version != RL_ABI_VERSION {
        return Err(CapiError::AbiVersion { header: options.abi_version, library: RL_ABI_VERSION }.into());
    }
    // SAFETY: the caller passes null or a text.
    let name = unsafe { read::optional_text("platform", options.platform) }?.unwrap_or("cpu");
    let known = || Platform::all().into_iter().map(Platform::as_str).collect();
    Platform::named(name)
        .ok_or_else(|| CapiError::UnknownPlatform { name: name.to_string(), known: known() }.into())
}

unsafe fn config_of(options: &rl_runtime_options) -> Result<CallConfig, Failure> {
    let refused = |error: ConfigError| Failure::from(SetupError::Config(error));
    let mut config = CallConfig::default()
        .with_dfx_flags(DfxFlags::from_bits(options.dfx_flags).map_err(refused)?)
        .with_seed(options.seed)
        .with_ring_heap(options.ring_heap)
        .with_ring_task_window(options.ring_task_window)
        .with_ring_dep_pool(options.ring_dep_pool)
        .with_ring_args(options.ring_args)
        .with_tensormap(options.tensormap)
        .with_threads(options.threads)
        .with_scheduler_threads(options.scheduler_threads)
        .with_block_dim(options.block_dim);
    config.pmu_group = options.pmu_group;
    config = match options.drop_records {
        0 => config,
        1 => config.with_overflow(Overflow::Drop),
        other => return Err(bad("drop_records", other, "0 or 1")),
    };
    // SAFETY: the caller passes null or a text.
    if let Some(prefix) = unsafe { read::optional_text("output_prefix", options.output_prefix) }? {
        config.set_output_prefix(prefix).map_err(refused)?;
    }
    Ok(config)
}

/// Frees a runtime; null does nothing. No run of it may be in progress.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_runtime_free(runtime: *mut rl_runtime) {
    if !runtime.is_null() {
        // SAFETY: the caller passes a runtime that nobody uses any more.
        let _ = guarded(|| unsafe {
            drop(Box::from_raw(runtime.cast::<Handle>()));
            Ok(())
        });
    }
}

/// The buffers of a run.
///
/// # Safety
/// Each names memory that may be used for `'d` as its permission says.
pub(crate) unsafe fn buffers_of<'d>(
    first: *const rl_buffer,
    count: usize,
) -> Result<(Buffers<'d>, Vec<BufferId>), Failure> {
    // SAFETY: the caller's promise; so below.
    let given = unsafe { read::array(first, count) }?;
    let mut buffers = Buffers::new();
    // SAFETY: as above.
    let add = |buffer: &rl_buffer| unsafe { lend(&mut buffers, buffer) };
    let ids = given.iter().map(add).collect::<Result<Vec<_>, _>>()?;
    Ok((buffers, ids))
}

/// The largest length or stride of a tensor.
fn narrow(what: &'static str, value: i64) -> Result<u32, Failure> {
    let refused = CapiError::BadNumber { what, value, allowed: "0 to 4294967295" };
    u32::try_from(value).map_err(|_| refused.into())
}

unsafe fn lend(buffers: &mut Buffers<'_>, buffer: &rl_buffer) -> Result<BufferId, Failure> {
    let (view, permission) = (
        &buffer.view,
        match buffer.permission {
            RL_BUFFER_READ => Permission::Read,
            RL_BUFFER_WRITE => Permission::ReadWrite,
            other => return Err(bad("permission", other, "RL_BUFFER_READ or RL_BUFFER_WRITE")),
        },
    );
    if view.data.is_null() {
        return Err(CapiError::NullPointer { what: "data of a buffer" }.into());
    }
    if view.device.device_type > 1 {
        return Err(bad("device_type of a buffer", view.device.device_type as u32, "0 or 1: the host"));
    }
    let rank = usize::try_from(view.ndim).ok().filter(|rank| *rank <= 8);
    let rank = rank.ok_or_else(|| {
        Failure::from(CapiError::BadNumber { what: "ndim", value: i64::from(view.ndim), allowed: "0 to 8" })
    })?;
    // SAFETY: the caller passes as many lengths as dimensions; so below.
    let shape = unsafe { read::slice("shape", view.shape, rank) }?;
    let shape = shape.iter().map(|&len| narrow("length", len)).collect::<Result<Vec<_>, _>>()?;
    let dtype = of_dlpack(view.dtype)?;
    let strides = if view.strides.is_null() {
        let whole = ringlane::task::TensorView::contiguous(dtype, &shape).map_err(view_error)?;
        whole.dims().iter().map(|dim| dim.stride).collect()
    } else {
        // SAFETY: as above.
        let strides = unsafe { read::slice("strides", view.strides, rank) }?;
        strides.iter().map(|&stride| narrow("stride", stride)).collect::<Result<Vec<_>, _>>()?
    };
    let base = view.data.cast::<u8>().wrapping_add(view.byte_offset as usize);
    // SAFETY: the caller's promise.
    Ok(unsafe { buffers.lend_strided(base, dtype, &shape, &strides, permission) }?)
}

fn view_error(error: ViewError) -> Failure {
    ringlane::engine::Error::from(error).into()
}

/// Runs a program on buffers, which are lent to it and used where they are. `report` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_run(
    runtime: *mut rl_runtime,
    buffers: *const rl_buffer,
    buffer_count: usize,
    program: rl_program_fn,
    user: *mut c_void,
    report: *mut rl_report,
) -> i32 {
    // SAFETY: the caller passes a runtime, true buffers, and a program with its data.
    unsafe {
        alone(runtime, |runtime, state| {
            let program = program.ok_or(CapiError::NullPointer { what: "program" })?;
            let (mut buffers, ids) = buffers_of(buffers, buffer_count)?;
            (*state).prepare(ids);
            let run = runtime.run(&mut buffers, |o| orch::run(state, o, |handle| program(user, handle)));
            put_report(report, &run.report)?;
            finished(run.result, (*state).take_failure())
        })
    }
}

/// What a run answers: the program's own failure, if that is what ended it.
pub(crate) fn finished<T>(
    result: ringlane::engine::Result<T>,
    failure: Option<Failure>,
) -> Result<T, Failure> {
    result.map_err(|error| match failure {
        // The run may have ended for a reason that counts more than the program's.
        Some(failure) if error.name() == failure.ends_run().name() => failure,
        _ => error.into(),
    })
}

/// Writes the totals of a run, as much as the caller's struct has room for.
///
/// # Safety
/// The pointer is null or that of a report with its size.
pub(crate) unsafe fn put_report(at: *mut rl_report, report: &RunReport) -> Result<(), Failure> {
    if at.is_null() {
        return Ok(());
    }
    // SAFETY: the size is the first field.
    let struct_size = unsafe { at.cast::<u32>().read() };
    let known = size_of::<rl_report>();
    if (struct_size as usize) < known {
        return Err(CapiError::BadStruct { what: "rl_report", given: struct_size, known }.into());
    }
    let filled = rl_report {
        struct_size,
        cores: report.cores,
        tasks: report.tasks,
        blocks: report.blocks,
        scopes: report.scopes,
        failed: report.failed,
        skipped: report.skipped,
        peak_heap_bytes: report.peak_heap_bytes,
        makespan_ticks: report.makespan_ticks,
        clock_freq_hz: report.clock_freq_hz,
    };
    // SAFETY: the struct is at least as large.
    unsafe { at.write(filled) };
    Ok(())
}

/// Ends the run that is in progress, from any thread or a signal handler: tasks that run finish, no other starts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_interrupt(runtime: *mut rl_runtime) -> i32 {
    guarded(|| {
        if runtime.is_null() {
            return Err(CapiError::NullPointer { what: "runtime" }.into());
        }
        // SAFETY: the caller passes a runtime; this field is shared.
        unsafe { &(*runtime.cast::<Handle>()).remote }.interrupt();
        Ok(())
    })
}

/// Records the next run into this directory, which must not contain a run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_record(runtime: *mut rl_runtime, dir: *const c_char) -> i32 {
    // SAFETY: the caller passes a runtime and a text.
    unsafe {
        alone(runtime, |runtime, _| {
            runtime.record(read::text("dir", dir)?)?;
            Ok(())
        })
    }
}

/// Sets the names of the program and the case in the recordings of the following runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_set_title(
    runtime: *mut rl_runtime,
    program: *const c_char,
    case_name: *const c_char,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        alone(runtime, |runtime, _| {
            runtime.set_title(read::text("program", program)?, read::text("case_name", case_name)?);
            Ok(())
        })
    }
}

/// Writes the page of the last recording, `report.html` in its directory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_write_report(runtime: *mut rl_runtime) -> i32 {
    // SAFETY: as above.
    unsafe {
        alone(runtime, |runtime, _| {
            let recording = runtime.recording().ok_or(CapiError::NoRecording)?;
            recording.report()?;
            Ok(())
        })
    }
}
