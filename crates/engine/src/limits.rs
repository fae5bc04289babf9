//! Every limit of the engine: unit, cost, reason, and what happens when it is reached.

#![forbid(unsafe_code)]

/// Rings; scope depth `d` uses ring `min(d, RINGS - 1)`. Each ring costs its capacities. Four, because deeper
/// nesting than that is rare and the innermost ring still works for it (its scopes wait for each other).
pub const RINGS: usize = ringlane_task::RINGS;

/// Runs that go on at the same time in one process, nested ones included; a byte each. Every handle carries the number of its
/// run in 16 bits. Beyond it a run answers `TooManyRuns`.
pub const RUNS_MAX: usize = u16::MAX as usize;

/// Nested scopes, the root included. A scope costs 100 bytes on the orchestrator's stack of scopes. Beyond it
/// `scope` answers `TooDeep`.
pub const SCOPE_DEPTH_MAX: usize = 64;

/// Tensor arguments of one task. A record costs 24 + 8 × rank bytes of the argument ring. Beyond it a submit
/// answers `TooManyArgs`.
pub const TENSORS_MAX: usize = ringlane_task::MAX_TENSORS;

/// Scalar arguments of one task; 16 bytes each. Beyond it a submit answers `TooManyArgs`.
pub const SCALARS_MAX: usize = ringlane_task::MAX_SCALARS;

/// Bytes of a task's label, in the argument ring while the task is there. Room for a sentence; longer ones are cut between two
/// characters.
pub const LABEL_BYTES_MAX: usize = 256;

/// Unfinished predecessors that one task can wait for at once; 4 bytes each in the orchestrator's scratch.
/// At the limit the submit waits until some are done, then goes on: nothing fails.
pub const FANIN_MAX: usize = 1024;

/// Predecessors of one task of a captured graph, which waits for all of them: what its counter can hold. Beyond it the
/// capture answers `GraphFanIn`.
pub const GRAPH_FANIN_MAX: usize = 8191;

/// Tasks that one submit can follow explicitly; 8 bytes each in a recording. Beyond it `submit_after` answers `TooManyArgs`:
/// a barrier follows any number.
pub const AFTER_MAX: usize = 4096;

/// Submits between two checks of how many tasks wait. Few enough that they are still in the cache.
pub const SUBMITS_PER_POLL: u32 = 64;

/// Alignment of every tensor in bytes: a cache line, so that two outputs never share one.
pub const ALIGNMENT: u64 = 64;

/// First soft size of a heap or argument ring in bytes; it doubles only when full. Small enough to stay in a
/// second-level cache, large enough that wrapping is rare.
pub const SOFT_RING_BYTES: u64 = 1 << 20;

/// Bytes of a tensor that are gathered at once from memory that the host does not see, in memory of the host that each
/// read takes and gives back. Large enough that the latency of a copy does not count.
pub const STAGING_BYTES: u64 = 1 << 20;

/// Blocks of one task, so that lanes × blocks and a task's fate fit 32 bits. Beyond it a submit answers `BadLaunch`.
pub const BLOCKS_MAX: u32 = 1 << 24;

/// Slots, dependency entries and map entries are named by 32 bits with two values set apart.
pub const INDEX_MAX: u64 = 1 << 28;

const _: () = assert!(RINGS >= 1 && RINGS <= 8, "ring indices fit the artifacts' columns");
const _: () = assert!(TENSORS_MAX >= 69 && SCALARS_MAX >= 64, "what users were promised");
const _: () = assert!(SOFT_RING_BYTES.is_power_of_two() && ALIGNMENT.is_power_of_two());

/// Kernels of one run; 8 bytes each. Beyond it a submit answers `BadLaunch`.
pub const KERNELS_MAX: usize = if cfg!(any(loom, shuttle)) { 64 } else { 4096 };

/// Kernels made at run time in one process; some 200 bytes each, which are never freed. Room for programs that make some for
/// each of thousands of shapes; a program that makes one for each run is stopped with `TooManyKernels` before it takes much.
pub const DYNAMIC_KERNELS_MAX: usize = 1 << 16;

/// Different names of kernels and scalars made at run time in one process, never freed. Beyond it `TooManyKernels`.
pub const DYNAMIC_NAMES_MAX: usize = 2 * DYNAMIC_KERNELS_MAX;

/// Source sites of one run; 8 bytes each. Sites beyond it are reported as `unknown:0`.
pub const SITES_MAX: usize = if cfg!(any(loom, shuttle)) { 64 } else { 1 << 16 };
