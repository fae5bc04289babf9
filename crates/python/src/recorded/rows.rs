//! The tables of each instrument.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringlane::insight::{Instrument, Run};
use ringlane::task::{KernelId, RINGS};
use ringlane::trace::deps::Deps;
use ringlane::trace::dist::Dist;
use ringlane::trace::dump::{Dump, DumpData, DumpRecord, Truncated};
use ringlane::trace::pmu::Pmu;
use ringlane::trace::rows::ViewRow;
use ringlane::trace::scopes::{Peak, ScopeRow, Scopes};
use ringlane::trace::swimlane::{KernelRow, Swimlane};

use super::columns::Columns;
use crate::error::OrRaise;

/// The tables of one instrument.
type Tables = Vec<(&'static str, Columns)>;

/// The tables of one instrument of a run directory: a dict of tables, each a dict of NumPy columns.
#[pyfunction]
pub fn tables<'py>(py: Python<'py>, dir: &str, instrument: &str) -> PyResult<Bound<'py, PyDict>> {
    let read = || -> Result<Option<Tables>, ringlane::insight::InsightError> {
        let run = Run::open(dir)?;
        Ok(Some(match instrument {
            "swimlane" => swimlane(Swimlane::read(run.file(Instrument::Swimlane)?)?),
            "deps" => deps(&run.dependencies()?),
            "scopes" => scopes(&run.scopes()?),
            "pmu" => pmu(&run.pmu()?),
            "dump" => dump(&run.dump()?),
            "dist" => dist(&run.calls()?),
            _ => return Ok(None),
        }))
    };
    let unknown = || PyValueError::new_err(format!("{instrument:?} is not an instrument"));
    let read = py.detach(read).or_raise()?.ok_or_else(unknown)?;
    let dict = PyDict::new(py);
    for (name, columns) in read {
        dict.set_item(name, columns.into_dict(py)?)?;
    }
    Ok(dict)
}

/// The name of a kernel; an empty one if it is not known.
fn name_of(kernels: &[KernelRow], id: KernelId) -> &str {
    kernels.iter().find(|kernel| kernel.func_id == id).map_or("", |kernel| &kernel.name)
}

fn swimlane(swimlane: Swimlane) -> Tables {
    let Swimlane { head, blocks, tasks, edges, phases, submits } = swimlane;
    let meta = &head.meta;
    let mut block_columns = Columns::of(&blocks);
    let core_type = |core: usize| meta.core_types.get(core).map_or("", String::as_str);
    block_columns
        .texts("kernel", blocks.iter().map(|block| name_of(&meta.kernels, block.func_id)))
        .texts("core_type", blocks.iter().map(|block| core_type(block.core.0 as usize)));
    let mut phase_columns = Columns::of(&phases);
    phase_columns.texts("phase", phases.iter().map(|phase| phase.phase.as_str()));
    let copies = head.copies.unwrap_or_default();
    let mut copy_columns = Columns::of(&copies);
    copy_columns
        .texts("direction", copies.iter().map(|copy| copy.direction.as_str()))
        .texts("what", copies.iter().map(|copy| &copy.what));
    let launches = head.launches.unwrap_or_default();
    let mut kernels = Columns::default();
    kernels
        .numbers("func_id", meta.kernels.iter().map(|kernel| Some(kernel.func_id.0.into())))
        .texts("name", meta.kernels.iter().map(|kernel| &kernel.name))
        .texts("core_type", meta.kernels.iter().map(|kernel| &kernel.core_type));
    vec![
        ("blocks", block_columns),
        ("tasks", Columns::of(&tasks)),
        ("edges", Columns::of(&edges)),
        ("phases", phase_columns),
        ("submits", Columns::of(&submits)),
        ("copies", copy_columns),
        ("launches", Columns::of(&launches)),
        ("kernels", kernels),
    ]
}

fn sizes(sizes: &[u32]) -> Vec<u64> {
    sizes.iter().map(|size| u64::from(*size)).collect()
}

/// The columns of views.
fn view_columns<'v>(columns: &mut Columns, views: impl Iterator<Item = Option<&'v ViewRow>> + Clone) {
    let list =
        |view: Option<&ViewRow>, of: fn(&ViewRow) -> &[u32]| view.map_or(vec![], |view| sizes(of(view)));
    columns
        .texts("dtype", views.clone().map(|view| view.map_or("", |view| view.dtype.as_str())))
        .lists("shape", views.clone().map(|view| list(view, |view| view.shape.as_slice())))
        .lists("strides", views.clone().map(|view| list(view, |view| view.strides.as_slice())))
        .numbers("offset", views.map(|view| view.map(|view| view.offset)));
}

