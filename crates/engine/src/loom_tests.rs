//! Loom walks through every order in which the threads of a small program can meet in the lock-free protocols, with
//! every value that a weak memory may show them. The types are the shipped ones; what is small is the program.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p ringlane-engine --release --lib loom
//! ```
//! Each task reads what its predecessors wrote and then writes a cell of its own. The cells are plain memory, so an
//! ordering that is too weak anywhere on the way shows up as a data race or a wrong value.

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use std::sync::Arc;

use loom::thread::{self, JoinHandle};

use crate::slot::{DoneTag, Edge, EdgeKind, FAILED, Linked, SKIPPED, Slot, SlotIndex, TaskRecord};
use crate::sync::{Shared, Zeroed};

/// Explores all schedules with at most this many switches away from a thread that could go on; says how many there are.
fn check(preemptions: Option<usize>, program: impl Fn() + Sync + Send + 'static) {
    let (started, executions) = (std::time::Instant::now(), Arc::new(Count::new(0)));
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    let count = executions.clone();
    model.check(move || {
        count.fetch_add(1, Relaxed);
        program();
    });
    println!("{} executions in {:?}", executions.load(Relaxed), started.elapsed());
}

/// A task of a test: its number in submission order, and the slot it lives in.
#[derive(Clone, Copy)]
struct Task {
    seq: u32,
    slot: u32,
}

/// Marks a task whose kernel fails.
const FAILS: u16 = 1;

impl Task {
    /// The first task of its slot.
    fn first(seq: u32) -> Self {
        Task { seq, slot: seq }
    }

    fn tag(self) -> u8 {
        self.seq as u8 + 1
    }

    /// When it ends, where times are watched: the first last, so that the last to release does not know the latest end.
    fn ends(seq: u64) -> u64 {
        100 - seq
    }
}

/// A table with a few slots, and what the tasks wrote.
struct Stage {
    slots: Vec<Slot>,
    edges: Vec<Edge>,
    done: Vec<DoneTag>,
    /// What each task writes, by its number.
    data: Vec<Shared<u32>>,
    /// How often each task ran, and its fate when it did. Not loom's atomics: counting must not order anything.
    runs: Vec<Count>,
    fates: Vec<Count>,
    /// Whether times are watched.
    timed: bool,
}

impl Stage {
    fn new(slots: usize, edges: usize, tasks: usize) -> Arc<Self> {
        Self::watched(slots, edges, tasks, false)
    }

    fn watched(slots: usize, edges: usize, tasks: usize, timed: bool) -> Arc<Self> {
        let counts = || (0..tasks).map(|_| Count::new(0)).collect();
        Arc::new(Stage {
            slots: (0..slots).map(|_| Slot::zero()).collect(),
            edges: (0..edges).map(|_| Edge::zero()).collect(),
            done: (0..slots).map(|_| DoneTag::zero()).collect(),
            data: (0..tasks).map(|_| Shared::new(0)).collect(),
            runs: counts(),
            fates: counts(),
            timed,
        })
    }

    fn slot(&self, task: Task) -> &Slot {
        &self.slots[task.slot as usize]
    }

    /// What the submitter does: fills the slot, links it (through the entries from `edge` on), ends its hold. True if
    /// the task is ready now.
    fn submit(&self, task: Task, kernel: u16, kind: EdgeKind, after: &[Task], edge: u32) -> bool {
        let reads = after.iter().fold(0, |mask, p| mask | 1 << p.seq);
        let (seq, tag) = (task.seq as u64, task.tag());
        let record =
            TaskRecord { seq, args_at: reads, kernels: [kernel, 0, 0], tag, ..TaskRecord::default() };
        // SAFETY: the caller is the submitter; the slot is new or its done tag was seen.
        unsafe { self.slot(task).prepare(record) };
        let (mut links, mut floor) = (0, self.timed.then_some(0));
        for (i, &before) in after.iter().enumerate() {
            // SAFETY: the caller is the submitter; the entry is new or the successor it belonged to is done.
            match unsafe { self.slot(before).link(&self.edges, edge + i as u32, SlotIndex(task.slot), kind) }
            {
                Linked::Waiting => links += 1,
                Linked::AlreadyDone => {
                    floor = floor.map(|floor| floor.max(self.slot(before).floor()));
                    if kind == EdgeKind::Explicit && self.slot(before).fate() != 0 {
                        self.slot(task).mark(SKIPPED);
                    }
                }
            }
        }
        let ready = self.slot(task).release_guard(links, floor);
        if let (true, Some(floor)) = (self.timed, ready) {
            self.slot(task).set_floor(floor);
        }
        ready.is_some()
    }

