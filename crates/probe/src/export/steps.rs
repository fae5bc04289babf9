//! Stored steps of the orchestration become rows of `deps.json`: each waits for the submit that follows it.

use std::borrow::Cow;
use std::io;

use ringlane_engine::limits::RINGS;
use ringlane_task::{DType, ScopeId, SiteId};
use ringlane_trace::deps::{BufferRow, DepsNames, DepsStep, StepKind};
use ringlane_trace::rows::ViewRow;

use crate::deps::derive::Derivation;
use crate::deps::record::{MANUAL, StoredSubmit, dims_of};
use crate::deps::steps::{ADVANCE, BUFFER, ENTER, EXIT, IN_PLACE, LABEL, WRITABLE};

/// Steps since the last submit, and the buffers of the run.
#[derive(Default)]
pub(super) struct Steps {
    waiting: Vec<DepsStep<'static>>,
    buffers: Vec<BufferRow>,
}

impl Steps {
    /// Takes a stored step.
    pub(super) fn add(
        &mut self,
        stored: &StoredSubmit<'_>,
        names: &DepsNames,
        tensors: &Derivation,
    ) -> io::Result<()> {
        let head = &stored.head;
        let step = match head.kind {
            BUFFER => {
                let (bytes, writable) = (head.task_id, head.flags & WRITABLE != 0);
                self.buffers.push(BufferRow { bytes, writable, tensor: None });
                return Ok(());
            }
            LABEL => {
                if let Some(entered) = self.waiting.last_mut() {
                    entered.label = Some(Cow::Owned(stored.label.to_string()));
                }
                return Ok(());
            }
            ENTER => DepsStep {
                scope: Some(ScopeId(head.scope)),
                // Where the root scope began is where the program was run, and no part of it.
                site: match head.scope {
                    0 => None,
                    _ => Some(Cow::Owned(names.site(SiteId(head.site))?.to_string())),
                },
                manual: (head.flags & MANUAL != 0).then_some(true),
                ..DepsStep::new(StepKind::Enter)
            },
            EXIT => DepsStep::new(StepKind::Exit),
            ADVANCE => DepsStep { ticks: Some(stored.extra), ..DepsStep::new(StepKind::Advance) },
            _ => read(stored, tensors),
        };
        self.waiting.push(step);
        Ok(())
    }

    /// The steps since the last submit.
    pub(super) fn take(&mut self) -> Vec<DepsStep<'static>> {
        core::mem::take(&mut self.waiting)
    }

    /// The buffers of the run, with the tensors that they are.
    pub(super) fn into_buffers(self, tensors: &Derivation) -> Vec<BufferRow> {
        let numbered = self.buffers.into_iter().enumerate();
        numbered
            .map(|(at, row)| BufferRow { tensor: tensors.tensor_at((RINGS + at) as u32, 0), ..row })
            .collect()
    }
}

fn read(stored: &StoredSubmit<'_>, tensors: &Derivation) -> DepsStep<'static> {
    let (head, space) = (&stored.head, stored.head.site);
    let (dims, rank) = dims_of(stored.words);
    let dtype = DType::from_code(head.dtype_or_label as u8).unwrap_or(DType::UInt8);
    let buffer = (space as usize).checked_sub(RINGS).map(|buffer| buffer as u32);
    DepsStep {
        tensor: if buffer.is_some() { None } else { tensors.tensor_at(space, stored.extra) },
        buffer,
        in_place: (head.flags & IN_PLACE != 0).then_some(true),
        view: ViewRow::new(dtype, head.task_id, &dims[..rank]),
        ..DepsStep::new(StepKind::Read)
    }
}