fn deps(deps: &Deps) -> Tables {
    let kernels = |task: &ringlane::trace::deps::DepsTask<'_>| {
        let names: Vec<_> = task.kernels.iter().map(|one| one.kernel.name.clone()).collect();
        names.join("+")
    };
    let rows = &deps.tasks;
    let mut tasks = Columns::default();
    tasks
        .numbers("task_id", rows.iter().map(|task| Some(task.task_id.0)))
        .numbers("seq", rows.iter().map(|task| Some(task.seq.0)))
        .numbers("block_num", rows.iter().map(|task| Some(task.block_num.into())))
        .numbers("scope", rows.iter().map(|task| Some(task.scope.0.into())))
        .texts("site", rows.iter().map(|task| &task.site))
        .texts("kernels", rows.iter().map(kernels))
        .texts("label", rows.iter().map(|task| task.label.as_deref().unwrap_or_default()))
        .numbers("args", rows.iter().map(|task| Some(task.args.len() as u64)));
    let args: Vec<_> =
        deps.tasks.iter().flat_map(|task| task.args.iter().map(move |arg| (task.task_id, arg))).collect();
    let mut arg_columns = Columns::default();
    arg_columns
        .numbers("task_id", args.iter().map(|(task, _)| Some(task.0)))
        .numbers("index", args.iter().map(|(_, arg)| Some(arg.index.into())))
        .texts("access", args.iter().map(|(_, arg)| arg.access.as_str()))
        .numbers("tensor", args.iter().map(|(_, arg)| Some(arg.tensor.0.into())));
    view_columns(&mut arg_columns, args.iter().map(|(_, arg)| Some(&arg.view)));
    let mut tensors = Columns::of(&deps.tensors);
    tensors.texts("origin", deps.tensors.iter().map(|tensor| tensor.origin.as_str()));
    let edges = &deps.edges;
    let mut edge_columns = Columns::default();
    edge_columns
        .numbers("pred", edges.iter().map(|edge| Some(edge.pred.0)))
        .numbers("succ", edges.iter().map(|edge| Some(edge.succ.0)))
        .texts("source", edges.iter().map(|edge| edge.source.as_str()))
        .texts("hazard", edges.iter().map(|edge| edge.cause.map_or("", |cause| cause.hazard.as_str())))
        .numbers("arg", edges.iter().map(|edge| edge.cause.map(|cause| cause.arg.into())))
        .numbers("tensor", edges.iter().map(|edge| edge.cause.map(|cause| cause.tensor.0.into())))
        .texts("overlap", edges.iter().map(|edge| edge.cause.map_or("", |cause| cause.overlap.as_str())));
    let mut buffers = Columns::default();
    buffers
        .numbers("bytes", deps.buffers.iter().map(|buffer| Some(buffer.bytes)))
        .numbers("writable", deps.buffers.iter().map(|buffer| Some(buffer.writable.into())))
        .numbers("tensor", deps.buffers.iter().map(|buffer| buffer.tensor.map(|index| index.0.into())));
    vec![
        ("tasks", tasks),
        ("args", arg_columns),
        ("tensors", tensors),
        ("edges", edge_columns),
        ("buffers", buffers),
    ]
}

