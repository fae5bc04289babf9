//! One thread of the runtime: takes tasks, runs them, keeps a successor, steals, and sleeps when there is nothing.

use core::time::Duration;

use ringlane_engine::completion::{Executor, ReadySink};
use ringlane_engine::memory::DirectMemory;
use ringlane_engine::remote::ReplayedTable;
use ringlane_engine::seams::{Chip, Clock, Probe, Threading};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::table::Table;
use ringlane_task::{CoreId, Ticks};

use crate::clock::CpuClock;
use crate::grain::{Grain, Sampler};
use crate::mode::{Generation, Modes};
use crate::ready::ReadyQueue;
use crate::search::{self, Demand, Search};
use crate::sleep::{Announced, Sleep};
use crate::sync::{nap, spin_loop};

/// Tasks that may wait before the submitter runs some between its submits: what their slots, arguments and map entries
/// take still fits a second-level cache.
const OUTSTANDING: u64 = 1024;
/// How long it then stays away from submitting, at most.
const WORK_OFF_NS: u32 = 64_000;
/// Tasks that the submitter runs before it checks again whether it can go on.
const HELP_TASKS: u32 = 16;

/// What all threads of one runtime share.
pub(crate) struct Shared {
    pub(crate) table: Table,
    pub(crate) queues: Vec<ReadyQueue>,
    pub(crate) sleep: Sleep,
    pub(crate) modes: Modes,
    /// Polls before sleeping; few where threads outnumber cores.
    pub(crate) polls: u32,
    pub(crate) threading: Threading,
    pub(crate) grain: Grain,
    pub(crate) replayed: ReplayedTable,
}

/// Tasks that threads run, and where those that are ready wait.
#[derive(Clone, Copy)]
pub(crate) struct Tasks<'s> {
    pub(crate) table: &'s Table,
    pub(crate) queues: &'s [ReadyQueue],
}

/// What a thread does, as the others count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Busy,
    Searching,
    /// It checks once more before it sleeps.
    Announced(Announced),
}

/// One thread's own state.
pub(crate) struct CpuThread<'s, P> {
    shared: &'s Shared,
    tasks: Tasks<'s>,
    probe: &'s P,
    core: usize,
    kept: Option<SlotIndex>,
    phase: Phase,
    search: Search,
    sampler: Sampler,
    clock: CpuClock,
    /// Whether the thread has pushed tasks that it has not shown, and how many submits have ended since then. Only the
    /// submitter shows any.
    has_unshown: bool,
    unshown_submits: u32,
}

impl<P: Probe> ReadySink for CpuThread<'_, P> {
    #[inline]
    fn ready(&mut self, task: SlotIndex) {
        match self.kept {
            None => self.kept = Some(task),
            Some(_) => self.push(task),
        }
    }

    #[inline]
    fn more_blocks(&mut self, task: SlotIndex) {
        self.push(task);
    }
}

impl<'s, P: Probe> CpuThread<'s, P> {
    /// A thread on the tasks of streamed runs.
    pub(crate) fn new(shared: &'s Shared, probe: &'s P, core: usize) -> Self {
        let tasks = Tasks { table: &shared.table, queues: &shared.queues };
        CpuThread::on(tasks, shared, probe, core)
    }

    /// A thread on these tasks.
    pub(crate) fn on(tasks: Tasks<'s>, shared: &'s Shared, probe: &'s P, core: usize) -> Self {
        shared.sleep.register(core);
        CpuThread {
            shared,
            tasks,
            probe,
            core,
            kept: None,
            phase: Phase::Busy,
            search: Search::new(core, shared.queues.len()),
            sampler: Sampler::default(),
            clock: CpuClock::get(),
            has_unshown: false,
            unshown_submits: 0,
        }
    }

    fn core_id(&self) -> CoreId {
        CoreId(self.core as u32)
    }

