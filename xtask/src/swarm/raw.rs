//! Everything of the swarm that needs `unsafe`: scopes without inference, arguments that are not followed, and
//! kernels whose blocks share what they write. The generator answers for each; see `draw`.

use ringlane_engine::api::kernel::{CudaBody, Registered};
use ringlane_engine::prelude::*;

use super::cuda::{body, turn};
use super::kernels::{Job, Value};

/// Runs `f` in a scope without inference.
pub(crate) fn manual_scope<'s, R>(
    o: &mut Orch<'s, '_>,
    f: impl for<'c> FnOnce(&mut Orch<'c, 's>) -> Result<R>,
) -> Result<R> {
    // SAFETY: the generator chains the tasks of such a scope one after another by explicit edges, and lets them touch
    // only what earlier tasks do not touch, or what a barrier of the root scope orders.
    unsafe { o.manual_scope(f) }
}

/// An argument that the inference does not follow.
pub(crate) fn no_dep<'s>(tensor: Tensor<'s>) -> Arg<'s> {
    // SAFETY: the generator uses it for buffers that nobody writes, and for tensors whose few users it chains by
    // explicit edges.
    unsafe { tensor.no_dep() }
}

fn shared<T: Value>(args: &mut Args<'_>) -> KernelResult
where
    for<'a> &'a [T]: KernelParam<'a>,
    for<'a> SharedMut<'a, T>: KernelParam<'a>,
{
    let block = args.take::<Block>()?;
    let (source, target) = (args.take::<&[T]>()?, args.take::<SharedMut<'_, T>>()?);
    let mut job = Job::begin(block, args.take::<u64>()?)?;
    job.read(&source);
    job.turn();
    for i in (block.index.0 as usize..target.len()).step_by(block.count as usize) {
        // SAFETY: element `i` belongs to the one block whose index is `i` modulo the number of blocks.
        unsafe {
            if let Some(new) = job.value(i as u64, target.get(i).bits()) {
                target.set(i, T::of(new));
            }
        }
    }
    job.end()
}

const BLOCK: ParamSpec = <Block as KernelParam<'_>>::SPEC;
const META: ParamSpec = <u64 as KernelParam<'_>>::SPEC;

const SHARES: CudaBody = body!(["block", "from", "to", "meta"];
    "rl_read(from); ", turn!(),
    "for (u64 i = block.index; i < to.len(); i += block.count) rl_change(to[i], i); ",);

static SHARED_U8: Kernel = {
    const PARAMS: &[ParamSpec] = &[BLOCK, <&[u8]>::SPEC, <SharedMut<'_, u8>>::SPEC, META];
    Kernel::new("SHARED_U8", CoreType::Any, PARAMS, shared::<u8>).with_cuda(SHARES)
};
static SHARED_F32: Kernel = {
    const PARAMS: &[ParamSpec] = &[BLOCK, <&[f32]>::SPEC, <SharedMut<'_, f32>>::SPEC, META];
    Kernel::new("SHARED_F32", CoreType::Any, PARAMS, shared::<f32>).with_cuda(SHARES)
};
ringlane_engine::inventory::submit! { Registered(&SHARED_U8) }
ringlane_engine::inventory::submit! { Registered(&SHARED_F32) }

/// Kernels whose blocks share what they write.
pub(crate) static SHARED: &[&Kernel] = &[&SHARED_U8, &SHARED_F32];
