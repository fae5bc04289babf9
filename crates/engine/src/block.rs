//! Running one block: fresh outputs are zeroed, the kernel is called, a panic becomes an error.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ringlane_task::{Access, BlockIndex};

use crate::api::args::{Args, Part, records_of};
use crate::api::kernel::{Kernel, KernelError, KernelResult};
use crate::fault::{Error, Result};
use crate::memory::{Memory, MemoryOp, MemoryResult, RunMemory};
use crate::panics::describe_panic;
use crate::unwind::drop_panic;

/// One block of one kernel of a task.
pub(crate) struct BlockRun<'a, M> {
    pub(crate) kernel: &'static Kernel,
    /// The argument records of the whole task.
    pub(crate) words: &'a [u64],
    pub(crate) memory: RunMemory<'a, M>,
    /// Whether the task has several kernels, each with arguments of its own.
    pub(crate) mixed: bool,
    /// Arguments that belong to the kernels before this one.
    pub(crate) skip: usize,
    pub(crate) block: BlockIndex,
    pub(crate) blocks: u32,
    /// Whether the task makes tensors, which are zeroed before the kernel sees them.
    pub(crate) has_outputs: bool,
}

impl<'a, M: Memory> BlockRun<'a, M> {
    /// The argument records of its own kernel.
    #[inline(always)]
    pub(crate) fn own_words(&self) -> &'a [u64] {
        let all = self.words;
        if self.mixed { records_of(all, self.skip, self.kernel.arity()) } else { all }
    }

    /// Runs it in this process. If the chip's memory fails, `refused` says what to make of it.
    ///
    /// # Safety
    /// As for [`Args::new`]: the records are true, and the bytes are ordered against all other accesses.
    // Always inlined: as for `encode_tensor`.
    #[inline(always)]
    pub(crate) unsafe fn run(&self, refused: impl FnOnce(Error) -> KernelError) -> KernelResult {
        // SAFETY: the caller's promise.
        let mut args = unsafe { self.args() };
        if self.has_outputs
            // SAFETY: the caller's promise.
            && let Err(error) = unsafe { self.zero_outputs(&args) }
        {
            return Err(refused(error));
        }
        args.move_to(self.memory.memory.kernel_spaces(self.memory.spaces));
        match catch_unwind(AssertUnwindSafe(|| self.kernel.call(&mut args))) {
            Ok(result) => result,
            Err(panic) => Err(panicked(panic)),
        }
    }

    /// What is done before it runs, where it is run elsewhere: what it makes is zeroed.
    ///
    /// # Safety
    /// The records are true, and the bytes are ordered against all other accesses.
    #[inline(always)]
    pub(crate) unsafe fn prepare(&self) -> Result<()> {
        if self.has_outputs {
            // SAFETY: the caller's promise.
            return unsafe { self.zero_outputs(&self.args()) };
        }
        Ok(())
    }

    /// What the kernel is given, at the addresses of the chip's memory.
    ///
    /// # Safety
    /// As for [`Args::new`].
    #[inline(always)]
    pub(crate) unsafe fn args(&self) -> Args<'_> {
        // SAFETY: the caller's promise.
        unsafe { Args::new(self.own_words(), self.memory.spaces, self.block, self.blocks) }
    }

    /// Zeroes this block's part of the tensors the task makes, so that a kernel that leaves gaps gives the same
    /// bytes in every run. (A tensor that all blocks share is zeroed at submit.)
    ///
    /// # Safety
    /// As for [`prepare`](Self::prepare).
    unsafe fn zero_outputs(&self, args: &Args<'_>) -> Result<()> {
        for record in args.records().filter(|r| r.access() == Access::Output) {
            let whole_to_many = self.blocks > 1 && record.split() == crate::api::arg::NO_SPLIT;
            if !whole_to_many {
                let (part, element) = (args.part(&record), record.dtype().size_bytes());
                // SAFETY: the part is inside its space and belongs to this block alone.
                unsafe { zero(&self.memory.memory, &part, element) }.map_err(|error| {
                    error.of(MemoryOp::Zero, record.space, (part.elements() * element) as u64)
                })?;
            }
        }
        Ok(())
    }
}

/// Zeroes a part of a fresh tensor, row by row.
///
/// # Safety
/// The part is inside its space and the caller's alone.
unsafe fn zero(memory: &impl Memory, part: &Part, element: usize) -> MemoryResult {
    let dims = &part.dims[..part.rank];
    if part.elements() == 0 {
        return Ok(());
    }
    // A fresh tensor is row-major; a part of it is rows of `run` elements at the strides of the outer dimensions.
    let mut run = 1usize;
    let mut outer = dims.len();
    while outer > 0 && (dims[outer - 1].stride as usize == run || dims[outer - 1].len == 1) {
        run *= dims[outer - 1].len as usize;
        outer -= 1;
    }
    let mut index = [0u32; ringlane_task::MAX_RANK];
    loop {
        let at: usize = (0..outer).map(|d| index[d] as usize * dims[d].stride as usize).sum();
        // SAFETY: the caller's promise.
        unsafe { memory.zero(part.base.wrapping_add(at * element), run * element) }?;
        let Some(axis) = (0..outer).rev().find(|&d| index[d] + 1 < dims[d].len) else { return Ok(()) };
        index[axis] += 1;
        index[axis + 1..outer].fill(0);
    }
}

#[cold]
fn panicked(panic: Box<dyn Any + Send>) -> KernelError {
    let error = KernelError::new(format_args!("the kernel {}", describe_panic(&*panic)));
    drop_panic(panic);
    error
}
