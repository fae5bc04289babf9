//! Every limit of a mailbox and of a child process: its unit, its reason, and what happens when it is reached.

use std::time::Duration;

/// Bytes of an error's name in a mailbox. A longer one is cut at a character.
pub const ERROR_NAME_BYTES: usize = 64;

/// Bytes of an error's detail in a mailbox. A longer one is cut at a character.
pub const ERROR_DETAIL_BYTES: usize = 1024;

/// Bytes of an error's hint in a mailbox. A longer one is cut at a character.
pub const ERROR_HINT_BYTES: usize = 512;

/// How long a side polls the mailbox before it sleeps, where each process has a core. To sleep and be woken costs about
/// as much, so that polling never doubles the wait.
pub const SPIN: Duration = Duration::from_micros(50);

/// Polls between two readings of the clock.
pub const POLLS_PER_CLOCK_READ: u32 = 64;

/// Polls between two offers of the core to others: a few microseconds, so that two processes that were put on one core do
/// not wait for each other's whole [`SPIN`].
pub const POLLS_PER_YIELD: u32 = POLLS_PER_CLOCK_READ;

/// The longest sleep without a poll. Nobody needs it but a mailbox whose doorbell was overwritten: there a wake-up can
/// be lost, and this bounds how late the loss is noticed.
pub const SLEEP: Duration = Duration::from_secs(1);

/// How long a child may take until it answers for the first time, unless its launch says otherwise. Children are up in
/// milliseconds; a machine that is overloaded takes longer. Beyond it the child is killed.
pub const START: Duration = Duration::from_secs(10);

/// Bytes of what the runs of a worker are asked for: a cost table of 16 MiB and all the rest. More is refused by its reader
/// with `CorruptMailbox`, and on the way to a rank with `FrameTooLarge`.
pub const RUN_REQUEST_BYTES: usize = 32 << 20;

/// Bytes of what a child printed last that are kept.
pub const CAPTURED_OUTPUT_BYTES: usize = 4096;

/// Lines of what a child printed last that an error shows.
pub const CAPTURED_OUTPUT_LINES: usize = 8;

/// Bytes of an executable's notes that are searched for its build id. More is taken for no build id.
pub const NOTES_BYTES: u64 = 1 << 16;

/// Bytes of a node's memory, unless it is configured otherwise: heap rings and external buffers together. They are addresses, not
/// memory: a page exists once it is touched. Beyond it a tensor is refused with `OutOfMemory`.
pub const MEMORY_BYTES: u64 = 1 << 36;

/// The largest memory of a node: as much as fits into the addresses of a process beside those of the nodes above.
pub const MEMORY_BYTES_MAX: u64 = 1 << 42;

/// Nodes above a worker whose memory it sees: levels. More are refused with `CorruptMailbox`.
pub const MEMORIES_MAX: usize = 8;

/// Workers of one node; each is a process, a thread that keeps it and six descriptors. More are refused with `TooManyWorkers`.
pub const WORKERS_MAX: usize = 256;

/// How long a call may take, unless its node is configured otherwise. A worker that is late is killed.
pub const CALL: Duration = Duration::from_secs(600);

/// How long a call may go on after its node was interrupted, before its worker is killed: a run on a chip ends at its next
/// task and writes what was recorded. A node below another gives its workers half of it, one below that a third.
pub const INTERRUPTED: Duration = Duration::from_millis(700);

/// Runs of one worker that are submitted and not over. One more is refused with `TooManyRuns`.
pub const RUNS_IN_FLIGHT: usize = 2;

/// Calls of one run that the timeline over processes keeps; 200 bytes each. Those after them are counted as dropped.
pub const CALLS_RECORDED: usize = 1 << 20;

const _: () = assert!(ERROR_NAME_BYTES.is_multiple_of(8) && ERROR_DETAIL_BYTES.is_multiple_of(8));
const _: () = assert!(ERROR_HINT_BYTES.is_multiple_of(8));
