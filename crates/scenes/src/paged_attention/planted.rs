//! An injected bug, for tests of the tools that find bugs: one task in the middle of the run has one wrong element.
//!
//! The injected kernel has the name, arguments and cost of SOFTMAX, so that a run with it is otherwise the same
//! program.

use ringlane_engine::api::kernel::CudaBody;
use ringlane_engine::prelude::*;

use super::kernels::{SOFTMAX, softmax};
use crate::cost;
use crate::error::SceneResult;
use crate::settings::Settings;

/// The hidden parameter.
pub(super) const PARAM: &str = "plant";

static WRONG: Kernel = twin(
    |args| planted(args, |_, sum| sum[0] *= 2.0),
    concat!(include_str!("softmax.cuh"), "rl_sync(); rl_one sum[0] *= 2.0f;"),
);
static NAN: Kernel = twin(
    |args| planted(args, |scores, _| scores[0] = f32::NAN),
    concat!(include_str!("softmax.cuh"), "rl_sync(); rl_one s(0, 0) = RL_INFINITY - RL_INFINITY;"),
);

const fn twin(call: for<'a> fn(&mut Args<'a>) -> KernelResult, cuda: &'static str) -> Kernel {
    let body = CudaBody { source: cuda, params: &["s", "max", "sum"], file: "softmax.cuh", line: 1 };
    Kernel::new(SOFTMAX.name(), SOFTMAX.core(), SOFTMAX.params(), call).with_cost(cost::PASS).with_cuda(body)
}

/// The softmax, followed by a change of its first row of scores or of the sums.
fn planted(args: &mut Args<'_>, spoil: fn(&mut [f32], &mut [f32])) -> KernelResult {
    let (mut s, max) = (args.take::<ViewMut<f32, 2>>()?, args.take::<&mut [f32]>()?);
    let sum = args.take::<&mut [f32]>()?;
    softmax(&mut s, max, sum);
    spoil(s.row(&[0]), sum);
    Ok(())
}

/// The kernel that replaces SOFTMAX in one task, if the settings request it.
pub(super) fn kernel(settings: &Settings) -> SceneResult<Option<&'static Kernel>> {
    match settings.text(PARAM) {
        "" => Ok(None),
        "wrong" => Ok(Some(&WRONG)),
        "nan" => Ok(Some(&NAN)),
        _ => Err(settings.refuse(PARAM, "wrong (an element is off) or nan (an element is not a number)")),
    }
}
