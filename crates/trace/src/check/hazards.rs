//! Checks without the edges: two tasks that share a byte, one of them writing it, did not run at once and ran in
//! submission order.

use std::collections::HashMap;
use std::rc::Rc;

use ringlane_task::{Access, TaskId};

use super::{Checks, Run};
use crate::rows::ViewRow;
use crate::rows::deps::{Deps, DepsArg, Inference, TensorIndex};

/// Most pieces of one view that are checked. A view with more (a damaged file may claim any) is left out.
const RUNS_MAX: u64 = 1 << 22;

/// Bytes `[start, end)` of a buffer.
type ByteRun = (u64, u64);

/// An access that later ones may have to wait for.
struct Live {
    task: TaskId,
    writes: bool,
    runs: Rc<[ByteRun]>,
}

pub(super) fn check(checks: &mut Checks, deps: &Deps, run: &Run) {
    if run.blocks().is_empty() {
        return;
    }
    let mut live: HashMap<TensorIndex, Vec<Live>> = HashMap::new();
    for task in deps.tasks.iter().filter(|task| task.inference == Inference::FromArguments) {
        for arg in task.args.iter().filter(|arg| arg.access != Access::NoDep) {
            let Some(runs) = runs_of(&arg.view) else { continue };
            enter(checks, run, live.entry(arg.tensor).or_default(), task.task_id, arg, runs.into());
        }
    }
}

/// Compares an access with the live ones of its tensor, and makes it one of them.
fn enter(
    checks: &mut Checks,
    run: &Run,
    live: &mut Vec<Live>,
    task: TaskId,
    arg: &DepsArg,
    runs: Rc<[ByteRun]>,
) {
    let writes = arg.access.writes();
    live.retain(|other| {
        let conflict = other.task != task && (other.writes || writes) && share(&other.runs, &runs);
        if !conflict {
            return true;
        }
        if let Some((before, after)) = run.spans.get(&other.task).zip(run.spans.get(&task)) {
            checks.that(before.last_end <= after.first_start, || {
                let tensor = arg.tensor.0;
                format!("{} and {task} share bytes of tensor {tensor} and ran at once", other.task)
            });
        }
        // A write of exactly these bytes replaces the earlier access.
        !(writes && other.runs == runs)
    });
    live.push(Live { task, writes, runs });
}

/// The pieces of a buffer that a view touches, in order; `None` if they are too many.
fn runs_of(view: &ViewRow) -> Option<Vec<ByteRun>> {
    if view.bytes()? == 0 {
        return Some(Vec::new());
    }
    let size = view.dtype.size_bytes() as u64;
    let mut dims: Vec<(u64, u64)> = view.shape().zip(view.strides()).collect();
    let mut width = size;
    while let Some(&(len, stride)) = dims.last() {
        if stride * size != width {
            break;
        }
        width *= len;
        dims.pop();
    }
    let count = dims.iter().try_fold(1u64, |count, &(len, _)| count.checked_mul(len))?;
    if count > RUNS_MAX {
        return None;
    }
    let mut starts = vec![view.offset];
    for (len, stride) in dims {
        let step = |start: &u64| {
            let start = *start;
            (0..len).map(move |index| start.saturating_add(index.saturating_mul(stride * size)))
        };
        starts = starts.iter().flat_map(step).collect();
    }
    starts.sort_unstable();
    Some(starts.into_iter().map(|start| (start, start.saturating_add(width))).collect())
}

/// Whether two sets of pieces have a byte in common; both are in order.
fn share(a: &[ByteRun], b: &[ByteRun]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x.0 < y.1 && y.0 < x.1 {
            return true;
        }
        if x.1 <= y.1 {
            i += 1;
        } else {
            j += 1;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use ringlane_task::{DType, TensorView};

    use super::*;

    #[test]
    fn pieces_are_those_of_the_view_and_neighbours_share_nothing() {
        let whole = TensorView::contiguous(DType::Float32, &[4, 4]).unwrap();
        let left = whole.tile(&[1, 0], &[2, 2]).unwrap();
        let right = whole.tile(&[1, 2], &[2, 2]).unwrap();
        let runs = |view: &TensorView| runs_of(&ViewRow::from(view)).unwrap();
        assert_eq!(runs(&whole), [(0, 64)]);
        assert_eq!(runs(&left), [(16, 24), (32, 40)]);
        assert!(!share(&runs(&left), &runs(&right)));
        assert!(share(&runs(&left), &runs(&whole)));
        assert!(share(&runs(&whole.transpose(0, 1).unwrap()), &runs(&right)));
    }

    #[test]
    fn a_view_of_endless_pieces_is_left_out() {
        let dims = [ringlane_task::Dim { len: u32::MAX, stride: 7 }];
        assert_eq!(runs_of(&ViewRow::new(DType::Int8, 0, &dims).unwrap()), None);
    }
}
