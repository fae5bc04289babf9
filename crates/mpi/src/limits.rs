//! All limits of the communication between ranks: unit, reason, and what happens at the limit.

use std::time::Duration;

/// How long all ranks may take to connect to rank 0 after MPI has started. After that the run ends with an error that
/// names a missing one.
pub const CONNECT: Duration = Duration::from_secs(10);

/// How long a new connection may take to identify itself. After that it is closed: it is not one of the ranks.
pub const INTRODUCTION: Duration = Duration::from_secs(1);

/// How long rank 0 waits for the line of the dead rank to end after a SIGTERM. When a rank has died, mpirun sends
/// SIGTERM to all, and SIGKILL a second later; the line of the dead one has ended before that.
pub const SCHEDULER_GRACE: Duration = Duration::from_millis(300);

/// How long another rank survives a SIGTERM, so that the first line to end is that of the rank that died first.
pub const WORKER_GRACE: Duration = Duration::from_millis(600);

/// How long a worker may take to end before its process is killed.
pub const KILL_AFTER: Duration = Duration::from_millis(300);

/// How long a rank waits until mpirun has read its standard error.
pub const STDERR_READ_MAX: Duration = Duration::from_millis(400);

/// How long it stays after that, so that mpirun prints the text before it notices the end of the rank.
pub const STDERR_PRINT: Duration = Duration::from_millis(50);

/// How long a rank polls for a message without a pause, if each rank has a core.
pub const SPIN: Duration = Duration::from_micros(50);

/// The shortest pause between two polls.
pub const PAUSE_SHORTEST: Duration = Duration::from_micros(20);

/// The longest pause. MPI wakes no sleeping thread: a message can be noticed this late.
pub const PAUSE_LONGEST: Duration = Duration::from_micros(500);

// Each sum is below the second between SIGTERM and SIGKILL.
const _: () = assert!(WORKER_GRACE.as_millis() + KILL_AFTER.as_millis() < 1000);
const _: () =
    assert!(SCHEDULER_GRACE.as_millis() + STDERR_READ_MAX.as_millis() + STDERR_PRINT.as_millis() < 1000);
const _: () = assert!(SCHEDULER_GRACE.as_millis() < WORKER_GRACE.as_millis());
