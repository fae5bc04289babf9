//! What a probe sees of submits and scopes. With the probe `()` it compiles to nothing.

use ringlane_task::{CoreId, TaskId, Ticks};

use crate::api::backend::Inference;
use crate::fault::{Fault, Result};
use crate::observe::{After, EndedScope, Fill, ProgramStep, ScopeSource, Submission, Submitted};
use crate::orchestrator::{Orchestrator, Predecessor, ring_index};
use crate::scope::Scope;
use crate::seams::{Chip, Probe, Work};
use crate::slot::{FLOOR_MAX, Slot, SlotIndex};
use crate::submit::{Committed, Measure};

/// What only a probe that sees scopes needs to know of the tasks submitted since a scope last began or ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WatchedSubmits {
    /// The slot of the first.
    recent: u32,
    /// The widest fan-in.
    fan_in: u64,
}

/// The slots of tasks that were submitted since a scope last began or ended: they are of the scope that is open now.
#[derive(Clone, Copy)]
pub(crate) struct Recent {
    first: u32,
    count: u32,
}

impl Recent {
    #[inline]
    pub(crate) fn contains(self, slot: SlotIndex) -> bool {
        slot.0.wrapping_sub(self.first) < self.count
    }
}

/// Takes note of when a task becomes ready, which is not before `floor`, if times are watched.
#[inline(always)]
pub(crate) fn note_ready(probe: &impl Probe, core: CoreId, task: &Slot, floor: u64) {
    if probe.sees_times() {
        task.set_floor(probe.ready(core, Ticks(floor)).0.min(FLOOR_MAX));
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// How full a ring and the tensor map are.
    pub(crate) fn fill_of(&self, ring: usize) -> Fill {
        let used = self.state.rings[ring].used_of_each();
        Fill { ring, used, tensormap: self.state.map.used() }
    }

    /// The submitter has seen that tasks are done, and will not check them again: what it submits from now on cannot have
    /// become ready earlier.
    #[inline]
    pub(crate) fn note_seen(&mut self) {
        if self.probe.sees_times() {
            self.floor = self.probe.seen().0.min(FLOOR_MAX);
        }
    }

    /// The id of a task that is not reclaimed.
    #[inline]
    pub(crate) fn id_of(&self, task: SlotIndex) -> TaskId {
        self.table.id_of(task, self.state.metas[task.0 as usize].local)
    }

    /// Shows the probe a task whose edges are wired.
    #[inline]
    pub(crate) fn observe_submit(&mut self, slot: SlotIndex, what: &Committed<'_>, measure: &Measure) {
        // Read back from the slot, so that commit can keep its own in registers.
        let record = &self.table.record(slot);
        let kind = match *what {
            Committed::Kernels(call) => Submitted::Kernels { after: After { handles: call.after } },
            Committed::Barrier { since } => Submitted::Barrier { since },
            Committed::Alloc { base, view, contents } => {
                Submitted::Alloc { space: record.ring as u32, base, view, contents }
            }
        };
        let barrier = if self.current.barrier { self.scope().barrier } else { None };
        let barrier = barrier.map(|slot| self.id_of(slot));
        self.probe.submit(&Submission {
            slot,
            record,
            kind,
            scope: self.current.scope,
            inference: if self.current.infers { Inference::Inherit } else { Inference::Off },
            marked: &self.state.marked,
            usage: &measure.usage(0),
            held: self.table.task(record),
            barrier,
        });
        if let Submitted::Kernels { .. } = kind {
            self.state.marked.clear();
        }
    }

    /// Shows a step of the orchestration.
    #[cold]
    pub(crate) fn observe_step(&self, step: &ProgramStep<'_>) {
        self.probe.program(self.seq, step);
    }

    /// Shows the external buffers of the run.
    pub(crate) fn observe_buffers(&self) {
        for (index, space) in self.buffers.spaces().enumerate() {
            let (_, permission) = self.buffers.entry(index);
            self.observe_step(&ProgramStep::Buffer { bytes: space.bytes, permission });
        }
    }

    /// The tasks before the one in `slot` that are of the scope that is open now, as far as that is seen at once.
    #[inline]
    pub(crate) fn recent_before(&self, slot: SlotIndex) -> Recent {
        let first = self.watched.recent;
        // None, if the ring began anew in between.
        Recent { first, count: slot.0.saturating_sub(first) }
    }

    /// Takes note of the edges of the task in `slot`, which was wired last, for the need of its scope.
    #[inline(always)]
    pub(crate) fn watch_edges(&mut self, slot: SlotIndex) {
        let (recent, predecessors) = (self.recent_before(slot), &self.state.predecessors[..]);
        let all_recent = predecessors.iter().all(|predecessor| recent.contains(predecessor.slot));
        self.watched.fan_in = self.watched.fan_in.max(predecessors.len() as u64);
        if !all_recent {
            self.spare_edges();
        }
    }

    /// Leaves edges from tasks out of the need that can be reclaimed: neither they nor an older task of their ring are of a
    /// scope that is open.
    #[cold]
    fn spare_edges(&mut self) {
        let open = self.open_from();
        let outside = |p: &&Predecessor| self.position_of(p.slot) < open[self.table.ring_of(p.slot)];
        self.spare(self.state.predecessors.iter().filter(outside).count());
    }

    /// This many edges of the task that was wired last need no entry if one is scarce.
    pub(crate) fn spare(&mut self, edges: usize) {
        let ring = self.current.ring;
        for scope in self.state.scopes.iter_mut().rev().take_while(|scope| scope.ring == ring) {
            scope.watched.spared_edges += edges as u64;
        }
    }

    /// A scope began: it is on the stack already.
    #[inline]
    pub(crate) fn observe_enter(&mut self) {
        self.probe.scope_enter();
        let fan_in = self.begin_recent();
        if let [.., outer, _] = &mut self.state.scopes[..] {
            outer.watched.fan_in = outer.watched.fan_in.max(fan_in);
        }
    }

    /// A scope ended: it is off the stack already.
    #[inline]
    pub(crate) fn observe_exit(&mut self, scope: &Scope) {
        // The tasks to come are of the scope around it.
        let fan_in = scope.watched.fan_in.max(self.begin_recent());
        let mut parent = None;
        if let Some(outer) = self.state.scopes.last_mut() {
            outer.watched.fan_in = outer.watched.fan_in.max(fan_in);
            parent = Some(outer.id);
        }
        self.probe.scope_exit(&self.ended(scope, self.state.scopes.len(), parent, fan_in));
        self.work(Work::EndScope);
    }

    #[inline]
    fn ended<'t>(
        &'t self,
        scope: &'t Scope,
        depth: usize,
        parent: Option<u32>,
        fan_in: u64,
    ) -> EndedScope<'t> {
        let (tasks, tensormap) = (self.seq - scope.watched.begun, self.state.map.used());
        let (rings, labels) = (&self.state.rings, self.state.scope_labels.as_str());
        let of = ScopeSource::Submitter { scope, rings, labels };
        EndedScope { depth, parent, tasks, fan_in, tensormap, of }
    }

    /// The innermost scope is another one; gives the widest fan-in of those submitted until now.
    #[inline]
    fn begin_recent(&mut self) -> u64 {
        let ring = self.current.ring;
        let recent = self.table.slot_of(ring, self.state.rings[ring].head).0;
        core::mem::replace(&mut self.watched, WatchedSubmits { recent, fan_in: 0 }).fan_in
    }

    /// The runtime stops the run: shows the open scopes, the innermost first.
    #[cold]
    pub(crate) fn observe_fatal(&self) {
        let scopes = &self.state.scopes;
        let mut fan_in = self.watched.fan_in;
        for (depth, scope) in scopes.iter().enumerate().rev() {
            fan_in = scope.watched.fan_in.max(fan_in);
            let parent = depth.checked_sub(1).map(|outer| scopes[outer].id);
            self.probe.scope_stopped(&self.ended(scope, depth, parent, fan_in));
        }
    }

    /// What the run holds to its end is reclaimed by its end.
    pub(crate) fn observe_rest(&mut self) {
        self.note_seen();
        self.probe.reclaim_begin(Ticks(self.floor));
        for (ring, state) in self.state.rings.iter().enumerate() {
            self.probe.reclaim(TaskId::new(ring_index(ring), state.tail as u32), state.head - state.tail);
        }
        self.probe.reclaim_end();
    }

    /// Refuses marks on arguments that the submit does not have.
    #[cold]
    pub(crate) fn check_marks(&mut self, args: usize) -> Result<()> {
        match self.state.marked.iter().find(|&&mark| mark as usize >= args) {
            Some(&mark) => Err(Fault::BadMark { mark, args }.into()),
            None if self.probe.sees_submits() => Ok(()),
            None => {
                self.state.marked.clear();
                Ok(())
            }
        }
    }
}