    fn queue(&self) -> &'s ReadyQueue {
        &self.tasks.queues[self.core]
    }

    #[inline]
    fn push(&mut self, task: SlotIndex) {
        self.queue().push(task);
        if self.shared.threading == Threading::Multi {
            self.has_unshown = true;
            self.shared.sleep.pushed();
        }
    }

    /// Thieves see all that the submitter pushed.
    #[inline]
    fn show(&mut self) {
        if core::mem::take(&mut self.has_unshown) {
            self.unshown_submits = 0;
            self.queue().show();
        }
    }

    /// The next task: a successor that just became ready, then the own queue, then another's.
    #[inline]
    fn take(&mut self) -> Option<SlotIndex> {
        let task = self.kept.take().or_else(|| self.take_local());
        if self.shared.threading == Threading::Single { task } else { task.or_else(|| self.steal()) }
    }

    #[inline]
    fn take_local(&mut self) -> Option<SlotIndex> {
        match self.shared.threading {
            Threading::Single => self.queue().pop_alone(),
            Threading::Multi => self.queue().pop(),
        }
    }

    fn steal(&mut self) -> Option<SlotIndex> {
        let (queues, grain) = (self.tasks.queues, &self.shared.grain);
        let demand = match self.phase {
            Phase::Announced(Announced::Last) => Demand::Any,
            _ => self.search.demand(grain),
        };
        for victim in self.search.victims(self.core, demand) {
            let queue = &queues[victim];
            let is_shown = self.search.reads_shown(demand, victim);
            let state = if is_shown { queue.shown_state() } else { queue.state() };
            if self.search.accepts(demand, victim, state, grain) {
                let share = |waiting| search::share(victim, waiting, queues.len(), grain);
                if let Some(task) = queue.steal_into(self.queue(), share) {
                    self.probe.stole(self.core_id());
                    self.found(victim);
                    return Some(task);
                }
            }
        }
        None
    }

    /// A steal ends the search. Where the victim has more, others are woken.
    fn found(&mut self, victim: usize) {
        if self.phase != Phase::Busy {
            let left = self.tasks.queues[victim].state().waiting;
            self.stop_searching(
                left > search::share(victim, left, self.tasks.queues.len(), &self.shared.grain),
            );
        }
    }

    /// A core's way to run tasks, beside others or alone.
    #[inline(always)]
    fn executor(&self, threading: Threading) -> Executor<'s, P> {
        let table = self.tasks.table;
        Executor { table, probe: self.probe, core: self.core_id(), threading, memory: DirectMemory }
    }

    #[inline]
    fn run(&mut self, task: SlotIndex) {
        if self.shared.threading == Threading::Single {
            return self.run_alone(task);
        }
        if let Some(next) = self.queue().peek() {
            self.tasks.table.warm(next);
        }
        self.sampler.begin();
        // SAFETY: the task came from `take` or `publish`, each of which gives a task to one thread once.
        unsafe { self.executor(Threading::Multi).run(task, self) };
        self.sampler.end(&self.shared.grain, self.core);
        self.shared.sleep.completed();
    }

    /// Runs a task where one thread does everything.
    #[inline(always)]
    fn run_alone(&mut self, task: SlotIndex) {
        // SAFETY: as in `run`.
        unsafe { self.executor(Threading::Single).run(task, self) };
    }

    #[cold]
    fn idle(&mut self) {
        self.wait_a_little();
        self.probe.idle(self.core_id());
    }

    /// Nothing to do: polls again a little later, and sleeps after a bounded number of polls.
    fn wait_a_little(&mut self) {
        let sleep = &self.shared.sleep;
        match self.phase {
            Phase::Busy => {
                sleep.search(self.core);
                self.phase = Phase::Searching;
                self.pause();
            }
            Phase::Searching if !self.search.is_over(self.core, self.shared.polls) => self.pause(),
            Phase::Searching => match self.nap() {
                Some(duration) => nap(duration),
                // The caller polls once more before this thread parks.
                None => self.phase = Phase::Announced(sleep.announce(self.core)),
            },
            Phase::Announced(_) => {
                sleep.park(self.core);
                self.phase = Phase::Searching;
                self.search.woken();
            }
        }
    }

    /// How long to stay away if this is the thread that polls for fine tasks.
    fn nap(&mut self) -> Option<Duration> {
        let watches = self.shared.grain.is_fine() && self.shared.sleep.is_last_searcher(self.core);
        if watches { self.search.nap() } else { None }
    }

    /// Lets the time until the next poll pass.
    fn pause(&mut self) {
        let ns = self.search.wait_ns(self.core, &self.shared.grain, self.shared.sleep.searchers());
        self.search.missed();
        if cfg!(any(loom, shuttle)) {
            return spin_loop();
        }
        let until = self.clock.now().0 + u64::from(ns) * self.clock.freq_hz() / 1_000_000_000;
        while self.clock.now().0 < until {
            spin_loop();
        }
    }

    /// There is something to do again.
    #[inline]
    fn busy(&mut self) {
        self.search.reset();
        if self.phase != Phase::Busy {
            self.stop_searching(false);
        }
    }

    #[cold]
    fn stop_searching(&mut self, plenty: bool) {
        if let Phase::Announced(_) = self.phase {
            self.shared.sleep.cancel(self.core);
        }
        self.phase = Phase::Busy;
        self.shared.sleep.found(self.core, plenty);
    }

    /// Runs all tasks that wait here, where one thread does everything.
    fn work_off_alone(&mut self) {
        while let Some(task) = self.kept.take().or_else(|| self.queue().pop_alone()) {
            self.run_alone(task);
        }
    }

    /// How many of the outstanding tasks the submitter can run before the threads have run half of them: after that, they
    /// would soon wait for new ones.
    fn fair_share(&self, outstanding: u64) -> u32 {
        (outstanding as u32 / (2 * self.tasks.queues.len() as u32)).max(1)
    }

    /// Runs up to `tasks` of the tasks that wait here.
    fn work_off(&mut self, tasks: u32) {
        for _ in 0..tasks {
            let Some(task) = self.kept.take().or_else(|| self.take_local()) else { return };
            self.run(task);
        }
        self.share_kept();
    }

    /// The submitter goes back to submitting: what it keeps must be open to the others.
    fn share_kept(&mut self) {
        if let Some(task) = self.kept.take() {
            self.push(task);
        }
    }

    /// Works until the mode changes.
    pub(crate) fn work(mut self, generation: Generation) {
        self.probe.enter(self.core_id());
        while self.shared.modes.is_current(generation) {
            match self.take() {
                Some(task) => {
                    self.busy();
                    self.run(task);
                }
                None => self.idle(),
            }
        }
        self.probe.leave(self.core_id());
    }
}

