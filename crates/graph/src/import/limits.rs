//! Every limit of importing: unit, reason, and what happens when it is reached.
//!
//! Memory grows with tasks, edges and the text of names, never with the bytes of the file: about 100 bytes for a task and 16 for
//! an edge. The limits keep a file that is wrong, or made to harm, from taking more than a few gigabytes.

/// Bytes of an input file. More is `InputTooLarge`. It bounds time only.
pub const FILE_BYTES_MAX: u64 = 1 << 36;

/// Tasks of a graph, of 24 bytes each beside their names. More is `TooManyTasks`.
pub const TASKS_MAX: usize = 1 << 24;

/// Edges of a graph as the file has them, of 8 bytes each, and 4 more while tasks are ordered. More is `TooManyEdges`. One task
/// may have all of them.
pub const EDGES_MAX: usize = 1 << 27;

/// Kernels of a graph: names of kinds, each a row of every table by kernel. More is `TooManyKernels`.
pub const KERNELS_MAX: usize = 1 << 16;

/// Bytes of one id, name or kind. More is `NameTooLong`.
pub const NAME_BYTES_MAX: usize = 4096;

/// Bytes of all ids or of all names together, so that 32 bits number them. More is `NamesTooLarge`.
pub const NAMES_BYTES_MAX: usize = 1 << 31;

/// Bytes of one string, number or cell of a text file, whether it is used or not: the most that is in memory of it. More is
/// `TextTooLong`.
pub const TEXT_BYTES_MAX: usize = 1 << 24;

/// Bytes of one message of a Chakra trace: a node with 10^7 predecessors has 5 × 10^7. More is `MessageTooLarge`.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 28;

/// Objects, lists or subgraphs inside each other. More is `TooDeep`. The parser of JSON itself stops at 128.
pub const DEPTH_MAX: usize = 100;

/// Ticks of one task: 104 days at 1 GHz, and all of them exact as a double. More is `DurationTooLong`.
pub const DURATION_TICKS_MAX: u64 = 1 << 53;

/// Ticks of all tasks together: 146 years at 1 GHz. Sums of 64 bits do not overflow below it. More is `WorkTooLong`.
pub const WORK_TICKS_MAX: u64 = 1 << 62;

/// Ticks in a second of an imported run.
pub const CLOCK_FREQ_HZ: u64 = 1_000_000_000;

/// Tasks of a cycle that an error names; the others are counted.
pub const CYCLE_NAMES_MAX: usize = 8;

const _: () = assert!(TASKS_MAX < u32::MAX as usize);
const _: () = assert!(EDGES_MAX < u32::MAX as usize);
const _: () = assert!(NAMES_BYTES_MAX + NAME_BYTES_MAX < u32::MAX as usize);
const _: () = assert!(NAME_BYTES_MAX <= TEXT_BYTES_MAX && DEPTH_MAX < 128);
const _: () = assert!(DURATION_TICKS_MAX < WORK_TICKS_MAX);
