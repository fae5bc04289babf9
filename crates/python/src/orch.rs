//! What an orchestration in Python submits with.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use ringlane::engine::api::dynamic::DynOrch;
use ringlane::engine::prelude::{BufferId, Launch};
use ringlane::engine::{Error, Fault};

use crate::attach::without_lock;
use crate::dtype::{descriptor, dtype_of};
use crate::error::{OrRaise, exception, forked, raise};
use crate::kernel::{Kernel, Param, Role};
use crate::submit::{Given, given, push};
use crate::tensor::{Sizes, Task, Tensor};

/// Submits tasks, opens scopes and reads values, in the orchestration that it was passed to.
#[pyclass(frozen, module = "ringlane")]
pub struct Orch {
    /// The orchestrator of the run; null after it, and while a call uses it.
    orch: AtomicPtr<DynOrch<'static>>,
    /// The thread of the orchestration.
    thread: usize,
    /// How often its process had been forked: a child has this object, but not the threads of the run.
    forks: u32,
}

/// How many forks lie between this process and the one that made the first orchestrator. Its own thread writes it, in `fork`.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Counts the forks from now on.
fn forks() -> u32 {
    static COUNTING: Once = Once::new();
    // SAFETY: the handler only adds to a number, which is allowed in a child of fork. If it cannot be installed, forks are not seen.
    COUNTING.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
    FORKS.load(Ordering::Relaxed)
}

/// The orchestrator, while a call uses it.
struct Used<'o> {
    of: &'o Orch,
    orch: NonNull<DynOrch<'static>>,
}

impl Used<'_> {
    fn get(&mut self) -> &mut DynOrch<'static> {
        // SAFETY: `Orch::of_run` keeps the orchestrator until `end`, on this thread; taking the pointer made it this call's alone.
        unsafe { self.orch.as_mut() }
    }
}

impl Drop for Used<'_> {
    fn drop(&mut self) {
        self.of.orch.store(self.orch.as_ptr(), Ordering::Relaxed);
    }
}

/// A number that differs from those of all other threads that live.
fn this_thread() -> usize {
    thread_local!(static OWN: Cell<u8> = const { Cell::new(0) });
    OWN.with(|own| ptr::from_ref(own).addr())
}

impl Orch {
    /// For a run whose orchestration runs on this thread. [`end`](Self::end) must be called before the orchestrator goes.
    pub fn of_run(orch: &mut DynOrch<'_>) -> Self {
        let pointer = ptr::from_mut(orch).cast::<DynOrch<'static>>();
        Orch { orch: AtomicPtr::new(pointer), thread: this_thread(), forks: forks() }
    }

    /// The orchestration is over: every later use is refused.
    pub fn end(&self) {
        self.orch.store(ptr::null_mut(), Ordering::Relaxed);
    }

    fn using(&self) -> PyResult<Used<'_>> {
        if self.forks != FORKS.load(Ordering::Relaxed) {
            return Err(forked("the run is one of the process that forked"));
        }
        let own = if self.thread == this_thread() {
            self.orch.swap(ptr::null_mut(), Ordering::Relaxed)
        } else {
            ptr::null_mut()
        };
        let refused = || {
            let detail = "the run is over, or the call is made in a kernel or by another thread";
            let hint = "submit in the orchestration, while it runs";
            raise("NotInOrchestration", "the orchestrator is used outside of its orchestration", detail, hint)
        };
        Ok(Used { of: self, orch: NonNull::new(own).ok_or_else(refused)? })
    }

    /// The tensors of external buffers.
    pub fn external(&self, buffers: &[BufferId]) -> PyResult<Vec<Tensor>> {
        let mut used = self.using()?;
        buffers.iter().map(|&buffer| Ok(Tensor::new(used.get().external(buffer).or_raise()?))).collect()
    }
}

/// The kernels of a submit: one, or an AIC kernel or `None` and up to two AIV kernels.
fn launch_of<'k>(
    kernel: &Bound<'k, PyAny>,
) -> PyResult<(Launch<'static>, Vec<Param>, Option<Bound<'k, Kernel>>)> {
    if let Ok(kernel) = kernel.cast::<Kernel>() {
        return Ok((Launch::from(kernel.get().kernel), Vec::new(), Some(kernel.clone())));
    }
    let Some(kernels) = kernel.cast::<PyTuple>().ok().filter(|kernels| !kernels.is_empty()) else {
        return Err(no_kernel(kernel));
    };
    let (mut aic, mut aiv, mut params) = (None, Vec::new(), Vec::new());
    for (lane, kernel) in kernels.iter().enumerate() {
        if lane == 0 && kernel.is_none() {
            continue;
        }
        let kernel = kernel.cast::<Kernel>().map_err(|_| no_kernel(&kernel))?.get();
        params.extend_from_slice(&kernel.params);
        if lane == 0 {
            aic = Some(kernel.kernel);
        } else {
            aiv.push(kernel.kernel);
        }
    }
    Ok((Launch::mixed(aic, &aiv), params, None))
}

