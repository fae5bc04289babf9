//! The submitter's side of the engine: what it keeps, and the plan of a submit.
//!
//! ```text
//! submit = check → measure → admit (may wait) → encode → look up → reserve edges (may wait) → wire → insert → release
//! ```
//!
//! Only the thread that runs the orchestration touches this; what other threads see is the [`Table`]. Its own accesses to that
//! are in `submitter.rs`.

#![forbid(unsafe_code)]

use ringlane_task::{RingIndex, TaskId, TensorView};

use crate::api::backend::{Backend, Call, Contents, Inference, Reading, Site};
use crate::api::buffers::{BufferId, Buffers};
use crate::api::tensor::{TaskHandle, TensorRef, TensorTag};
use crate::counting::Counting;
use crate::fault::{Error, Fault, Result};
use crate::intern::Interner;
use crate::limits::{RINGS, SCOPE_DEPTH_MAX};
use crate::live_runs::{LiveRun, RunNumber};
use crate::observe::ProgramStep;
use crate::observe::submitter::WatchedSubmits;
use crate::planted::{Bug, planted};
use crate::report::RunReport;
use crate::ring::slots::Ring;
use crate::scope::{Label, Scope, Segment, Usage, WatchedScope};
use crate::seams::{Chip, Probe, Step, Threading};
use crate::slot::{EdgeKind, SlotIndex};
use crate::submitter::{IdleTable, SubmitterTable};
use crate::sync::Ordering;
use crate::table::{Stop, Table};
use crate::tensor_map::{Owned, Stamp, TensorMap};

/// What the submitter keeps for each slot; no other thread touches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    /// The task's number within its ring.
    pub(crate) local: u32,
    /// The last task that was wired to this one, so that it is wired once.
    pub(crate) wired_by: u32,
    /// Names the task in the tensor map's stamps; 0 once it is reclaimed.
    pub(crate) stamp: u32,
    /// How many entries of the tensor map it holds, and which.
    pub(crate) entries: u32,
    pub(crate) owned: Owned,
}

/// A task that the one being submitted must follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predecessor {
    pub(crate) slot: SlotIndex,
    pub(crate) kind: EdgeKind,
}

/// The submitter's memory, kept from run to run.
#[derive(Debug)]
pub struct State {
    pub(crate) rings: [Ring; RINGS],
    pub(crate) metas: Box<[Meta]>,
    pub(crate) map: TensorMap,
    pub(crate) scopes: Vec<Scope>,
    /// The labels of the open scopes, one after another.
    pub(crate) scope_labels: String,
    pub(crate) predecessors: Vec<Predecessor>,
    pub(crate) kernels: Interner,
    pub(crate) sites: Interner,
    /// Arguments of the next submit that were asked to be captured.
    pub(crate) marked: Vec<u16>,
    /// Totals of the last run, also of one that unwound.
    pub(crate) last: RunReport,
}

impl State {
    /// Memory for runs on this table.
    pub fn new(table: &Table) -> Self {
        let capacities = &table.capacities;
        State {
            rings: core::array::from_fn(|ring| Ring::new(capacities, ring)),
            metas: Meta::reserve(table.slots.len()),
            map: TensorMap::new(capacities.tensormap),
            scopes: Vec::with_capacity(SCOPE_DEPTH_MAX),
            scope_labels: String::new(),
            predecessors: Vec::with_capacity(capacities.tensormap as usize),
            kernels: Interner::default(),
            sites: Interner::default(),
            marked: Vec::new(),
            last: RunReport::default(),
        }
    }

    /// Totals of the last run, also of one that unwound.
    pub fn last_report(&self) -> &RunReport {
        &self.last
    }

    /// Keeps the totals of a replay, which does not submit.
    pub fn set_last_report(&mut self, report: RunReport) {
        self.last = report;
    }

    fn reset(&mut self, run: RunNumber, table: &Table, buffers: &Buffers<'_>) {
        for (ring, state) in self.rings.iter_mut().enumerate() {
            // Only slots that the last run used carry anything.
            let first = table.slot_base[ring] as usize;
            let used = first..first + state.head.min(state.window) as usize;
            self.metas[used.clone()].iter_mut().for_each(|meta| meta.stamp = 0);
            table.done[used].iter().for_each(|tag| tag.set(0));
            state.reset(&table.capacities, ring);
        }
        let externals = (0..buffers.len()).map(|i| ((RINGS + i) as u32, buffers.entry(i).1));
        self.map.reset(run, table.capacities.tensormap, externals);
        self.scopes.clear();
        self.scope_labels.clear();
        self.kernels.reset();
        self.sites.reset();
        self.marked.clear();
    }
}

