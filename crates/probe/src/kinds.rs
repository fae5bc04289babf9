//! The kinds of records, and how much memory each may take.

use std::path::Path;

use ringlane_trace::{RunDir, TraceError};

use crate::kind::{Kind, KindSpec, Sink};

pub(crate) const BLOCKS: Kind = Kind(0);
pub(crate) const PHASES: Kind = Kind(1);
pub(crate) const TASKS: Kind = Kind(2);
pub(crate) const EDGES: Kind = Kind(3);
pub(crate) const SUBMITS: Kind = Kind(4);
pub(crate) const DUMP: Kind = Kind(5);
pub(crate) const PAYLOAD: Kind = Kind(6);
pub(crate) const PMU: Kind = Kind(7);
pub(crate) const DEPS: Kind = Kind(8);
pub(crate) const SCOPES: Kind = Kind(9);
pub(crate) const DUMP_TASKS: Kind = Kind(10);

/// The files of the run directory.
pub(crate) const SWIMLANE_FILE: &str = "l2_perf_records.json";
pub(crate) const DUMP_FILE: &str = "tensor_dump/tensor_dump.json";
pub(crate) const PAYLOAD_FILE: &str = "tensor_dump/tensor_dump.bin";
pub(crate) const PMU_FILE: &str = "pmu.csv";
pub(crate) const DEPS_FILE: &str = "deps.json";
pub(crate) const SCOPES_FILE: &str = "scope_stats.json";

/// Buffers of a lane and bytes of each. A lane is drained every few milliseconds; half of it lasts that long at the
/// highest rate that a thread can record. The memory is touched only as far as it is used.
const RECORDS: (u32, u32) = (64, 64 << 10);
/// A captured tensor passes through in pieces of at most one buffer.
const PAYLOADS: (u32, u32) = (16, 512 << 10);

/// The spec of a kind whose records are spooled.
pub(crate) fn spooled(
    dir: &RunDir,
    kind: Kind,
    name: &'static str,
    file: &'static str,
    writers: u32,
) -> KindSpec {
    let (buffers, buffer_bytes) = RECORDS;
    let (path, dir) = (dir.path().join(file), dir.clone());
    let sink = Sink::spool(move || {
        dir.spool().map_err(|error| match error {
            TraceError::CannotWrite { source, .. } => source,
            other => std::io::Error::other(other),
        })
    });
    KindSpec { kind, name, path, sink, buffers, buffer_bytes, writers }
}

/// The spec of captured bytes, which go straight to their file.
pub(crate) fn placed(path: &Path, file: std::fs::File, writers: u32) -> KindSpec {
    let (buffers, buffer_bytes) = PAYLOADS;
    let (path, sink) = (path.to_path_buf(), Sink::place(file));
    KindSpec { kind: PAYLOAD, name: "captured bytes", path, sink, buffers, buffer_bytes, writers }
}
