//! One task by itself: its kernels on the calling thread, block after block, on memory of its own.
//!
//! There is no run around it, so a debugger or a profiler sees little but the kernel. The result is that of the task in any
//! run: kernels compute the same on every chip, and blocks do not depend on each other.
//!
//! ```
//! use ringlane_engine::alone::{AloneArg, TaskAlone};
//! use ringlane_engine::prelude::*;
//! use ringlane_task::{Access, TensorView};
//! kernel! { static ADD_ONE = any fn(x: &[u8], y: &mut [u8]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = x + 1); } }
//! let view = TensorView::contiguous(DType::UInt8, &[2])?;
//! let arg = |tensor, access| AloneArg::Tensor { tensor, view, access, split: None };
//! let mut task = TaskAlone::new(&(&ADD_ONE).into(), &[2, 2], &[arg(0, Access::Input), arg(1, Access::Output)])?;
//! task.write(0, &[1, 2]).unwrap();
//! task.run().unwrap();
//! assert_eq!(task.read(1), [2, 3]);
//! # Ok::<(), Error>(())
//! ```

use std::time::{Duration, Instant};

use ringlane_task::{Access, BlockIndex, DType, Scalar, TensorView};

use crate::api::arg::{Arg, ArgKind, NO_SPLIT};
use crate::api::args::{Placed, encode_scalar, encode_tensor, tensor_words};
use crate::api::backend::Call;
use crate::api::kernel::KernelError;
use crate::api::launch::Launch;
use crate::api::tensor::{TensorRef, TensorTag};
use crate::arena::Arena;
use crate::block::BlockRun;
use crate::fault::Result;
use crate::live_runs::LiveRun;
use crate::memory::{DirectMemory, RunMemory, Space, Spaces};
use crate::submit::check::check_call;

/// An argument of the task.
#[derive(Clone, Copy, Debug)]
pub enum AloneArg {
    /// A part of a tensor.
    Tensor {
        /// Which tensor, by its place in the list of sizes.
        tensor: usize,
        /// Which part of it.
        view: TensorView,
        /// What the task does with it. `output` is memory that is there: nothing zeroes it.
        access: Access,
        /// The axis along which blocks share it out.
        split: Option<u8>,
    },
    /// A value.
    Scalar(Scalar),
}

/// Bytes that are not those of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongBytes {
    /// The argument has another number of bytes.
    Length {
        /// As many as were given.
        given: usize,
        /// As many as the argument has.
        wanted: u64,
    },
    /// A `bool` that is neither 0 nor 1.
    NotABool(u8),
}

/// A task by itself.
pub struct TaskAlone<'l> {
    launch: Launch<'l>,
    args: Vec<AloneArg>,
    /// The argument records.
    words: Vec<u64>,
    spaces: Spaces,
    /// The memory that the spaces are.
    _tensors: Vec<Arena>,
}

impl<'l> TaskAlone<'l> {
    /// A task on tensors with these numbers of bytes, all zero. Arguments are checked as a submit checks them.
    pub fn new(launch: &Launch<'l>, tensors: &[u64], args: &[AloneArg]) -> Result<Self> {
        let run = LiveRun::begin()?;
        let tag = TensorTag::first(run.number());
        let mut kinds = Vec::with_capacity(args.len());
        for arg in args {
            kinds.push(match *arg {
                AloneArg::Scalar(scalar) => ArgKind::Scalar(scalar),
                AloneArg::Tensor { tensor, view, access, split } => {
                    let bytes = tensors.get(tensor).copied().unwrap_or(0);
                    let view = TensorView::from_parts(view.dtype(), view.offset_bytes(), view.dims(), bytes)?;
                    let access = if access == Access::Output { Access::OutputExisting } else { access };
                    let tensor = TensorRef { id: tensor as u32, tag };
                    ArgKind::Tensor { tensor, view, access, split: split.unwrap_or(NO_SPLIT) }
                }
            });
        }
        let given: Vec<Arg<'_>> =
            kinds.iter().map(|&kind| Arg { kind, scope: core::marker::PhantomData }).collect();
        let site = core::panic::Location::caller();
        check_call(&Call { launch, args: &given, after: &[], site })?;
        let arena = |&bytes: &u64| Arena::new(bytes.max(1), "a tensor of the task");
        let memory = tensors.iter().map(arena).collect::<Result<Vec<_>>>()?;
        let space = |(arena, &bytes): (&Arena, &u64)| Space { base: arena.base(), bytes };
        let spaces = Spaces(memory.iter().zip(tensors).map(space).collect());
        let words = encode(&kinds);
        Ok(TaskAlone { launch: *launch, args: args.to_vec(), words, spaces, _tensors: memory })
    }