fn scopes(scopes: &Scopes) -> Tables {
    let rows = &scopes.scopes;
    let mut columns = Columns::default();
    columns
        .numbers("scope", rows.iter().map(|row| Some(row.scope.0.into())))
        .numbers("parent", rows.iter().map(|row| row.parent.map(|parent| parent.0.into())))
        .texts("site", rows.iter().map(|row| &row.site))
        .texts("label", rows.iter().map(|row| row.label.as_deref().unwrap_or_default()))
        .numbers("depth", rows.iter().map(|row| Some(row.depth.into())))
        .numbers("ring", rows.iter().map(|row| Some(row.ring.0.into())))
        .numbers("tasks", rows.iter().map(|row| Some(row.tasks)))
        .numbers("enter", rows.iter().map(|row| Some(row.enter.0)))
        .numbers("exit", rows.iter().map(|row| row.exit.map(|exit| exit.0)));
    type Peaks = fn(&ScopeRow<'static>) -> [Peak; RINGS];
    let of_ring: [(&str, Peaks); 4] = [
        ("task_window", |row| row.task_window),
        ("heap", |row| row.heap),
        ("dep_pool", |row| row.dep_pool),
        ("args", |row| row.args),
    ];
    for (name, peaks) in of_ring {
        let own = |row: &ScopeRow<'static>| peaks(row)[usize::from(row.ring.0)];
        columns
            .numbers(&format!("{name}_peak"), rows.iter().map(|row| Some(own(row).peak)))
            .numbers(&format!("{name}_capacity"), rows.iter().map(|row| Some(own(row).capacity)));
    }
    columns
        .numbers("tensormap_peak", rows.iter().map(|row| Some(row.tensormap.peak)))
        .numbers("fanin_peak", rows.iter().map(|row| Some(row.fanin.peak)))
        .numbers("task_window_need", rows.iter().map(|row| Some(row.need.task_window)))
        .numbers("heap_need", rows.iter().map(|row| Some(row.need.heap)))
        .numbers("dep_pool_need", rows.iter().map(|row| Some(row.need.dep_pool)))
        .numbers("args_need", rows.iter().map(|row| Some(row.need.args)));
    let stalls: Vec<_> =
        rows.iter().flat_map(|row| row.stalls.iter().map(move |stall| (row.scope, stall))).collect();
    let mut stall_columns = Columns::default();
    stall_columns
        .numbers("scope", stalls.iter().map(|(scope, _)| Some(scope.0.into())))
        .numbers("ring", stalls.iter().map(|(_, stall)| stall.ring.map(|ring| ring.0.into())))
        .texts("resource", stalls.iter().map(|(_, stall)| stall.resource.as_str()))
        .numbers("count", stalls.iter().map(|(_, stall)| Some(stall.count)))
        .numbers("ticks", stalls.iter().map(|(_, stall)| Some(stall.ticks.0)));
    vec![("scopes", columns), ("stalls", stall_columns)]
}

fn pmu(pmu: &Pmu) -> Tables {
    let rows = &pmu.rows;
    let mut columns = Columns::default();
    columns
        .numbers("thread_id", rows.iter().map(|row| Some(row.thread_id.into())))
        .numbers("core_id", rows.iter().map(|row| Some(row.core_id.0.into())))
        .numbers("task_id", rows.iter().map(|row| Some(row.task_id.0)))
        .numbers("func_id", rows.iter().map(|row| Some(row.func_id.0.into())))
        .texts("core_type", rows.iter().map(|row| &row.core_type))
        .numbers("pmu_total_cycles", rows.iter().map(|row| Some(row.pmu_total_cycles)));
    for (at, name) in pmu.counter_columns().enumerate() {
        columns.numbers(name, rows.iter().map(|row| row.counters.get(at).copied()));
    }
    columns.numbers("event_type", rows.iter().map(|row| Some(row.event_type.into())));
    vec![("pmu", columns)]
}

fn dump(dump: &Dump) -> Tables {
    let records = &dump.records;
    let tensor = |record: &DumpRecord| match record.data {
        DumpData::Tensor(tensor) => Some(tensor),
        DumpData::Scalar(_) => None,
    };
    let scalar = |record: &DumpRecord| match record.data {
        DumpData::Tensor(_) => None,
        DumpData::Scalar(scalar) => Some(scalar),
    };
    let of_tensors = |value: fn(&ringlane::trace::dump::DumpTensor) -> Option<u64>| {
        records.iter().map(move |record| tensor(record).as_ref().and_then(value))
    };
    let mut columns = Columns::default();
    columns
        .numbers("task_id", records.iter().map(|record| Some(record.task_id.0)))
        .numbers("arg_index", records.iter().map(|record| Some(record.arg_index.into())))
        .texts(
            "kind",
            records.iter().map(|record| if tensor(record).is_some() { "tensor" } else { "scalar" }),
        )
        .texts("role", records.iter().map(|record| record.role.as_str()))
        .texts("stage", records.iter().map(|record| record.stage.as_str()));
    let views: Vec<_> = records.iter().map(|record| tensor(record).map(|tensor| tensor.view)).collect();
    view_columns(&mut columns, views.iter().map(Option::as_ref));
    let dtype = |record: &DumpRecord| match record.data {
        DumpData::Tensor(tensor) => tensor.view.dtype.as_str(),
        DumpData::Scalar(scalar) => scalar.dtype().as_str(),
    };
    columns
        .texts("dtype", records.iter().map(dtype))
        .numbers("tensor", of_tensors(|tensor| tensor.tensor.map(|index| index.0.into())))
        .numbers("truncated", of_tensors(|tensor| Some((tensor.truncated == Truncated::Yes).into())))
        .numbers("bin_offset", of_tensors(|tensor| Some(tensor.bin_offset)))
        .numbers("bin_size", of_tensors(|tensor| Some(tensor.bin_size)))
        .numbers("crc32", of_tensors(|tensor| tensor.crc32.map(u64::from)))
        .texts(
            "scalar",
            records.iter().map(|record| scalar(record).map_or(String::new(), |value| value.to_string())),
        );
    let mut tasks = Columns::of(&dump.tasks);
    let kernel = |id: &KernelId| dump.head.kernels.iter().find(|kernel| kernel.func_id == *id);
    let kernels = |ids: &[KernelId]| {
        let names: Vec<_> = ids.iter().filter_map(kernel).map(|kernel| kernel.name.as_str()).collect();
        names.join("+")
    };
    tasks.texts("kernels", dump.tasks.iter().map(|task| kernels(&task.func_ids)));
    vec![("records", columns), ("tasks", tasks)]
}

fn dist(dist: &Dist) -> Tables {
    let calls = &dist.calls;
    let mut columns = Columns::of(calls);
    columns
        .texts("worker_name", calls.iter().map(|call| &dist.worker(call).name))
        .texts("callable_name", calls.iter().map(|call| dist.callable(call)))
        .texts("status", calls.iter().map(|call| call.status.as_str()))
        .texts("dir", calls.iter().map(|call| call.dir.as_deref().unwrap_or_default()));
    let workers = &dist.head.meta.workers;
    let mut worker_columns = Columns::default();
    worker_columns
        .texts("name", workers.iter().map(|worker| &worker.name))
        .texts("kind", workers.iter().map(|worker| worker.kind.as_str()))
        .numbers("pid", workers.iter().map(|worker| Some(worker.pid.into())))
        .numbers("restarts", workers.iter().map(|worker| Some(worker.restarts.into())));
    vec![("calls", columns), ("workers", worker_columns)]
}
