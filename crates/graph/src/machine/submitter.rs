//! The first thread: it submits, and runs tasks itself when many wait, while it waits for a value, and at the end.

use super::measured::Measured;
use super::threads::Threads;
use crate::recorded::{Program, Step, Writers};

/// Unfinished tasks from which on the submitting thread helps, and how often it checks.
const OUTSTANDING: usize = 1024;
const SUBMITS_PER_POLL: usize = 64;
/// Nanoseconds of tasks that it runs then.
const WORK_OFF_NS: u64 = 64_000;
/// Tasks that it runs, each made ready by the one before, until it checks what it waits for.
const HELP_TASKS: usize = 16;

/// How long the program takes on this number of threads.
pub(super) fn makespan(program: &Program, measured: &Measured, threads: usize) -> u64 {
    let threads = Threads::new(program, measured, threads);
    let (work_off, is_fine) = (measured.tasks_in(WORK_OFF_NS), measured.is_fine());
    let mut submitter = Submitter { threads, writers: Writers::new(program), measured, work_off, is_fine };
    for (place, task) in program.tasks.iter().enumerate() {
        submitter.steps(&program.steps[task.before.clone()], place);
        submitter.submit(place);
    }
    submitter.steps(&program.steps[program.last_steps.clone()], program.tasks.len());
    submitter.work_until(|threads| threads.outstanding == 0);
    submitter.threads.now + measured.rest
}

struct Submitter<'p> {
    threads: Threads<'p>,
    writers: Writers,
    measured: &'p Measured,
    /// How many tasks it runs when many wait.
    work_off: usize,
    /// Whether tasks are too short to move.
    is_fine: bool,
}

impl Submitter<'_> {
    fn submit(&mut self, place: usize) {
        let ticks = |all: &[u64]| all.get(place).copied().unwrap_or(0);
        let took = ticks(&self.measured.own) + ticks(&self.measured.submits);
        self.threads.advance(self.threads.now + took);
        self.threads.submit(place as u32);
        if (place + 1).is_multiple_of(SUBMITS_PER_POLL) && !self.measured.is_captured {
            self.help();
        }
    }

    /// Runs tasks between two submits, if many wait or if they are short.
    fn help(&mut self) {
        let most = match self.threads.count() {
            1 => usize::MAX,
            _ if self.is_fine => usize::MAX,
            _ if self.threads.outstanding > OUTSTANDING => self.work_off,
            _ => 0,
        };
        for _ in 0..most {
            let Some(block) = self.threads.take_own(0) else { return };
            self.threads.run_here(block);
        }
        self.threads.share_kept();
    }

    /// Waits for the writers of what is read.
    fn steps(&mut self, steps: &[Step], place: usize) {
        for step in steps {
            let Step::Read { tensor, .. } = step else { continue };
            for writer in self.writers.before(*tensor, place).to_vec() {
                self.work_until(|threads| threads.done_at(writer).is_some());
            }
        }
    }

    /// Runs tasks until something is true, or until nothing is left that could make it so.
    fn work_until(&mut self, is_over: impl Fn(&Threads<'_>) -> bool) {
        while !is_over(&self.threads) {
            let own = self.threads.take_own(0);
            let Some(block) = own.or_else(|| self.threads.wait(&is_over)) else { return };
            self.threads.run_here(block);
            for _ in 1..HELP_TASKS {
                if !self.threads.keeps() {
                    break;
                }
                if let Some(block) = self.threads.take_own(0) {
                    self.threads.run_here(block);
                }
            }
            self.threads.share_kept();
        }
    }
}