/// What every submit asks of the innermost scope.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Current {
    pub(crate) ring: usize,
    /// What the handles of its tasks have in common.
    pub(crate) handles: TaskHandle,
    pub(crate) scope: u32,
    pub(crate) site_id: u32,
    /// Whether dependencies are inferred.
    pub(crate) infers: bool,
    /// Whether there is a barrier to follow.
    pub(crate) barrier: bool,
    /// Whether all that tasks follow is inferred.
    pub(crate) is_plain: bool,
    /// Whether it has a task of its own.
    pub(crate) has_tasks: bool,
}

impl Current {
    #[inline]
    fn of(run: RunNumber, scope: &Scope) -> Self {
        let infers = scope.inference == Inference::Inherit;
        let handles = TaskHandle::new(run, TaskId::new(ring_index(scope.ring), 0));
        let (ring, site_id, barrier) = (scope.ring, scope.site_id, scope.barrier.is_some());
        let is_plain = infers && !barrier && !planted(Bug::NoWarEdge);
        let has_tasks = scope.first.is_some();
        Current { ring, handles, scope: scope.id, site_id, infers, barrier, is_plain, has_tasks }
    }
}

/// One run's submitter.
pub struct Orchestrator<'t, C, P> {
    /// The number that the handles of this run carry.
    pub(crate) run: LiveRun,
    pub(crate) table: SubmitterTable<'t>,
    pub(crate) state: &'t mut State,
    pub(crate) chip: C,
    pub(crate) probe: &'t P,
    pub(crate) buffers: &'t Buffers<'t>,
    pub(crate) threading: Threading,
    pub(crate) current: Current,
    pub(crate) seq: u64,
    /// Marks the predecessors of the task being submitted; never 0, never twice for tasks that are alive together.
    pub(crate) mark: u32,
    pub(crate) since_poll: u32,
    pub(crate) scope_count: u32,
    pub(crate) scopes_ended: u64,
    pub(crate) peak_heap: u64,
    pub(crate) watched: WatchedSubmits,
    /// Before when what is submitted now cannot have become ready, if times are watched.
    pub(crate) floor: u64,
    pub(crate) counting: Option<Box<Counting>>,
    pub(crate) fatal: Option<Error>,
    /// Whether the chip has copies of the external buffers, which are copied back.
    pub(crate) copies_out: bool,
}

impl<'t, C: Chip, P: Probe> Orchestrator<'t, C, P> {
    /// A submitter for a new run.
    pub(crate) fn begin(
        run: LiveRun,
        table: IdleTable<'t>,
        state: &'t mut State,
        mut chip: C,
        probe: &'t P,
        buffers: &'t Buffers<'t>,
    ) -> Self {
        state.reset(run.number(), &table, buffers);
        let mut refused = None;
        let externals = buffers.externals().map(|buffer| {
            // Of a run that is refused nothing is touched.
            chip.external(&buffer).unwrap_or_else(|error| {
                refused.get_or_insert(error);
                buffer.host
            })
        });
        let table = table.begin(externals);
        let threading = chip.threading();
        let mut orchestrator = Orchestrator {
            run,
            table,
            state,
            chip,
            probe,
            buffers,
            threading,
            current: Current::default(),
            seq: 0,
            mark: 1,
            since_poll: 0,
            scope_count: 0,
            scopes_ended: 0,
            peak_heap: 0,
            watched: WatchedSubmits::default(),
            floor: 0,
            counting: None,
            fatal: None,
            copies_out: false,
        };
        if probe.sees_program() {
            orchestrator.observe_buffers();
        }
        if let Err(error) = refused.map_or_else(|| orchestrator.copy_in(), Err) {
            orchestrator.abort_run(error);
        }
        orchestrator
    }

    /// The innermost open scope.
    #[inline]
    pub(crate) fn scope(&mut self) -> &mut Scope {
        self.state.scopes.last_mut().expect("the root scope is open while the orchestration runs")
    }

