//! The runtime: runs orchestrations in Python, records them, captures and replays graphs.

use std::panic::Location;
use std::sync::Mutex;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use ringlane::engine::api::dynamic::DynOrch;
use ringlane::engine::prelude::{BufferId, Buffers};
use ringlane::engine::report::RunReport;
use ringlane::engine::{Error, Fault, Result};
use ringlane::task::{CallConfig, DType, DfxFlags};
use ringlane::{DumpSelection, Graph as CapturedGraph, SelectedKernel, manifest};

use crate::attach::without_lock;
use crate::body::python;
use crate::body::shown::Shown;
use crate::buffers::{Lent, lend};
use crate::config::{configuration, make};
use crate::dtype::scalar_of;
use crate::error::{OrRaise, exception, forked, raise};
use crate::interrupt::Watch;
use crate::orch::Orch;
use crate::scene;

/// What is recorded of a run: the directory, the flags, the group of counters, the kernels whose arguments are captured, and the
/// names of the program and of the case.
type Recorded = (String, u64, i32, Option<Vec<String>>, (String, String));

/// A runtime on one platform.
#[pyclass(frozen, module = "ringlane._ringlane")]
pub struct Runtime {
    /// `None` after it was closed.
    made: Mutex<Option<Shown<Made>>>,
    /// The process that its threads are in.
    process: u32,
}

struct Made {
    runtime: ringlane::Runtime,
    config: CallConfig,
}

/// A captured graph.
#[pyclass(frozen, module = "ringlane")]
pub struct Graph {
    graph: Mutex<Shown<CapturedGraph>>,
}

/// How a run ended: what the orchestration returned, or the exception to raise; its totals; and its directory if it was recorded.
type Ended<'py> = (Py<PyAny>, Option<Py<PyAny>>, Bound<'py, PyDict>, Option<String>);

#[pymethods]
impl Runtime {
    #[new]
    fn new(
        py: Python<'_>,
        platform: &str,
        config: &Bound<'_, PyDict>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let config = configuration(config)?;
        let runtime = make(py, platform, &config, options)?;
        let made = Mutex::new(Some(Shown::new(Made { runtime, config })));
        Ok(Runtime { made, process: std::process::id() })
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> PyResult<u32> {
        self.with(|made| Ok(made.runtime.threads()))
    }

    /// Ends its threads and gives its memory back. Closing it twice is no error.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let made = self.made.try_lock().map_err(|_| in_use("runtime"))?.take();
        without_lock(py, || drop(made));
        Ok(())
    }

    /// Runs an orchestration: `program` is called with the orchestrator and the list of tensors that the arrays are.
    fn run<'py>(
        &self,
        py: Python<'py>,
        program: &Bound<'py, PyAny>,
        arrays: Vec<Lent>,
        recorded: Option<Recorded>,
    ) -> PyResult<Ended<'py>> {
        self.with(|made| {
            let arrays = Shown::new(arrays);
            let (mut buffers, ids) = lend(&arrays)?;
            let recorded = observe(made, recorded)?;
            let mut returned = None;
            let watch = Watch::start(py, made.runtime.remote())?;
            let program = program.clone().unbind();
            let run = without_lock(py, || {
                made.runtime.run_from(Location::caller(), &mut buffers, |o| {
                    o.dynamic(|d| orchestrate(d, &program, &ids, &mut returned))
                })
            });
            let interrupted = watch.is_some_and(|watch| watch.end(py));
            ended(py, made, run.result, &run.report, (returned, interrupted, recorded))
        })
    }

    /// Runs a built-in scene and returns what differs from its known answer, if anything does.
    fn scene<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        case: Option<&str>,
        params: Vec<(String, String)>,
        recorded: Option<Recorded>,
    ) -> PyResult<Ended<'py>> {
        self.with(|made| {
            let (scene, case, mut program) = scene::program(name, case, &params, made.config.seed)?;
            let title = (scene.name.to_string(), case);
            let recorded = observe(
                made,
                recorded.map(|(dir, flags, group, kernels, _)| (dir, flags, group, kernels, title)),
            )?;
            let mut buffers = program.buffers().or_raise()?;
            let watch = Watch::start(py, made.runtime.remote())?;
            let run = without_lock(py, || {
                made.runtime.run_from(scene.site, &mut buffers, |o| program.orchestrate(o))
            });
            let interrupted = watch.is_some_and(|watch| watch.end(py));
            let wrong = match &run.result {
                Ok(()) => scene::wrong(&*program, &buffers).or_raise()?,
                Err(_) => None,
            };
            let wrong = wrong.into_pyobject(py)?.unbind();
            ended(py, made, run.result, &run.report, (Some(Ok(wrong)), interrupted, recorded))
        })
    }

    /// Captures an orchestration: it is checked and its dependencies are inferred, but nothing runs.
    fn capture(
        &self,
        py: Python<'_>,
        program: &Bound<'_, PyAny>,
        arrays: Vec<Lent>,
        memory_limit: Option<u64>,
    ) -> PyResult<Graph> {
        self.with(|made| {
            let (buffers, ids) = lend(&arrays)?;
            let mut returned = None;
            let program = program.clone().unbind();
            let captured = without_lock(py, || {
                made.runtime.capture_from(Location::caller(), &buffers, memory_limit, |o| {
                    o.dynamic(|d| orchestrate(d, &program, &ids, &mut returned))
                })
            });
            match (captured, returned) {
                (_, Some(Err(error))) => Err(error),
                (Ok((_, graph)), _) => Ok(Graph { graph: Mutex::new(Shown::new(graph)) }),
                (Err(error), _) => Err(exception(&error)),
            }
        })
    }

    /// Runs a captured graph.
    fn replay<'py>(
        &self,
        py: Python<'py>,
        graph: &Graph,
        arrays: Vec<Lent>,
        recorded: Option<Recorded>,
    ) -> PyResult<Ended<'py>> {
        self.with(|made| {
            let mut graph = graph.graph.try_lock().map_err(|_| in_use("graph"))?;
            let arrays = Shown::new(arrays);
            let (mut buffers, _) = lend(&arrays)?;
            let recorded = observe(made, recorded)?;
            let watch = Watch::start(py, made.runtime.remote())?;
            let run = without_lock(py, || made.runtime.replay(&mut graph, &mut buffers));
            let interrupted = watch.is_some_and(|watch| watch.end(py));
            ended(py, made, run.result, &run.report, (None, interrupted, recorded))
        })
    }
}

