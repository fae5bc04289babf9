//! When the submitter's thread launched each batch of tasks of a run, and when it had settled it.

#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard};

use ringlane_engine::chip_runtime::{LaunchLog, LaunchRecord};
use ringlane_task::Ticks;

/// Launches that are noted in one run, 40 bytes each; more are counted.
const LAUNCHES_MAX: usize = 1 << 16;

/// A launch that was noted; none if there were too many before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotedLaunch(Option<usize>);

/// The launches of one run.
#[derive(Debug, Default)]
pub(crate) struct Launches(Mutex<LaunchLog>);

impl Launches {
    /// Forgets the launches of earlier runs.
    pub(crate) fn clear(&self) {
        *self.log() = LaunchLog::default();
    }

    /// The launches so far.
    pub(crate) fn all(&self) -> LaunchLog {
        self.log().clone()
    }

    /// Notes a launch of a number of tasks that was laid out from `start` on, and made at `end`.
    pub(crate) fn launched(&self, tasks: usize, start: u64, end: u64) -> NotedLaunch {
        let mut log = self.log();
        if log.launches.len() == LAUNCHES_MAX {
            log.dropped += 1;
            return NotedLaunch(None);
        }
        let [start, end] = [start, end].map(Ticks);
        log.launches.push(LaunchRecord { tasks: tasks as u64, start, end, wait: end, settled: end });
        NotedLaunch(Some(log.launches.len() - 1))
    }

    /// Notes that all tasks of a launch are complete, for which the thread waited from `wait` on.
    pub(crate) fn settled(&self, NotedLaunch(number): NotedLaunch, wait: u64, settled: u64) {
        let mut log = self.log();
        if let Some(launch) = number.and_then(|number| log.launches.get_mut(number)) {
            (launch.wait, launch.settled) = (Ticks(wait), Ticks(settled));
        }
    }

    fn log(&self) -> MutexGuard<'_, LaunchLog> {
        self.0.lock().expect("no panic while it is held")
    }
}
