//! A new process that has one more descriptor than others, and that does not outlive its parent.
#![allow(unsafe_code)]

use std::io::{self, PipeWriter};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::io::{Errno, FdFlags};
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use crate::error::NodeError;

/// Descriptors 0 to 2 are the standard ones.
const FIRST_FREE_DESCRIPTOR: RawFd = 3;

/// Starts a process that inherits descriptors and prints to `output`. Its parent, in the sense of the signal that ends it,
/// is the calling thread: that thread must live as long as the child.
///
/// The child is a process group of its own, so that a Ctrl-C reaches the parent only, which decides what ends when.
pub(crate) fn spawn(
    mut command: Command,
    inherits: &[BorrowedFd<'_>],
    output: PipeWriter,
) -> io::Result<Child> {
    let descriptors: Vec<RawFd> = inherits.iter().map(AsRawFd::as_raw_fd).collect();
    let parent = getpid();
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).process_group(0);
    // SAFETY: `prepare` runs between fork and exec in a process of many threads, where it must not allocate or lock: it
    // makes a few system calls. The descriptors are open then: they are borrowed until `spawn` returns.
    unsafe { command.pre_exec(move || prepare(&descriptors, parent)) };
    command.spawn()
}

/// In the new process, before it becomes another program.
fn prepare(descriptors: &[RawFd], parent: Pid) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that died before the line above sends no signal any more.
    if getppid() != Some(parent) {
        return Err(Errno::SRCH.into());
    }
    for &descriptor in descriptors {
        // SAFETY: the descriptor is open, see `spawn`.
        let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
        rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
    }
    Ok(())
}

/// The descriptor of this number, which the process that started this one has left open for it; closed by an exec from now on.
///
/// A process calls this once for a number, before it opens anything: the descriptor becomes its own here.
pub fn inherited(descriptor: RawFd) -> Result<OwnedFd, NodeError> {
    let missing = |error| NodeError::NoMailbox { descriptor, error };
    if descriptor < FIRST_FREE_DESCRIPTOR {
        return Err(missing(Errno::BADF));
    }
    // SAFETY: the number is not -1. If nothing is open there, the call below says so.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    rustix::io::fcntl_setfd(borrowed, FdFlags::CLOEXEC).map_err(missing)?;
    // SAFETY: it is open, and the process that started this one has left it open for this; callers call this once and
    // before anything else is opened, so that nobody else owns the number.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