impl Runtime {
    /// Uses the runtime, which no one else does.
    fn with<R>(&self, f: impl FnOnce(&mut Made) -> PyResult<R>) -> PyResult<R> {
        if self.process != std::process::id() {
            let detail = format!("it was created in process {}", self.process);
            return Err(forked(&detail));
        }
        let mut made = self.made.try_lock().map_err(|_| in_use("runtime"))?;
        let closed =
            || raise("RuntimeClosed", "a runtime is used after it was closed", "", "create another one");
        f(made.as_mut().ok_or_else(closed)?)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let made = self.made.get_mut().ok().and_then(Option::take);
        Python::attach(|py| without_lock(py, || drop(made)));
    }
}

fn in_use(what: &str) -> PyErr {
    let detail = format!("another run on this {what} goes on: one around this call, or in another thread");
    raise(
        "RuntimeInUse",
        "a runtime or a graph is used by two runs at the same time",
        &detail,
        "one runtime for each",
    )
}

/// Whether a run is recorded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Observed {
    No,
    Yes,
}

/// Sets what the next run records.
fn observe(made: &mut Made, recorded: Option<Recorded>) -> PyResult<Observed> {
    let Made { runtime, config } = made;
    let Some((dir, flags, pmu_group, kernels, (program, case))) = recorded else {
        runtime.observe(config).or_raise()?;
        return Ok(Observed::No);
    };
    let mut config = *config;
    config.dfx_flags = DfxFlags::from_bits(flags).or_raise()?;
    config.pmu_group = pmu_group;
    config.set_output_prefix(&dir).or_raise()?;
    runtime.set_title(&program, &case);
    runtime.select_dump(match kernels {
        None => DumpSelection::Everything,
        Some(kernels) if kernels.is_empty() => DumpSelection::Marked,
        Some(kernels) => DumpSelection::Kernels(
            kernels.into_iter().map(|name| SelectedKernel { name, arg: None }).collect(),
        ),
    });
    runtime.observe(&config).or_raise()?;
    Ok(Observed::Yes)
}

/// Calls the orchestration and keeps what it returns or raises.
fn orchestrate(
    d: &mut DynOrch<'_>,
    program: &Py<PyAny>,
    buffers: &[BufferId],
    returned: &mut Option<PyResult<Py<PyAny>>>,
) -> Result<()> {
    Python::attach(|py| {
        let mut call = || -> PyResult<Py<PyAny>> {
            let orch = Bound::new(py, Orch::of_run(d))?;
            let ended = Ending(orch.clone());
            let tensors = PyList::new(py, orch.get().external(buffers)?)?;
            let called = program.call1(py, (orch, tensors));
            drop(ended);
            called
        };
        let called = call();
        let result = match &called {
            Ok(_) => Ok(()),
            Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                Err(Fault::Interrupted { tasks: 0 }.into())
            }
            Err(error) => Err(Error::user(python::text_of(py, error))),
        };
        *returned = Some(called);
        result
    })
}

/// Ends an orchestrator, however its program ends.
struct Ending<'py>(Bound<'py, Orch>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.get().end();
    }
}

