//! Counting mode: after a deadlock the orchestration goes on, nothing runs, and what it submits is counted, so that
//! the hint names a capacity with which a rerun passes.
//!
//! The tensor map goes on with its capacity lifted; counted tasks have slot numbers past the table's, and their views
//! are kept here. Memory grows with what is counted: the run is over, and the count ends with the scopes.

#![forbid(unsafe_code)]

use std::collections::HashSet;

use ringlane_task::{Access, Capacities, Resource, RingIndex, TaskId, TensorView};

use crate::api::arg::ArgKind;
use crate::api::backend::{Call, Inference};
use crate::api::tensor::{TaskHandle, TensorRef};
use crate::fault::{Error, Fault, Result};
use crate::limits::RINGS;
use crate::orchestrator::{Orchestrator, Predecessor, State};
use crate::overlap::Region;
use crate::scope::{Scope, Usage};
use crate::seams::{Chip, Probe};
use crate::slot::SlotIndex;
use crate::stall::{Counted, Deadlock, option_value};
use crate::submit::{Measure, RecordRegions};
use crate::submitter::SubmitterTable;
use crate::tensor_map::{Hazard, Met, NewAccess, Owned, Regions};

/// Marks the place of a view that is kept here and not in an argument ring.
const COUNTED: u32 = 1 << 29;
/// The ring that handles of counted tasks name.
const COUNTED_RING: RingIndex = RingIndex(RINGS as u8);

/// The state of the count.
#[derive(Debug)]
pub struct Counting {
    deadlock: Deadlock,
    capacities: Capacities,
    /// For each ring the most that its open scopes held at once, and the largest piece.
    need: [u64; RINGS],
    piece: [u64; RINGS],
    views: Vec<TensorView>,
    /// Counted tasks: at which depth, and what each owns and holds in the map.
    tasks: Vec<(usize, Owned, u64)>,
}

struct CountedRegions<'a>(SubmitterTable<'a>, &'a [TensorView]);

impl Regions for CountedRegions<'_> {
    fn region(&self, task: SlotIndex, at: u32) -> Region<'_> {
        match at & COUNTED {
            0 => RecordRegions(self.0).region_of(task, at),
            _ => Region::of(&self.1[(at & !COUNTED) as usize]),
        }
    }
}

impl Counting {
    pub(crate) fn new(deadlock: Deadlock, capacities: Capacities) -> Self {
        let mut need = [0; RINGS];
        need[deadlock.ring as usize] = deadlock.need;
        Counting { deadlock, capacities, need, piece: [0; RINGS], views: Vec::new(), tasks: Vec::new() }
    }

    /// The deadlock, with what was counted so far.
    pub(crate) fn verdict(&self) -> Error {
        let mut deadlock = self.deadlock.clone();
        deadlock.need = self.need[deadlock.ring as usize].max(deadlock.capacity + 1);
        let mut enough: [u64; RINGS] = core::array::from_fn(|ring| self.enough(ring, self.need[ring]));
        enough[deadlock.ring as usize] = self.enough(deadlock.ring as usize, deadlock.need);
        deadlock.option = option_value(&self.capacities, deadlock.resource, enough);
        Fault::FlowControlDeadlock(deadlock).into()
    }

    /// The capacity with which a need on a ring is met whatever the timing.
    fn enough(&self, ring: usize, need: u64) -> u64 {
        match self.deadlock.resource {
            Resource::TaskWindow | Resource::TensorMap => need,
            // Half of the pool is kept for edges inside open scopes.
            Resource::DepPool => 2 * need,
            // Pieces are contiguous: a few gaps, each smaller than the largest piece, may stay unused.
            Resource::Heap | Resource::Args => need + 8 * self.piece[ring],
        }
    }