    /// The bytes of a tensor argument, none of a scalar.
    fn view(&self, arg: usize) -> Option<(Space, TensorView)> {
        match self.args[arg] {
            AloneArg::Tensor { tensor, view, .. } => Some((self.spaces.0[tensor], view)),
            AloneArg::Scalar(_) => None,
        }
    }

    /// Sets the elements of a tensor argument, in logical order and without gaps.
    ///
    /// # Panics
    /// If there is no such argument.
    pub fn write(&mut self, arg: usize, bytes: &[u8]) -> core::result::Result<(), WrongBytes> {
        let Some((space, view)) = self.view(arg) else {
            return Err(WrongBytes::Length { given: bytes.len(), wanted: 0 });
        };
        if bytes.len() as u64 != view.bytes() {
            return Err(WrongBytes::Length { given: bytes.len(), wanted: view.bytes() });
        }
        if let (DType::Bool, Some(&byte)) = (view.dtype(), bytes.iter().find(|&&byte| byte > 1)) {
            return Err(WrongBytes::NotABool(byte));
        }
        let mut rest = bytes;
        view.for_each_run(|start, len| {
            let (run, after) = rest.split_at(len as usize);
            // SAFETY: the view was checked against its tensor, the runs of a view have its bytes, and nothing else uses them.
            unsafe {
                core::ptr::copy_nonoverlapping(run.as_ptr(), space.base.add(start as usize), run.len())
            };
            rest = after;
        });
        Ok(())
    }

    /// The elements of a tensor argument, in logical order and without gaps; nothing for a scalar.
    ///
    /// # Panics
    /// If there is no such argument.
    pub fn read(&self, arg: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some((space, view)) = self.view(arg) {
            bytes.reserve(view.bytes() as usize);
            view.for_each_run(|start, len| {
                // SAFETY: the view was checked against its tensor, whose bytes are all written; nothing else uses them.
                let run =
                    unsafe { core::slice::from_raw_parts(space.base.add(start as usize), len as usize) };
                bytes.extend_from_slice(run);
            });
        }
        bytes
    }

    /// Runs all blocks of all kernels, one after another, and says how long that took. The first block that fails ends it.
    pub fn run(&mut self) -> core::result::Result<Duration, KernelError> {
        crate::panics::note_panics();
        let (blocks, mixed, mut skip) = (self.launch.block_count(), self.launch.single().is_none(), 0);
        let begun = Instant::now();
        for kernel in self.launch.kernels() {
            for block in (0..blocks).map(BlockIndex) {
                let memory = RunMemory { memory: DirectMemory, spaces: &self.spaces };
                let words = &self.words;
                let run = BlockRun { kernel, words, memory, mixed, skip, block, blocks, has_outputs: false };
                // SAFETY: the records were written from checked arguments, and nothing else uses the memory.
                unsafe { run.run(KernelError::new) }?;
            }
            skip += kernel.arity();
        }
        Ok(begun.elapsed())
    }
}

