//! Loom explores the ready queues between an owner and thieves, the blocks of a task that travels through them, and the
//! sleep of threads.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p ringlane-chip-cpu --release --lib loom
//! ```

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use std::sync::Arc;

use loom::thread::{self, JoinHandle};
use ringlane_engine::slot::{LaneShape, Slot, SlotIndex, TaskRecord};
use ringlane_engine::sync::{Shared, Zeroed};

use crate::fence;
use crate::ready::ReadyQueue;
use crate::sleep::{Announced, Sleep};
use crate::sync::{Condvar, Mutex};

/// Explores all schedules with at most this many switches away from a thread that could go on.
fn check(preemptions: Option<usize>, program: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(program);
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// What each of the tests' threads took from the queues.
struct Taken(Vec<Count>);

impl Taken {
    fn none(tasks: u32) -> Self {
        Taken((0..tasks).map(|_| Count::new(0)).collect())
    }

    /// Notes a task; true if there was one.
    fn note(&self, task: Option<SlotIndex>) -> bool {
        task.inspect(|t| _ = self.0[t.0 as usize].fetch_add(1, Relaxed)).is_some()
    }

    fn assert_each_once(&self) {
        let taken: Vec<u32> = self.0.iter().map(|t| t.load(Relaxed)).collect();
        assert!(taken.iter().all(|&t| t == 1), "times each task was taken: {taken:?}");
    }
}

fn queue(tasks: usize) -> Arc<ReadyQueue> {
    Arc::new(ReadyQueue::new(tasks).unwrap())
}

fn half(waiting: u32) -> u32 {
    waiting.div_ceil(2)
}

/// A thief with a queue of its own, who steals once and then works off what it got.
fn thief(victim: &Arc<ReadyQueue>, taken: &Arc<Taken>) -> JoinHandle<()> {
    let (victim, taken) = (victim.clone(), taken.clone());
    thread::spawn(move || {
        let mine = ReadyQueue::new(2).unwrap();
        taken.note(victim.steal_into(&mine, half));
        while taken.note(mine.pop()) {}
    })
}

/// An owner that pushes `before` tasks, then meets the thieves while it pops twice and pushes the rest.
fn contended(entries_for: usize, before: u32, tasks: u32, thieves: usize) {
    let (mine, taken) = (queue(entries_for), Arc::new(Taken::none(tasks)));
    (0..before).for_each(|t| mine.push(SlotIndex(t)));
    let thieves: Vec<_> = (0..thieves).map(|_| thief(&mine, &taken)).collect();
    taken.note(mine.pop());
    taken.note(mine.pop());
    (before..tasks).for_each(|t| mine.push(SlotIndex(t)));
    while taken.note(mine.pop()) {}
    join(thieves);
    taken.assert_each_once();
}

#[test]
fn an_owner_and_a_thief_take_each_task_once() {
    check(Some(4), || contended(2, 2, 4, 1));
}

#[test]
fn an_owner_and_a_thief_of_two_at_once_take_each_task_once() {
    check(None, || contended(2, 4, 4, 1));
}

#[test]
fn an_owner_and_two_thieves_take_each_task_once() {
    check(Some(3), || contended(2, 3, 4, 2));
}

#[test]
fn a_thief_that_read_an_entry_of_the_next_lap_does_not_take_it() {
    // Two entries only: while the thief reads them the owner pops both tasks and pushes others over them.
    check(Some(5), || contended(0, 2, 4, 1));
}

#[test]
fn two_thieves_that_read_the_same_entries_take_them_once() {
    check(Some(3), || contended(0, 2, 3, 2));
}

#[test]
fn a_thief_is_robbed_of_what_it_stole() {
    check(Some(3), || {
        let (first, middle, taken) = (queue(2), queue(2), Arc::new(Taken::none(4)));
        (0..4).for_each(|t| first.push(SlotIndex(t)));
        let last = thief(&middle, &taken);
        let robbed = {
            let (first, middle, taken) = (first.clone(), middle.clone(), taken.clone());
            thread::spawn(move || {
                taken.note(first.steal_into(&middle, half));
                while taken.note(middle.pop()) {}
            })
        };
        while taken.note(first.pop()) {}
        join([last, robbed]);
        taken.assert_each_once();
    });
}

/// Slots of tasks, and what the tasks wrote.
struct Stage {
    slots: Vec<Slot>,
    /// What each task or block writes.
    data: Vec<Shared<u32>>,
    /// How often each task ran. Not one of loom's atomics: counting must not order anything.
    runs: Vec<Count>,
}

impl Stage {
    fn new(slots: usize, data: usize) -> Arc<Self> {
        Arc::new(Stage {
            slots: (0..slots).map(|_| Slot::zero()).collect(),
            data: (0..data).map(|_| Shared::new(0)).collect(),
            runs: (0..slots).map(|_| Count::new(0)).collect(),
        })
    }

    /// Makes the task of a slot ready, with this many blocks.
    fn submit(&self, slot: usize, blocks: u32) {
        let record =
            TaskRecord { seq: slot as u64, blocks, shape: LaneShape::new([1]), ..TaskRecord::default() };
        // SAFETY: the slot is new.
        unsafe { self.slots[slot].prepare(record) };
        assert!(self.slots[slot].release_guard(0, None).is_some());
    }

    /// Runs a task of one block: its record must be the one that was written.
    fn run(&self, task: SlotIndex) {
        // SAFETY: the task came from a queue.
        let record = unsafe { self.slots[task.0 as usize].record() };
        assert_eq!(record.seq, u64::from(task.0));
        self.runs[task.0 as usize].fetch_add(1, Relaxed);
    }
}

#[test]
fn a_task_brings_its_record_along_through_two_queues() {
    check(None, || {
        let (stage, mine) = (Stage::new(2, 0), queue(2));
        let core = {
            let (stage, mine) = (stage.clone(), mine.clone());
            thread::spawn(move || {
                let own = ReadyQueue::new(2).unwrap();
                let stolen = mine.steal_into(&own, half);
                stolen.into_iter().chain(core::iter::from_fn(|| own.pop())).for_each(|task| stage.run(task));
            })
        };
        for slot in 0..2 {
            stage.submit(slot, 1);
            mine.push(SlotIndex(slot as u32));
        }
        while let Some(task) = mine.pop() {
            stage.run(task);
        }
        join([core]);
        assert!(stage.runs.iter().all(|runs| runs.load(Relaxed) == 1));
    });
}

/// What a core does with a task of several blocks: takes a block, passes the task on, runs the block; the last one
/// sees what all wrote.
fn run_block(stage: &Stage, task: SlotIndex, mine: &ReadyQueue) {
    let slot = &stage.slots[task.0 as usize];
    // SAFETY: the task came from a queue.
    let total = unsafe { slot.record() }.total_blocks();
    let block = slot.next_block();
    if block + 1 < total {
        mine.push(task);
    }
    // SAFETY: the block was handed out once.
    unsafe { stage.data[block as usize].set(block + 1) };
    if slot.finish_block() {
        stage.runs[0].fetch_add(1, Relaxed);
        for block in 0..total {
            // SAFETY: all blocks are finished.
            assert_eq!(unsafe { stage.data[block as usize].get() }, block + 1);
        }
    }
}

#[test]
fn one_block_is_the_last_and_sees_what_the_others_wrote() {
    check(None, || {
        let (stage, mine) = (Stage::new(1, 3), queue(2));
        stage.submit(0, 3);
        mine.push(SlotIndex(0));
        let core = {
            let (stage, mine) = (stage.clone(), mine.clone());
            thread::spawn(move || {
                let own = ReadyQueue::new(2).unwrap();
                let stolen = mine.steal_into(&own, half);
                stolen.into_iter().for_each(|task| run_block(&stage, task, &own));
                while let Some(task) = own.pop() {
                    run_block(&stage, task, &own);
                }
            })
        };
        while let Some(task) = mine.pop() {
            run_block(&stage, task, &mine);
        }
        join([core]);
        assert_eq!(stage.runs[0].load(Relaxed), 1);
    });
}

/// Helpers that sleep, and tasks that need each other: each ends only when all have been taken.
struct Office {
    sleep: Sleep,
    queue: ReadyQueue,
    tasks: u32,
    taken: Mutex<u32>,
    all_taken: Condvar,
}

impl Office {
    /// One submitter pushes `tasks` tasks and never runs one; `helpers` helpers have to. If a wake-up is lost nobody can go
    /// on, which loom reports.
    fn open(helpers: usize, tasks: u32) {
        let (taken, all_taken) = (Mutex::new(0), Condvar::new());
        let office = Office {
            sleep: Sleep::new(helpers + 1),
            queue: ReadyQueue::new(2).unwrap(),
            tasks,
            taken,
            all_taken,
        };
        let office = Arc::new(office);
        let spawn = |core| {
            let office = office.clone();
            thread::spawn(move || office.help(core))
        };
        let helpers: Vec<_> = (1..=helpers).map(spawn).collect();
        for task in 0..tasks {
            office.queue.push(SlotIndex(task));
            office.sleep.pushed();
        }
        join(helpers);
    }

    fn is_closed(&self) -> bool {
        *self.taken.lock().unwrap() == self.tasks
    }

    /// Takes a task if there is one, and ends it when all are taken.
    fn work(&self, core: usize, leave: impl Fn()) -> bool {
        let Some(_) = self.queue.steal_into(&ReadyQueue::new(1).unwrap(), |_| 1) else { return false };
        leave();
        self.sleep.found(core, false);
        let mut taken = self.taken.lock().unwrap();
        *taken += 1;
        if *taken == self.tasks {
            self.all_taken.notify_all();
            drop(taken);
            fence::heavy();
            self.sleep.wake_all();
            return true;
        }
        while *taken < self.tasks {
            taken = self.all_taken.wait(taken).unwrap();
        }
        true
    }

    fn help(&self, core: usize) {
        self.sleep.register(core);
        self.sleep.search(core);
        while !self.is_closed() {
            if self.work(core, || ()) {
                return;
            }
            let announced = self.sleep.announce(core);
            let cancel = || self.sleep.cancel(core);
            if self.is_closed() {
                cancel();
                break;
            }
            if announced == Announced::Last && self.work(core, cancel) {
                return;
            }
            self.sleep.park(core);
        }
        self.sleep.stop_searching(core);
    }
}

#[test]
fn a_push_wakes_the_last_worker_that_goes_to_sleep() {
    check(Some(4), || Office::open(1, 1));
}

#[test]
fn one_task_ends_the_sleep_of_all() {
    check(Some(3), || Office::open(2, 1));
}

#[test]
fn a_worker_that_finds_a_task_wakes_another_for_the_next() {
    check(Some(2), || Office::open(2, 2));
}
