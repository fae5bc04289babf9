//! Threads that take blocks and run them, in virtual time.
//!
//! As the chip `cpu` does: a thread keeps the first task that its own one made ready, then takes from its own queue, oldest
//! first. Without either it is idle: once its delay has passed on the clock that runs while tasks wait ([`Delays`]), it
//! steals, from the submitting thread a batch or an even part, from another one half.
//!
//! On as many threads as in the recording, a thread prefers the block that it ran next there, if that waits where the thread
//! takes blocks from. So a replay stays close to what was recorded, and differs where a change makes it differ.
//!
//! The first thread is driven by [`submitter`](super::submitter): here it is a thread that runs a block only when it is asked to.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::delays::Meets;
use super::measured::{Measured, PlacedBlock as Block};
use crate::recorded::Program;

/// Tasks that take this many nanoseconds are a batch, which a thief takes from the submitting thread.
const BATCH_NS: u64 = 16_000;
/// The most tasks of a batch, and of a steal.
const BATCH_MAX: usize = 64;
const STEAL_MAX: usize = 128;

#[derive(Default)]
struct Thread {
    kept: Option<Block>,
    queue: VecDeque<Block>,
    /// How often it was idle, by what it met.
    times_idle: [usize; 2],
    /// How many of the blocks that it ran in the recording are taken, at least.
    followed: usize,
}

struct Task {
    /// Predecessors that are not done; one more until it is submitted.
    waits_for: u32,
    blocks: u32,
    /// Blocks that were taken.
    taken: u32,
    blocks_left: u32,
    /// The thread in whose queue its next block is.
    queued_at: Option<usize>,
    /// When it was done.
    done_at: Option<u64>,
}

/// What happens next.
enum Event {
    /// A thread ends a block.
    Ends(usize, Block),
    /// An idle thread takes a block.
    Takes(usize),
}

/// All threads of a machine.
pub(super) struct Threads<'p> {
    measured: &'p Measured,
    /// What each thread ran in the recording, if the threads are as many.
    placed: &'p [Vec<Block>],
    /// How much slower each thread is than the fastest of the recording.
    slowness: Vec<f64>,
    successors: Vec<Vec<u32>>,
    tasks: Vec<Task>,
    threads: Vec<Thread>,
    /// Threads that run a block, by when they end it.
    running: BinaryHeap<Reverse<(u64, usize, Block)>>,
    /// Threads without work, by what the waiting clock shows when they take some.
    idle: BinaryHeap<Reverse<(u64, usize)>>,
    /// Blocks in queues.
    waiting: usize,
    /// What the waiting clock shows.
    waited: u64,
    batch: usize,
    random: u32,
    /// The time.
    pub now: u64,
    /// Tasks that are submitted and not done.
    pub outstanding: usize,
}

impl<'p> Threads<'p> {
    /// Threads of which all but the first are idle.
    pub(super) fn new(program: &Program, measured: &'p Measured, threads: usize) -> Self {
        let mut successors = vec![Vec::new(); program.tasks.len()];
        let mut waits_for = vec![1; program.tasks.len()];
        program.edges.iter().for_each(|edge| successors[edge.before as usize].push(edge.after));
        for after in &mut successors {
            after.sort_unstable();
            after.dedup();
            after.iter().for_each(|&task| waits_for[task as usize] += 1);
        }
        let task = |(place, waits_for): (usize, u32)| {
            let blocks = measured.blocks[place].len() as u32;
            Task { waits_for, blocks, taken: 0, blocks_left: blocks, queued_at: None, done_at: None }
        };
        let mut all = Threads {
            measured,
            placed: if measured.placed.len() == threads { &measured.placed } else { &[] },
            slowness: measured.slowness.of_threads(threads),
            successors,
            tasks: waits_for.into_iter().enumerate().map(task).collect(),
            threads: (0..threads).map(|_| Thread::default()).collect(),
            running: BinaryHeap::new(),
            idle: BinaryHeap::new(),
            waiting: 0,
            waited: 0,
            batch: measured.tasks_in(BATCH_NS).min(BATCH_MAX),
            random: 1,
            now: 0,
            outstanding: 0,
        };
        (1..threads).for_each(|thread| all.be_idle(thread));
        all
    }

    /// How many threads there are.
    pub(super) fn count(&self) -> usize {
        self.threads.len()
    }