/// The argument records of a checked submit.
fn encode(kinds: &[ArgKind]) -> Vec<u64> {
    let mut words = Vec::new();
    for kind in kinds {
        match kind {
            ArgKind::Tensor { access, split, tensor, view } => {
                let mut record = vec![0; tensor_words(view.rank())];
                let (access, split, space, offset) = (*access, *split, tensor.id, view.offset_bytes());
                encode_tensor(&mut record, view, Placed { access, split, space, base: 0, offset });
                words.extend(record);
            }
            ArgKind::Scalar(scalar) => {
                let mut record = [0; 2];
                encode_scalar(&mut record, *scalar);
                words.extend(record);
            }
            ArgKind::Output { .. } | ArgKind::Param(..) | ArgKind::Bad(_) => {
                unreachable!("made of tensors and scalars")
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    kernel! { static ALONE_FILL = aiv fn(y: &mut [u16], block: Block) { y.fill(block.index.0 as u16 + 1); } }
    kernel! { static ALONE_SCALE = aic fn(x: View<f32, 2>, y: &mut [f32], by: f32) {
        for (i, y) in y.iter_mut().enumerate() { *y = x.row(&[i])[0] * by; }
    } }
    kernel! { static ALONE_NEGATE = aiv fn(y: &mut [i32]) { y.iter_mut().for_each(|y| *y = -*y); } }
    kernel! { static ALONE_FAILS = any fn(_x: &[bool]) -> core::result::Result<(), &'static str> { Err("on purpose") } }

    fn tensor(tensor: usize, view: TensorView, access: Access) -> AloneArg {
        AloneArg::Tensor { tensor, view, access, split: None }
    }

    #[test]
    fn every_block_gets_its_part_and_its_number() {
        let view = TensorView::contiguous(DType::UInt16, &[4]).unwrap();
        let arg = AloneArg::Tensor { tensor: 0, view, access: Access::Output, split: Some(0) };
        let mut task = TaskAlone::new(&ALONE_FILL.blocks(2), &[8], &[arg]).unwrap();
        task.run().unwrap();
        assert_eq!(task.read(0), [1, 0, 1, 0, 2, 0, 2, 0]);
    }

    #[test]
    fn kernels_of_a_mixed_task_take_their_own_arguments_and_views_keep_their_strides() {
        let whole = TensorView::contiguous(DType::Float32, &[2, 2]).unwrap();
        let column = whole.slice(1, 1, 1).unwrap();
        let y = TensorView::contiguous(DType::Float32, &[2]).unwrap();
        let z = TensorView::contiguous(DType::Int32, &[1]).unwrap();
        let args = [
            tensor(0, column, Access::Input),
            tensor(1, y, Access::Output),
            AloneArg::Scalar(Scalar::new(10.0f32)),
            tensor(2, z, Access::InOut),
        ];
        let mut task = TaskAlone::new(&ALONE_SCALE.mixed(&[&ALONE_NEGATE]), &[16, 8, 4], &args).unwrap();
        let floats = |values: [f32; 2]| values.map(f32::to_le_bytes).concat();
        task.write(0, &floats([1.0, 2.0])).unwrap();
        task.write(3, &7i32.to_le_bytes()).unwrap();
        task.run().unwrap();
        assert_eq!((task.read(1), task.read(3)), (floats([10.0, 20.0]), (-7i32).to_le_bytes().to_vec()));
        assert_eq!(task.read(2), []);
    }

    #[test]
    fn bytes_that_no_argument_can_have_are_refused() {
        let view = TensorView::contiguous(DType::Bool, &[2]).unwrap();
        let mut task =
            TaskAlone::new(&(&ALONE_FAILS).into(), &[2], &[tensor(0, view, Access::Input)]).unwrap();
        assert_eq!(task.write(0, &[0, 2]), Err(WrongBytes::NotABool(2)));
        assert_eq!(task.write(0, &[0]), Err(WrongBytes::Length { given: 1, wanted: 2 }));
        assert_eq!(task.run().unwrap_err().0, "on purpose");
    }

    #[test]
    fn arguments_are_checked_against_the_kernel_and_views_against_their_tensors() {
        let view = TensorView::contiguous(DType::Int32, &[2]).unwrap();
        let refused = |bytes: u64, args: &[AloneArg]| {
            TaskAlone::new(&(&ALONE_NEGATE).into(), &[bytes], args).err().map(|error| error.name())
        };
        assert_eq!(refused(8, &[tensor(0, view, Access::InOut)]), None);
        assert_eq!(refused(8, &[]), Some("ArgCount"));
        assert!(refused(4, &[tensor(0, view, Access::InOut)]).is_some());
        assert!(refused(8, &[tensor(1, view, Access::InOut)]).is_some());
        assert!(refused(8, &[tensor(0, view, Access::Input)]).is_some());
    }
}