    /// What a core does: runs the task in this slot, closes it, and goes on with the successors that became ready.
    fn run(&self, slot: u32) {
        // SAFETY: the task was made ready for this thread.
        let record = unsafe { self.slots[slot as usize].record() };
        let seq = record.seq as usize;
        for before in (0..self.data.len()).filter(|p| record.args_at >> p & 1 == 1) {
            // SAFETY: the task waited for the one that writes this.
            assert_eq!(unsafe { self.data[before].get() }, before as u32 + 1, "task {seq} reads of {before}");
            let floor = self.slots[slot as usize].floor();
            assert!(
                !self.timed || floor >= Task::ends(before as u64),
                "task {seq} knows when {before} ended"
            );
        }
        // SAFETY: only this task writes it; its readers wait for it.
        unsafe { self.data[seq].set(seq as u32 + 1) };
        if record.kernels[0] == FAILS {
            self.slots[slot as usize].mark(FAILED);
        }
        let fate = self.slots[slot as usize].fate();
        self.fates[seq].store(fate, Relaxed);
        self.runs[seq].fetch_add(1, Relaxed);
        let ended = self.timed.then(|| self.slots[slot as usize].floor().max(Task::ends(record.seq)));
        let mut ready = Vec::new();
        let publish = |successor: SlotIndex, floor| {
            if self.timed {
                self.slots[successor.0 as usize].set_floor(floor);
            }
            ready.push(successor.0);
        };
        // SAFETY: this thread completes the task, once.
        unsafe { self.slots[slot as usize].close(&self.slots, &self.edges, fate, ended, publish) };
        self.done[slot as usize].set(record.tag);
        ready.into_iter().for_each(|slot| self.run(slot));
    }

    fn wait_until_done(&self, task: Task) {
        while !self.done[task.slot as usize].is(task.tag()) {
            thread::yield_now();
        }
    }

    fn assert_each_ran_once(&self) {
        let runs: Vec<u32> = self.runs.iter().map(|r| r.load(Relaxed)).collect();
        assert!(runs.iter().all(|&r| r == 1), "runs of each task: {runs:?}");
    }
}

/// A core that got a task.
fn core(stage: &Arc<Stage>, task: Task) -> JoinHandle<()> {
    let stage = stage.clone();
    thread::spawn(move || stage.run(task.slot))
}

fn join(cores: impl IntoIterator<Item = JoinHandle<()>>) {
    cores.into_iter().for_each(|core| core.join().unwrap());
}

/// `before` tasks, each on a core of its own, and meanwhile `after` tasks that follow all of them.
fn fan(before: u32, after: u32, kernels: [u16; 2], kind: EdgeKind) -> Arc<Stage> {
    watched_fan(before, after, kernels, kind, false)
}

fn watched_fan(before: u32, after: u32, kernels: [u16; 2], kind: EdgeKind, timed: bool) -> Arc<Stage> {
    let tasks = (before + after) as usize;
    let stage = Stage::watched(tasks, (before * after) as usize, tasks, timed);
    let firsts: Vec<Task> = (0..before).map(Task::first).collect();
    for &first in &firsts {
        assert!(stage.submit(first, kernels[first.seq as usize % 2], kind, &[], 0));
    }
    let cores: Vec<_> = firsts.iter().map(|&first| core(&stage, first)).collect();
    for i in 0..after {
        let task = Task::first(before + i);
        if stage.submit(task, 0, kind, &firsts, i * before) {
            stage.run(task.slot);
        }
    }
    join(cores);
    stage.assert_each_ran_once();
    stage
}

