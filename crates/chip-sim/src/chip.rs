//! The orchestrator: its clock, and how its work and its waits advance virtual time.

use std::collections::HashSet;

use ringlane_engine::api::buffers::Permission;
use ringlane_engine::arena::Arena;
use ringlane_engine::memory::Memory;
use ringlane_engine::memory::Space;
use ringlane_engine::observe::ThreadPhase;
use ringlane_engine::seams::{Chip, External, Probe, Threading, Work};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::{Fault, Result};
use ringlane_task::Ticks;

use crate::link::{Copied, Direction};
use crate::machine::Machine;
use crate::memory::DeviceBuffer;
use crate::time::{Ps, SECOND, TIME_MAX, later};
use crate::totals::Totals;

/// The modelled chip, as the engine's submitter sees it.
pub(crate) struct SimChip<'t, P> {
    machine: Machine<'t, P>,
    /// The orchestrator's clock. All events before it have been handled.
    now: Ps,
    /// The totals, reported after the run.
    totals: &'t mut Totals,
    /// The task whose edges are being wired.
    wiring: Option<SlotIndex>,
    /// External buffers in memory that the host cannot access.
    buffers: Vec<DeviceBuffer>,
    /// Edges that an experiment does without.
    dropped_edges: Option<&'t HashSet<(u64, u64)>>,
}

impl<'t, P: Probe> SimChip<'t, P> {
    pub(crate) fn new(
        machine: Machine<'t, P>,
        totals: &'t mut Totals,
        dropped_edges: Option<&'t HashSet<(u64, u64)>>,
    ) -> Self {
        *totals = Totals::default();
        machine.clock.show(0);
        SimChip { machine, now: 0, totals, wiring: None, buffers: Vec::new(), dropped_edges }
    }

    /// Advances the orchestrator's clock by a duration.
    fn advance_by(&mut self, ps: Ps) {
        self.advance_to(later(self.now, ps));
    }

    /// Handles all events up to a time, to which the orchestrator's clock advances.
    fn advance_to(&mut self, at: Ps) {
        self.now = self.now.max(at);
        self.machine.run_until(self.now);
        self.machine.clock.show(self.now);
        if self.now >= TIME_MAX && !self.machine.table.stopped() {
            self.machine.table.abort_run(Fault::VirtualTimeOver { seconds: TIME_MAX / SECOND });
        }
    }

    /// Copies over the link, unless the host can access the chip's memory.
    fn copy(&mut self, direction: Direction, what: Copied, bytes: u64) {
        if !self.memory().host_sees() {
            let end = self.machine.link.copy(self.now, direction, what, bytes);
            self.advance_to(end);
        }
    }

    /// Passes a new task to the policy, if the policy uses the graph.
    fn announce_task(&mut self, task: SlotIndex) {
        if self.wiring != Some(task) && self.machine.policy.uses_graph() {
            let takes = self.machine.takes(task);
            self.machine.policy.submitted(task, takes);
        }
    }
}

impl<P: Probe> Chip for SimChip<'_, P> {
    const TIMED: bool = true;

    fn memory(&self) -> impl Memory {
        self.machine.memory()
    }

    fn external(&mut self, buffer: &External) -> Result<Space> {
        let External { host, permission, .. } = *buffer;
        if self.memory().host_sees() {
            return Ok(host);
        }
        let arena = Arena::new(host.bytes, "a buffer of the chip")?;
        let space = Space { base: arena.base(), bytes: host.bytes };
        self.buffers.push(DeviceBuffer { arena, permission });
        Ok(space)
    }

    /// Accounts for the copies of external buffers that the chip cannot access in place.
    fn begin(&mut self) {
        if self.machine.table.stopped() {
            return;
        }
        let mut end = self.now;
        for (number, buffer) in self.buffers.iter().enumerate() {
            let what = Copied::Buffer(number as u32);
            end = self.machine.link.copy(end, Direction::In, what, buffer.arena.bytes());
        }
        self.advance_to(end);
    }

    fn publish(&mut self, task: SlotIndex) {
        self.announce_task(task);
        self.wiring = None;
        self.machine.make_ready(task, self.now, None);
    }

    fn relax(&mut self) {
        let Some(next) = self.machine.next_event() else {
            return self.give_up();
        };
        self.advance_to(next);
    }

    fn work(&mut self, work: Work) {
        let costs = &self.machine.costs;
        let takes = match work {
            Work::Admit => {
                self.wiring = None;
                costs.admit
            }
            Work::LookUp(tensors) => costs.look_up * u64::from(tensors),
            Work::Insert(accesses) => costs.insert * u64::from(accesses),
            Work::Wire(edges) => {
                let wire = costs.wire * u64::from(edges);
                wire + self.machine.store_submit(self.now + wire)
            }
            Work::EndScope => self.machine.store_scope(self.now),
            Work::CopyIn(bytes) => return self.copy(Direction::In, Copied::Upload, bytes),
            Work::CopyOut(bytes) => return self.copy(Direction::Out, Copied::Read, bytes),
        };
        self.advance_by(takes);
    }

    fn advance_time(&mut self, ticks: u64) {
        self.advance_by(self.machine.clock.ps(ticks));
    }

    fn wired(&mut self, predecessor: SlotIndex, successor: SlotIndex) {
        if self.machine.policy.uses_graph() {
            self.announce_task(successor);
            self.wiring = Some(successor);
            self.machine.policy.wired(predecessor, successor);
        }
    }

    fn drops_edges(&self) -> bool {
        self.dropped_edges.is_some()
    }

    fn keeps_edge(&self, before: u64, after: u64) -> bool {
        self.dropped_edges.is_none_or(|dropped| !dropped.contains(&(before, after)))
    }

    /// Waits for the control threads to finish, and records their remaining time.
    fn end(&mut self) {
        while let Some(next) = self.machine.next_event() {
            self.advance_to(next);
        }
        self.now = self.machine.schedulers.iter().map(|s| s.idle_since()).fold(self.now, Ps::max);
        // The run ends when the host has everything that tasks may have written.
        let mut end = self.now;
        for (number, buffer) in self.buffers.iter().enumerate() {
            if buffer.permission == Permission::ReadWrite {
                let what = Copied::Buffer(number as u32);
                end = self.machine.link.copy(end, Direction::Out, what, buffer.arena.bytes());
            }
        }
        self.now = end;
        // The last records are sent after the end, so that recording does not lengthen the run.
        let (logs, link) = (&mut self.machine.logs, &mut self.machine.link);
        logs.iter_mut().for_each(|log| log.flush(self.now, link));
        self.machine.clock.show(self.now);
        let (clock, probe) = (self.machine.clock.clone(), self.machine.probe);
        for (thread, scheduler) in self.machine.schedulers.iter_mut().enumerate() {
            scheduler.close(thread, &clock, self.now, |phase: &ThreadPhase| probe.phase(phase));
        }
        self.totals.take(&mut self.machine, self.now);
    }

    fn now(&self) -> Ticks {
        self.machine.clock.ticks(self.now)
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}

impl<P: Probe> SimChip<'_, P> {
    /// No event is left: a core is silent.
    #[cold]
    fn give_up(&mut self) {
        match self.machine.silent_core() {
            Some((core, since)) => {
                self.now = self.now.max(since.saturating_add(self.machine.spec.silent_after));
                let fault = self.machine.declare_silent(core, self.now);
                self.machine.table.abort_run(fault);
                self.machine.clock.show(self.now);
            }
            // Every published task is in a queue or on a core, and every thread with one has an event.
            None => unreachable!("a modelled chip has nothing to do and the orchestrator waits"),
        }
    }
}
