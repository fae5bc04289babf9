//! Tensors, scopes and values of a program that runs.

use core::cell::Cell;
use core::ffi::{c_char, c_void};

use ringlane::dynamic::{DynOrch, DynTensor};
use ringlane::engine::api::buffers::BufferId;
use ringlane::engine::prelude::{Error, Orch, Tensor};
use ringlane::task::DType;

use crate::abi::{RL_OK, rl_orch, rl_task, rl_tensor};
use crate::dtype::dtype;
use crate::error::{CapiError, Failure, guarded};
use crate::read;

/// What an `rl_orch` is. It is part of a runtime and outlives its runs, so that a late use is seen.
pub(crate) struct Program {
    /// The orchestrator, while the program runs.
    running: Cell<Option<*mut DynOrch<'static>>>,
    /// Whether a call uses it. A call that waits may run kernels on this thread, and these must not call back.
    in_call: Cell<bool>,
    /// The thread that it runs on.
    thread: Cell<usize>,
    externals: Externals,
    /// The last call of the program that failed.
    failure: Option<Failure>,
}

/// What `rl_external` gives.
pub(crate) enum Externals {
    /// The tensors of buffers.
    Buffers(Vec<BufferId>),
    /// Tensors of a part of a scene.
    Parts(Vec<DynTensor>),
}

impl Externals {
    fn count(&self) -> usize {
        match self {
            Externals::Buffers(buffers) => buffers.len(),
            Externals::Parts(tensors) => tensors.len(),
        }
    }

    fn get(&self, index: usize, d: &mut DynOrch<'_>) -> Result<DynTensor, Failure> {
        let (given, needed) = (self.count(), index.saturating_add(1));
        let missing = || CapiError::WrongCount { what: "buffers of the run", given, needed };
        match self {
            Externals::Buffers(buffers) => Ok(d.external(*buffers.get(index).ok_or_else(missing)?)?),
            Externals::Parts(tensors) => Ok(*tensors.get(index).ok_or_else(missing)?),
        }
    }
}

thread_local! {
    static THREAD: u8 = const { 0 };
}

/// A number that no other running thread has.
#[inline]
fn this_thread() -> usize {
    THREAD.with(|mark| core::ptr::from_ref(mark).addr())
}

/// Forgets the orchestrator, also when the program unwinds.
struct Running<'p>(&'p Cell<Option<*mut DynOrch<'static>>>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// A call that uses the orchestrator, until it ends or unwinds.
struct InCall<'p>(&'p Cell<bool>);

impl<'p> InCall<'p> {
    /// Begins a call; none while another one is in progress.
    #[inline]
    fn begin(in_call: &'p Cell<bool>) -> Option<Self> {
        (!in_call.replace(true)).then(|| InCall(in_call))
    }
}

impl Drop for InCall<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Program {
    pub(crate) fn new() -> Self {
        let externals = Externals::Buffers(Vec::new());
        let (running, in_call) = (Cell::new(None), Cell::new(false));
        Program { running, in_call, thread: Cell::new(0), externals, failure: None }
    }

    /// Prepares a run on these buffers.
    pub(crate) fn prepare(&mut self, buffers: Vec<BufferId>) {
        (self.externals, self.failure) = (Externals::Buffers(buffers), None);
    }

    /// The failure that the last program returned.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }
}

/// Runs a program on an orchestrator. Its failure stays in `at`.
///
/// # Safety
/// `at` is a prepared program that nobody borrows; `call` calls the user's function.
pub(crate) unsafe fn run(
    at: *mut Program,
    o: &mut Orch<'_, '_>,
    call: impl FnOnce(*mut rl_orch) -> i32,
) -> Result<(), Error> {
    // SAFETY: the caller's promise.
    o.dynamic(|d| unsafe { run_on(at, d, call) })
}

/// The same on tensors, which take the place of the buffers.
///
/// # Safety
/// As for [`run`].
pub(crate) unsafe fn run_part<'s>(
    at: *mut Program,
    o: &mut Orch<'s, '_>,
    tensors: &[Tensor<'s>],
    call: impl FnOnce(*mut rl_orch) -> i32,
) -> Result<(), Error> {
    o.dynamic_on(tensors, |d, tensors| {
        // SAFETY: the caller's promise.
        unsafe {
            (*at).externals = Externals::Parts(tensors);
            run_on(at, d, call)
        }
    })
}

unsafe fn run_on(
    at: *mut Program,
    d: &mut DynOrch<'_>,
    call: impl FnOnce(*mut rl_orch) -> i32,
) -> Result<(), Error> {
    // SAFETY: the caller's promise; the borrow ends before the program is called.
    let program = unsafe { &*at };
    program.running.set(Some(core::ptr::from_mut(d).cast()));
    program.thread.set(this_thread());
    let running = Running(&program.running);
    // What the function does with the handle goes through `with`, which finds the orchestrator above.
    let status = call(at.cast());
    drop(running);
    if status == RL_OK {
        return Ok(());
    }
    // SAFETY: the program has returned, so nobody borrows it.
    let failure = unsafe { &mut (*at).failure };
    let failure = match failure.take() {
        Some(failed) if failed.status == status => failure.insert(failed),
        _ => failure.insert(CapiError::ProgramFailed { status }.into()),
    };
    Err(failure.ends_run())
}