#[test]
fn a_successor_of_one_task_becomes_ready_once_and_sees_what_it_wrote() {
    check(None, || drop(fan(1, 1, [0; 2], EdgeKind::Data)));
}

#[test]
fn a_successor_of_two_tasks_becomes_ready_once_and_sees_what_both_wrote() {
    check(None, || drop(fan(2, 1, [0; 2], EdgeKind::Data)));
}

#[test]
fn two_successors_of_one_task_each_become_ready_once() {
    check(None, || drop(fan(1, 2, [0; 2], EdgeKind::Data)));
}

#[test]
fn a_successor_knows_when_the_last_of_its_predecessors_ended_on_any_releasing_thread() {
    check(None, || drop(watched_fan(2, 1, [0; 2], EdgeKind::Data, true)));
}

#[test]
fn each_of_two_successors_knows_when_its_predecessor_ended() {
    check(None, || drop(watched_fan(1, 2, [0; 2], EdgeKind::Data, true)));
}

#[test]
fn a_failure_skips_an_explicit_successor_on_any_releasing_thread() {
    check(None, || {
        let stage = fan(2, 1, [FAILS, 0], EdgeKind::Explicit);
        assert_eq!(stage.fates[2].load(Relaxed), SKIPPED);
    });
}

#[test]
fn a_failure_does_not_travel_along_a_data_edge() {
    check(None, || {
        let stage = fan(1, 1, [FAILS, 0], EdgeKind::Data);
        assert_eq!(stage.fates[1].load(Relaxed), 0);
    });
}

#[test]
fn the_submitter_sees_what_a_closed_task_wrote() {
    check(None, || {
        let (stage, task) = (Stage::new(1, 0, 1), Task::first(0));
        assert!(stage.submit(task, 0, EdgeKind::Data, &[], 0));
        let core = core(&stage, task);
        while !stage.slot(task).is_closed() {
            thread::yield_now();
        }
        // SAFETY: the task that writes it is closed.
        assert_eq!(unsafe { stage.data[0].get() }, 1);
        join([core]);
    });
}

#[test]
fn a_slot_is_filled_again_once_its_done_tag_is_seen() {
    check(None, || {
        let (a, b, again) = (Task::first(0), Task::first(1), Task { seq: 2, slot: 0 });
        let stage = Stage::new(2, 2, 3);
        assert!(stage.submit(a, 0, EdgeKind::Data, &[], 0));
        let mut cores = vec![core(&stage, a)];
        if stage.submit(b, 0, EdgeKind::Data, &[a], 0) {
            cores.push(core(&stage, b));
        }
        stage.wait_until_done(a);
        // The new task waits for the successor of the slot's old one, which may still be running.
        if stage.submit(again, 0, EdgeKind::Data, &[b], 1) {
            stage.run(again.slot);
        }
        join(cores);
        stage.assert_each_ran_once();
        // Nobody still had something to say about the old task.
        assert!(stage.done[0].is(again.tag()));
    });
}

#[test]
fn an_edge_entry_is_used_again_once_its_successor_is_done() {
    check(None, || {
        let (a, b, c, d) = (Task::first(0), Task::first(1), Task::first(2), Task { seq: 3, slot: 1 });
        let stage = Stage::new(3, 1, 4);
        assert!(stage.submit(a, 0, EdgeKind::Data, &[], 0) && stage.submit(c, 0, EdgeKind::Data, &[], 0));
        let mut cores = vec![core(&stage, a)];
        if stage.submit(b, 0, EdgeKind::Data, &[a], 0) {
            stage.run(b.slot);
        }
        cores.push(core(&stage, c));
        // Only the successor is known to be done: its predecessor's list may still be being walked.
        stage.wait_until_done(b);
        if stage.submit(d, 0, EdgeKind::Data, &[c], 0) {
            stage.run(d.slot);
        }
        join(cores);
        stage.assert_each_ran_once();
    });
}
