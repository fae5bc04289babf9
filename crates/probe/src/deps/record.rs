//! What the hot path stores of a submit: a head, the argument records as they are, and whom it was told to follow.
//!
//! ```text
//! │ head │ argument words │ ids of explicit predecessors │      (alloc: the dimensions of its tensor)
//! ```

use ringlane_engine::api::backend::Inference;
use ringlane_engine::observed::{Submission, Submitted};
use ringlane_task::TaskId;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::lane::Writer;

/// What stands before the words of a submit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct SubmitHead {
    pub(crate) task_id: u64,
    pub(crate) seq: u64,
    /// The barrier that it follows, or `NOBODY`.
    pub(crate) barrier: u64,
    /// A barrier: the first task that it follows. An alloc: where its tensor starts.
    pub(crate) extra: u64,
    pub(crate) site: u32,
    pub(crate) scope: u32,
    pub(crate) blocks: u32,
    /// An alloc: its memory.
    pub(crate) space: u32,
    pub(crate) kernels: [u16; 3],
    /// Words of argument records (of an alloc: dimensions), and explicit predecessors.
    pub(crate) words: u16,
    pub(crate) after: u32,
    pub(crate) kind: u8,
    pub(crate) lanes: u8,
    /// Two bits for each kernel.
    pub(crate) lane_ids: u8,
    /// 1 in a scope without inference.
    pub(crate) manual: u8,
    /// An alloc: the type of its elements.
    pub(crate) dtype: u64,
}

/// No task.
pub(crate) const NOBODY: u64 = u64::MAX;
pub(crate) const BARRIER: u8 = 1;
pub(crate) const ALLOC: u8 = 2;

/// Stores a submit. One with more explicit predecessors than a buffer holds is lost, and counted.
#[inline]
pub(crate) fn store(writer: &mut Writer, submission: &Submission<'_>) {
    let (task, record) = (submission.task(), submission.record);
    let mut head = SubmitHead {
        task_id: task.id().0,
        seq: record.seq,
        barrier: submission.barrier().map_or(NOBODY, |task| task.0),
        site: record.site,
        scope: submission.scope,
        blocks: record.blocks,
        kernels: record.kernels,
        lanes: record.lanes() as u8,
        lane_ids: (0..3).fold(0, |ids, lane| ids | record.shape.lane(lane) << (2 * lane)),
        manual: (submission.inference == Inference::Off) as u8,
        ..SubmitHead::default()
    };
    match submission.kind {
        Submitted::Kernels { after } => {
            (head.words, head.after) = (task.words().len() as u16, after.count() as u32);
            write(writer, &head, task.words().as_bytes(), after.ids());
        }
        Submitted::Barrier { since } => {
            (head.kind, head.extra) = (BARRIER, since);
            write(writer, &head, &[], core::iter::empty());
        }
        Submitted::Alloc { space, base, view } => {
            (head.kind, head.space, head.extra) = (ALLOC, space, base);
            (head.dtype, head.words) = (view.dtype() as u64, view.rank() as u16);
            let mut dims = [0u64; ringlane_task::MAX_RANK];
            for (word, dim) in dims.iter_mut().zip(view.dims()) {
                *word = dim.len as u64 | (dim.stride as u64) << 32;
            }
            write(writer, &head, dims[..view.rank()].as_bytes(), core::iter::empty());
        }
    }
}

#[inline]
fn write(writer: &mut Writer, head: &SubmitHead, words: &[u8], after: impl Iterator<Item = TaskId>) {
    let bytes = size_of::<SubmitHead>() + words.len() + 8 * head.after as usize;
    let Some(place) = writer.reserve(bytes) else { return };
    let (head_place, rest) = place.split_at_mut(size_of::<SubmitHead>());
    head_place.copy_from_slice(head.as_bytes());
    let (words_place, after_place) = rest.split_at_mut(words.len());
    words_place.copy_from_slice(words);
    for (place, task) in after_place.chunks_exact_mut(8).zip(after) {
        place.copy_from_slice(&task.0.to_le_bytes());
    }
}

/// A submit read back.
pub(crate) struct StoredSubmit<'a> {
    pub(crate) head: SubmitHead,
    /// Argument words, or the dimensions of an alloc.
    pub(crate) words: &'a [u64],
    pub(crate) after: &'a [u64],
}

/// Hands every submit of a chunk to `f`. `scratch` keeps memory from call to call.
pub(crate) fn for_each(mut chunk: &[u8], scratch: &mut Vec<u64>, mut f: impl FnMut(StoredSubmit<'_>)) {
    while let Ok((head, rest)) = SubmitHead::read_from_prefix(chunk) {
        let count = head.words as usize + head.after as usize;
        if rest.len() < 8 * count {
            return;
        }
        let (words, rest) = rest.split_at(8 * count);
        scratch.clear();
        scratch
            .extend(words.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))));
        let (words, after) = scratch.split_at(head.words as usize);
        f(StoredSubmit { head, words, after });
        chunk = rest;
    }
}
