//! Dispatching blocks: to which core, and when they begin and end.
//!
//! A thread serves its idle cores first; [`ahead`](crate::ahead) decides when a busy one gets its next block. A mixed
//! task needs a cluster whose cores are all idle; while one waits, a thread reserves one of its clusters for it.

use ringlane_engine::api::kernel::CoreType;
use ringlane_engine::observe::ThreadWork;
use ringlane_engine::seams::Probe;
use ringlane_engine::slot::{SlotIndex, TaskRecord};
use ringlane_engine::table::task_id;

use crate::core::{CoreKind, Flight};
use crate::machine::Machine;
use crate::policy::{Class, NextBlock};
use crate::scheduler::{Complete, Next};
use crate::time::Ps;

impl<P: Probe> Machine<'_, P> {
    pub(crate) fn class_of_kernel(&self, kernel: u16) -> Class {
        match self.table.kernel(kernel).map(|kernel| kernel.core()) {
            Some(CoreType::Aic) => Class::Aic,
            Some(CoreType::Aiv) => Class::Aiv,
            _ => Class::Any,
        }
    }

    /// The earliest time at which a thread could dispatch one of the waiting blocks.
    pub(crate) fn dispatches_from(&mut self, thread: usize, at: Ps) -> Option<Ps> {
        let mixed = self.policy.waits(Class::Mixed) && self.idle_cluster(thread).is_some();
        if mixed || !self.no_op_tasks.is_empty() {
            return Some(at);
        }
        let mut first: Option<Ps> = None;
        for kind in CoreKind::ALL {
            if !self.policy.waits(Class::of(kind)) && !self.policy.waits(Class::Any) {
                continue;
            }
            if self.idle_core(thread, kind).is_some() {
                return Some(at);
            }
            if let Some(ahead) = self.ahead(thread, kind, at) {
                let from = ahead.from.max(at);
                first = Some(first.map_or(from, |first| first.min(from)));
            }
        }
        first
    }

    /// An idle core of a kind: the first after the last one that was served, so that all are used evenly.
    fn idle_core(&self, thread: usize, kind: CoreKind) -> Option<usize> {
        if self.idle_cores[kind as usize] == 0 {
            return None;
        }
        let mut first = None;
        for core in self.open_cores(thread, kind).filter(|&core| self.cores[core].is_idle()) {
            if core > self.schedulers[thread].served[kind as usize] {
                return Some(core);
            }
            first = first.or(Some(core));
        }
        first
    }

    /// Cores of a kind that are not reserved for a mixed task.
    fn open_cores(&self, thread: usize, kind: CoreKind) -> impl Iterator<Item = usize> + '_ {
        let scheduler = &self.schedulers[thread];
        let reserved = if self.policy.waits(Class::Mixed) { scheduler.reserved } else { None };
        scheduler.cores.clone().filter(move |&core| {
            let core = &self.cores[core];
            core.kind == kind && Some(core.cluster) != reserved
        })
    }

    /// A cluster of the thread whose cores are all idle.
    fn idle_cluster(&self, thread: usize) -> Option<usize> {
        let (cores, size) = (self.schedulers[thread].cores.clone(), self.cluster_size());
        cores.step_by(size).find(|&first| self.cores[first..first + size].iter().all(|core| core.is_idle()))
    }

    fn cluster_size(&self) -> usize {
        1 + self.spec.aiv_per_cluster as usize
    }

    /// Dispatches all blocks that can be dispatched.
    pub(crate) fn dispatch(&mut self, thread: usize, at: Ps) {
        let no_op_tasks = core::mem::take(&mut self.no_op_tasks);
        self.schedulers[thread].complete.extend(no_op_tasks);
        let mut stored = at;
        let mut blocks = self.dispatch_mixed(thread, &mut stored);
        for kind in CoreKind::ALL {
            while let Some((core, class)) = self.next_place(thread, kind, stored) {
                let Some(next) = self.take(class, core) else { break };
                if let Some(record) = self.open(thread, next) {
                    self.schedulers[thread].served[kind as usize] = core;
                    stored += self.store_captured(thread, stored) + self.costs.dispatch_store;
                    self.place(core, next.task, record, next.block, stored);
                    blocks += 1;
                }
            }
        }
        self.reserve(thread);
        if blocks == 0 {
            // There is nothing new for other threads. Even if a mixed task was skipped here and none waits any more:
            // its cluster would still be idle, so any other waiting block would have been placed there.
            return self.after_dispatch(thread, at);
        }
        // Another thread may have waited for the last idle core of a kind, or the last mixed task, to be taken.
        self.wake_quiet(stored);
        self.record_work(thread, ThreadWork::Dispatch, stored, blocks);
        self.set(thread, stored, Next::Dispatched);
    }

    /// The core and class of a thread's next block: an idle core, or else a busy one.
    fn next_place(&mut self, thread: usize, kind: CoreKind, at: Ps) -> Option<(usize, Class)> {
        if let Some(core) = self.idle_core(thread, kind) {
            return Some((core, self.most_urgent([Class::of(kind), Class::Any], core)?));
        }
        let ahead = self.ahead(thread, kind, at).filter(|ahead| ahead.from <= at)?;
        Some((ahead.core, ahead.class))
    }

    /// Among these classes, the one whose next block for a core is the most urgent; the first of equally urgent ones.
    pub(crate) fn most_urgent(
        &mut self,
        classes: impl IntoIterator<Item = Class>,
        core: usize,
    ) -> Option<Class> {
        let (cluster, policy) = (self.cores[core].cluster, &mut self.policy);
        let next =
            classes.into_iter().filter_map(|class| Some((policy.peek(class, cluster)?.urgency, class)));
        next.min_by_key(|&(urgency, _)| urgency).map(|(_, class)| class)
    }

    /// Takes the next block of a class for a core.
    fn take(&mut self, class: Class, core: usize) -> Option<NextBlock> {
        let next = self.policy.take(class, self.cores[core].cluster)?;
        self.queued[class as usize] -= 1;
        Some(next)
    }

    /// The core of a cluster on which a lane of a mixed task runs. With fewer vector cores than vector lanes, these
    /// run one after another; they never wait for each other.
    fn place_in_cluster(&self, lane: u8) -> usize {
        u32::from(lane).checked_sub(1).map_or(0, |vector| 1 + (vector % self.spec.aiv_per_cluster) as usize)
    }

    /// Dispatches mixed tasks to clusters.
    fn dispatch_mixed(&mut self, thread: usize, stored: &mut Ps) -> u32 {
        let mut blocks = 0;
        while self.policy.waits(Class::Mixed) {
            let Some(first) = self.idle_cluster(thread) else { break };
            let Some(next) = self.take(Class::Mixed, first) else { break };
            let Some(record) = self.open(thread, next) else { continue };
            *stored += self.store_captured(thread, *stored);
            for lane in 0..record.lanes() {
                let core = first + self.place_in_cluster(record.shape.lane(lane as usize));
                *stored += self.costs.dispatch_store;
                self.place(core, next.task, record, lane * record.blocks + next.block, *stored);
                blocks += 1;
            }
        }
        blocks
    }

    /// While a mixed task waits, reserves the cluster with the fewest blocks.
    fn reserve(&mut self, thread: usize) {
        if !self.policy.waits(Class::Mixed) {
            self.schedulers[thread].reserved = None;
            return;
        }
        let (cores, size) = (self.schedulers[thread].cores.clone(), self.cluster_size());
        let load = |first: usize| {
            self.cores[first..first + size].iter().map(|core| core.flights.len()).sum::<usize>()
        };
        let least = cores.step_by(size).min_by_key(|&first| load(first));
        let reserved = self.schedulers[thread].reserved;
        self.schedulers[thread].reserved = reserved.or(least.map(|first| self.cores[first].cluster));
    }

    /// The record of the task of a block; `None` if the task is not to run.
    fn open(&mut self, thread: usize, next: NextBlock) -> Option<TaskRecord> {
        let executor = self.executor(0);
        // SAFETY: the block came from the policy, which received the task when it became ready.
        let record = unsafe { executor.record(next.task) };
        // SAFETY: as above; the first block is taken once.
        if next.block > 0 || unsafe { executor.open(next.task, &record) } {
            if !self.table.stopped() {
                return Some(record);
            }
            // The remaining blocks of a task that has begun count as finished: nothing more is computed.
            return self.abandon(thread, next, record);
        }
        if let Some(class) = self.class_of(&record) {
            self.cancel(class, next, &record);
        }
        self.schedulers[thread].complete.push(Complete { task: next.task, record, cluster: None });
        None
    }

    /// Drops the blocks after this one.
    fn cancel(&mut self, class: Class, next: NextBlock, record: &TaskRecord) {
        self.policy.cancel(class, next.task);
        self.queued[class as usize] -= u64::from(record.blocks - next.block - 1);
    }

    /// Takes all remaining blocks of a task that began before the run was stopped.
    #[cold]
    fn abandon(&mut self, thread: usize, next: NextBlock, record: TaskRecord) -> Option<TaskRecord> {
        let (executor, left) = (self.executor(0), (record.blocks - next.block) * record.lanes());
        if let Some(class) = self.class_of(&record).filter(|_| next.block + 1 < record.blocks) {
            self.cancel(class, next, &record);
        }
        executor.skip(next.task);
        if (0..left).any(|_| executor.finish_block(next.task)) {
            self.schedulers[thread].complete.push(Complete { task: next.task, record, cluster: None });
        }
        None
    }

    /// Gives a block to a core: its values are computed now, its times follow from the costs.
    fn place(&mut self, core: usize, task: SlotIndex, record: TaskRecord, index: u32, stored: Ps) {
        let (executor, kind) = (self.executor(core), self.cores[core].kind);
        // SAFETY: the task is open, and this block is dispatched once.
        let cost = unsafe { self.cost_of(&record, index, kind) };
        if self.model.is_replay() {
            executor.pass_block();
        } else {
            // SAFETY: as above.
            unsafe { executor.compute(task, &record, index) };
        }
        let sees = stored + self.costs.dispatch_seen;
        let start = match self.cores[core].flights.back() {
            Some(before) => sees.max(before.end.saturating_add(self.costs.turn_around)),
            None => sees,
        };
        let (takes, late) = match &mut self.chaos {
            Some(chaos) => {
                let id = task_id(&record);
                (chaos.takes(core, id, index, cost.picoseconds), chaos.late(id, index))
            }
            None => (cost.picoseconds, 0),
        };
        let end = start.saturating_add(takes);
        let after_it = |before: &Flight| before.predicted.saturating_add(self.costs.turn_around);
        let begins = self.cores[core].flights.back().map_or(sees, |before| sees.max(after_it(before)));
        let predicted = begins.saturating_add(cost.picoseconds);
        let seen = end.saturating_add(self.costs.done_seen + late);
        if self.cores[core].is_idle() {
            self.idle_cores[kind as usize] -= 1;
        }
        self.cores[core].flights.push_back(Flight {
            task,
            record,
            index,
            dispatch: stored,
            start,
            end,
            seen,
            cost,
            predicted,
        });
    }

    /// Resolves tasks that needed no core; then reclaims what complete tasks held.
    pub(crate) fn after_dispatch(&mut self, thread: usize, at: Ps) {
        if !self.schedulers[thread].complete.is_empty() {
            return self.resolve(thread, at);
        }
        let completed = self.schedulers[thread].completed;
        let end = at + u64::from(completed) * self.costs.reclaim;
        self.record_work(thread, ThreadWork::Reclaim, end, completed);
        self.set(thread, end, Next::Round);
    }
}
