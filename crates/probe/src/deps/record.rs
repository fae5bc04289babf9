//! What the hot path stores of a submit: a head, the argument records as they are, and its explicit predecessors.
//!
//! ```text
//! │ head │ argument words (alloc: dimensions) │ barrier, if any │ since or base, if any │ explicit predecessors │ label │
//! ```
//! What the orchestration does between its submits is stored among them, with heads of other kinds (see `steps.rs`).

use ringlane_engine::api::backend::{Contents, Inference};
use ringlane_engine::observe::{Submission, Submitted};
use ringlane_task::{Dim, MAX_RANK, TensorView};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::steps::LABEL;
use crate::lane::Writer;

/// The header of a submit's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct SubmitHead {
    pub(crate) task_id: u64,
    pub(crate) seq: u64,
    pub(crate) site: u32,
    pub(crate) scope: u32,
    pub(crate) blocks: u32,
    /// Explicit predecessors.
    pub(crate) after: u32,
    pub(crate) kernels: [u16; 3],
    /// Words of argument records; of an alloc: dimensions.
    pub(crate) words: u16,
    pub(crate) kind: u8,
    pub(crate) lanes: u8,
    /// Two bits for each kernel.
    pub(crate) lane_ids: u8,
    /// `MANUAL`, `FOLLOWS_BARRIER`.
    pub(crate) flags: u8,
    /// An alloc: the ring it is on.
    pub(crate) space: u16,
    /// An alloc or a read: the type of its elements. A task with kernels, or a label: bytes of it, which takes whole words.
    pub(crate) dtype_or_label: u16,
    /// A task with kernels: picoseconds of its blocks, if its submit said so.
    pub(crate) duration_ps: u64,
}

/// In a scope without inference.
pub(crate) const MANUAL: u8 = 1;
/// The id of the barrier that it follows comes after the words.
pub(crate) const FOLLOWS_BARRIER: u8 = 2;
/// An alloc with values of the orchestration.
pub(crate) const UPLOAD: u8 = 4;
pub(crate) const KERNELS: u8 = 0;
pub(crate) const BARRIER: u8 = 1;
pub(crate) const ALLOC: u8 = 2;
/// The first of the kinds that are not submits.
pub(crate) const STEPS: u8 = 3;

/// Stores a submit. One with more explicit predecessors than a buffer holds is lost, and counted.
#[inline]
pub(crate) fn store(writer: &mut Writer, submission: &Submission<'_>) {
    let (task, record, barrier) = (submission.task(), submission.record, submission.barrier());
    let manual = if submission.inference == Inference::Off { MANUAL } else { 0 };
    let mut head = SubmitHead {
        task_id: task.id().0,
        seq: record.seq,
        site: record.site,
        scope: submission.scope,
        blocks: record.blocks,
        kernels: record.kernels,
        lanes: record.lanes() as u8,
        lane_ids: (0..3).fold(0, |ids, lane| ids | record.shape.lane(lane) << (2 * lane)),
        flags: manual | if barrier.is_some() { FOLLOWS_BARRIER } else { 0 },
        ..SubmitHead::default()
    };
    let barrier = barrier.map(|task| task.0);
    match submission.kind {
        Submitted::Kernels { after } => {
            let label = task.label().unwrap_or_default();
            (head.words, head.after) = (task.words().len() as u16, after.count() as u32);
            head.dtype_or_label = label.len() as u16;
            head.duration_ps = task.duration_ps().unwrap_or(0);
            let tail = barrier.into_iter().chain(after.ids().map(|t| t.0));
            write(writer, &head, task.words().as_bytes(), tail, label);
        }
        Submitted::Barrier { since } => {
            head.kind = BARRIER;
            write(writer, &head, &[], barrier.into_iter().chain([since]), "");
        }
        Submitted::Alloc { space, base, view, contents } => {
            (head.kind, head.space) = (ALLOC, space as u16);
            head.flags |= if matches!(contents, Contents::Host(_)) { UPLOAD } else { 0 };
            (head.dtype_or_label, head.words) = (view.dtype() as u16, view.rank() as u16);
            let dims = dim_words(view);
            let dims = dims[..view.rank()].as_bytes();
            write(writer, &head, dims, barrier.into_iter().chain([base]), "");
        }
    }
}

