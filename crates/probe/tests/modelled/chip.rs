//! A chip of three cores and two control threads, with a clock that advances only when it is moved. One thread does everything.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ringlane_engine::completion::{Executor, ReadySink};
use ringlane_engine::memory::DirectMemory;
use ringlane_engine::observe::{
    EndedScope, Fill, ObservedTask, PlacedBlock, Submission, ThreadPhase, ThreadWork,
};
use ringlane_engine::seams::{Chip, Clock, Probe, Step, Threading};
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::Table;
use ringlane_probe::{ANY, Recorder, Watching};
use ringlane_task::{CoreId, Resource, RingIndex, TaskId, Ticks};

pub const CORES: u32 = 3;
pub const THREADS: usize = 2;
/// What the clock says when the chip is made.
pub const BEGUN: u64 = 1000;

#[derive(Clone)]
pub struct Time(Arc<AtomicU64>);

impl Time {
    pub fn new() -> Self {
        Time(Arc::new(AtomicU64::new(BEGUN)))
    }

    fn pass(&self, ticks: u64) -> Ticks {
        Ticks(self.0.fetch_add(ticks, Relaxed) + ticks)
    }
}

impl Clock for Time {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Relaxed))
    }
}

/// A control thread: until when its time is reported, and how many tasks it took.
#[derive(Clone, Copy)]
struct Thread {
    reported: Ticks,
    round: u64,
}

/// The block that runs.
#[derive(Clone, Copy, Default)]
struct Running {
    record: TaskRecord,
    kernel: u16,
    lane: u8,
    block: u32,
    dispatch: Ticks,
    start: Ticks,
}

struct Control {
    threads: [Thread; THREADS],
    running: Running,
}

/// Reports blocks and phases to a recorder in place of the threads that the engine takes the cores for.
pub struct Reporter<'r> {
    recorder: Watching<'r, Time, ANY>,
    time: Time,
    control: Mutex<Control>,
}

impl<'r> Reporter<'r> {
    pub fn new(recorder: &'r Recorder<Time>, time: Time) -> Self {
        let threads = [Thread { reported: Ticks(BEGUN), round: 0 }; THREADS];
        let recorder = recorder.probe();
        Reporter { recorder, time, control: Mutex::new(Control { threads, running: Running::default() }) }
    }

    /// The thread did this since its time was last reported.
    fn phase(&self, thread: &mut Thread, number: u32, work: ThreadWork) {
        let (start, end) = (thread.reported, self.time.now());
        thread.reported = end;
        let round = thread.round;
        self.recorder.phase(&ThreadPhase { thread: number, work, start, end, round, tasks: 1 });
    }

    /// Reports the rest of every thread's time.
    pub fn finish_phases(&self) {
        for (number, thread) in self.control.lock().unwrap().threads.iter_mut().enumerate() {
            self.phase(thread, number as u32, ThreadWork::Idle);
        }
    }
}

const fn thread_of(core: CoreId) -> u32 {
    core.0 % THREADS as u32
}

