//! What the orchestration does between its submits, stored among them: scopes, reads, time of its own.
//!
//! A step is a [`SubmitHead`] of another kind, with one word after its dimensions; what the word is, each kind says.

use ringlane_engine::api::backend::{Inference, Reading};
use ringlane_engine::api::buffers::Permission;
use ringlane_engine::observe::ProgramStep;
use zerocopy::IntoBytes;

use super::record::{MANUAL, STEPS, SubmitHead, dim_words, write};
use crate::lane::Writer;

/// An external buffer: `task_id` is its size.
pub(crate) const BUFFER: u8 = STEPS;
/// A scope begins.
pub(crate) const ENTER: u8 = STEPS + 1;
/// The label of the scope that began last.
pub(crate) const LABEL: u8 = STEPS + 2;
/// The innermost scope ends.
pub(crate) const EXIT: u8 = STEPS + 3;
/// Values are read: `task_id` is the offset in the tensor, the word its start.
pub(crate) const READ: u8 = STEPS + 4;
/// Time passes: the word is the number of ticks.
pub(crate) const ADVANCE: u8 = STEPS + 5;

/// A buffer that tasks may write.
pub(crate) const WRITABLE: u8 = 1;
/// A read without a copy.
pub(crate) const IN_PLACE: u8 = 1;

/// Stores a step; one that finds no room is lost, and counted.
pub(crate) fn store(writer: &mut Writer, submits: u64, step: &ProgramStep<'_>) {
    let head = SubmitHead { seq: submits, ..SubmitHead::default() };
    let when = |is_so: bool, flag: u8| if is_so { flag } else { 0 };
    let mut plain = |head: SubmitHead, word: u64| write(writer, &head, &[], [word].into_iter(), "");
    match *step {
        ProgramStep::Buffer { bytes, permission } => {
            let flags = when(permission == Permission::ReadWrite, WRITABLE);
            plain(SubmitHead { kind: BUFFER, task_id: bytes, flags, ..head }, 0)
        }
        ProgramStep::EnterScope { scope, site, inference } => {
            let flags = when(inference == Inference::Off, MANUAL);
            plain(SubmitHead { kind: ENTER, scope, site, flags, ..head }, 0)
        }
        ProgramStep::ExitScope => plain(SubmitHead { kind: EXIT, ..head }, 0),
        ProgramStep::AdvanceTime(ticks) => plain(SubmitHead { kind: ADVANCE, ..head }, ticks),
        ProgramStep::LabelScope(label) => {
            let head = SubmitHead { kind: LABEL, dtype_or_label: label.len() as u16, ..head };
            write(writer, &head, &[], [0].into_iter(), label)
        }
        ProgramStep::Read { space, base, view, how } => {
            let head = SubmitHead {
                kind: READ,
                task_id: view.offset_bytes(),
                site: space,
                flags: when(how == Reading::InPlace, IN_PLACE),
                dtype_or_label: view.dtype() as u16,
                words: view.rank() as u16,
                ..head
            };
            let dims = dim_words(view);
            write(writer, &head, dims[..view.rank()].as_bytes(), [base].into_iter(), "")
        }
    }
}