    /// Takes note of the innermost scope.
    pub(crate) fn set_current(&mut self) {
        if let Some(scope) = self.state.scopes.last() {
            self.current = Current::of(self.run.number(), scope);
        }
    }

    #[inline]
    pub(crate) fn site_id(&mut self, site: Site) -> u32 {
        self.state.sites.id(&self.table.sites, site).unwrap_or(u32::MAX)
    }

    /// Tasks submitted so far.
    pub fn tasks(&self) -> u64 {
        self.seq
    }

    /// Scopes that have ended.
    pub fn scopes(&self) -> u64 {
        self.scopes_ended
    }

    /// The most heap bytes in use at once.
    pub fn peak_heap(&self) -> u64 {
        self.peak_heap
    }

    /// The chip.
    pub fn chip(&mut self) -> &mut C {
        &mut self.chip
    }

    /// Waits until every task is done; nothing of the run is in use afterwards.
    pub fn drain(&mut self) {
        self.probe.step(Step::Wait);
        self.show_fill();
        for ring in 0..RINGS {
            while !self.advance_done(ring, self.state.rings[ring].head) {
                self.chip.relax();
            }
        }
        if self.probe.sees_tasks() {
            self.observe_rest();
        }
    }

    /// What ended the run, if the runtime did; the table is ready for the next one.
    pub fn take_fatal(&mut self) -> Option<Error> {
        if let Some(counting) = self.counting.take() {
            self.fatal.get_or_insert_with(|| counting.verdict());
        }
        // What the orchestrator met after the chip had ended the run follows from that.
        let aborted = self.table.aborted();
        if self.table.take_interrupt() && self.fatal.is_none() {
            self.fatal = Some(Fault::Interrupted { tasks: self.seq }.into());
        }
        let fatal = self.fatal.take();
        aborted.or(fatal)
    }

    /// Why the run is over.
    #[cold]
    pub(crate) fn over(&self) -> Error {
        let interrupted = || Fault::Interrupted { tasks: self.seq }.into();
        self.fatal.clone().or_else(|| self.table.aborted()).unwrap_or_else(interrupted)
    }

    /// Tasks that were marked as predecessors no longer are.
    #[inline]
    pub(crate) fn next_mark(&mut self) {
        self.mark += 1;
        if self.mark == Stamp::NO_NUMBER {
            self.mark = 1;
        }
    }

    /// Ends the run with an error of a submit that cannot be taken back: its accesses are filed already.
    #[cold]
    pub(crate) fn abort_run(&mut self, error: Error) -> Error {
        self.table.stop(Stop::Fatal);
        if self.probe.sees_scopes() {
            self.observe_fatal();
        }
        self.fatal.get_or_insert(error).clone()
    }