impl Probe for Reporter<'_> {
    fn sees_tasks(&self) -> bool {
        self.recorder.sees_tasks()
    }

    fn sees_submits(&self) -> bool {
        self.recorder.sees_submits()
    }

    fn sees_scopes(&self) -> bool {
        self.recorder.sees_scopes()
    }

    fn take(&self, core: CoreId, _ready: Ticks) {
        let (mut control, number) = (self.control.lock().unwrap(), thread_of(core));
        let thread = &mut control.threads[number as usize];
        self.phase(thread, number, ThreadWork::Idle);
        thread.round += 1;
        let dispatch = self.time.pass(4);
        self.phase(thread, number, ThreadWork::Dispatch);
        control.running.dispatch = dispatch;
    }

    fn start(&self, core: CoreId, record: &TaskRecord, kernel: u16, lane: u8, block: u32) {
        // As the engine would report for a chip whose cores are threads: it must not count twice.
        self.recorder.start(core, record, kernel, lane, block);
        let dispatch = self.control.lock().unwrap().running.dispatch;
        let start = self.time.pass(2);
        self.control.lock().unwrap().running =
            Running { record: *record, kernel, lane, block, dispatch, start };
    }

    fn end(&self, core: CoreId) {
        self.recorder.end(core);
        let (mut control, number) = (self.control.lock().unwrap(), thread_of(core));
        let end = self.time.pass(50);
        self.phase(&mut control.threads[number as usize], number, ThreadWork::Idle);
        let finish = self.time.pass(3);
        let Running { record, kernel, lane, block, dispatch, start } = control.running;
        let (record, counters) = (&record, &[50, 7 + u64::from(block), 9][..]);
        self.recorder.block(&PlacedBlock {
            work: None,
            core,
            thread: number,
            record,
            kernel,
            lane,
            block,
            dispatch,
            start,
            end,
            finish,
            counters,
        });
        self.phase(&mut control.threads[number as usize], number, ThreadWork::Complete);
    }

    fn dispatch(&self, core: CoreId, task: &ObservedTask<'_>) {
        self.recorder.dispatch(core, task);
    }

    fn complete(&self, core: CoreId, task: &ObservedTask<'_>) {
        self.recorder.complete(core, task);
    }

    fn ended(&self, core: CoreId, record: &TaskRecord) -> Ticks {
        self.recorder.ended(core, record)
    }

    fn ready(&self, core: CoreId, floor: Ticks) -> Ticks {
        self.recorder.ready(core, floor)
    }

    fn done(&self, core: CoreId, record: &TaskRecord, ready: Ticks) {
        self.recorder.done(core, record, ready);
    }

    fn finish(&self, core: CoreId) {
        self.recorder.finish(core);
    }

    fn step(&self, step: Step) {
        self.time.pass(1);
        self.recorder.step(step);
    }

    fn edge(&self, predecessor: TaskId, successor: TaskId) {
        self.recorder.edge(predecessor, successor);
    }

    fn submit(&self, submission: &Submission<'_>) {
        self.recorder.submit(submission);
    }

    fn fill(&self, fill: &Fill) {
        self.recorder.fill(fill);
    }

    fn seen(&self) -> Ticks {
        self.recorder.seen()
    }

    fn reclaim_begin(&self, now: Ticks) {
        self.recorder.reclaim_begin(now);
    }

    fn reclaim(&self, first: TaskId, count: u64) {
        self.recorder.reclaim(first, count);
    }

    fn reclaim_end(&self) {
        self.recorder.reclaim_end();
    }

    fn scope_enter(&self) {
        self.recorder.scope_enter();
    }

    fn scope_exit(&self, scope: &EndedScope<'_>) {
        self.recorder.scope_exit(scope);
    }

    fn stall_begin(&self) {
        self.recorder.stall_begin();
    }

    fn stall_end(&self, ring: RingIndex, resource: Resource, submit: u64) {
        self.recorder.stall_end(ring, resource, submit);
    }
}

/// Runs tasks in the order in which they became ready, on one core after the other.
pub struct Tiny<'t, 'r> {
    pub table: &'t Table,
    pub probe: &'t Reporter<'r>,
    pub queue: Queue,
    pub taken: u32,
}

#[derive(Default)]
pub struct Queue(VecDeque<SlotIndex>);

impl ReadySink for Queue {
    fn ready(&mut self, task: SlotIndex) {
        self.0.push_back(task);
    }

    fn more_blocks(&mut self, task: SlotIndex) {
        self.0.push_front(task);
    }
}

impl Chip for Tiny<'_, '_> {
    fn publish(&mut self, task: SlotIndex) {
        self.queue.ready(task);
    }

    fn relax(&mut self) {
        self.probe.time.pass(1);
        let Some(task) = self.queue.0.pop_front() else { return };
        let core = CoreId(self.taken % CORES);
        self.taken += 1;
        let executor = Executor {
            table: self.table,
            probe: self.probe,
            core,
            threading: Threading::Single,
            memory: DirectMemory,
        };
        // SAFETY: the task was published or became ready, and is taken from the queue once.
        unsafe { executor.run(task, &mut self.queue) };
    }

    fn now(&self) -> Ticks {
        self.probe.time.now()
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}
