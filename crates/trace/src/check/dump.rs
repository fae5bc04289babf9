//! The dump: every captured byte is where its record says, every argument that should be captured is, and what a
//! task read is what was last written there.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use ringlane_task::{Access, Explain, TaskId};

use super::{Checks, Run};
use crate::rows::ViewRow;
use crate::rows::deps::{Deps, DepsArg, TensorIndex};
use crate::rows::dump::{
    BIN_FILE_NAME, Dump, DumpData, DumpRecord, DumpTensor, Payloads, Role, Stage, Truncated,
};

/// Bytes compared at once.
const PIECE_BYTES: usize = 64 * 1024;

pub(super) fn check(checks: &mut Checks, dir: &Path, dump: &Dump, run: &Run) {
    // The reader refuses counts that do not add up or differ from the records.
    checks.held(7);
    let bin = File::open(dir.join(BIN_FILE_NAME)).and_then(|bin| Ok((bin.metadata()?.len(), bin)));
    let (size, bin) = match bin {
        Ok(bin) => bin,
        Err(error) => return checks.broken(format!("{BIN_FILE_NAME} cannot be read: {error}")),
    };
    for (index, record) in dump.records.iter().enumerate() {
        match &record.data {
            DumpData::Scalar(_) => check_scalar(checks, index, record),
            DumpData::Tensor(tensor) => check_tensor(checks, index, record, tensor, size),
        }
    }
    check_checksums(checks, dir, dump);
    check_places(checks, dump);
    if let Some(deps) = run.deps.as_ref().filter(|deps| deps.dropped == 0) {
        check_tensors(checks, dump, deps);
    }
    let complete = dump.head.counts.records.dropped == 0 && dump.head.selection.is_none();
    if let Some(deps) = run.deps.as_ref().filter(|deps| complete && deps.dropped == 0 && run.is_ok()) {
        check_values(checks, dump, deps, &bin);
        check_captured(checks, dump, deps);
    }
}

fn check_scalar(checks: &mut Checks, index: usize, record: &DumpRecord) {
    // The reader refuses a scalar with a payload or a shape, or without 16 digits.
    checks.held(2);
    let stage = record.stage;
    checks.that(stage == Stage::BeforeDispatch, || format!("scalar record {index} at {stage}"));
}

fn check_tensor(
    checks: &mut Checks,
    index: usize,
    record: &DumpRecord,
    tensor: &DumpTensor,
    file_bytes: u64,
) {
    // The reader refuses dtypes that are not known.
    checks.held(1);
    let (bytes, needed) = (tensor.bin_size, tensor.view.bytes());
    checks.that(tensor.truncated == Truncated::Yes || Some(bytes) == needed, || {
        let needed = needed.map_or("more than 64 bits can count".to_string(), |needed| needed.to_string());
        format!("record {index} has {bytes} bytes, its shape needs {needed}")
    });
    let end = tensor.bin_offset.checked_add(bytes);
    checks.that(end.is_some_and(|end| end <= file_bytes), || {
        format!("record {index} ends past the file's {file_bytes} bytes")
    });
    let (role, stage) = (record.role, record.stage);
    let at_its_time = match role {
        Role::Input => stage == Stage::BeforeDispatch,
        Role::Output => stage == Stage::AfterCompletion,
        Role::InOut => true,
    };
    checks.that(at_its_time, || format!("{role} record {index} captured {stage}"));
}

fn tensors(dump: &Dump) -> impl Iterator<Item = (usize, &DumpRecord, &DumpTensor)> {
    dump.records.iter().enumerate().filter_map(|(index, record)| match &record.data {
        DumpData::Tensor(tensor) => Some((index, record, tensor)),
        DumpData::Scalar(_) => None,
    })
}

/// The bytes of each tensor are those that were written; runs from before there were checksums have none.
fn check_checksums(checks: &mut Checks, dir: &Path, dump: &Dump) {
    let Ok(payloads) = Payloads::open(dir) else { return };
    let mut buffer = vec![0; PIECE_BYTES];
    for (index, record, tensor) in tensors(dump).filter(|(_, _, tensor)| tensor.crc32.is_some()) {
        if payloads.check(tensor).is_err() {
            // Reported above.
            continue;
        }
        let verified = payloads.verify(tensor, &mut buffer);
        checks.that(verified.is_ok(), || {
            let what = verified.err().map_or(String::new(), |error| error.detail());
            format!("record {index}, argument {} of task {}: {what}", record.arg_index, record.task_id)
        });
    }
}

fn check_places(checks: &mut Checks, dump: &Dump) {
    let filled = tensors(dump).filter(|(_, _, tensor)| tensor.bin_size > 0);
    let mut places: Vec<_> = filled
        .map(|(index, _, tensor)| {
            (tensor.bin_offset, tensor.bin_offset.saturating_add(tensor.bin_size), index)
        })
        .collect();
    places.sort_unstable();
    for pair in places.windows(2) {
        checks
            .that(pair[0].1 <= pair[1].0, || format!("records {} and {} share bytes", pair[0].2, pair[1].2));
    }
}