    /// When a task was done, if it is.
    pub(super) fn done_at(&self, task: u32) -> Option<u64> {
        self.tasks[task as usize].done_at
    }

    /// Lets all threads work until a time.
    pub(super) fn advance(&mut self, until: u64) {
        while let Some((at, event)) = self.next_event().filter(|(at, _)| *at <= until) {
            let first = self.handle(at, event);
            debug_assert!(first.is_none(), "the first thread is not idle");
        }
        self.set_time(until);
    }

    /// The first thread has nothing to do. Lets the others work until it takes a block, or until `is_over`: then there is
    /// none, and also if nothing would ever happen again.
    pub(super) fn wait(&mut self, is_over: impl Fn(&Self) -> bool) -> Option<Block> {
        self.be_idle(0);
        let mut taken = None;
        while taken.is_none() && !is_over(self) {
            let Some((at, event)) = self.next_event() else { break };
            taken = self.handle(at, event);
        }
        if taken.is_none() {
            self.idle.retain(|Reverse((_, thread))| *thread != 0);
        }
        taken
    }

    fn next_event(&self) -> Option<(u64, Event)> {
        let ends = self.running.peek().map(|&Reverse((at, thread, block))| (at, Event::Ends(thread, block)));
        let takes = self.idle.peek().filter(|_| self.waiting > 0).map(|&Reverse((shown, thread))| {
            (self.now + shown.saturating_sub(self.waited), Event::Takes(thread))
        });
        match (ends, takes) {
            (Some(ends), Some(takes)) => Some(if ends.0 <= takes.0 { ends } else { takes }),
            (ends, takes) => ends.or(takes),
        }
    }

    /// What the first thread takes, if it is the one that takes something.
    fn handle(&mut self, at: u64, event: Event) -> Option<Block> {
        self.set_time(at);
        match event {
            Event::Ends(thread, block) => {
                self.running.pop();
                self.end(thread, block);
                match self.take_own(thread) {
                    Some(next) => self.start(thread, next),
                    None => self.be_idle(thread),
                }
                None
            }
            Event::Takes(thread) => {
                self.idle.pop();
                let block = self.steal(thread)?;
                if thread == 0 {
                    return Some(block);
                }
                self.start(thread, block);
                None
            }
        }
    }

    fn set_time(&mut self, at: u64) {
        if self.waiting > 0 {
            self.waited += at.saturating_sub(self.now);
        }
        self.now = self.now.max(at);
    }

    fn be_idle(&mut self, thread: usize) {
        let meets = if self.waiting > 0 { Meets::Tasks } else { Meets::Nothing };
        let times = &mut self.threads[thread].times_idle[meets as usize];
        let delay = self.measured.delays.of(thread, meets, *times);
        *times += 1;
        self.idle.push(Reverse((self.waited + delay, thread)));
    }

    /// A thread's next block without a steal.
    pub(super) fn take_own(&mut self, thread: usize) -> Option<Block> {
        let preferred = self.preferred(thread);
        let kept = self.threads[thread].kept.take();
        if let Some(block) = preferred.filter(|block| kept != Some(*block))
            && self.queue_of(block) == Some(thread)
        {
            kept.into_iter().for_each(|kept| self.push(thread, kept));
            return Some(self.unqueue(thread, block));
        }
        kept.or_else(|| {
            let block = *self.threads[thread].queue.front()?;
            Some(self.unqueue(thread, block))
        })
    }

    /// The block that a thread ran next in the recording, if it is not taken yet.
    fn preferred(&mut self, thread: usize) -> Option<Block> {
        let placed = self.placed.get(thread)?;
        let followed = &mut self.threads[thread].followed;
        while let Some(&(task, block)) = placed.get(*followed) {
            if block >= self.tasks[task as usize].taken {
                return Some((task, block));
            }
            *followed += 1;
        }
        None
    }

    /// The thread in whose queue a block is.
    fn queue_of(&self, (task, block): Block) -> Option<usize> {
        let task = &self.tasks[task as usize];
        task.queued_at.filter(|_| task.taken == block)
    }

    /// Takes a block out of the queue that it is in: most often from near its front.
    fn unqueue(&mut self, thread: usize, block: Block) -> Block {
        let queue = &mut self.threads[thread].queue;
        if let Some(at) = queue.iter().position(|queued| *queued == block) {
            queue.remove(at);
            self.waiting -= 1;
        }
        self.tasks[block.0 as usize].queued_at = None;
        block
    }

