//! The host: it submits tasks, sends them to the device in batches, and completes those that have ended. As the chip `cuda` does.

use std::collections::VecDeque;

use ringlane_engine::limits::SUBMITS_PER_POLL;
use ringlane_engine::lists::{BATCHES_MAX, is_worth_a_launch};

use super::batch::{Follows, Lists, start_of};
use super::measured::Measured;
use crate::recorded::{Program, Step, TaskKind, Writers};

/// How long the program takes.
pub(super) fn makespan(program: &Program, measured: &Measured, follows: &Follows) -> u64 {
    let mut host = Host {
        measured,
        follows,
        now: 0,
        submitted: 0,
        sent: 0,
        settled: 0,
        running: VecDeque::new(),
        device_free: 0,
    };
    let (writers, mut since_poll) = (Writers::new(program), 0);
    for (place, task) in program.tasks.iter().enumerate() {
        host.now += measured.lead[place];
        host.steps(&program.steps[task.before.clone()], &writers, place);
        host.submit(place);
        since_poll += u32::from(task.kind == TaskKind::Kernels);
        if since_poll == SUBMITS_PER_POLL && !measured.is_captured {
            since_poll = 0;
            host.poll();
        }
    }
    host.now += last(&measured.lead);
    host.steps(&program.steps[program.last_steps.clone()], &writers, program.tasks.len());
    host.wait_until(program.tasks.len());
    host.now + last(&measured.copies) + last(&measured.own)
}

/// What comes after the last submit.
fn last(times: &[u64]) -> u64 {
    times.last().copied().unwrap_or(0)
}

/// A batch on the device.
struct Running {
    tasks: usize,
    end: u64,
}

struct Host<'m> {
    measured: &'m Measured,
    follows: &'m Follows,
    /// The time.
    now: u64,
    /// Tasks that were submitted, sent to the device, and completed: the first ones in submission order.
    submitted: usize,
    sent: usize,
    settled: usize,
    /// The batches on the device, the first one first.
    running: VecDeque<Running>,
    /// When the last batch ends.
    device_free: u64,
}

impl Host<'_> {
    /// Waits for the writers of what is read.
    fn steps(&mut self, steps: &[Step], writers: &Writers, place: usize) {
        for step in steps {
            if let Step::Read { tensor, .. } = step
                && let Some(&last) = writers.before(*tensor, place).last()
            {
                self.wait_until(last as usize + 1);
            }
        }
    }

    fn submit(&mut self, place: usize) {
        let measured = self.measured;
        self.now += measured.copies[place] + measured.own[place];
        if let Some(task) = measured.stalls[place] {
            self.wait_until(task as usize + 1);
        }
        self.now += measured.submits[place];
        self.submitted += 1;
    }

    /// Completes what has ended, and sends what is worth a launch.
    fn poll(&mut self) {
        while self.running.front().is_some_and(|first| first.end + self.measured.notice <= self.now) {
            self.settle();
        }
        if is_worth_a_launch(self.submitted - self.sent, self.running.len()) {
            self.send();
        }
    }

    /// Waits until this number of tasks is complete.
    fn wait_until(&mut self, tasks: usize) {
        while self.settled < tasks.min(self.submitted) {
            if self.sent == self.submitted || self.running.len() == BATCHES_MAX {
                self.settle();
            }
            self.send();
        }
    }

    fn send(&mut self) {
        let tasks = self.sent..self.submitted;
        if tasks.is_empty() {
            return;
        }
        let measured = self.measured;
        self.now += measured.launch[tasks.clone()].iter().sum::<u64>();
        let lists = Lists::of(measured, self.follows, tasks.clone());
        let begin = self.now.max(self.device_free);
        let end = lists.run(measured, self.follows, begin, |(task, block), over| {
            let block = &measured.blocks[task][block];
            start_of(block, over, measured.usual) + block.kernel
        });
        (self.sent, self.device_free) = (self.submitted, end);
        self.now += measured.after_launch[tasks.clone()].iter().sum::<u64>();
        self.running.push_back(Running { tasks: tasks.len(), end });
    }

    /// Waits for the first batch, and completes its tasks.
    fn settle(&mut self) {
        let Some(Running { tasks, end }) = self.running.pop_front() else { return };
        let settle: u64 = self.measured.settle[self.settled..self.settled + tasks].iter().sum();
        self.now = self.now.max(end) + settle;
        self.settled += tasks;
    }
}