/// The dimensions of a view, one word each.
pub(super) fn dim_words(view: &TensorView) -> [u64; MAX_RANK] {
    let mut words = [0u64; MAX_RANK];
    for (word, dim) in words.iter_mut().zip(view.dims()) {
        *word = dim.len as u64 | (dim.stride as u64) << 32;
    }
    words
}

/// The dimensions that these words are, and how many there are.
pub(crate) fn dims_of(words: &[u64]) -> ([Dim; MAX_RANK], usize) {
    let mut dims = [Dim::default(); MAX_RANK];
    for (dim, word) in dims.iter_mut().zip(words) {
        *dim = Dim { len: *word as u32, stride: (*word >> 32) as u32 };
    }
    (dims, words.len().min(MAX_RANK))
}

impl SubmitHead {
    /// Words after the argument words: the barrier, the data of a barrier or an alloc, explicit predecessors.
    fn tail_words(&self) -> usize {
        let barrier = usize::from(self.flags & FOLLOWS_BARRIER != 0);
        barrier + usize::from(self.kind != KERNELS) + self.after as usize
    }

    /// Bytes of the label at the end.
    fn label_bytes(&self) -> usize {
        if [KERNELS, LABEL].contains(&self.kind) { self.dtype_or_label as usize } else { 0 }
    }
}

#[inline]
pub(super) fn write(
    writer: &mut Writer,
    head: &SubmitHead,
    words: &[u8],
    tail: impl Iterator<Item = u64>,
    label: &str,
) {
    let (tail_bytes, label_bytes) = (8 * head.tail_words(), label.len().next_multiple_of(8));
    let bytes = size_of::<SubmitHead>() + words.len() + tail_bytes + label_bytes;
    let Some(place) = writer.reserve(bytes) else { return };
    let (head_place, rest) = place.split_at_mut(size_of::<SubmitHead>());
    head_place.copy_from_slice(head.as_bytes());
    let (words_place, tail_place) = rest.split_at_mut(words.len());
    words_place.copy_from_slice(words);
    let (tail_place, label_place) = tail_place.split_at_mut(tail_bytes);
    label_place[..label.len()].copy_from_slice(label.as_bytes());
    for (place, word) in tail_place.chunks_exact_mut(8).zip(tail) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
}

/// A submit read back.
pub(crate) struct StoredSubmit<'a> {
    pub(crate) head: SubmitHead,
    /// Argument words, or the dimensions of an alloc.
    pub(crate) words: &'a [u64],
    /// The barrier that it follows.
    pub(crate) barrier: Option<u64>,
    /// A barrier: the first task that it follows. An alloc: where its tensor starts.
    pub(crate) extra: u64,
    pub(crate) after: &'a [u64],
    /// The name of the task; empty if it has none.
    pub(crate) label: &'a str,
}

/// Hands every submit of a chunk to `f`. `scratch` keeps memory from call to call.
pub(crate) fn for_each(mut chunk: &[u8], scratch: &mut Vec<u64>, mut f: impl FnMut(StoredSubmit<'_>)) {
    while let Ok((head, rest)) = SubmitHead::read_from_prefix(chunk) {
        let count = head.words as usize + head.tail_words();
        let label_bytes = head.label_bytes();
        if rest.len() < 8 * count + label_bytes.next_multiple_of(8) {
            return;
        }
        let (words, rest) = rest.split_at(8 * count);
        let (label, rest) = rest.split_at(label_bytes.next_multiple_of(8));
        let label = core::str::from_utf8(&label[..label_bytes]).unwrap_or_default();
        scratch.clear();
        scratch
            .extend(words.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))));
        let (words, mut tail) = scratch.split_at(head.words as usize);
        let mut next = |there: bool| {
            let (first, others) = tail.split_first().filter(|_| there)?;
            tail = others;
            Some(*first)
        };
        let barrier = next(head.flags & FOLLOWS_BARRIER != 0);
        let extra = next(head.kind != KERNELS).unwrap_or(0);
        f(StoredSubmit { head, words, barrier, extra, after: tail, label });
        chunk = rest;
    }
}
