//! The check of a submit that nearly every task passes: one pass over its arguments, which also measures what it takes.

use ringlane_task::Access;

use super::admit::Measure;
use super::check::{check_call, writes};
use crate::api::arg::{ArgKind, NO_SPLIT};
use crate::api::args::{scalar_words, tensor_words};
use crate::api::backend::Call;
use crate::api::buffers::Permission;
use crate::api::kernel::ParamKind;
use crate::fault::{Fault, Result};
use crate::orchestrator::Orchestrator;
use crate::seams::{Chip, Probe};

/// Arguments that the quick check covers; a task with more goes through the full one.
pub(super) const PLAIN_ARGS_MAX: usize = 64;

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Checks a submit and measures what it will take. Plain arguments (contiguous tensors and scalars of the right
    /// types, no tensor twice, one kernel, one block) are seen to be right in one pass; all others, and all that is
    /// wrong, are left to the full check.
    #[inline(always)]
    pub(super) fn survey(&mut self, call: &Call<'_>) -> Option<Measure> {
        let params = match call.launch.single() {
            Some(kernel) if call.launch.blocks == 1 => kernel.params(),
            _ => return None,
        };
        let (mut measure, mark) = (Measure::default(), self.mark);
        if params.len() != call.args.len() || params.len() > PLAIN_ARGS_MAX {
            return None;
        }
        let mut plain = true;
        for (arg, param) in call.args.iter().zip(params) {
            plain &= match &arg.kind {
                ArgKind::Tensor { tensor, view, access, split } => {
                    measure.words += tensor_words(view.rank());
                    // What is not followed may be written: that is for the full check.
                    measure.entries += 1;
                    let admitted = self.state.map.admits(*tensor, *access != Access::Input, mark).is_some();
                    param.takes(view.signature(), *access) & (*split == NO_SPLIT) & admitted
                }
                ArgKind::Output { view, split } => {
                    measure.output(view);
                    param.takes(view.signature(), Access::Output) & (*split == NO_SPLIT)
                }
                ArgKind::Scalar(scalar) | ArgKind::Param(scalar, _) => {
                    measure.words += scalar_words();
                    (param.kind == ParamKind::Scalar) & (param.dtype == scalar.dtype())
                }
                ArgKind::Bad(_) => false,
            };
        }
        plain.then_some(measure)
    }

    #[cold]
    pub(super) fn survey_fully(&self, call: &Call<'_>) -> Result<Measure> {
        check_call(call)?;
        self.measure(call)
    }

    /// What the arguments take; refuses stale handles and writes to what is only lent for reading.
    pub(crate) fn measure(&self, call: &Call<'_>) -> Result<Measure> {
        let mut measure = Measure::default();
        for (arg, given) in call.args.iter().enumerate() {
            match &given.kind {
                ArgKind::Tensor { tensor, view, access, .. } => {
                    let root = self.state.map.root(*tensor)?;
                    if root.permission == Permission::Read && writes(call, arg, *access) {
                        let kernel = call.launch.first_name().to_string();
                        return Err(Fault::ReadOnly { kernel, arg }.into());
                    }
                    measure.words += tensor_words(view.rank());
                    measure.entries += (*access != Access::NoDep) as u64;
                }
                ArgKind::Output { view, .. } => measure.output(view),
                ArgKind::Bad(bad) => return Err(bad.refused(call.launch.first_name(), arg)),
                ArgKind::Scalar(_) | ArgKind::Param(..) => measure.words += scalar_words(),
            }
        }
        Ok(measure)
    }
}