#[pymethods]
impl Orch {
    /// Submits a task. Its dependencies follow from the tensors that it touches.
    #[pyo3(signature = (kernel, *args, after = None, blocks = None, label = None, dump = None))]
    #[allow(clippy::too_many_arguments)]
    fn submit(
        &self,
        py: Python<'_>,
        kernel: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        after: Option<&Bound<'_, PyAny>>,
        blocks: Option<&Bound<'_, PyAny>>,
        label: Option<&str>,
        dump: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Task> {
        let (launch, mixed, single) = launch_of(kernel)?;
        let params = single.as_ref().map_or(&mixed[..], |kernel| &kernel.get().params);
        check_count(&launch, params, args.len())?;
        let name = launch.kernels().next().map_or("", |kernel| kernel.name());
        let launch = match blocks {
            Some(blocks) => launch.blocks(option("blocks", blocks, "a number from 1 to 16777216")?),
            None => launch,
        };
        let after = after.map(tasks_of).transpose()?;
        let launch = label.map_or(launch, |label| launch.labelled(label));
        let mut used = self.using()?;
        let mut submission = used.get().submit(launch);
        let mut takers = Takers::of(params);
        for (index, argument) in args.iter_borrowed().enumerate() {
            push(&mut submission, takers.next(), name, index, &argument)?;
        }
        for task in after.iter().flatten() {
            submission.after(&task.get().task).or_raise()?;
        }
        if let Some(dump) = dump {
            submission.mark(&option::<Vec<u16>>(
                "dump",
                dump,
                "a list of indices of arguments, counted from 0",
            )?);
        }
        let made = without_lock(py, || submission.send());
        let made = made.or_raise()?;
        Ok(Task { task: made.task(), outs: made.outs().collect() })
    }

    /// Submits a task of one kernel for each tuple of arguments, with less overhead for each than `submit`.
    fn submit_many<'py>(
        &self,
        py: Python<'py>,
        kernel: &Bound<'py, PyAny>,
        calls: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let kernel = kernel.cast::<Kernel>().map_err(|_| no_kernel(kernel))?.get();
        let made = PyList::empty(py);
        let (mut args, mut ends) = (Vec::new(), Vec::with_capacity(AT_ONCE));
        let mut calls = calls.try_iter()?.peekable();
        while calls.peek().is_some() {
            for call in calls.by_ref().take(AT_ONCE) {
                arguments(kernel, &call?, &mut args)?;
                ends.push(args.len());
            }
            let mut used = self.using()?;
            let orch = used.get();
            let sent = without_lock(py, || send_all(orch, kernel.kernel, &args, &ends)).or_raise()?;
            drop(used);
            sent.into_iter().try_for_each(|task| made.append(task))?;
            args.clear();
            ends.clear();
        }
        Ok(made)
    }

    /// Makes a tensor, all zero, that lives as long as this scope.
    fn alloc(&self, py: Python<'_>, dtype: &str, shape: Sizes) -> PyResult<Tensor> {
        let dtype = dtype_of(dtype)?;
        let mut used = self.using()?;
        let orch = used.get();
        without_lock(py, || orch.alloc(dtype, shape.as_slice())).or_raise().map(Tensor::new)
    }

    /// Makes a tensor of these bytes.
    fn upload_bytes(
        &self,
        py: Python<'_>,
        dtype: &str,
        shape: Sizes,
        bytes: &Bound<'_, PyBytes>,
    ) -> PyResult<Tensor> {
        let (dtype, bytes) = (dtype_of(dtype)?, bytes.as_bytes());
        let mut used = self.using()?;
        let orch = used.get();
        without_lock(py, || orch.upload(dtype, shape.as_slice(), bytes)).or_raise().map(Tensor::new)
    }

    /// A task that follows everything submitted so far in this scope, and that everything submitted later in it follows.
    fn barrier(&self, py: Python<'_>) -> PyResult<Task> {
        let mut used = self.using()?;
        let orch = used.get();
        let task = without_lock(py, || orch.barrier()).or_raise()?;
        Ok(Task { task, outs: Vec::new() })
    }

    /// Waits for the writers of a tensor that were submitted so far, and returns a copy of its values.
    fn read<'py>(&self, py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
        let mut used = self.using()?;
        let orch = used.get();
        orch.check(&tensor.tensor).or_raise()?;
        let descriptor = descriptor(py, tensor.tensor.dtype())?;
        let shape = PyTuple::new(py, tensor.tensor.shape())?;
        let array = py.import("numpy")?.call_method1("empty", (shape, descriptor))?;
        let untyped = array.cast::<PyUntypedArray>()?;
        let bytes = untyped.len() * descriptor.getattr("itemsize")?.extract::<usize>()?;
        // SAFETY: the array was made above: it is contiguous, has this many bytes, and nobody else knows it. Bytes that are not
        // written when the read fails are plain data.
        let into = unsafe {
            let data = (*untyped.as_array_ptr()).fields.data.cast::<u8>();
            std::slice::from_raw_parts_mut(data, bytes)
        };
        without_lock(py, || orch.read(&tensor.tensor, into)).or_raise()?;
        Ok(array)
    }

    /// Begins a scope.
    fn begin_scope(&self, py: Python<'_>, label: Option<&str>) -> PyResult<()> {
        let mut used = self.using()?;
        let orch = used.get();
        without_lock(py, || orch.begin_scope(label)).or_raise()
    }

    /// Ends the innermost scope.
    fn end_scope(&self, py: Python<'_>) -> PyResult<()> {
        let mut used = self.using()?;
        let orch = used.get();
        without_lock(py, || orch.end_scope()).or_raise()
    }

    /// The orchestration's own work takes this many ticks of a modelled chip's counter.
    fn advance_time(&self, ticks: u64) -> PyResult<()> {
        self.using()?.get().advance_time(ticks);
        Ok(())
    }
}