    fn steal(&mut self, thief: usize) -> Option<Block> {
        let preferred = self.preferred(thief);
        if let Some((block, victim)) = preferred.and_then(|block| Some((block, self.queue_of(block)?)))
            && self.threads[victim].queue.front() != Some(&block)
        {
            return Some(self.unqueue(victim, block));
        }
        let victim = preferred.and_then(|block| self.queue_of(block)).or_else(|| self.victim(thief))?;
        let (waiting, threads) = (self.threads[victim].queue.len(), self.threads.len());
        let share = match victim {
            0 => (waiting / (2 * threads)).max(self.batch),
            _ => waiting.div_ceil(2),
        };
        let block = *self.threads[victim].queue.front()?;
        self.unqueue(victim, block);
        for _ in 1..share.clamp(1, waiting.min(STEAL_MAX)) {
            let Some(moved) = self.threads[victim].queue.pop_front() else { break };
            self.tasks[moved.0 as usize].queued_at = Some(thief);
            self.threads[thief].queue.push_back(moved);
        }
        Some(block)
    }

    /// A thread with blocks in its queue: the submitting one, or another from a random one on.
    fn victim(&mut self, thief: usize) -> Option<usize> {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let (threads, start) = (self.threads.len(), self.random as usize);
        let others = (0..threads).map(|other| (start + other) % threads);
        let mut victims = std::iter::once(0).chain(others).filter(|&victim| victim != thief);
        victims.find(|&victim| !self.threads[victim].queue.is_empty())
    }

    fn start(&mut self, thread: usize, block: Block) {
        let end = self.now + self.begin(thread, block);
        self.running.push(Reverse((end, thread, block)));
    }

    /// A thread begins a block, and opens the task's next one to the others. How long the block takes.
    fn begin(&mut self, thread: usize, (task, block): Block) -> u64 {
        let state = &mut self.tasks[task as usize];
        state.taken = block + 1;
        if state.taken < state.blocks {
            self.push(thread, (task, block + 1));
        }
        let time = self.measured.blocks[task as usize][block as usize];
        time.before + self.measured.slowness.on(self.slowness[thread], time) + time.after
    }

    /// The first thread runs a block, while the others work.
    pub(super) fn run_here(&mut self, block: Block) {
        let end = self.now + self.begin(0, block);
        self.advance(end);
        self.end(0, block);
    }

    /// A block ends; the last one of a task makes its successors ready.
    fn end(&mut self, thread: usize, (task, _): Block) {
        let state = &mut self.tasks[task as usize];
        state.blocks_left -= 1;
        if state.blocks_left == 0 {
            self.complete(task, thread);
        }
    }

    /// A task is submitted by the first thread.
    pub(super) fn submit(&mut self, task: u32) {
        self.outstanding += 1;
        self.resolve(task, 0, Keeps::No);
    }

    /// One thing less that a task waits for; a thread gets it if that was the last.
    fn resolve(&mut self, task: u32, thread: usize, keeps: Keeps) {
        let state = &mut self.tasks[task as usize];
        state.waits_for -= 1;
        if state.waits_for > 0 {
            return;
        }
        if state.blocks == 0 {
            return self.complete(task, thread);
        }
        match keeps {
            Keeps::First if self.threads[thread].kept.is_none() => {
                self.threads[thread].kept = Some((task, 0));
            }
            _ => self.push(thread, (task, 0)),
        }
    }

    fn push(&mut self, thread: usize, block: Block) {
        self.threads[thread].queue.push_back(block);
        self.tasks[block.0 as usize].queued_at = Some(thread);
        self.waiting += 1;
    }

    /// The first thread opens what it keeps to the others.
    pub(super) fn share_kept(&mut self) {
        if let Some(block) = self.threads[0].kept.take() {
            self.push(0, block);
        }
    }

    /// Whether the first thread keeps a block.
    pub(super) fn keeps(&self) -> bool {
        self.threads[0].kept.is_some()
    }

    fn complete(&mut self, task: u32, thread: usize) {
        self.tasks[task as usize].done_at = Some(self.now);
        self.outstanding -= 1;
        for successor in core::mem::take(&mut self.successors[task as usize]) {
            self.resolve(successor, thread, Keeps::First);
        }
    }
}

/// Whether a thread keeps a task that becomes ready.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    First,
    No,
}
