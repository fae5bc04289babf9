//! Limits of experiments.

/// Tasks and blocks, counted together, up to which `report`, `overhead` and `critical-path` make the experiments of the default
/// table. A replay takes up to 0.5 µs for each on a modelled chip and 0.2 µs on the model of `cpu`, and the table has about thirty
/// replays: at the limit, two seconds, and up to six if tasks have a hundred edges each. Beyond it they say that they made none; `what-if` itself has no such limit.
pub const GAINS_ROWS_MAX: u64 = 100_000;

/// Kernels that the default table makes faster, those with the most work first: with more, the table takes longer than people wait.
pub const KERNELS_MAX: usize = 6;

/// Cores of one kind of an experiment, or processors of a GPU. More is `BadValue`; what a chip cannot have is refused by the chip.
pub const CORES_MAX: u32 = 65_535;

/// Threads of an experiment on `cpu`, the most that a run can have. More is `BadValue`. *Unlimited cores* are as many.
pub const THREADS_MAX: u32 = 1024;

/// Processors of a GPU that *unlimited cores* are: more than the blocks of most graphs that are ready at once. Each takes memory and
/// time in every batch of a replay.
pub const PROCESSORS_UNLIMITED: u32 = 1 << 14;

const _: () = assert!(PROCESSORS_UNLIMITED <= CORES_MAX);
const _: () = assert!(KERNELS_MAX * 3 + 15 <= 33, "the table has about thirty experiments");