/// Does a call of a program, which remembers its failure.
///
/// # Safety
/// `o` is null or the handle of a runtime that was not freed.
#[inline]
pub(crate) unsafe fn with(
    o: *mut rl_orch,
    f: impl FnOnce(&mut DynOrch<'static>, &Externals) -> Result<(), Failure>,
) -> i32 {
    guarded(|| {
        let at = o.cast::<Program>();
        // SAFETY: the caller's promise. Cells and externals do not change while a program runs.
        let Some(program) = (unsafe { at.as_ref() }) else {
            return Err(CapiError::NullPointer { what: "o" }.into());
        };
        let Some(running) = program.running.get() else { return Err(CapiError::NotRunning.into()) };
        if program.thread.get() != this_thread() {
            return Err(CapiError::WrongThread.into());
        }
        let call = InCall::begin(&program.in_call).ok_or(CapiError::CallsBack)?;
        // SAFETY: the orchestrator lives while the program runs, on this thread, and no other call of it is in progress.
        let result = f(unsafe { &mut *running }, &program.externals);
        drop(call);
        if let Err(failure) = &result {
            // SAFETY: only this thread has it, and the borrow above is not used again.
            unsafe { (*at).failure = Some(failure.clone()) };
        }
        result
    })
}

/// A tensor that C passes.
///
/// # Safety
/// The pointer is null or that of a tensor that a call wrote, or of zeros.
#[inline]
pub(crate) unsafe fn tensor<'a>(at: *const rl_tensor) -> Result<&'a DynTensor, Failure> {
    // SAFETY: the caller's promise; so below.
    let given = unsafe { at.as_ref() }.ok_or(CapiError::NullPointer { what: "tensor" })?;
    // The view's rank and type are the only bytes in it that are not plain numbers.
    let [rank, dtype, ..] = given.opaque[11].to_le_bytes();
    if rank > 8 || usize::from(dtype) >= DType::ALL.len() {
        return Err(CapiError::NotATensor.into());
    }
    // SAFETY: all other bytes are numbers, of which any is a value; a tensor of no open scope is used for nothing.
    Ok(unsafe { &*at.cast::<DynTensor>() })
}

/// Writes a tensor for C.
///
/// # Safety
/// The pointer is null or that of a tensor.
#[inline]
pub(crate) unsafe fn put(out: *mut rl_tensor, made: DynTensor) -> Result<(), Failure> {
    // SAFETY: the caller's promise; the two have the same size.
    unsafe { read::result("out", out.cast::<DynTensor>()) }?.write(made);
    Ok(())
}

/// The shape that C passes.
///
/// # Safety
/// As for a slice.
pub(crate) unsafe fn shape<'a>(ndim: u32, shape: *const u32) -> Result<&'a [u32], Failure> {
    if ndim > 8 {
        return Err(crate::kernel::bad("ndim", ndim, "0 to 8"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { read::slice("shape", shape, ndim as usize) }?)
}

/// The tensor of buffer `index` of the run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_external(o: *mut rl_orch, index: usize, out: *mut rl_tensor) -> i32 {
    // SAFETY: the caller passes the program's handle, and where the result goes; so in all functions below.
    unsafe { with(o, |d, externals| put(out, externals.get(index, d)?)) }
}

/// Makes a tensor, all zero, that lives as long as the innermost scope.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_alloc(
    o: *mut rl_orch,
    dtype_code: u32,
    ndim: u32,
    lengths: *const u32,
    out: *mut rl_tensor,
) -> i32 {
    // SAFETY: as above.
    unsafe { with(o, |d, _| put(out, d.alloc(dtype(dtype_code)?, shape(ndim, lengths)?)?)) }
}

/// Makes a tensor of `size` bytes of values, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_upload(
    o: *mut rl_orch,
    dtype_code: u32,
    ndim: u32,
    lengths: *const u32,
    values: *const c_void,
    size: usize,
    out: *mut rl_tensor,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        with(o, |d, _| {
            let bytes = read::slice("values", values.cast::<u8>(), size)?;
            put(out, d.upload(dtype(dtype_code)?, shape(ndim, lengths)?, bytes)?)
        })
    }
}

/// Waits for the writers of a tensor and copies its `size` bytes out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_read(
    o: *mut rl_orch,
    from: *const rl_tensor,
    values: *mut c_void,
    size: usize,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        with(o, |d, _| {
            let from = tensor(from)?;
            if values.is_null() {
                return Err(CapiError::NullPointer { what: "values" }.into());
            }
            Ok(d.read(from, core::slice::from_raw_parts_mut(values.cast::<u8>(), size))?)
        })
    }
}

/// Begins a scope, with a label or null. What is made in it may be reclaimed once it has ended and its tasks are done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_begin_scope(o: *mut rl_orch, label: *const c_char) -> i32 {
    // SAFETY: as above.
    unsafe { with(o, |d, _| Ok(d.begin_scope(read::optional_text("label", label)?)?)) }
}

/// Begins a scope whose tasks are ordered by explicit edges only: the program answers for races.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_begin_manual_scope(o: *mut rl_orch, label: *const c_char) -> i32 {
    // SAFETY: as above; the caller answers for races.
    unsafe { with(o, |d, _| Ok(d.begin_manual_scope(read::optional_text("label", label)?)?)) }
}

/// Ends the innermost scope: handles made in it are stale from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_end_scope(o: *mut rl_orch) -> i32 {
    // SAFETY: as above.
    unsafe { with(o, |d, _| Ok(d.end_scope()?)) }
}

/// A task between everything submitted so far in this scope and everything after it. `task` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_barrier(o: *mut rl_orch, task: *mut rl_task) -> i32 {
    // SAFETY: as above.
    unsafe {
        with(o, |d, _| {
            let made = d.barrier()?;
            if !task.is_null() {
                task.cast::<ringlane::dynamic::DynTask>().write(made);
            }
            Ok(())
        })
    }
}

/// The program's own work takes `ticks` ticks of a modelled chip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_advance_time(o: *mut rl_orch, ticks: u64) -> i32 {
    // SAFETY: as above.
    unsafe {
        with(o, |d, _| {
            d.advance_time(ticks);
            Ok(())
        })
    }
}
