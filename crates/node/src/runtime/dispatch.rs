//! Giving ready tasks to idle workers.

use ringlane_engine::seams::Probe;
use ringlane_engine::slot::{SlotIndex, TaskRecord};

use super::chip::NodeChip;
use super::sending::Outgoing;
use super::tickets::{On, Ticket};
use super::worker_handle::Attempt;
use crate::callable::{Callable, WorkerKind};
use crate::error::NodeError;

/// A task that waits for workers.
pub(super) struct Waiting {
    pub(super) task: SlotIndex,
    pub(super) record: TaskRecord,
    pub(super) callable: &'static Callable,
    pub(super) ticket: Ticket,
}

/// Where a waiting task can go.
enum Placement {
    /// To these workers, now.
    Now(Vec<usize>),
    /// Later; these are kept for it.
    Later(Vec<usize>),
    /// Nowhere, ever again.
    Never(NodeError),
}

impl<P: Probe> NodeChip<'_, P> {
    /// Gives tasks to workers; whether any was given or given up.
    pub(super) fn dispatch(&mut self) -> bool {
        WorkerKind::ALL.into_iter().fold(false, |did, kind| self.dispatch_kind(kind) | did)
    }

    /// The oldest first. What a group waits for is kept for it, so that later tasks cannot keep it from ever beginning.
    fn dispatch_kind(&mut self, kind: WorkerKind) -> bool {
        let (mut kept, mut did, mut at) = (Vec::new(), false, 0);
        while at < self.ready[kind as usize].len() {
            let pool = &self.lent.pool;
            let idle = |worker: usize| pool[worker].is_idle() && !kept.contains(&worker);
            // Tasks that only lost workers could run, and those of a run that is to end, wait for no worker.
            let of_kind = |worker: &usize| pool[*worker].kind == kind;
            let is_hopeful = |worker: usize| idle(worker) || pool[worker].lost.is_some();
            if !(0..pool.len()).filter(of_kind).any(is_hopeful) && !self.lent.table.stopped() {
                break;
            }
            let placement = self.placement(&self.ready[kind as usize][at], &idle);
            if let Placement::Later(keeps) = placement {
                kept.extend(keeps);
                at += 1;
                continue;
            }
            did = true;
            let Some(waiting) = self.ready[kind as usize].remove(at) else { break };
            match placement {
                Placement::Now(workers) => self.begin(&waiting, &workers),
                Placement::Never(error) => self.give_up(&waiting, &error),
                Placement::Later(_) => {}
            }
        }
        did
    }

    fn placement(&self, waiting: &Waiting, is_idle: &dyn Fn(usize) -> bool) -> Placement {
        let members = waiting.record.blocks as usize;
        if self.lent.table.stopped() {
            // It is not run any more, wherever it goes.
            return Placement::Now(vec![0; members]);
        }
        let wanted: Vec<usize> = match &waiting.ticket.on {
            On::Any => {
                let kind = waiting.callable.kind();
                (0..self.lent.pool.len()).filter(|&worker| self.lent.pool[worker].kind == kind).collect()
            }
            On::Worker(worker) => vec![*worker as usize],
            On::Workers(workers) => workers.iter().map(|&worker| worker as usize).collect(),
        };
        let lost: Vec<&NodeError> =
            wanted.iter().filter_map(|&worker| self.lent.pool[worker].lost.as_ref()).collect();
        if wanted.len() - lost.len() < members
            && let Some(&error) = lost.last()
        {
            return Placement::Never(error.clone());
        }
        let idle: Vec<usize> = wanted.into_iter().filter(|&worker| is_idle(worker)).collect();
        if idle.len() < members {
            return Placement::Later(if members > 1 { idle } else { Vec::new() });
        }
        Placement::Now(idle[..members].to_vec())
    }

    /// A task that no worker is left for.
    fn give_up(&mut self, waiting: &Waiting, error: &NodeError) {
        let Waiting { task, record, .. } = waiting;
        #[allow(unsafe_code)]
        // SAFETY: it was taken off the ready ones, once.
        if !unsafe { self.executor(0).open(*task, record) } {
            return self.no_op_tasks.push((*task, *record));
        }
        for index in 0..record.blocks {
            self.end_block(0, *task, record, index, Err(error.clone()));
        }
    }

    /// Begins a task in these workers.
    fn begin(&mut self, waiting: &Waiting, workers: &[usize]) {
        let Waiting { task, record, .. } = waiting;
        #[allow(unsafe_code)]
        // SAFETY: it was taken off the ready ones, once.
        if !unsafe { self.executor(workers[0]).open(*task, record) } {
            return self.no_op_tasks.push((*task, *record));
        }
        for (index, &worker) in workers.iter().enumerate() {
            let index = index as u32;
            #[allow(unsafe_code)]
            // SAFETY: the task is open, and each of its blocks is begun once.
            let begun = unsafe { self.executor(worker).begin_block(record, index) };
            begun.expect("memory that the host sees does not fail");
            self.lent.pool[worker].calls += 1;
            let (seq, attempt) = (self.lent.pool[worker].calls, Attempt::First);
            let sent = self.config_for(waiting, worker, seq).and_then(|config| {
                let (task, record, callable) = (*task, *record, waiting.callable);
                self.send(worker, Outgoing { task, record, index, callable, config, attempt, seq })
            });
            if let Err(error) = sent {
                self.end_block(worker, *task, record, index, Err(error));
            }
        }
    }
}
