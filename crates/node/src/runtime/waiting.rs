//! Waiting for the answer of any of several workers, at the one bell that all of them ring.

use std::time::{Duration, Instant};

use super::worker_handle::WorkerHandle;
use crate::limits;
use crate::mailbox::{Pause, Spin};
use crate::memory::Memories;

/// Waits until a worker has something to report, a deadline passes, or `is_called` returns true (the thread that makes it
/// true rings the doorbell). It may return early.
pub(crate) fn wait_for_any(
    pool: &[WorkerHandle],
    memories: &Memories,
    spin: Spin,
    is_called: impl Fn() -> bool,
) {
    let is_over = || is_called() || pool.iter().any(|handle| handle.is_call_over(Instant::now()));
    if spin != Spin::NONE {
        let mut pause = Pause::for_at_most(Duration::from_micros(spin.us()));
        loop {
            if pool.iter().any(|handle| handle.job.is_some() && handle.child.is_done()) {
                return;
            }
            if pause.is_over() {
                break;
            }
        }
    }
    let Some(bell) = memories.all().last().map(|own| own.bell()) else { return };
    let seen = bell.announce();
    if !is_over() {
        let deadline = pool.iter().filter_map(|handle| Some(handle.job.as_ref()?.deadline)).min();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        bell.sleep(seen, left.map_or(limits::SLEEP, |left| left.min(limits::SLEEP)));
    }
    bell.leave();
}
