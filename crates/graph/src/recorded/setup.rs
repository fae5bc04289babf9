//! The chip of a recorded run, and how it was run.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use ringlane_chip_sim::policy::PolicyName;
use ringlane_engine::seams::RecordBytes;
use ringlane_task::{Capacities, ChipSpec, DfxFlags};
use ringlane_trace::dump::{self, DumpData, DumpRow, Stage, read_dump};
use ringlane_trace::{Manifest, RecordSizes};

use super::read::TaskIds;
use crate::error::ReplayError;

/// How the task graph of a run is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphBuild {
    /// While tasks run.
    Streamed,
    /// First, as a whole; then it is replayed.
    Captured {
        /// Bytes that its tensors may take together.
        memory_limit: Option<u64>,
    },
}

impl GraphBuild {
    /// The runtime that builds graphs this way, as `run.json` calls it.
    pub const fn runtime(self) -> &'static str {
        match self {
            GraphBuild::Streamed => "tensormap_and_ringbuffer",
            GraphBuild::Captured { .. } => "host_build_graph",
        }
    }

    /// How the graph of a run was built; `None` if this version does not know its runtime.
    pub fn of(manifest: &Manifest) -> Option<Self> {
        let memory_limit = manifest.graph.as_ref().and_then(|graph| graph.memory_limit_bytes);
        let all = [GraphBuild::Streamed, GraphBuild::Captured { memory_limit }];
        all.into_iter().find(|build| build.runtime() == manifest.runtime)
    }
}

/// A chip, and how it is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How the graph is built.
    pub build: GraphBuild,
    /// The chip.
    pub chip: ChipSpec,
    /// The capacities of the rings.
    pub rings: Capacities,
    /// The policy.
    pub policy: PolicyName,
    /// The seed of what goes wrong.
    pub chaos: Option<u64>,
    /// What records take in the chip's memory.
    pub records: RecordBytes,
    /// Whether scopes are recorded.
    pub records_scopes: bool,
    /// Bytes that are captured before and after each task; empty if nothing is.
    pub captured: Arc<Vec<[u64; 2]>>,
    /// Edges between tasks that are left out, by their places in submission order.
    pub dropped_edges: Arc<HashSet<(u64, u64)>>,
}

impl Setup {
    /// Reads how a run was made.
    pub(super) fn read(dir: &Path, manifest: &Manifest, ids: &TaskIds) -> Result<Self, ReplayError> {
        let Some(model) = &manifest.model else {
            return Err(ReplayError::NoModel { platform: manifest.platform.clone() });
        };
        let known = model.spec.clone().zip(manifest.rings).zip(manifest.record_bytes);
        let Some(((chip, rings), sizes)) = known else {
            let what = "run.json is from a version that did not record the chip and its rings".to_string();
            return Err(ReplayError::NotRecorded { dir: dir.into(), what });
        };
        let policy = PolicyName::from_name(&model.policy).ok_or_else(|| ReplayError::FilesDisagree {
            dir: dir.into(),
            what: format!("run.json has the unknown policy {:?}", model.policy),
        })?;
        let flags = manifest.dfx_flags();
        let RecordSizes { block, phase, submit, scope, .. } = sizes;
        let captured =
            if flags.contains(DfxFlags::DUMP) { captured(dir, manifest, &sizes, ids)? } else { Vec::new() };
        let build = GraphBuild::of(manifest).ok_or_else(|| ReplayError::UnknownRuntime {
            dir: dir.into(),
            runtime: manifest.runtime.clone(),
        })?;
        Ok(Setup {
            build,
            chip,
            rings,
            policy,
            chaos: model.chaos,
            records: RecordBytes { block, phase, submit, scope },
            records_scopes: flags.contains(DfxFlags::SCOPES),
            captured: Arc::new(captured),
            dropped_edges: Arc::default(),
        })
    }
}

/// What was captured of each task, by its place in submission order.
fn captured(
    dir: &Path,
    manifest: &Manifest,
    sizes: &RecordSizes,
    ids: &TaskIds,
) -> Result<Vec<[u64; 2]>, ReplayError> {
    let mut captured = vec![[0; 2]; manifest.tasks as usize];
    let mut unknown = None;
    let head = read_dump(dir.join(dump::FILE_NAME), |row| {
        let (task, stage, bytes) = match row {
            DumpRow::Task(task) => (task.task_id, Stage::BeforeDispatch, sizes.captured_task),
            DumpRow::Record(record) => {
                let payload = match record.data {
                    DumpData::Tensor(tensor) => tensor.bin_size,
                    DumpData::Scalar(_) => 0,
                };
                (record.task_id, record.stage, sizes.captured_argument + payload)
            }
        };
        match ids.place(task).and_then(|place| captured.get_mut(place as usize)) {
            Some(sums) => sums[usize::from(stage == Stage::AfterCompletion)] += bytes,
            None => unknown = Some(task),
        }
    })?;
    if head.counts.records.dropped > 0 {
        let (file, lost) = (dump::FILE_NAME, head.counts.records.dropped);
        return Err(ReplayError::RowsLost { dir: dir.into(), file, lost });
    }
    match unknown {
        Some(task) => Err(ReplayError::FilesDisagree {
            dir: dir.into(),
            what: format!("tensor_dump.json has task {task}, deps.json has not"),
        }),
        None => Ok(captured),
    }
}
