//! Names the task and core that do not return. It ends nothing: a long kernel is no fault.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ringlane_engine::report::Status;
use ringlane_task::TaskId;

use crate::limits::WATCHDOG_AFTER;

/// What each core has been seen with, and since when.
#[derive(Default)]
pub struct Watchdog {
    cores: HashMap<u32, Seen>,
}

struct Seen {
    task: TaskId,
    since: Instant,
    speak_after: Duration,
}

impl Watchdog {
    /// Checks a run; returns a line for each core that has been in one task for too long, and again
    /// whenever that time has doubled.
    pub fn check(&mut self, now: Instant, status: &Status) -> Vec<String> {
        self.cores.retain(|core, _| status.running.iter().any(|(running, ..)| running == core));
        let mut lines = Vec::new();
        for (core, task, kernel) in &status.running {
            let fresh = || Seen { task: *task, since: now, speak_after: WATCHDOG_AFTER };
            let seen = self.cores.entry(*core).or_insert_with(fresh);
            if seen.task != *task {
                *seen = fresh();
            }
            let time = now.duration_since(seen.since);
            if time >= seen.speak_after {
                seen.speak_after = time * 2;
                let seconds = time.as_secs();
                lines.push(format!(
                    "NoProgress: core {core} has been in task {task} ({kernel}) for {seconds} s"
                ));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(task: u64) -> Status {
        Status { running: vec![(1, TaskId(task), "SLOW".to_string())], ..Status::default() }
    }

    #[test]
    fn a_core_in_one_task_is_named_after_ten_seconds_and_again_when_the_time_has_doubled() {
        let (mut dog, start) = (Watchdog::default(), Instant::now());
        let spoke: Vec<u64> =
            (0..50).filter(|&s| !dog.check(start + Duration::from_secs(s), &at(7)).is_empty()).collect();
        assert_eq!(spoke, [10, 20, 40]);
    }

    #[test]
    fn the_line_names_core_task_kernel_and_time() {
        let (mut dog, start) = (Watchdog::default(), Instant::now());
        dog.check(start, &at(7));
        let lines = dog.check(start + Duration::from_secs(12), &at(7));
        assert_eq!(lines, ["NoProgress: core 1 has been in task 0:7 (SLOW) for 12 s"]);
    }

    #[test]
    fn another_task_or_a_rest_starts_the_time_anew() {
        let (mut dog, start) = (Watchdog::default(), Instant::now());
        for s in 0..30 {
            let status = if s % 9 == 0 { Status::default() } else { at(s / 5) };
            assert!(dog.check(start + Duration::from_secs(s), &status).is_empty(), "second {s}");
        }
    }
}
