//! What an orchestration does between its submits. With its submits, that is all of a program that its times depend on.

use ringlane_task::TensorView;

use crate::api::backend::{Inference, Reading};
use crate::api::buffers::Permission;

/// A step of the orchestration that is not a submit.
#[derive(Clone, Copy, Debug)]
pub enum ProgramStep<'t> {
    /// The run has this external buffer. All of them come before anything else.
    Buffer {
        /// Its size.
        bytes: u64,
        /// Whether tasks may write it.
        permission: Permission,
    },
    /// A scope begins.
    EnterScope {
        /// The scope.
        scope: u32,
        /// The number of its source location.
        site: u32,
        /// Whether its tasks get their dependencies inferred.
        inference: Inference,
    },
    /// The innermost scope gets a label.
    LabelScope(&'t str),
    /// The innermost scope ends.
    ExitScope,
    /// It waits for the writers of a tensor and reads its values.
    Read {
        /// The tensor's memory.
        space: u32,
        /// Where the tensor starts there.
        base: u64,
        /// The part that is read; its offset counts from the start of the tensor.
        view: &'t TensorView,
        /// Whether the values are copied.
        how: Reading,
    },
    /// Its own work takes this number of ticks of a modelled chip.
    AdvanceTime(u64),
}

/// What a block does, according to the cost model of a modelled chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockWork {
    /// How long it takes, before anything goes wrong (`--chaos`).
    pub picoseconds: u64,
    /// Floating-point operations and bytes, if its time follows from them; otherwise 0.
    pub flops: u64,
    /// See `flops`.
    pub bytes: u64,
}
