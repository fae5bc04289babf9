//! What a rank says at its end, and that it is heard.

use std::io::{Write, stderr};
use std::thread;
use std::time::Instant;

use rustix::io::ioctl_fionread;

use crate::limits::{HEARD, LAST_WORDS};

/// Stays until mpirun has passed on what this process said last on standard error.
///
/// What a rank says goes through mpirun, which may end once a rank has, and loses what it has not read by then: one run in 600
/// did not say which rank had died.
pub fn stay_until_heard() {
    let deadline = Instant::now() + LAST_WORDS;
    let _ = stderr().flush();
    // Bytes in a pipe that nobody has read; where standard error is none, nobody needs to.
    while Instant::now() < deadline && ioctl_fionread(stderr()).is_ok_and(|bytes| bytes > 0) {
        thread::sleep(HEARD / 10);
    }
    thread::sleep(HEARD);
}
