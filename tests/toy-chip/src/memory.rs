//! Memory that the host reaches by copies only.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use ringlane_engine::arena::Arena;
use ringlane_engine::memory::{DirectMemory, Memory, MemoryError, MemoryOp, MemoryResult, Space, Spaces};
use ringlane_task::TensorView;

/// How far the chip's addresses are from those of the bytes: no processor of 64 bits has anything there.
pub const FAR: usize = 1 << 62;

/// The addresses that the engine sees of a piece of the chip's memory.
pub(crate) fn far(arena: &Arena) -> Space {
    Space { base: arena.base().wrapping_add(FAR), bytes: arena.bytes() }
}

thread_local! {
    static FAILING: Cell<Option<Failing>> = const { Cell::new(None) };
}

/// Which operations of a run fail: those of a kind, after a number of them.
#[derive(Clone, Copy, Debug)]
pub struct Failing {
    /// The kind of operation.
    pub operation: MemoryOp,
    /// How many of them succeed.
    pub after: u32,
}

impl Failing {
    /// Makes them fail in the next run that this thread begins.
    pub fn in_the_next_run(self) {
        FAILING.set(Some(self));
    }
}

/// The chip's memory in one run.
#[derive(Debug)]
pub struct ToyMemory {
    failing: Option<Failing>,
    /// How many operations of the kind that fails there were.
    seen: AtomicU32,
    kernel_spaces: OnceLock<Spaces>,
}

impl Default for ToyMemory {
    fn default() -> Self {
        ToyMemory { failing: FAILING.take(), seen: AtomicU32::new(0), kernel_spaces: OnceLock::new() }
    }
}

impl ToyMemory {
    fn allow(&self, operation: MemoryOp) -> MemoryResult {
        let Some(failing) = self.failing.filter(|failing| failing.operation == operation) else {
            return Ok(());
        };
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        if seen < failing.after { Ok(()) } else { Err(MemoryError::new("the toy was asked to fail")) }
    }
}

impl Memory for ToyMemory {
    fn host_sees(&self) -> bool {
        false
    }

    unsafe fn zero(&self, at: *mut u8, bytes: usize) -> MemoryResult {
        self.allow(MemoryOp::Zero)?;
        // SAFETY: the caller's promise, for the bytes that the address refers to; so below.
        unsafe { DirectMemory.zero(at.wrapping_sub(FAR), bytes) }
    }

    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
        self.allow(MemoryOp::CopyIn)?;
        // SAFETY: as above.
        unsafe { DirectMemory.copy_in(from, at.wrapping_sub(FAR)) }
    }

    unsafe fn copy_out(&self, at: *const u8, into: &mut [u8]) -> MemoryResult {
        self.allow(MemoryOp::CopyOut)?;
        // SAFETY: as above.
        unsafe { DirectMemory.copy_out(at.wrapping_sub(FAR), into) }
    }

    unsafe fn gather(&self, base: *const u8, view: &TensorView, into: &mut [u8]) -> MemoryResult {
        self.allow(MemoryOp::Gather)?;
        // SAFETY: as above.
        unsafe { DirectMemory.gather(base.wrapping_sub(FAR), view, into) }
    }

    fn kernel_spaces<'s>(&'s self, spaces: &'s Spaces) -> &'s Spaces {
        self.kernel_spaces.get_or_init(|| spaces.moved(|space| space.base.wrapping_sub(FAR)))
    }
}
