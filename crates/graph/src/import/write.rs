//! An imported graph as a run directory: `deps.json` with a duration for each task, and `run.json`.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;
use std::path::Path;

use ringlane_task::{DfxFlags, KernelId, RingIndex, ScopeId, Seq, TaskId, Ticks};
use ringlane_trace::deps::{
    self, DepsEdge, DepsTask, DepsWriter, EdgeSource, Inference, KernelRow, TaskKernel,
};
use ringlane_trace::{ArtifactFile, FileEntry, Manifest, RunDir, RunStatus, UtcTime};

use super::limits::CLOCK_FREQ_HZ;
use super::{ImportError, ImportOptions, ImportedGraph};

/// The platform of a graph that no chip has run, and how it was built.
const IMPORTED: &str = "imported";

/// Bytes of a scene's name, so that a directory can be named after it.
const SCENE_BYTES_MAX: usize = 64;

/// The scene of a file: its name without what follows the first point, in characters that a directory may have.
///
/// ```
/// use ringlane_graph::import::scene_name;
/// assert_eq!(scene_name("data/montage-100.json".as_ref()), "montage-100");
/// assert_eq!(scene_name("a b.0.et".as_ref()), "a_b");
/// assert_eq!(scene_name("..".as_ref()), "graph");
/// ```
pub fn scene_name(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let scene: String = stem.chars().map(plain).take(SCENE_BYTES_MAX).collect();
    let scene = scene.trim_start_matches('-');
    if scene.is_empty() { "graph".to_string() } else { scene.to_string() }
}

/// Writes a graph into a directory, `run.json` last. Its case is the name of the format.
pub fn write_run(
    graph: &ImportedGraph,
    options: &ImportOptions,
    dir: &RunDir,
    started_at: UtcTime,
) -> Result<Manifest, ImportError> {
    let mut file = dir.create_file(deps::FILE_NAME)?;
    let spools = [dir.spool()?, dir.spool()?];
    let tasks = write_deps(graph, &mut file, spools).map_err(|source| file.error(source))?;
    let bytes = file.commit()?;
    let path = Path::new(graph.file());
    // Tables in a directory are named after it.
    let named = match path.file_name().is_some_and(|name| name == super::TASKS_CSV) {
        true => path.parent().filter(|dir| dir.file_name().is_some()).unwrap_or(path),
        false => path,
    };
    let format = graph.format().as_str();
    let mut manifest = Manifest::new(&scene_name(named), format, IMPORTED, started_at);
    manifest = manifest.with_dfx_flags(DfxFlags::DEPS);
    manifest.runtime = IMPORTED.to_string();
    manifest.status = RunStatus::Imported;
    manifest.clock_freq_hz = CLOCK_FREQ_HZ;
    (manifest.tasks, manifest.blocks, manifest.scopes) = (tasks, tasks, 1);
    let params = [("file", graph.file()), ("format", format), ("scale", &options.scale.to_string())];
    manifest.params = params.map(|(name, value)| (name.to_string(), value.to_string())).into();
    manifest.files = vec![FileEntry::with_rows(deps::FILE_NAME, bytes, tasks, 0)];
    manifest.write(dir)?;
    Ok(manifest)
}

fn write_deps(graph: &ImportedGraph, out: &mut ArtifactFile, spools: [std::fs::File; 2]) -> io::Result<u64> {
    let mut writer = DepsWriter::new(out, spools);
    let kernels: Vec<KernelRow> =
        (0..).zip(graph.kernels()).map(|(number, name)| kernel_row(number, name)).collect();
    let file = Path::new(graph.file())
        .file_name()
        .map_or(Cow::Borrowed(graph.file()), |name| name.to_string_lossy());
    let mut site = String::new();
    for (position, task) in (0u32..).zip(graph.tasks()) {
        site.clear();
        // A string takes whatever fits into memory.
        let _ = write!(site, "{file}:{}", task.line);
        let kernel = TaskKernel { kernel: Cow::Borrowed(&kernels[task.kernel as usize]), lane: 0 };
        writer.task(&DepsTask {
            task_id: id_at(position),
            seq: Seq(u64::from(position)),
            block_num: 1,
            scope: ScopeId(0),
            site: Cow::Borrowed(&site),
            inference: Inference::Manual,
            kernels: Cow::Borrowed(&[kernel]),
            args: Cow::default(),
            label: task.label.map(Cow::Borrowed),
            duration: Some(Ticks(task.ticks)),
            ..DepsTask::default()
        })?;
    }
    for &(pred, succ) in graph.edges() {
        let [pred, succ] = [pred, succ].map(id_at);
        writer.edge(&DepsEdge { pred, succ, source: EdgeSource::Explicit, cause: None })?;
    }
    Ok(writer.finish(0)?.tasks.collected)
}

fn kernel_row(number: u32, name: &str) -> KernelRow {
    KernelRow { func_id: KernelId(number), name: name.to_string(), core_type: "any".to_string() }
}

/// All tasks are on the first ring.
const fn id_at(position: u32) -> TaskId {
    TaskId::new(RingIndex(0), position)
}
