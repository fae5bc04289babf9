//! Threads that run a program: one submits and helps while it waits, the others take what is ready.
//!
//! As the chip `cpu` does: a thread keeps the first task that its own one made ready, then takes from its own queue, oldest
//! first, then steals the older half of another's. The submitting thread runs tasks itself when more than [`OUTSTANDING`] wait,
//! while it waits for a value, and at the end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ringlane_task::Access;

use super::measured::Measured;
use crate::recorded::{Program, ProgramArg, Step};

/// Unfinished tasks from which on the submitting thread helps, and how often it checks.
const OUTSTANDING: usize = 1024;
const SUBMITS_PER_POLL: usize = 64;
/// Tasks that it runs then: what takes 64 µs, of the length that the chip counts at most.
const HELP_TASKS: usize = 4;

/// A block that waits: its task, and which.
type Block = (u32, u32);

/// The block of a thread that appears.
const NOTHING: Block = (u32::MAX, u32::MAX);

#[derive(Default)]
struct Thread {
    kept: Option<Block>,
    queue: VecDeque<Block>,
}

struct Task {
    /// Predecessors that are not done; one more until it is submitted.
    waits_for: u32,
    blocks_left: u32,
    is_done: bool,
    /// When it was.
    done_at: u64,
}

struct Machine<'p> {
    measured: &'p Measured,
    successors: Vec<Vec<u32>>,
    tasks: Vec<Task>,
    threads: Vec<Thread>,
    /// Threads that run a block, by when they are free: time, thread, block.
    running: BinaryHeap<Reverse<(u64, usize, Block)>>,
    /// Threads but the first that have nothing to do.
    idle: Vec<usize>,
    outstanding: usize,
    /// When the latest block ended.
    last: u64,
}

/// How long the program takes.
pub(super) fn makespan(program: &Program, measured: &Measured, threads: usize) -> u64 {
    let mut machine = Machine::new(program, measured, threads);
    machine.appear();
    let writers = Writers::new(program);
    let mut now = 0;
    for (place, task) in program.tasks.iter().enumerate() {
        for step in &program.steps[task.before.clone()] {
            now = machine.wait_for_read(step, &writers, place, now);
        }
        now +=
            measured.own.get(place).copied().unwrap_or(0) + measured.submits.get(place).copied().unwrap_or(0);
        machine.advance(now);
        machine.submit(place as u32, now);
        if (place + 1) % SUBMITS_PER_POLL == 0 && (threads == 1 || machine.outstanding > OUTSTANDING) {
            let most = if threads == 1 { usize::MAX } else { HELP_TASKS };
            now = machine.help(now, most);
        }
    }
    for step in &program.steps[program.last_steps.clone()] {
        now = machine.wait_for_read(step, &writers, program.tasks.len(), now);
    }
    machine.drain(now).max(machine.last) + measured.rest
}

/// Which tasks write each tensor, in submission order.
struct Writers(Vec<Vec<u32>>);

impl Writers {
    fn new(program: &Program) -> Self {
        let mut writers = vec![Vec::new(); program.tensors];
        for (place, task) in program.tasks.iter().enumerate() {
            for arg in &program.args[task.args.clone()] {
                if let ProgramArg::Tensor { tensor, access, .. } = arg
                    && (access.writes() || *access == Access::Output)
                {
                    writers[*tensor as usize].push(place as u32);
                }
            }
        }
        Writers(writers)
    }

    /// Those of a tensor before a place.
    fn before(&self, tensor: u32, place: usize) -> &[u32] {
        let all = &self.0[tensor as usize];
        &all[..all.partition_point(|&task| (task as usize) < place)]
    }
}

