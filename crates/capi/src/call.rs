//! A block's arguments as C sees them.

use core::mem::MaybeUninit;
use core::ptr;

use ringlane::dynamic::AnyArg;

use crate::abi::{RL_ARG_SCALAR, RL_ARG_TENSOR, rl_call, rl_device, rl_dltype, rl_scalar, rl_value, rl_view};
use crate::dtype::to_dlpack;

/// Arguments that need no memory of the heap. Few kernels have more.
const INLINE: usize = 8;
/// DLPack's number of the host.
const HOST: rl_device = rl_device { device_type: 1, device_id: 0 };
const MAX_RANK: usize = 8;

/// Shape and strides of an argument.
type Dims = [[i64; MAX_RANK]; 2];

/// Whether the kernel may use the addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addresses {
    /// It runs.
    Given,
    /// Only its cost is asked for.
    Withheld,
}

/// Calls `f` with the arguments of a block, which are taken one after another: they are counted on the way.
#[inline]
pub(crate) fn with_call<R>(
    mut args: impl Iterator<Item = AnyArg>,
    [block, block_count]: [u32; 2],
    addresses: Addresses,
    f: impl FnOnce(&rl_call) -> R,
) -> R {
    let mut values = [const { MaybeUninit::<rl_value>::uninit() }; INLINE];
    let mut dims = [const { MaybeUninit::<Dims>::uninit() }; INLINE];
    let mut arg_count = 0;
    for (value, dims) in values.iter_mut().zip(&mut dims) {
        let Some(arg) = args.next() else { break };
        value.write(value_of(&arg, dims, addresses));
        arg_count += 1;
    }
    let (struct_size, value_size) = (size_of::<rl_call>() as u32, size_of::<rl_value>() as u32);
    let call = |args, arg_count| rl_call { struct_size, value_size, block, block_count, args, arg_count };
    let rest: Vec<AnyArg> = if arg_count == INLINE { args.collect() } else { Vec::new() };
    if rest.is_empty() {
        return f(&call(values.as_ptr().cast(), arg_count));
    }
    // SAFETY: `rest` has what follows the last value, so all of them were written above.
    let mut all: Vec<rl_value> = values.iter().map(|value| unsafe { value.assume_init() }).collect();
    let mut more_dims = vec![const { MaybeUninit::<Dims>::uninit() }; rest.len()];
    all.extend(rest.iter().zip(&mut more_dims).map(|(arg, dims)| value_of(arg, dims, addresses)));
    f(&call(all.as_ptr(), all.len()))
}

#[inline(always)]
fn value_of(arg: &AnyArg, dims: &mut MaybeUninit<Dims>, addresses: Addresses) -> rl_value {
    match arg {
        AnyArg::Scalar(scalar) => rl_value {
            kind: RL_ARG_SCALAR,
            dtype: scalar.dtype() as u32,
            writable: 0,
            elements: 0,
            tensor: view(ptr::null_mut(), to_dlpack(scalar.dtype())),
            scalar: rl_scalar { bits: scalar.bits() },
        },
        AnyArg::Tensor(tensor) => {
            let data = if addresses == Addresses::Given { tensor.data() } else { ptr::null_mut() };
            let [shape, strides] = dims.write([[0; MAX_RANK]; 2]);
            for ((dim, len), stride) in tensor.dims().iter().zip(&mut *shape).zip(&mut *strides) {
                (*len, *stride) = (i64::from(dim.len), i64::from(dim.stride));
            }
            let mut tensor_view = view(data, to_dlpack(tensor.dtype()));
            tensor_view.ndim = tensor.dims().len() as i32;
            (tensor_view.shape, tensor_view.strides) = (shape.as_mut_ptr(), strides.as_mut_ptr());
            rl_value {
                kind: RL_ARG_TENSOR,
                dtype: tensor.dtype() as u32,
                writable: u32::from(tensor.is_writable()),
                elements: tensor.elements(),
                tensor: tensor_view,
                scalar: rl_scalar { bits: 0 },
            }
        }
    }
}

fn view(data: *mut u8, dtype: rl_dltype) -> rl_view {
    let none = ptr::null_mut();
    rl_view { data: data.cast(), device: HOST, ndim: 0, dtype, shape: none, strides: none, byte_offset: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane::task::Scalar;

    #[test]
    fn few_and_many_arguments_arrive_in_order() {
        for count in [0, 1, INLINE, INLINE + 1, 3 * INLINE] {
            let args = (0..count as u32).map(|i| AnyArg::Scalar(Scalar::new(i)));
            let seen = with_call(args, [2, 3], Addresses::Given, |call| {
                assert_eq!((call.block, call.block_count, call.arg_count), (2, 3, count));
                // SAFETY: the call has as many arguments, each of which is a scalar.
                let number = |i| unsafe { (*call.args.add(i)).scalar.u32 };
                (0..call.arg_count).map(number).collect::<Vec<_>>()
            });
            assert_eq!(seen, (0..count as u32).collect::<Vec<_>>());
        }
    }
}
