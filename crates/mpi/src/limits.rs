//! Every limit of the ways between ranks: its unit, its reason, and what happens when it is reached.

use std::time::Duration;

/// How long all ranks may take to connect to rank 0 after MPI is up. Beyond it the run ends and names one that is missing.
pub const CONNECT: Duration = Duration::from_secs(10);

/// How long whoever connects may take to say who it is. Beyond it the connection is closed: it is no rank of ours.
pub const INTRODUCTION: Duration = Duration::from_secs(1);

/// How long rank 0 looks for the rank that died after a SIGTERM. mpirun sends that to all when one has died, and SIGKILL a
/// second later; the line of the dead one has ended before that.
pub const SCHEDULER_GRACE: Duration = Duration::from_millis(300);

/// How long another rank outlives a SIGTERM, so that the first line to end is the one of the rank that died first.
pub const WORKER_GRACE: Duration = Duration::from_millis(600);

/// How long a worker that is to end may take before its process is ended from outside of whatever it does.
pub const LAST_CHANCE: Duration = Duration::from_millis(300);

/// How long a rank waits until mpirun has read its last words.
pub const LAST_WORDS: Duration = Duration::from_millis(400);

/// How long it stays after that, so that mpirun says them before it hears of its end.
pub const HEARD: Duration = Duration::from_millis(50);

/// How long a rank looks for a message without a pause, where each rank has a core.
pub const SPIN: Duration = Duration::from_micros(50);

/// The shortest pause between two looks for a message.
pub const PAUSE_SHORTEST: Duration = Duration::from_micros(20);

/// The longest one. MPI wakes nobody: this is how late a message can be noticed.
pub const PAUSE_LONGEST: Duration = Duration::from_micros(500);

// Together they are shorter than the second that mpirun gives.
const _: () = assert!(WORKER_GRACE.as_millis() + LAST_CHANCE.as_millis() < 1000);
const _: () = assert!(SCHEDULER_GRACE.as_millis() + LAST_WORDS.as_millis() + HEARD.as_millis() < 1000);
const _: () = assert!(SCHEDULER_GRACE.as_millis() < WORKER_GRACE.as_millis());
