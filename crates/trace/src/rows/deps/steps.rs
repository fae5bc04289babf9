//! What the orchestration does between its submits, and the external buffers of the run.

use std::borrow::Cow;

use ringlane_task::ScopeId;

use super::TensorIndex;
use crate::rows::ViewRow;

names! {
    /// What the orchestration did.
    StepKind {
        /// It began a scope.
        Enter = "enter",
        /// It ended the innermost scope.
        Exit = "exit",
        /// It waited for the writers of a tensor and read its values.
        Read = "read",
        /// Its own work took time (`advance_time`).
        Advance = "advance",
    }
}

row! { object
    /// A step of the orchestration that is not a submit.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DepsStep<'a> {
        /// What it did.
        step: StepKind,
        /// The scope that it began.
        scope: Option<ScopeId> [absent],
        /// Where in the source the scope began, `file:line`.
        site: Option<Cow<'a, str>> [absent],
        /// Whether the tasks of the scope get no dependencies from their arguments; absent if they do.
        manual: Option<bool> [absent],
        /// The label of the scope.
        label: Option<Cow<'a, str>> [absent],
        /// The ticks that its own work took.
        ticks: Option<u64> [absent],
        /// The tensor that it read; absent for an external buffer.
        tensor: Option<TensorIndex> [absent],
        /// The external buffer that it read.
        buffer: Option<u32> [absent],
        /// Whether the values were read without a copy; absent if they were copied.
        in_place: Option<bool> [absent],
        /// The part that was read.
        view: Option<ViewRow> [some ViewRow],
    }
}

impl DepsStep<'_> {
    /// A step of this kind, with nothing else.
    pub const fn new(step: StepKind) -> Self {
        DepsStep {
            step,
            scope: None,
            site: None,
            manual: None,
            label: None,
            ticks: None,
            tensor: None,
            buffer: None,
            in_place: None,
            view: None,
        }
    }
}

row! { object
    /// An external buffer of the run, in order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BufferRow {
        /// Its size.
        bytes: u64,
        /// Whether tasks may write it.
        writable: bool,
        /// The tensor that it is, if a task uses it.
        tensor: Option<TensorIndex> [absent],
    }
}
