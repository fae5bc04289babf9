//! Waiting for the answer of any of several workers, at the one bell that all of them ring.

use std::time::{Duration, Instant};

use super::crew::Mate;
use crate::limits;
use crate::mailbox::{Pause, Spin};
use crate::memory::Memories;

/// Waits until a worker has something to tell, a deadline passes, or `is_called` says that something else happened (whoever
/// makes that true rings the bell). It may return early.
pub(crate) fn wait_for_any(crew: &[Mate], memories: &Memories, spin: Spin, is_called: impl Fn() -> bool) {
    let is_over = || is_called() || crew.iter().any(|mate| mate.is_ready_to_tell(Instant::now()));
    if spin != Spin::NONE {
        let mut pause = Pause::for_at_most(Duration::from_micros(spin.us()));
        loop {
            if crew.iter().any(|mate| mate.job.is_some() && mate.child.is_done()) {
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
        let deadline = crew.iter().filter_map(|mate| Some(mate.job.as_ref()?.deadline)).min();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        bell.sleep(seen, left.map_or(limits::SLEEP, |left| left.min(limits::SLEEP)));
    }
    bell.leave();
}
