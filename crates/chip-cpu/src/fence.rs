//! An asymmetric fence: nothing on the side that runs for every task, a system call on the side that goes to sleep.
//!
//! Parking without a lost wake-up needs a store-load fence on both sides: the publisher stores a task and then
//! checks for sleepers; the sleeper announces itself and then checks for tasks. `membarrier` makes every running thread
//! of the process pass a full fence, so the sleeper pays for both. Where the kernel does not have it, both sides fence.

use std::sync::atomic::{AtomicU8, compiler_fence};

use crate::sync::{Ordering, fence};
use rustix::thread::{MembarrierCommand, membarrier};

const UNKNOWN: u8 = 0;
const EXPEDITED: u8 = 1;
const MISSING: u8 = 2;

static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Makes the process ready for the threads of a [`CpuRuntime`](crate::CpuRuntime), which does this itself if nobody has.
///
/// It registers the process for `membarrier`. The kernel does that at once for a process of one thread, and for one of
/// more it waits until every core has been through its scheduler, which takes milliseconds: a program whose runs are
/// short calls this before it starts a thread.
pub fn prepare_process() {
    let mode = match membarrier(MembarrierCommand::RegisterPrivateExpedited) {
        Ok(()) => EXPEDITED,
        Err(_) => MISSING,
    };
    MODE.store(mode, Ordering::Relaxed);
}

/// The cheap side: after the task is stored, before the check for sleepers.
#[inline]
pub(crate) fn light() {
    if MODE.load(Ordering::Relaxed) == EXPEDITED && !cfg!(loom) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// What is enough where the other side calls [`heavy`] too.
pub(crate) fn own_side_of_heavy() {
    fence(Ordering::SeqCst);
}

/// The expensive side: after the announcement, before the check for tasks.
pub(crate) fn heavy() {
    own_side_of_heavy();
    if MODE.load(Ordering::Relaxed) == EXPEDITED {
        // Registered, so it cannot fail; if it did, the fence above is what the other mode has on this side.
        let _ = membarrier(MembarrierCommand::PrivateExpedited);
    }
}