/// How many tasks `submit_many` sends at a time: the lock is given up once for all of them, and their arguments stay in the cache.
const AT_ONCE: usize = 64;

/// Adds the arguments of one task, a tuple or a list.
fn arguments(kernel: &Kernel, call: &Bound<'_, PyAny>, to: &mut Vec<Given>) -> PyResult<()> {
    let list = call.cast::<PyList>().map(|list| list.to_tuple());
    let args = match &list {
        Ok(args) => args,
        Err(_) => call.cast::<PyTuple>().map_err(|_| no_arguments(call))?,
    };
    check_count(&Launch::from(kernel.kernel), &kernel.params, args.len())?;
    let mut takers = Takers::of(&kernel.params);
    for (index, argument) in args.iter_borrowed().enumerate() {
        to.push(given(takers.next(), kernel.kernel.name(), index, &argument)?);
    }
    Ok(())
}

/// Submits tasks of a kernel, whose arguments follow each other and end there.
fn send_all(
    orch: &mut DynOrch<'static>,
    kernel: &'static ringlane::engine::prelude::Kernel,
    args: &[Given],
    ends: &[usize],
) -> ringlane::engine::Result<Vec<Task>> {
    let mut start = 0;
    let send = |&end: &usize| {
        let mut submission = orch.submit(kernel);
        args[start..end].iter().try_for_each(|argument| argument.push(&mut submission))?;
        start = end;
        let made = submission.send()?;
        Ok(Task { task: made.task(), outs: made.outs().collect() })
    };
    ends.iter().map(send).collect()
}

/// The error of something that is submitted and is no kernel.
#[cold]
fn no_kernel(given: &Bound<'_, PyAny>) -> PyErr {
    let hint = "a function with @rl.kernel, rl.cc(…), or a tuple of an AIC kernel and AIV kernels";
    bad_launch(shown(given), hint)
}

/// The error of something that is not the arguments of a task.
#[cold]
fn no_arguments(given: &Bound<'_, PyAny>) -> PyErr {
    bad_launch(format!("arguments {}", shown(given)), "a tuple for each task; of one argument: (x,)")
}

fn shown(given: &Bound<'_, PyAny>) -> String {
    given.repr().map_or_else(|_| "an object".to_string(), |text| text.to_string())
}

fn bad_launch(detail: String, hint: &str) -> PyErr {
    raise("BadLaunch", "a launch is not valid", &detail, hint)
}

/// An option of a submit, of the type that it must have.
fn option<'py, T: FromPyObjectOwned<'py>>(name: &str, given: &Bound<'py, PyAny>, hint: &str) -> PyResult<T> {
    given.extract().map_err(|_| bad_launch(format!("{name}={}", shown(given)), hint))
}

/// The tasks that a task follows: one, or several.
fn tasks_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, Task>>> {
    match given.cast::<Task>() {
        Ok(one) => Ok(vec![one.clone()]),
        Err(_) => {
            option("after", given, "a task that `o.submit` or `o.barrier` returned, or a list of tasks")
        }
    }
}

/// The parameters that take arguments, one after another.
struct Takers<'p> {
    params: &'p [Param],
    at: usize,
}

impl<'p> Takers<'p> {
    fn of(params: &'p [Param]) -> Self {
        Takers { params, at: 0 }
    }

    /// The parameter that takes the next argument; the caller counted them.
    fn next(&mut self) -> Param {
        while matches!(self.params[self.at].role, Role::Block) {
            self.at += 1;
        }
        let param = self.params[self.at];
        self.at += usize::from(param.rest == crate::kernel::Rest::One);
        param
    }
}

/// Refuses more or fewer arguments than the parameters take.
fn check_count(launch: &Launch<'_>, params: &[Param], given: usize) -> PyResult<()> {
    let takes = params.iter().filter(|param| !matches!(param.role, Role::Block));
    let wanted = takes.clone().filter(|param| param.rest == crate::kernel::Rest::One).count();
    let or_more = takes.count() > wanted;
    if given == wanted || (or_more && given > wanted) {
        return Ok(());
    }
    let kernel = launch.kernels().next().map_or("", |kernel| kernel.name()).to_string();
    Err(exception(&Error::from(Fault::ArgCount { kernel, given, wanted, or_more })))
}