/// What a record says of its tensor is what `deps.json` says.
fn check_tensors(checks: &mut Checks, dump: &Dump, deps: &Deps) {
    let args =
        deps.tasks.iter().flat_map(|task| task.args.iter().map(|arg| ((task.task_id, arg.index), arg)));
    let args: HashMap<(TaskId, u32), &DepsArg> = args.collect();
    let bytes: HashMap<TensorIndex, u64> = deps.tensors.iter().map(|row| (row.tensor, row.bytes)).collect();
    for (index, record, captured) in tensors(dump) {
        let arg = args.get(&(record.task_id, record.arg_index));
        let Some((tensor, arg)) = captured.tensor.zip(arg) else { continue };
        let (id, there) = (tensor.0, arg.tensor.0);
        checks.also(tensor == arg.tensor, || {
            format!("record {index} is of tensor {id}, deps.json says {there}")
        });
        checks.also(captured.view == arg.view, || {
            format!("record {index} is another part of tensor {id} than deps.json says")
        });
        let (range, size) = (captured.view.byte_range(), bytes.get(&tensor).copied());
        let (end, size) = (range.map_or(0, |range| range.end), size.unwrap_or(u64::MAX));
        checks.also(end <= size, || {
            format!("record {index} ends at byte {end} of tensor {id}, which has {size}")
        });
    }
}

/// Follows each tensor through the tasks in submission order.
fn check_values(checks: &mut Checks, dump: &Dump, deps: &Deps, bin: &File) {
    let whole = tensors(dump).filter(|(_, _, tensor)| tensor.truncated == Truncated::No);
    let captured: HashMap<(TaskId, u32, Stage), &DumpTensor> =
        whole.map(|(_, record, tensor)| ((record.task_id, record.arg_index, record.stage), tensor)).collect();
    let mut written: HashMap<TensorIndex, (ViewRow, &DumpTensor)> = HashMap::new();
    for task in &deps.tasks {
        for arg in task.args.iter() {
            let at = |stage| captured.get(&(task.task_id, arg.index, stage)).copied();
            let last = written.get(&arg.tensor).filter(|(view, _)| *view == arg.view);
            if let Some((read, (_, last))) = at(Stage::BeforeDispatch).zip(last) {
                checks.that(same_bytes(bin, last, read), || {
                    let (task, arg) = (task.task_id, arg.index);
                    format!("task {task} arg {arg} read other bytes than were last written there")
                });
            }
            if let Some(after) = at(Stage::AfterCompletion) {
                written.insert(arg.tensor, (arg.view, after));
            } else if arg.access != Access::Input {
                // It may have been written, with unknown contents.
                written.remove(&arg.tensor);
            }
        }
    }
}

fn same_bytes(bin: &File, a: &DumpTensor, b: &DumpTensor) -> bool {
    let mut left = a.bin_size;
    let (mut at_a, mut at_b) = (a.bin_offset, b.bin_offset);
    let (mut piece_a, mut piece_b) = ([0; PIECE_BYTES], [0; PIECE_BYTES]);
    if a.bin_size != b.bin_size {
        return false;
    }
    while left > 0 {
        let bytes = left.min(PIECE_BYTES as u64) as usize;
        let (to_a, to_b) = (&mut piece_a[..bytes], &mut piece_b[..bytes]);
        let read = bin.read_exact_at(to_a, at_a).and_then(|()| bin.read_exact_at(to_b, at_b));
        if read.is_err() || piece_a[..bytes] != piece_b[..bytes] {
            return false;
        }
        left -= bytes as u64;
        at_a = at_a.saturating_add(bytes as u64);
        at_b = at_b.saturating_add(bytes as u64);
    }
    true
}

fn check_captured(checks: &mut Checks, dump: &Dump, deps: &Deps) {
    let captured: HashSet<(TaskId, u32, Stage)> =
        dump.records.iter().map(|record| (record.task_id, record.arg_index, record.stage)).collect();
    for task in deps.tasks.iter().filter(|task| !task.kernels.is_empty()) {
        for arg in task.args.iter() {
            let wanted: &[Stage] = match arg.access {
                Access::Input => &[Stage::BeforeDispatch],
                Access::Output | Access::OutputExisting => &[Stage::AfterCompletion],
                Access::InOut => &[Stage::BeforeDispatch, Stage::AfterCompletion],
                Access::NoDep => &[],
            };
            let missing = wanted.iter().find(|&&stage| !captured.contains(&(task.task_id, arg.index, stage)));
            checks.that(missing.is_none(), || {
                let (task, index, access) = (task.task_id, arg.index, arg.access);
                format!(
                    "task {task} arg {index} ({access}) was not captured {}",
                    missing.map_or("", |s| s.as_str())
                )
            });
        }
    }
}