impl<P: Probe> Chip for CpuThread<'_, P> {
    #[inline]
    fn publish(&mut self, task: SlotIndex) {
        self.push(task);
    }

    #[inline]
    fn submit_ended(&mut self) {
        if self.has_unshown {
            self.unshown_submits += 1;
            if self.unshown_submits >= search::shown_submits(&self.shared.grain) {
                self.show();
            }
        }
    }

    #[inline]
    fn submitted(&mut self, outstanding: u64) {
        if self.shared.threading == Threading::Single {
            return self.work_off_alone();
        }
        if self.shared.grain.is_fine() {
            self.work_off(u32::MAX);
        } else if outstanding > OUTSTANDING {
            self.show();
            self.work_off(self.shared.grain.tasks_in(WORK_OFF_NS).min(self.fair_share(outstanding)));
        }
    }

    /// Helps: runs some tasks, or waits a little.
    fn relax(&mut self) {
        self.show();
        for _ in 0..HELP_TASKS {
            match self.take() {
                Some(task) => {
                    self.busy();
                    self.run(task);
                }
                None => return self.idle(),
            }
            if self.kept.is_none() {
                break;
            }
        }
        self.share_kept();
        self.show();
    }

    fn now(&self) -> Ticks {
        self.clock.now_ordered()
    }

    fn threading(&self) -> Threading {
        self.shared.threading
    }
}

impl<P> Drop for CpuThread<'_, P> {
    fn drop(&mut self) {
        if let Phase::Announced(_) = self.phase {
            self.shared.sleep.cancel(self.core);
        }
        if self.phase != Phase::Busy {
            self.shared.sleep.stop_searching(self.core);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use ringlane_engine::seams::Chip as _;
    use ringlane_task::Capacities;

    use super::*;

    fn shared(ns: u32) -> Shared {
        let table = Table::new(&Capacities::default(), 2).unwrap();
        let queues = (0..2).map(|_| ReadyQueue::new(64).unwrap()).collect();
        let (sleep, modes, grain) = (Sleep::new(2), Modes::new(), Grain::of_ns(ns));
        let (polls, threading, replayed) = (1, Threading::Multi, ReplayedTable::default());
        Shared { table, queues, sleep, modes, polls, threading, grain, replayed }
    }

    /// How many tasks the submitter shows after each of ten submits, of which the first makes a task ready.
    fn shown(shared: &Shared) -> Vec<u32> {
        let mut submitter = CpuThread::new(shared, &(), 0);
        submitter.publish(SlotIndex(0));
        let submit = |_| {
            submitter.submit_ended();
            shared.queues[0].shown_state().waiting
        };
        (0..10).map(submit).collect()
    }

    #[test]
    fn a_task_is_shown_after_eight_submits_or_at_once_if_tasks_are_long() {
        assert_eq!(shown(&shared(1_000)), [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
        assert_eq!(shown(&shared(20_000)), [1; 10]);
    }

    #[test]
    fn what_became_ready_while_the_submitter_waited_is_shown() {
        let shared = shared(1_000);
        let mut submitter = CpuThread::new(&shared, &(), 0);
        // The successor that it keeps, and one more.
        submitter.ready(SlotIndex(0));
        submitter.ready(SlotIndex(1));
        assert_eq!(shared.queues[0].shown_state().waiting, 0);
        submitter.share_kept();
        submitter.show();
        assert_eq!(shared.queues[0].shown_state().waiting, 2);
    }
}
