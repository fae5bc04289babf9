//! Since when each task could have run: what it waited for, and until when.
//!
//! ```text
//! last producer ends ──▶ submitted ──▶ handed out ──▶ runs
//!       data               runnable, whichever is later
//! ```

use ringlane_task::Ticks;

use crate::timeline::{TaskIndex, Timeline};

/// What one task waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// The task that it waited for longest.
    pub producer: Option<TaskIndex>,
    /// When that one was done; 0 if it waited for none.
    pub data: Ticks,
    /// When the scheduler could know of the task. Below level 3 submits are not recorded: then it is the latest moment by
    /// which it or a task before it is known to have been submitted.
    pub submitted: Ticks,
    /// When it was done: its last block ended; one without blocks is done as soon as it could run.
    pub done: Ticks,
}

impl Wait {
    /// Since when it had all that it needs.
    pub fn runnable(&self) -> Ticks {
        self.data.max(self.submitted)
    }
}

/// What each task waited for, by its position.
pub fn waits(timeline: &Timeline) -> Vec<Wait> {
    let mut waits: Vec<Wait> = Vec::with_capacity(timeline.tasks.len());
    let mut known = Ticks(0);
    for task in timeline.indices() {
        let producers = timeline.edges.producers(task).iter().copied();
        let producer =
            producers.max_by_key(|producer| (waits[producer.at()].done, std::cmp::Reverse(*producer)));
        let data = producer.map_or(Ticks(0), |producer| waits[producer.at()].done);
        let life = timeline.task(task);
        let ready = life.ready.unwrap_or_default();
        let submitted = match life.submit {
            Some(submit) => submit.end.min(ready),
            // It waited for no predecessor: it was ready as soon as it was submitted.
            None if !life.is_wired => ready.max(known),
            None => known,
        };
        known = known.max(submitted);
        let mut wait = Wait { producer, data, submitted, done: Ticks(0) };
        wait.done = timeline.last_block(task).map_or(wait.runnable(), |block| block.end);
        waits.push(wait);
    }
    waits
}
