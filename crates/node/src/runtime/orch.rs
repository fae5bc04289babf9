//! The orchestrator's face one level up: tasks are calls in workers.

use std::sync::Arc;

use ringlane_engine::Fault;
use ringlane_engine::api::submitted::SubmittedSlice;
use ringlane_engine::prelude::{Arg, BufferId, DType, Element, Launch, Orch, Result, Task, Tensor, scalar};
use ringlane_task::{CallConfig, DfxFlags};

use super::Callables;
use super::tickets::{On, Tickets};
use crate::callable::{Callable, WorkerKind};
use crate::clock::now_ns;

/// A worker, as an orchestration sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Its name, which its directories have too.
    pub name: String,
    /// What it runs.
    pub kind: WorkerKind,
}

/// What an orchestration needs to know of its node.
#[derive(Debug)]
pub(crate) struct NodeContext {
    pub(crate) tickets: Tickets,
    pub(crate) workers: Vec<WorkerInfo>,
    pub(crate) callables: Arc<Callables>,
    /// The directory of the node's run, below which those of its children are; empty if it has none.
    pub(crate) prefix: String,
}

/// Submits calls, opens scopes, reads values: [`Orch`], for workers instead of cores.
///
/// Dependencies follow from the tensors, as on a chip. The tensors are in the node's memory, which workers see as it is.
pub struct NodeOrch<'o, 's, 'p: 's> {
    pub(crate) orch: &'o mut Orch<'s, 'p>,
    pub(crate) context: &'o NodeContext,
}

impl<'s, 'p: 's> NodeOrch<'_, 's, 'p> {
    /// The node's workers; a worker's number is its place.
    pub fn workers(&self) -> &[WorkerInfo] {
        &self.context.workers
    }

    /// How many workers of a kind there are.
    pub fn count(&self, kind: WorkerKind) -> u32 {
        self.context.workers.iter().filter(|worker| worker.kind == kind).count() as u32
    }

    /// Submits a call: tensors first, then scalars, as the callable takes them. `config` is what is asked of the run that
    /// the callable makes, if it makes one; its output prefix is set by the node.
    #[track_caller]
    pub fn submit(
        &mut self,
        callable: &'static Callable,
        args: &[Arg<'s>],
        config: &CallConfig,
        on: On,
    ) -> Result<SubmittedSlice<'s>> {
        self.group(callable, 1, args, config, on)
    }

    /// Submits one task that runs in `members` workers at once, all or nothing: it begins when this many are idle, and fails if
    /// one of them does. Tensors that are written are [split](Arg::split) between the members.
    #[track_caller]
    pub fn group(
        &mut self,
        callable: &'static Callable,
        members: u32,
        args: &[Arg<'s>],
        config: &CallConfig,
        on: On,
    ) -> Result<SubmittedSlice<'s>> {
        let context = self.context;
        context.check_config(callable, config)?;
        context.check_workers(callable, members, &on)?;
        let ticket = context.tickets.number(config, &on);
        let args: Vec<Arg<'s>> = args.iter().copied().chain([scalar(ticket)]).collect();
        context.tickets.begin_submit(now_ns());
        self.orch.submit_slice(&[], Launch::from(callable.kernel()).blocks(members), &args)
    }

    /// As [`Orch::alloc`].
    #[track_caller]
    pub fn alloc(&mut self, dtype: DType, shape: impl AsRef<[u32]>) -> Result<Tensor<'s>> {
        self.orch.alloc(dtype, shape)
    }

    /// As [`Orch::upload`].
    #[track_caller]
    pub fn upload<T: Element>(&mut self, values: &[T], shape: impl AsRef<[u32]>) -> Result<Tensor<'s>> {
        self.orch.upload(values, shape)
    }

    /// As [`Orch::external`].
    pub fn external(&mut self, buffer: BufferId) -> Result<Tensor<'s>> {
        self.orch.external(buffer)
    }

    /// As [`Orch::barrier`].
    #[track_caller]
    pub fn barrier(&mut self) -> Result<Task<'s>> {
        self.orch.barrier()
    }

    /// As [`Orch::read`].
    pub fn read<T: Element>(&mut self, tensor: Tensor<'s>) -> Result<Vec<T>> {
        self.orch.read(tensor)
    }

    /// As [`Orch::scope`].
    #[track_caller]
    pub fn scope<R>(
        &mut self,
        f: impl for<'c, 'o> FnOnce(&mut NodeOrch<'o, 'c, 's>) -> Result<R>,
    ) -> Result<R> {
        let context = self.context;
        self.orch.scope(|orch| f(&mut NodeOrch { orch, context }))
    }

    /// As [`Orch::scope_named`].
    #[track_caller]
    pub fn scope_named<R>(
        &mut self,
        label: &str,
        f: impl for<'c, 'o> FnOnce(&mut NodeOrch<'o, 'c, 's>) -> Result<R>,
    ) -> Result<R> {
        let context = self.context;
        self.orch.scope_named(label, |orch| f(&mut NodeOrch { orch, context }))
    }
}

impl NodeContext {
    /// The configuration of a call is checked with the directory of the node's run. That of the call, which is below it, is
    /// known once the call has a worker: one that is too long fails the call.
    fn check_config(&self, callable: &Callable, config: &CallConfig) -> Result<()> {
        let mut config = *config;
        if callable.kind() != WorkerKind::Node && config.dfx_flags.contains(DfxFlags::NODE_SWIMLANE) {
            let bit = DfxFlags::NODE_SWIMLANE.bits().trailing_zeros();
            return Err(Fault::Config(ringlane_task::ConfigError::ReservedBit { bit }).into());
        }
        config.set_output_prefix(&self.prefix).map_err(Fault::Config)?;
        config.validate().map_err(Fault::Config)?;
        Ok(())
    }

    /// Whether there are workers that could ever run it.
    fn check_workers(&self, callable: &'static Callable, members: u32, on: &On) -> Result<()> {
        let kind = callable.kind();
        let bad = |detail: String| {
            Err(Fault::BadLaunch { detail: format!("{}: {detail}", callable.name()) }.into())
        };
        if self.callables.of(callable.kernel()).is_none() {
            return bad("no worker knows it: declare it with callable!".to_string());
        }
        let is_right = |worker: &u32| self.workers.get(*worker as usize).is_some_and(|w| w.kind == kind);
        match on {
            On::Any => {
                let there = self.workers.iter().filter(|worker| worker.kind == kind).count();
                if there < (members as usize).max(1) {
                    let kind = kind.as_str();
                    return bad(format!("needs {members} {kind} workers at once, and the node has {there}"));
                }
            }
            On::Worker(worker) if members != 1 || !is_right(worker) => {
                return bad(format!("worker {worker} is not there, or no {} worker", kind.as_str()));
            }
            On::Workers(workers) => {
                let mut each = workers.clone();
                each.sort_unstable();
                each.dedup();
                let right = workers.iter().all(is_right);
                if !right || each.len() != workers.len() || workers.len() != members as usize {
                    return bad(format!(
                        "a group of {members} on workers {workers:?}, each once and of its kind"
                    ));
                }
            }
            On::Worker(_) => {}
        }
        Ok(())
    }
}
