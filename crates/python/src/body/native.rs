//! Kernels that are functions of C, called without the interpreter's lock.
//!
//! Functions have many signatures, and this crate makes no calls of signatures that it does not know. The package generates a
//! function of C for each kernel, which takes the arguments as [`NativeArg`]s and calls the kernel with them as it declares them.

use std::ffi::{c_int, c_void};
use std::mem;

use ringlane::engine::api::args::Args;
use ringlane::engine::api::dynamic::AnyArg;
use ringlane::engine::prelude::{KernelError, KernelResult};
use ringlane::task::MAX_RANK;

/// The most arguments that fit without an allocation.
const USUAL: usize = 16;

/// An argument, as the generated function reads it: `struct rl_arg` of `python/ringlane/cc.py`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NativeArg {
    /// The address of the first element; null for a value.
    data: *mut c_void,
    /// The bits of a value; of a tensor the number of its elements.
    bits: u64,
    /// Lengths of the dimensions.
    lengths: [u32; MAX_RANK],
    /// Strides, in elements.
    strides: [u32; MAX_RANK],
}

const _: () = assert!(size_of::<NativeArg>() == 16 + 8 * MAX_RANK);

impl NativeArg {
    const NONE: NativeArg =
        NativeArg { data: std::ptr::null_mut(), bits: 0, lengths: [0; MAX_RANK], strides: [0; MAX_RANK] };

    fn of(argument: &AnyArg) -> Self {
        match argument {
            AnyArg::Scalar(scalar) => NativeArg { bits: scalar.bits(), ..NativeArg::NONE },
            AnyArg::Tensor(tensor) => {
                let mut arg = NativeArg { data: tensor.data().cast(), bits: 1, ..NativeArg::NONE };
                for (axis, dim) in tensor.dims().iter().enumerate() {
                    (arg.lengths[axis], arg.strides[axis]) = (dim.len, dim.stride);
                    arg.bits *= u64::from(dim.len);
                }
                arg
            }
        }
    }
}

/// A generated function: its arguments, the index of the block, the number of blocks; it returns what the
/// kernel returned, which is not 0 if the kernel failed.
type Generated = unsafe extern "C" fn(*const NativeArg, u32, u32) -> c_int;

/// A function that the package generated around a kernel of C.
#[derive(Clone, Copy)]
pub struct NativeBody(Generated);

impl NativeBody {
    /// From the address of a generated function, which stays where it is until the process ends.
    pub fn new(address: *const c_void) -> Self {
        // SAFETY: the package passes addresses of functions that it generated, in libraries that it never unloads.
        NativeBody(unsafe { mem::transmute::<*const c_void, Generated>(address) })
    }

    /// Calls the kernel with the arguments of a task.
    pub fn call(&self, args: &mut Args<'_>) -> KernelResult {
        let (block, blocks) = (args.block().0, args.block_count());
        let (mut usual, mut count) = ([NativeArg::NONE; USUAL], 0);
        let mut more = Vec::new();
        while let Some(argument) = args.next_any() {
            let argument = NativeArg::of(&argument);
            match usual.get_mut(count) {
                Some(place) => *place = argument,
                None => {
                    if more.is_empty() {
                        more.extend_from_slice(&usual);
                    }
                    more.push(argument);
                }
            }
            count += 1;
        }
        let arguments = if more.is_empty() { &usual[..] } else { &more[..] };
        // SAFETY: the engine checked the arguments against the kernel's parameters, for which the function was generated; it reads as
        // many as there are parameters.
        let status = unsafe { (self.0)(arguments.as_ptr(), block, blocks) };
        if status == 0 { Ok(()) } else { Err(KernelError::new(format!("the kernel returned {status}"))) }
    }
}
