//! The predecessors of a task: collecting predecessors, reserving dependency entries, wiring, releasing.

use ringlane_task::{CoreId, Resource, TaskId};

use crate::api::backend::{Call, Site};
use crate::fault::{AFTER, Fault, Result};
use crate::limits::{AFTER_MAX, FANIN_MAX, GRAPH_FANIN_MAX};
use crate::observe::submitter::note_ready;
use crate::orchestrator::{Meta, Orchestrator, Predecessor, ring_index};
use crate::seams::{Chip, Probe, Threading};
use crate::slot::{EdgeKind, Linked, SKIPPED, Slot, SlotIndex};
use crate::stall::place;
use crate::sync::prefetch;
use crate::tensor_map::{Met, Stamp, TensorMap};

/// What came of wiring a task.
pub(crate) struct Wired {
    /// How many it must wait for.
    pub(crate) links: u32,
    /// Before when it cannot have become ready, as far as the submitter knows, if times are watched.
    pub(crate) floor: Option<u64>,
}

/// The predecessors of the task being submitted, each once.
pub(crate) struct Follow<'a> {
    metas: &'a mut [Meta],
    predecessors: &'a mut Vec<Predecessor>,
    slots: &'a [Slot],
    /// Differs from submit to submit.
    mark: u32,
}