    /// Takes note of what the open scopes hold now, on every ring: what they took while the run went well, and what was
    /// counted. (The next deadlock of the same resource would be on another ring.)
    pub(crate) fn note(&mut self, state: &State) {
        let resource = self.deadlock.resource;
        if resource == Resource::TensorMap {
            let need = &mut self.need[self.deadlock.ring as usize];
            *need = state.map.used().max(*need);
            return;
        }
        for (ring, rings) in state.rings.iter().enumerate() {
            let mut scopes = state.scopes.iter().filter(|s| s.ring == ring).peekable();
            let taken = scopes.peek().map_or(0, |s| rings.marks().since(&s.entry, resource));
            let mut counted = Usage::default();
            scopes.for_each(|s| counted.add(&s.counted));
            self.need[ring] = self.need[ring].max(taken + counted.of(resource));
            let largest = match resource {
                Resource::Heap => rings.heap.largest(),
                Resource::Args => rings.args.largest(),
                _ => 0,
            };
            self.piece[ring] = self.piece[ring].max(counted.piece(resource)).max(largest);
        }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    fn counting(&mut self) -> &mut Counting {
        self.counting.as_mut().expect("called only while counting")
    }

    /// Counts the submit that could not be made. The predecessors that were found before it had to wait may be
    /// superseded in the map by its own accesses.
    #[cold]
    pub(crate) fn count_aborted_submit(
        &mut self,
        call: &Call<'_>,
        outs: &mut [TensorRef],
    ) -> Result<TaskHandle> {
        let followed = core::mem::take(&mut self.state.predecessors);
        let result = self.count_submit(call, outs, &followed);
        self.state.predecessors = followed;
        result
    }

    /// Counts a submit instead of making it.
    pub(crate) fn count_submit(
        &mut self,
        call: &Call<'_>,
        outs: &mut [TensorRef],
        known: &[Predecessor],
    ) -> Result<TaskHandle> {
        crate::submit::check::check_call(call)?;
        let mut measure = self.measure(call)?;
        measure.annotations(call);
        let slot = SlotIndex((self.table.slots.len() + self.counting().tasks.len()) as u32);
        let (mut owned, mut followed, mut made) = (Owned::NOTHING, HashSet::new(), 0);
        followed.extend(call.after.iter().map(|task| self.counted_slot(*task)));
        followed.extend(self.scope().barrier);
        followed.extend(known.iter().map(|p| p.slot));
        for arg in call.args {
            let (root, view, access) = match arg.kind {
                ArgKind::Tensor { tensor, view, access, .. } if access != Access::NoDep => {
                    (tensor.id, view, access)
                }
                ArgKind::Output { view, .. } => {
                    outs[made] = self.state.map.make_root(&mut owned, 0, 0, None);
                    made += 1;
                    (outs[made - 1].id, view, Access::Output)
                }
                _ => continue,
            };
            self.count_access(root, view, access, slot, &mut owned, &mut followed);
        }
        followed.remove(&slot);
        self.count_task(owned, measure.usage(followed.len() as u64));
        Ok(self.counted_handle(slot))
    }

    /// The handle of a task that was counted: its ring is none of the table's, and its number is the slot itself.
    fn counted_handle(&self, slot: SlotIndex) -> TaskHandle {
        TaskHandle::new(self.run.number(), TaskId::new(COUNTED_RING, slot.0))
    }

    /// The slot of a task that was submitted or counted.
    fn counted_slot(&self, task: TaskHandle) -> SlotIndex {
        let task = task.task();
        if task.ring() == COUNTED_RING { SlotIndex(task.local()) } else { self.table.slot_named(task) }
    }

    fn count_access(
        &mut self,
        root: u32,
        view: TensorView,
        access: Access,
        slot: SlotIndex,
        owned: &mut Owned,
        followed: &mut HashSet<SlotIndex>,
    ) {
        let hazard = if access.writes() { Hazard::Write } else { Hazard::Read };
        let counting = self.counting.as_mut().expect("called only while counting");
        let state = &mut *self.state;
        let view = view.shifted(state.map.base_of(root));
        let new = NewAccess { root, region: Region::of(&view), whole: view.is_whole(), hazard };
        counting.views.push(view);
        let regions = CountedRegions(self.table, &counting.views);
        let bounds = state.map.locate(&new, &regions);
        if state.scopes.last().is_some_and(|s| s.inference == Inference::Inherit) {
            let metas = &state.metas;
            state.map.look_up(&new, bounds.as_ref(), &regions, |met| match met {
                Met::Alive(access) => _ = followed.insert(access.task),
                Met::Stamped(s) if metas[s.slot.0 as usize].stamp == s.number => {
                    _ = followed.insert(s.slot);
                }
                Met::Stamped(_) => {}
            });
        }
        let at = COUNTED | (counting.views.len() as u32 - 1);
        state.map.insert(&new, bounds.as_ref(), &regions, owned, (slot, at));
    }

    fn count_task(&mut self, owned: Owned, usage: Usage) {
        let depth = self.state.scopes.len();
        self.scope().counted.add(&usage);
        let counting = self.counting.as_mut().expect("called only while counting");
        counting.tasks.push((depth, owned, usage.entries));
        self.state.map.hold(usage.entries);
        counting.note(self.state);
    }

    /// A barrier of a run that is over. It takes no entries: where they are scarce a barrier waits instead.
    #[cold]
    pub(crate) fn barrier_stopped(&mut self) -> Result<TaskHandle> {
        self.stopped_error()?;
        let slot = SlotIndex((self.table.slots.len() + self.counting().tasks.len()) as u32);
        self.count_task(Owned::NOTHING, Measure::default().usage(0));
        self.scope().barrier = Some(slot);
        Ok(self.counted_handle(slot))
    }

    /// A tensor of a run that is over.
    #[cold]
    pub(crate) fn alloc_stopped(&mut self, measure: &Measure) -> Result<TensorRef> {
        self.stopped_error()?;
        let mut owned = Owned::NOTHING;
        let tensor = self.state.map.make_root(&mut owned, 0, 0, None);
        self.count_task(owned, measure.usage(0));
        Ok(tensor)
    }

    /// Nothing while counting; else why the run is over.
    pub(crate) fn stopped_error(&self) -> Result<()> {
        let counts = self.fatal.is_none() && self.counting.is_some();
        if counts { Ok(()) } else { Err(self.over()) }
    }

    /// A value is needed that was never computed: the count ends here.
    #[cold]
    pub(crate) fn read_stopped(&mut self) -> Error {
        if let Some(mut counting) = self.counting.take() {
            counting.deadlock.counted = Counted::ToRead;
            self.fatal.get_or_insert_with(|| counting.verdict());
        }
        self.over()
    }

    /// A scope ended: the count ends with the last scope on the exhausted ring.
    #[inline]
    pub(crate) fn count_scope_exit(&mut self, scope: &Scope) -> Result<()> {
        if self.counting.is_none() {
            return self.fatal.clone().map_or(Ok(()), Err);
        }
        self.count_scope_exit_slow(scope)
    }

    #[cold]
    fn count_scope_exit_slow(&mut self, ended: &Scope) -> Result<()> {
        let depth = self.state.scopes.len();
        if depth > RINGS - 1 {
            // The deepest ring keeps what it holds until the outermost scope on it ends.
            self.scope().counted.add(&ended.counted);
            return Ok(());
        }
        while let Some((_, owned, entries)) = self.counting().tasks.pop_if(|(at, ..)| *at > depth) {
            self.state.map.release(owned, entries);
        }
        let (resource, ring) = (self.counting().deadlock.resource, self.counting().deadlock.ring as usize);
        let open = self.state.scopes.iter().any(|s| resource == Resource::TensorMap || s.ring == ring);
        if open {
            return Ok(());
        }
        let verdict = self.counting().verdict();
        (self.counting, self.fatal) = (None, Some(verdict.clone()));
        Err(verdict)
    }
}
