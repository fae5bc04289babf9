//! Every limit of running a graph on another chip: unit, reason, and what happens when it is reached.

use std::time::Duration;

use ringlane_engine::limits::{AFTER_MAX, FANIN_MAX};

/// Predecessors of one submitted task of an imported graph. Those beyond it are joined by tasks that do nothing, so that no
/// submit waits: the engine waits for unfinished predecessors beyond its own limit.
pub const JOINED_MAX: usize = FANIN_MAX;

/// The least time that a real replay may take, from its work and its longest path. More is `ReplayTooLong`: nobody means it.
pub const REAL_TIME_MAX: Duration = Duration::from_secs(3600);

/// Picoseconds of all blocks together on a modelled chip: 53 days. Virtual time has 64 bits, and a replay also has to wait.
/// More is `ReplayTooLong`.
pub const VIRTUAL_WORK_PS_MAX: u128 = 1 << 62;

const _: () = assert!(JOINED_MAX <= AFTER_MAX && JOINED_MAX >= 2);