impl Follow<'_> {
    #[cfg(test)]
    pub(crate) fn new<'a>(
        metas: &'a mut [Meta],
        predecessors: &'a mut Vec<Predecessor>,
        slots: &'a [Slot],
        mark: u32,
    ) -> Follow<'a> {
        Follow { metas, predecessors, slots, mark }
    }

    /// The same list, for a function that is not inlined: what it is passed by reference has to be in memory, this one need not.
    #[inline(always)]
    pub(crate) fn lend(&mut self) -> Follow<'_> {
        let Follow { metas, predecessors, slots, mark } = self;
        Follow { metas, predecessors, slots, mark: *mark }
    }

    /// Whether the task of a stamp is not reclaimed.
    #[inline]
    pub(crate) fn is_alive(&self, stamp: Stamp) -> bool {
        self.metas[stamp.slot.0 as usize].stamp == stamp.number
    }

    /// Adds a predecessor if it is not reclaimed.
    #[inline]
    pub(crate) fn add_stamped(&mut self, stamp: Stamp) {
        if self.is_alive(stamp) {
            self.add(stamp.slot);
        }
    }

    /// Adds what a lookup met.
    #[inline]
    pub(crate) fn add_met(&mut self, met: Met) {
        match met {
            Met::Alive(access) => self.add(access.task),
            Met::Stamped(stamp) => self.add_stamped(stamp),
        }
    }

    /// Adds a predecessor unless it is there already.
    #[inline]
    pub(crate) fn add(&mut self, task: SlotIndex) {
        let meta = &mut self.metas[task.0 as usize];
        if meta.wired_by != self.mark {
            meta.wired_by = self.mark;
            prefetch(&self.slots[task.0 as usize]);
            self.predecessors.push(Predecessor { slot: task, kind: EdgeKind::Data });
        }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// The list of predecessors, and the map that knows them.
    #[inline]
    pub(crate) fn follow(&mut self) -> (Follow<'_>, &mut TensorMap) {
        let state = &mut *self.state;
        let mark = self.mark;
        let (metas, predecessors, slots) = (&mut state.metas, &mut state.predecessors, &self.table.slots);
        (Follow { metas, predecessors, slots, mark }, &mut state.map)
    }

    /// Starts the list of predecessors with those that were asked for, and the scope's barrier.
    #[inline]
    pub(crate) fn collect_explicit(&mut self, call: &Call<'_>) -> Result<()> {
        self.state.predecessors.clear();
        if call.after.is_empty() && !self.current.barrier { Ok(()) } else { self.collect_some_explicit(call) }
    }

    #[inline(never)]
    fn collect_some_explicit(&mut self, call: &Call<'_>) -> Result<()> {
        if call.after.len() > AFTER_MAX {
            let (what, given) = (AFTER, call.after.len());
            return Err(Fault::TooManyArgs { what, given, limit: AFTER_MAX }.into());
        }
        let mark = self.mark;
        for task in call.after {
            let (of, run) = (task.run(), self.run.number());
            if of != run {
                self.next_mark();
                return Err(Fault::ForeignHandle { what: "a task", of, run }.into());
            }
            let task = task.task();
            let slot = self.table.slot_named(task);
            let meta = &mut self.state.metas[slot.0 as usize];
            if meta.local != task.local() {
                let error = stale_task(task, meta.local);
                self.next_mark();
                return Err(error);
            }
            if meta.wired_by != mark {
                meta.wired_by = mark;
                self.state.predecessors.push(Predecessor { slot, kind: EdgeKind::Explicit });
            }
        }
        self.follow_barrier();
        Ok(())
    }

    pub(super) fn follow_barrier(&mut self) {
        if let Some(barrier) = self.scope().barrier {
            self.follow().0.add(barrier);
        }
    }

    /// Makes sure that the ring has an entry for each predecessor. When the pool runs low, tasks of ended scopes are
    /// waited for instead of wired (they finish without us), so only edges inside open scopes can fill it.
    #[inline]
    pub(crate) fn reserve_edges(&mut self, ring: usize, site: Site) -> Result<()> {
        let (wanted, rings) = (self.state.predecessors.len() as u64, &self.state.rings[ring]);
        let low = rings.edges_used() + wanted > rings.edges_capacity / 2;
        if low || wanted > FANIN_MAX as u64 { self.reserve_many_edges(ring, site) } else { Ok(()) }
    }

    #[cold]
    fn reserve_many_edges(&mut self, ring: usize, site: Site) -> Result<()> {
        if C::CAPTURES {
            self.reserve_captured_edges(ring, site)
        } else {
            self.reserve_scarce_edges(ring, site)
        }
    }

    /// Of a captured task every edge is kept: there is nothing to wait for.
    pub(super) fn reserve_captured_edges(&mut self, ring: usize, site: Site) -> Result<()> {
        let (wanted, rings) = (self.state.predecessors.len() as u64, &self.state.rings[ring]);
        if wanted > GRAPH_FANIN_MAX as u64 {
            let site = place(site);
            return Err(self.abort_run(Fault::GraphFanIn { wanted, limit: GRAPH_FANIN_MAX, site }.into()));
        }
        if rings.edges_used() + wanted > rings.edges_capacity {
            return Err(self.graph_too_large(ring, Resource::DepPool, site));
        }
        Ok(())
    }

    #[cold]
    fn reserve_scarce_edges(&mut self, ring: usize, site: Site) -> Result<()> {
        let open = self.open_from();
        for i in 0..self.state.predecessors.len() {
            let task = self.state.predecessors[i].slot;
            if i >= FANIN_MAX || self.position_of(task) < open[self.table.ring_of(task)] {
                self.wait_until_closed(task, ring);
            }
        }
        let (mut predecessors, mut seen) = (core::mem::take(&mut self.state.predecessors), 0);
        predecessors.retain(|p| {
            seen += 1;
            let ended = self.position_of(p.slot) < open[self.table.ring_of(p.slot)];
            let done = p.kind == EdgeKind::Data && self.table.slots[p.slot.0 as usize].is_closed();
            !(done && (ended || seen > FANIN_MAX))
        });
        self.state.predecessors = predecessors;
        self.note_seen();
        let wanted = self.state.predecessors.len() as u64;
        let capacity = self.state.rings[ring].edges_capacity;
        if wanted > capacity {
            let error = self.too_large(Resource::DepPool, ring, wanted, site);
            return Err(self.abort_run(error));
        }
        while self.state.rings[ring].edges_used() + wanted > capacity {
            self.wait_for(ring, Resource::DepPool, wanted, site)?;
        }
        Ok(())
    }

    /// The position on its ring of a task that is not reclaimed.
    pub(crate) fn position_of(&self, task: SlotIndex) -> u64 {
        let ring = self.table.ring_of(task);
        let last = self.state.rings[ring].head.wrapping_sub(1);
        let back = (last as u32).wrapping_sub(task.0 - self.table.slot_base[ring]);
        last - (back as u64 & (self.state.rings[ring].window - 1))
    }

    /// As `reserve_edges` for a barrier, which must not need more where tasks happen to be slower: when the pool runs
    /// low it waits for all it follows instead of wiring them.
    pub(super) fn reserve_barrier_edges(&mut self, ring: usize) {
        let (wanted, rings) = (self.state.predecessors.len() as u64, &self.state.rings[ring]);
        if rings.edges_used() + wanted <= rings.edges_capacity / 2 {
            return;
        }
        for i in 0..self.state.predecessors.len() {
            self.wait_until_closed(self.state.predecessors[i].slot, ring);
        }
        self.state.predecessors.clear();
    }

    /// Waits until a task is done (its successors may not all be released yet), to save an entry of a ring's pool.
    pub(super) fn wait_until_closed(&mut self, task: SlotIndex, ring: usize) {
        while !self.table.slots[task.0 as usize].is_closed() {
            self.probe.stall_begin();
            self.chip.relax();
            self.probe.stall_end(ring_index(ring), Resource::DepPool, self.seq);
        }
    }

    /// Leaves out the edges that an experiment does without.
    #[cold]
    fn drop_edges(&mut self) {
        let (mut predecessors, after) = (core::mem::take(&mut self.state.predecessors), self.seq);
        predecessors.retain(|before| self.chip.keeps_edge(self.table.record(before.slot).seq, after));
        self.state.predecessors = predecessors;
    }

    /// Links the task into the fan-out of each predecessor.
    #[inline]
    pub(crate) fn wire(&mut self, slot: SlotIndex, ring: usize) -> Wired {
        if C::TIMED && self.chip.drops_edges() {
            self.drop_edges();
        }
        let mut links = 0;
        let mut floor = self.probe.sees_times().then_some(self.floor);
        let rings = &self.state.rings[ring];
        debug_assert!(rings.edges_used() + self.state.predecessors.len() as u64 <= rings.edges_capacity);
        let (base, mask) = (self.table.edge_base[ring], rings.edges_capacity as u32 - 1);
        let mut head = rings.edges_head;
        for predecessor in &self.state.predecessors {
            let edge = base + (head as u32 & mask);
            head += 1;
            let task = &self.table.slots[predecessor.slot.0 as usize];
            match self.table.link(task, edge, (slot, predecessor.kind), self.threading) {
                Linked::Waiting => {
                    links += 1;
                    if C::TIMED {
                        self.chip.wired(predecessor.slot, slot);
                    }
                    if self.probe.sees_tasks() {
                        self.probe.edge(self.id_of(predecessor.slot), self.id_of(slot));
                    }
                }
                Linked::AlreadyDone => {
                    floor = floor.map(|floor| floor.max(task.floor()));
                    if predecessor.kind == EdgeKind::Explicit && task.fate() != 0 {
                        self.table.slots[slot.0 as usize].mark(SKIPPED);
                    }
                }
            }
        }
        self.state.rings[ring].edges_head = head;
        Wired { links, floor }
    }

    /// Ends the submitter's hold on a task; publishes it if it waits for nothing.
    #[inline]
    pub(crate) fn release(&mut self, slot: SlotIndex, task: &Slot, links: u32, floor: Option<u64>) {
        if C::CAPTURES {
            return;
        }
        let ready = match self.threading {
            Threading::Multi => task.release_guard(links, floor),
            Threading::Single => task.release_guard_alone(links, floor),
        };
        if let Some(floor) = ready {
            note_ready(self.probe, CoreId(0), task, floor);
            self.chip.publish(slot);
        }
    }
}

#[cold]
fn stale_task(task: TaskId, current: u32) -> crate::Error {
    Fault::StaleHandle { what: "a task", generation: task.local(), current }.into()
}
