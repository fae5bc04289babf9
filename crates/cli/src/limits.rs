//! Every limit of the command line: unit, reason, and what happens when it is reached.

use std::time::Duration;

/// Threads of the `cpu` chip that can be asked for. Each costs a stack and a queue; more than this is a typing
/// error. More is refused as a bad value.
pub const THREADS_MAX: u32 = 1024;

/// Rounds that can be asked for; one wall time (8 bytes) is kept of each. More is refused as a bad value.
pub const ROUNDS_MAX: u32 = 1_000_000;

/// Cases that can be asked to run side by side. Each takes a process, a thread of this one and five descriptors; more than
/// this is a typing error. More is refused as a bad value.
pub const JOBS_MAX: u32 = 256;

/// How long a case in a process of its own may stay in one task after Ctrl-C, so that everything is over within a second.
/// Then it is killed and leaves no `run.json`. A case that writes its files may take longer.
pub const CTRL_C_GRACE: Duration = Duration::from_millis(800);

/// Bytes of a line without end that a process has printed; more is said as a line of its own.
pub const PRINTED_LINE_BYTES: usize = 1 << 16;

/// What is heard of processes and not yet taken up: at most a kilobyte of print each. A process that prints more waits.
pub const CASE_EVENTS: usize = 64;

/// Seconds that a worker can be given for one call: a month. More is refused as a bad value.
pub const CALL_TIMEOUT_MAX: u32 = 86_400 * 31;

/// How long a core may be in one task before a line is printed, and again whenever the time has doubled.
/// Nothing is ended: a long kernel is no fault.
pub const WATCHDOG_AFTER: Duration = Duration::from_secs(10);

/// How often the watchdog checks the cores: far more often than it would print.
pub const WATCHDOG_EVERY: Duration = Duration::from_secs(1);

/// How often signals are handled and the progress bar is updated: fast for an eye, nothing for a machine.
pub const TICK: Duration = Duration::from_millis(50);

/// How long after the first Ctrl-C another one is taken for the same: some senders (`timeout`, shells) signal the process
/// and then its group. Far longer than they take, and shorter than a person who presses twice.
pub const CTRL_C_ECHO: Duration = Duration::from_millis(100);

const _: () = assert!(WATCHDOG_EVERY.as_millis() * 2 <= WATCHDOG_AFTER.as_millis());
const _: () = assert!(CTRL_C_GRACE.as_millis() + 2 * TICK.as_millis() <= 1000);
const _: () = assert!(THREADS_MAX <= i32::MAX as u32);
