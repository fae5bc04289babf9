//! Limits of experiments.

/// Tasks and blocks, counted together, up to which `report`, `overhead` and `critical-path` make the experiments of the default
/// table: a replay takes about a microsecond for each, and the table has about thirty replays. Beyond it they say that they made none;
/// `what-if` itself has no such limit.
pub const GAINS_ROWS_MAX: u64 = 250_000;

/// Kernels that the default table makes faster, those with the most work first: with more, the table takes longer than people wait.
pub const KERNELS_MAX: usize = 6;

const _: () = assert!(GAINS_ROWS_MAX >= 200_000, "a run of 10⁵ plain tasks has gains on its page");
