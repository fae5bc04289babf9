//! The clock of a node and of its workers: the system's monotonic one, which all processes of a machine read alike.

use ringlane_engine::seams::Clock;
use ringlane_task::Ticks;
use rustix::time::{ClockId, clock_gettime};

/// Ticks of a node's clock in a second.
pub const NODE_CLOCK_HZ: u64 = 1_000_000_000;

/// Now, in nanoseconds since the machine was started.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * NODE_CLOCK_HZ + now.tv_nsec as u64
}

/// The clock, for a probe of a node's run.
///
/// ```
/// use ringlane_engine::seams::Clock;
/// use ringlane_node::NodeClock;
/// assert!(NodeClock.now() <= NodeClock.now());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeClock;

impl Clock for NodeClock {
    fn now(&self) -> Ticks {
        Ticks(now_ns())
    }
}
