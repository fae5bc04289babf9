//! Every limit of the command line: unit, reason, and what happens when it is reached.

use std::time::Duration;

/// Threads of the `cpu` chip that can be asked for. Each costs a stack and a queue; more than this is a slip of
/// the finger. More is refused as a bad value.
pub const THREADS_MAX: u32 = 1024;

/// Rounds that can be asked for; one wall time (8 bytes) is kept of each. More is refused as a bad value.
pub const ROUNDS_MAX: u32 = 1_000_000;

/// How long a core may be in one task before a line is printed, and again whenever the time has doubled.
/// Nothing is ended: a long kernel is no fault.
pub const WATCHDOG_AFTER: Duration = Duration::from_secs(10);

/// How often the watchdog looks: far more often than it would speak.
pub const WATCHDOG_EVERY: Duration = Duration::from_secs(1);

/// How often signals and the progress bar are looked after: fast for an eye, nothing for a machine.
pub const TICK: Duration = Duration::from_millis(50);

/// How long after the first Ctrl-C another one is taken for the same: some senders (`timeout`, shells) signal the process
/// and then its group. Far longer than they take, and shorter than a person who presses twice.
pub const CTRL_C_ECHO: Duration = Duration::from_millis(100);

const _: () = assert!(WATCHDOG_EVERY.as_millis() * 2 <= WATCHDOG_AFTER.as_millis());
const _: () = assert!(THREADS_MAX <= i32::MAX as u32);
