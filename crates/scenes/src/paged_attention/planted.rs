//! A bug planted on purpose, to see that it is found: one task in the middle of the run has one wrong element.
//!
//! The planted kernel has SOFTMAX's name, arguments and cost, so that a run with it is the same program as one without.

use ringlane_engine::prelude::*;

use super::kernels::{SOFTMAX, softmax};
use crate::cost;
use crate::error::SceneResult;
use crate::settings::Settings;

/// The hidden parameter.
pub(super) const PARAM: &str = "plant";

static WRONG: Kernel = twin(|args| planted(args, |_, sum| sum[0] *= 2.0));
static NAN: Kernel = twin(|args| planted(args, |scores, _| scores[0] = f32::NAN));

const fn twin(call: for<'a> fn(&mut Args<'a>) -> KernelResult) -> Kernel {
    Kernel::new(SOFTMAX.name(), SOFTMAX.core(), SOFTMAX.params(), call).with_cost(cost::PASS)
}

/// The softmax, and then something that it should not do to its first row of scores or to the sums.
fn planted(args: &mut Args<'_>, spoil: fn(&mut [f32], &mut [f32])) -> KernelResult {
    let (mut s, max) = (args.take::<ViewMut<f32, 2>>()?, args.take::<&mut [f32]>()?);
    let sum = args.take::<&mut [f32]>()?;
    softmax(&mut s, max, sum);
    spoil(s.row(&[0]), sum);
    Ok(())
}

/// The kernel that stands in for SOFTMAX in one task, if the settings ask for it.
pub(super) fn kernel(settings: &Settings) -> SceneResult<Option<&'static Kernel>> {
    match settings.text(PARAM) {
        "" => Ok(None),
        "wrong" => Ok(Some(&WRONG)),
        "nan" => Ok(Some(&NAN)),
        _ => Err(settings.refuse(PARAM, "wrong (an element is off) or nan (an element is not a number)")),
    }
}
