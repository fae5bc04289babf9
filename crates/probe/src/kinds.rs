//! The kinds of records, and how much memory each may take.

use std::fs::File;
use std::io;
use std::path::Path;

pub(crate) use ringlane_trace::deps::FILE_NAME as DEPS_FILE;
pub(crate) use ringlane_trace::dump::{BIN_FILE_NAME as PAYLOAD_FILE, FILE_NAME as DUMP_FILE};
pub(crate) use ringlane_trace::pmu::FILE_NAME as PMU_FILE;
pub(crate) use ringlane_trace::scopes::FILE_NAME as SCOPES_FILE;
pub(crate) use ringlane_trace::swimlane::FILE_NAME as SWIMLANE_FILE;
use ringlane_trace::{RunDir, TraceError};

use crate::kind::{KindSpec, RecordKind, Sink};

pub(crate) const BLOCKS: RecordKind = RecordKind(0);
pub(crate) const PHASES: RecordKind = RecordKind(1);
pub(crate) const TASKS: RecordKind = RecordKind(2);
pub(crate) const EDGES: RecordKind = RecordKind(3);
pub(crate) const SUBMITS: RecordKind = RecordKind(4);
pub(crate) const DUMP: RecordKind = RecordKind(5);
pub(crate) const PAYLOAD: RecordKind = RecordKind(6);
pub(crate) const PMU: RecordKind = RecordKind(7);
pub(crate) const DEPS: RecordKind = RecordKind(8);
pub(crate) const SCOPES: RecordKind = RecordKind(9);
pub(crate) const DUMP_TASKS: RecordKind = RecordKind(10);
pub(crate) const RECLAIMS: RecordKind = RecordKind(11);

/// Buffers of a lane and bytes of each. The memory is touched only as far as it is used.
const RECORDS: (u32, u32) = (64, 64 << 10);
/// Of the lanes of submits: one thread records all of them, with their arguments. What a run of some ten milliseconds records stays in
/// memory; to write it to the spool meanwhile takes a core from the run for longer than to record it.
const SUBMIT_RECORDS: (u32, u32) = (256, 64 << 10);
/// Most lanes stay short.
const RECORDS_READY: u32 = 64 << 10;
/// Sixteen thousand scopes: in a run with that many, each is so short that a page fault for every thirty of them shows in its time.
const SCOPES_READY: u32 = 2 << 20;
/// A captured tensor passes through in pieces of at most one buffer.
const PAYLOADS: (u32, u32) = (16, 512 << 10);

/// The spec of a kind whose records are spooled.
pub(crate) fn spooled(
    dir: &RunDir,
    kind: RecordKind,
    name: &'static str,
    file: &'static str,
    writers: u32,
) -> KindSpec {
    let (buffers, buffer_bytes) = if [DEPS, SUBMITS].contains(&kind) { SUBMIT_RECORDS } else { RECORDS };
    let (path, dir) = (dir.path().join(file), dir.clone());
    let sink = Sink::spool(move || spool(&dir));
    let ready_bytes = if kind == SCOPES { SCOPES_READY } else { RECORDS_READY };
    KindSpec { kind, name, path, sink, buffers, buffer_bytes, ready_bytes, writers }
}

/// A temporary file in the run directory, or the system's error.
pub(crate) fn spool(dir: &RunDir) -> io::Result<File> {
    dir.spool().map_err(|error| match error {
        TraceError::CannotWrite { source, .. } => source,
        other => io::Error::other(other),
    })
}

/// The spec of captured bytes, which go straight to their file.
pub(crate) fn placed(path: &Path, file: File, writers: u32) -> KindSpec {
    let (buffers, buffer_bytes) = PAYLOADS;
    let (path, sink) = (path.to_path_buf(), Sink::place(file));
    let (kind, name, ready_bytes) = (PAYLOAD, "captured bytes", RECORDS_READY);
    KindSpec { kind, name, path, sink, buffers, buffer_bytes, ready_bytes, writers }
}
