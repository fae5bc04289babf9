//! Makes sure that the last output of a rank is not lost.

use std::io::{Write, stderr};
use std::thread;
use std::time::Instant;

use rustix::io::ioctl_fionread;

use crate::limits::{STDERR_PRINT, STDERR_READ_MAX};

/// Waits until mpirun has read the standard error of this process.
///
/// The output of a rank goes through mpirun, which may end once a rank has ended, and loses what it has not read by
/// then: one run in 600 did not report which rank had died.
pub fn wait_until_stderr_is_read() {
    let deadline = Instant::now() + STDERR_READ_MAX;
    let _ = stderr().flush();
    // Unread bytes in the pipe. If standard error is not a pipe, there is nothing to wait for.
    while Instant::now() < deadline && ioctl_fionread(stderr()).is_ok_and(|bytes| bytes > 0) {
        thread::sleep(STDERR_PRINT / 10);
    }
    thread::sleep(STDERR_PRINT);
}