/// What Python gets to know about a run.
fn ended<'py>(
    py: Python<'py>,
    made: &mut Made,
    result: Result<()>,
    report: &RunReport,
    (returned, interrupted, recorded): (Option<PyResult<Py<PyAny>>>, bool, Observed),
) -> PyResult<Ended<'py>> {
    let totals = totals(py, made, &result, report)?;
    let recording = made.runtime.recording().filter(|_| recorded == Observed::Yes);
    let dir = recording.map(|recording| recording.dir().display().to_string());
    if interrupted {
        // A request to stop that came after the last task would end the next run.
        made.runtime.observe(&made.config).or_raise()?;
        let _ = without_lock(py, || made.runtime.run(&mut Buffers::new(), |_| Ok(())));
    }
    let (value, error) = match (result, returned) {
        (_, Some(Err(error))) => (py.None(), Some(error)),
        (Err(error), _) if matches!(error.fault(), Fault::Interrupted { .. }) => {
            (py.None(), Some(PyKeyboardInterrupt::new_err(error.to_string())))
        }
        (Err(error), _) => (py.None(), Some(exception(&error))),
        (Ok(()), Some(Ok(value))) => (value, None),
        (Ok(()), None) => (py.None(), None),
    };
    // What the interpreter has noted of the same Ctrl-C is raised here, not at the next line.
    let noted = py.check_signals().err();
    let error = if interrupted {
        Some(noted.unwrap_or_else(|| PyKeyboardInterrupt::new_err("the run was interrupted")))
    } else {
        noted.or(error)
    };
    Ok((value, error.map(|error| error.into_value(py).into_any()), totals, dir))
}

fn totals<'py>(
    py: Python<'py>,
    made: &Made,
    result: &Result<()>,
    report: &RunReport,
) -> PyResult<Bound<'py, PyDict>> {
    let totals = PyDict::new(py);
    let status = result.as_ref().err().map_or("ok", |error| manifest::status_of(error).as_str());
    totals.set_item("status", status)?;
    totals.set_item("platform", made.runtime.platform().as_str())?;
    totals.set_item("threads", made.runtime.threads())?;
    let numbers = [
        ("tasks", report.tasks),
        ("blocks", report.blocks),
        ("scopes", report.scopes),
        ("failed", report.failed),
        ("skipped", report.skipped),
        ("peak_heap_bytes", report.peak_heap_bytes),
        ("makespan_ticks", report.makespan_ticks),
        ("clock_freq_hz", report.clock_freq_hz),
        ("cores", report.cores.into()),
    ];
    numbers.into_iter().try_for_each(|(name, number)| totals.set_item(name, number))?;
    Ok(totals)
}

#[pymethods]
impl Graph {
    /// The number of tasks.
    #[getter]
    fn tasks(&self) -> PyResult<u64> {
        self.with(|graph| Ok(graph.tasks()))
    }

    /// The number of edges.
    #[getter]
    fn edges(&self) -> PyResult<u64> {
        self.with(|graph| Ok(graph.edges()))
    }

    /// Bytes of the tensors that the graph makes.
    #[getter]
    fn memory_bytes(&self) -> PyResult<u64> {
        self.with(|graph| Ok(graph.memory().bytes))
    }

    /// Changes a value that was submitted with `rl.param(name, …)`.
    fn set(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.with(|graph| {
            let known = graph.params().find(|(known, _)| *known == name).map(|(_, scalar)| scalar.dtype());
            // Of a name that the graph does not have, the graph says so.
            let Some(dtype) = known else { return graph.set(name, 0u8).or_raise() };
            let scalar = scalar_of(value, dtype)?;
            macro_rules! set {
                ($($variant:ident: $number:ty),*) => {
                    match dtype {
                        $(DType::$variant => graph.set(name, scalar.get::<$number>().unwrap_or_default()),)*
                        _ => graph.set(name, 0u8),
                    }
                };
            }
            set!(Bool: bool, Int8: i8, UInt8: u8, Int16: i16, UInt16: u16, Int32: i32, UInt32: u32, Int64: i64,
                UInt64: u64, Float16: half::f16, BFloat16: half::bf16, Float32: f32, Float64: f64)
            .or_raise()
        })
    }

    fn __repr__(&self) -> String {
        self.graph.try_lock().map_or_else(
            |_| "<ringlane.Graph in use>".to_string(),
            |graph| format!("<ringlane.Graph: {} tasks, {} edges>", graph.tasks(), graph.edges()),
        )
    }
}

impl Graph {
    fn with<R>(&self, f: impl FnOnce(&mut CapturedGraph) -> PyResult<R>) -> PyResult<R> {
        f(&mut *self.graph.try_lock().map_err(|_| in_use("graph"))?)
    }
}
