//! A worker: takes tasks, runs them, keeps a successor, steals, and sleeps when there is nothing.

use ringlane_engine::completion::{Executor, ReadySink};
use ringlane_engine::limits::SUBMITS_PER_POLL;
use ringlane_engine::memory::DirectMemory;
use ringlane_engine::seams::{Chip, Clock, Probe, Threading};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::table::Table;
use ringlane_task::{CoreId, Ticks};

use crate::clock::CpuClock;
use crate::grain::{Grain, Sampler};
use crate::mode::{Generation, Modes};
use crate::ready::ReadyQueue;
use crate::sleep::Sleep;
use crate::sync::spin_loop;

/// Pauses between two polls of the other queues: about a microsecond. Each poll moves a cache line that the owner of the queue
/// writes, so polling more often slows the owner down.
const PAUSES: u32 = if cfg!(shuttle) { 1 } else { 48 };
/// Polls before a worker sleeps, about 100 µs, where every worker has a core of its own.
pub(crate) const POLLS: u32 = if cfg!(shuttle) { 2 } else { 100 };
/// For how many polls a worker leaves queues alone, and how many tasks they have to hold before it stops doing so: many tasks
/// at once are worth stealing, tiny tasks hardly ever.
const HESITATION: (u32, u32) = (2, 4);
const FINE_HESITATION: (u32, u32) = (64, 4 * SUBMITS_PER_POLL);
/// Tasks that may wait before the submitter runs some between its submits: what their slots, arguments and map entries
/// take still fits a second-level cache.
const OUTSTANDING: u64 = 1024;
/// How long it then stays away from submitting.
const WORK_OFF_NS: u32 = 64_000;
/// Tasks that the submitter runs before it checks again whether it can go on.
const HELP_TASKS: u32 = 16;

/// What all workers of one runtime share.
pub(crate) struct Shared {
    pub(crate) table: Table,
    pub(crate) queues: Vec<ReadyQueue>,
    pub(crate) sleep: Sleep,
    pub(crate) modes: Modes,
    /// Polls before sleeping; few where workers outnumber cores.
    pub(crate) polls: u32,
    pub(crate) threading: Threading,
    pub(crate) grain: Grain,
}

/// One worker's own side.
pub(crate) struct Worker<'s, P> {
    shared: &'s Shared,
    probe: &'s P,
    core: usize,
    kept: Option<SlotIndex>,
    idle_polls: u32,
    announced: bool,
    sampler: Sampler,
    clock: CpuClock,
}

impl<P: Probe> ReadySink for Worker<'_, P> {
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

impl<'s, P: Probe> Worker<'s, P> {
    pub(crate) fn new(shared: &'s Shared, probe: &'s P, core: usize) -> Self {
        shared.sleep.register(core);
        Worker {
            shared,
            probe,
            core,
            kept: None,
            idle_polls: 0,
            announced: false,
            sampler: Sampler::default(),
            clock: CpuClock::get(),
        }
    }

    fn core_id(&self) -> CoreId {
        CoreId(self.core as u32)
    }

    fn queue(&self) -> &'s ReadyQueue {
        &self.shared.queues[self.core]
    }

    #[inline]
    fn push(&mut self, task: SlotIndex) {
        self.queue().push(task);
        if self.shared.threading == Threading::Multi {
            self.shared.sleep.pushed();
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
        let count = self.shared.queues.len();
        let (polls, worth) = if self.shared.grain.is_fine() { FINE_HESITATION } else { HESITATION };
        // A worker that is about to sleep takes the last task too.
        let worth = if self.idle_polls < polls && !self.announced { worth } else { 1 };
        let stolen = (1..count).map(|i| (self.core + i) % count).find_map(|victim| {
            let queue = &self.shared.queues[victim];
            if queue.len() < worth { None } else { queue.steal_into(self.queue()) }
        });
        if stolen.is_some() {
            self.probe.stole(self.core_id());
        }
        stolen
    }

    #[inline]
    fn run(&mut self, task: SlotIndex) {
        let (table, core) = (&self.shared.table, self.core_id());
        let executor = Executor {
            table,
            probe: self.probe,
            core,
            threading: self.shared.threading,
            memory: DirectMemory,
        };
        if self.shared.threading == Threading::Single {
            // SAFETY: the task came from `take` or `publish`, each of which gives a task to one worker once.
            return unsafe { executor.run(task, self) };
        }
        if let Some(next) = self.queue().peek() {
            self.shared.table.warm(next);
        }
        self.sampler.begin();
        // SAFETY: as above.
        unsafe { executor.run(task, self) };
        self.sampler.end(&self.shared.grain);
        self.shared.sleep.completed();
    }

    #[cold]
    fn idle(&mut self) {
        self.wait_a_little();
        self.probe.idle(self.core_id());
    }

    /// Nothing to do: polls again a little later, and sleeps after a bounded number of polls.
    fn wait_a_little(&mut self) {
        self.idle_polls += 1;
        if self.idle_polls <= self.shared.polls {
            (0..PAUSES).for_each(|_| spin_loop());
            return;
        }
        if !self.announced {
            // From here on a published task wakes this worker; the caller polls once more before it parks.
            self.shared.sleep.announce(self.core);
            self.announced = true;
            return;
        }
        self.shared.sleep.park(self.core);
        self.announced = false;
        self.idle_polls = HESITATION.0;
    }

    /// There is something to do again.
    #[inline]
    fn busy(&mut self) {
        self.idle_polls = 0;
        if self.announced {
            self.announced = false;
            self.shared.sleep.cancel(self.core);
        }
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
        self.busy();
        self.probe.leave(self.core_id());
    }
}

impl<P: Probe> Chip for Worker<'_, P> {
    #[inline]
    fn publish(&mut self, task: SlotIndex) {
        self.push(task);
    }

    #[inline]
    fn submitted(&mut self, outstanding: u64) {
        let alone = self.shared.threading == Threading::Single || self.shared.grain.is_fine();
        if alone {
            self.work_off(u32::MAX);
        } else if outstanding > OUTSTANDING {
            self.work_off(self.shared.grain.tasks_in(WORK_OFF_NS));
        }
    }

    /// Helps: runs some tasks, or waits a little.
    fn relax(&mut self) {
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
    }

    fn now(&self) -> Ticks {
        self.clock.now_ordered()
    }

    fn threading(&self) -> Threading {
        self.shared.threading
    }
}

impl<P> Drop for Worker<'_, P> {
    fn drop(&mut self) {
        if self.announced {
            self.shared.sleep.cancel(self.core);
        }
    }
}