    /// Answers for a run that is over: counts on after a deadlock, or gives the error.
    #[cold]
    pub(crate) fn submit_stopped(&mut self, call: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle> {
        self.stopped_error()?;
        self.count_submit(call, outs, &[])
    }

    /// Shows how full the rings are on the board.
    pub(crate) fn show_fill(&self) {
        let fill = &self.table.board.fill;
        for (ring, shown) in fill.used.iter().enumerate() {
            for (cell, used) in shown.iter().zip(self.fill_of(ring).used) {
                cell.store(used, Ordering::Relaxed);
            }
        }
        fill.tensormap.store(self.state.map.used(), Ordering::Relaxed);
    }
}

impl<C: Chip, P: Probe> Backend for Orchestrator<'_, C, P> {
    #[inline]
    fn submit(&mut self, call: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle> {
        if self.table.stopped() {
            return self.submit_stopped(call, outs);
        }
        match self.submit_task(call, outs) {
            Err(_) if self.counting.is_some() => self.count_aborted_submit(call, outs),
            Err(error) => {
                self.state.marked.clear();
                Err(error)
            }
            submitted => submitted,
        }
    }

    fn alloc(&mut self, view: TensorView, contents: Contents<'_>, site: Site) -> Result<TensorRef> {
        match self.submit_alloc(view, contents, site) {
            Err(_) if self.counting.is_some() => self.submit_alloc(view, contents, site),
            result => result,
        }
    }

    fn barrier(&mut self, site: Site) -> Result<TaskHandle> {
        match self.submit_barrier(site) {
            Err(_) if self.counting.is_some() => self.submit_barrier(site),
            result => result,
        }
    }

    fn enter_scope(&mut self, site: Site, inference: Inference) -> Result<()> {
        let depth = self.state.scopes.len();
        if depth == SCOPE_DEPTH_MAX {
            return Err(Fault::TooDeep { limit: SCOPE_DEPTH_MAX, site: site.to_string() }.into());
        }
        let outer = self.state.scopes.last().copied();
        let site_id = self.site_id(site);
        let inherited = outer.map_or(Inference::Inherit, |s| s.inference);
        let inference = if inference == Inference::Off { Inference::Off } else { inherited };
        let scope = Scope {
            id: self.scope_count,
            site,
            site_id,
            ring: depth.min(RINGS - 1),
            inference,
            first: None,
            entry: self.state.rings[depth.min(RINGS - 1)].marks(),
            counted: Usage::default(),
            barrier: outer.and_then(|s| s.barrier),
            since: core::array::from_fn(|ring| self.state.rings[ring].head),
            since_seq: self.seq,
            watched: WatchedScope { begun: self.seq, ..WatchedScope::default() },
            label: Label::default(),
        };
        // Not read back from the stack, where it has only just been stored.
        self.current = Current::of(self.run.number(), &scope);
        self.state.scopes.push(scope);
        self.scope_count += 1;
        self.table.board.scopes[depth].store(site_id, Ordering::Relaxed);
        self.table.board.fill.depth.store(depth as u32 + 1, Ordering::Relaxed);
        if self.probe.sees_program() {
            self.observe_step(&ProgramStep::EnterScope { scope: scope.id, site: site_id, inference });
        }
        if self.probe.sees_scopes() {
            self.observe_enter();
        }
        Ok(())
    }

    fn exit_scope(&mut self) -> Result<()> {
        let scope = self.state.scopes.pop().expect("scopes end in the order in which they began");
        self.set_current();
        if self.probe.sees_program() {
            self.observe_step(&ProgramStep::ExitScope);
        }
        if self.probe.sees_scopes() {
            self.observe_exit(&scope);
        }
        scope.label.pop(&mut self.state.scope_labels);
        self.scopes_ended += self.counting.is_none() as u64;
        self.table.board.fill.depth.store(self.state.scopes.len() as u32, Ordering::Relaxed);
        // Tasks that were only counted go before the tensors of the scope that they access. Those of the deepest ring stay
        // until the outermost scope on it ends, and with them what they access.
        let keeps = self.counting.is_some() && self.state.scopes.len() > RINGS - 1;
        let counted = self.count_scope_exit(&scope);
        if let Some(first) = scope.first {
            let waits = core::array::from_fn(|r| self.state.rings[r].head);
            let ring = &mut self.state.rings[scope.ring];
            ring.end_scope(first, Segment { end: ring.head, waits, end_marks: ring.marks() });
            if ring.used() > ring.window / 4 && !keeps {
                self.reclaim(scope.ring);
                self.show_fill();
            }
        }
        counted
    }

    fn label_scope(&mut self, label: &str) {
        if self.probe.sees_program() {
            self.observe_step(&ProgramStep::LabelScope(label));
        }
        let label = Label::push(&mut self.state.scope_labels, label);
        self.scope().label = label;
    }

    fn mark(&mut self, args: &[u16]) {
        self.state.marked.extend_from_slice(args);
    }

    fn read(
        &mut self,
        tensor: TensorRef,
        view: &TensorView,
        how: Reading,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        self.read_back(tensor, view, how, sink)
    }

    fn advance_time(&mut self, ticks: u64) {
        if self.probe.sees_program() {
            self.observe_step(&ProgramStep::AdvanceTime(ticks));
        }
        self.chip.advance_time(ticks);
    }

    fn external(&mut self, buffer: BufferId) -> Result<(TensorRef, TensorView)> {
        let index = self.buffers.index_of(buffer)?;
        let tensor = TensorRef { id: index as u32, tag: TensorTag::first(self.run.number()) };
        Ok((tensor, self.buffers.entry(index).0))
    }
}

/// The ring of a scope, as artifacts name it.
pub(crate) fn ring_index(ring: usize) -> RingIndex {
    RingIndex(ring as u8)
}