impl<'p> Machine<'p> {
    fn new(program: &Program, measured: &'p Measured, threads: usize) -> Self {
        let mut successors = vec![Vec::new(); program.tasks.len()];
        let mut waits_for = vec![1; program.tasks.len()];
        let mut pairs: Vec<_> = program.edges.iter().map(|edge| (edge.before, edge.after)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for (before, after) in pairs {
            successors[before as usize].push(after);
            waits_for[after as usize] += 1;
        }
        let task = |(place, waits_for): (usize, u32)| Task {
            waits_for,
            blocks_left: measured.blocks[place].len() as u32,
            is_done: false,
            done_at: 0,
        };
        Machine {
            measured,
            successors,
            tasks: waits_for.into_iter().enumerate().map(task).collect(),
            threads: (0..threads).map(|_| Thread::default()).collect(),
            running: BinaryHeap::new(),
            idle: Vec::new(),
            outstanding: 0,
            last: 0,
        }
    }

    /// Threads appear when they did; those that were not there, as soon as any did.
    fn appear(&mut self) {
        let known = &self.measured.appears;
        let soonest = known.iter().skip(1).flatten().min().copied().unwrap_or(0);
        for thread in 1..self.threads.len() {
            if let Some(at) = known.get(thread).copied().unwrap_or(Some(soonest)) {
                self.running.push(Reverse((at, thread, NOTHING)));
            }
        }
    }

    /// Lets all threads but the first work until a time.
    fn advance(&mut self, until: u64) {
        while let Some(&Reverse((at, thread, block))) =
            self.running.peek().filter(|Reverse((at, ..))| *at <= until)
        {
            self.running.pop();
            if block != NOTHING {
                self.finish(thread, block, at);
            }
            self.next_of(thread, at);
        }
    }

    /// A task is submitted by the first thread.
    fn submit(&mut self, task: u32, now: u64) {
        self.outstanding += 1;
        self.resolve(task, 0, now);
    }

    /// One thing less that a task waits for; a thread gets it if that was the last.
    fn resolve(&mut self, task: u32, thread: usize, now: u64) {
        let state = &mut self.tasks[task as usize];
        state.waits_for -= 1;
        if state.waits_for > 0 {
            return;
        }
        let blocks = state.blocks_left;
        if blocks == 0 {
            return self.complete(task, thread, now);
        }
        for block in 0..blocks {
            if thread > 0 && self.threads[thread].kept.is_none() {
                self.threads[thread].kept = Some((task, block));
            } else {
                self.threads[thread].queue.push_back((task, block));
                self.wake(now);
            }
        }
    }

    /// An idle thread takes something that waits.
    fn wake(&mut self, now: u64) {
        if let Some(thread) = self.idle.pop() {
            self.next_of(thread, now);
        }
    }

    /// A thread takes its next block, or is idle.
    fn next_of(&mut self, thread: usize, now: u64) {
        match self.take(thread) {
            Some(block) => self.start(thread, block, now),
            None => self.idle.push(thread),
        }
    }

    fn take(&mut self, thread: usize) -> Option<Block> {
        let own = &mut self.threads[thread];
        own.kept.take().or_else(|| own.queue.pop_front()).or_else(|| self.steal(thread))
    }

    /// Takes the older half of the fullest queue.
    fn steal(&mut self, thread: usize) -> Option<Block> {
        let victim = (0..self.threads.len()).filter(|&other| other != thread);
        let victim = victim.max_by_key(|&other| (self.threads[other].queue.len(), Reverse(other)))?;
        let waiting = self.threads[victim].queue.len();
        let share = if victim == 0 { waiting.div_ceil(2 * self.threads.len()) } else { waiting.div_ceil(2) };
        let stolen: Vec<Block> = self.threads[victim].queue.drain(..share).collect();
        let mut stolen = stolen.into_iter();
        let first = stolen.next();
        self.threads[thread].queue.extend(stolen);
        first
    }

    fn start(&mut self, thread: usize, block: Block, now: u64) {
        self.running.push(Reverse((now + self.takes(block), thread, block)));
    }

    fn takes(&self, (task, block): Block) -> u64 {
        let time = self.measured.blocks[task as usize][block as usize];
        time.before + time.kernel + time.after
    }

    /// A block ends; the last one of a task makes its successors ready.
    fn finish(&mut self, thread: usize, (task, _): Block, now: u64) {
        self.last = self.last.max(now);
        let state = &mut self.tasks[task as usize];
        state.blocks_left -= 1;
        if state.blocks_left == 0 {
            self.complete(task, thread, now);
        }
    }

    fn complete(&mut self, task: u32, thread: usize, now: u64) {
        let state = &mut self.tasks[task as usize];
        (state.is_done, state.done_at) = (true, now);
        self.outstanding -= 1;
        for successor in core::mem::take(&mut self.successors[task as usize]) {
            self.resolve(successor, thread, now);
        }
    }

    /// The first thread runs up to `most` tasks of its own queue.
    fn help(&mut self, mut now: u64, most: usize) -> u64 {
        for _ in 0..most {
            let Some(block) = self.threads[0].queue.pop_front() else { break };
            now = self.run_here(block, now);
        }
        now
    }

    fn run_here(&mut self, block: Block, now: u64) -> u64 {
        let end = now + self.takes(block);
        self.advance(end);
        self.finish(0, block, end);
        end
    }

    /// The first thread waits for the writers of what it reads, and helps meanwhile.
    fn wait_for_read(&mut self, step: &Step, writers: &Writers, place: usize, mut now: u64) -> u64 {
        let Step::Read { tensor, .. } = step else { return now };
        for &writer in writers.before(*tensor, place) {
            while !self.tasks[writer as usize].is_done {
                match self.help_or_wait(now) {
                    Some(later) => now = later,
                    None => return now,
                }
            }
            now = now.max(self.tasks[writer as usize].done_at);
        }
        now
    }

    /// The first thread runs a block, or lets time pass until another one ends; `None` if there is nothing to wait for.
    fn help_or_wait(&mut self, now: u64) -> Option<u64> {
        if let Some(block) = self.take(0) {
            return Some(self.run_here(block, now));
        }
        let &Reverse((at, ..)) = self.running.peek()?;
        self.advance(at);
        Some(now.max(at))
    }

    /// Runs everything that is left.
    fn drain(&mut self, mut now: u64) -> u64 {
        while self.outstanding > 0 {
            match self.help_or_wait(now) {
                Some(later) => now = later,
                None => break,
            }
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::BlockTime;
    use crate::recorded::{ProgramEdge, ProgramTask, TaskKind};

    const SUBMIT: u64 = 10;
    const BLOCK: u64 = 1_000;

    /// A program of `tasks` tasks of one block, with these edges.
    fn program(tasks: usize, edges: &[(u32, u32)]) -> (Program, Measured) {
        let task = || ProgramTask {
            kind: TaskKind::Kernels,
            lanes: [Some(0), None, None],
            blocks: 1,
            args: 0..0,
            after: 0..0,
            before: 0..0,
            label: None,
            duration_ps: None,
        };
        let edge = |&(before, after): &(u32, u32)| ProgramEdge { before, after, cause: "raw" };
        let program = Program {
            tasks: (0..tasks).map(|_| task()).collect(),
            edges: edges.iter().map(edge).collect(),
            ..Program::default()
        };
        let block = BlockTime { before: 0, kernel: BLOCK, after: 0 };
        let measured = Measured {
            own: vec![0; tasks],
            submits: vec![SUBMIT; tasks],
            blocks: vec![vec![block]; tasks],
            appears: vec![None],
            rest: 7,
        };
        (program, measured)
    }

    #[test]
    fn one_thread_takes_the_sum_of_everything() {
        let (program, measured) = program(100, &[(0, 1), (1, 99)]);
        assert_eq!(makespan(&program, &measured, 1), 100 * (SUBMIT + BLOCK) + 7);
    }

    #[test]
    fn independent_tasks_are_shared_out_and_a_chain_is_not() {
        let (independent, measured) = program(64, &[]);
        let times = [1, 2, 4].map(|threads| makespan(&independent, &measured, threads));
        assert!(times[1] < times[0] * 11 / 20 && times[2] < times[1] * 12 / 20, "{times:?}");
        let edges: Vec<(u32, u32)> = (1..64).map(|task| (task - 1, task)).collect();
        let (chain, measured) = program(64, &edges);
        let times = [1, 2, 4].map(|threads| makespan(&chain, &measured, threads));
        assert!(times.iter().all(|&time| time >= 64 * BLOCK), "{times:?}");
    }

    #[test]
    fn a_thread_that_took_nothing_takes_nothing_again() {
        let (program, mut measured) = program(64, &[]);
        measured.appears = vec![Some(0), None];
        assert_eq!(makespan(&program, &measured, 2), 64 * (SUBMIT + BLOCK) + 7);
        measured.appears = vec![Some(0), Some(0)];
        assert!(makespan(&program, &measured, 2) < 40 * (SUBMIT + BLOCK));
    }
}
