//! The orchestrator's side: its clock, and how its work and its waits let time pass.

use ringlane_engine::Fault;
use ringlane_engine::api::args::Space;
use ringlane_engine::api::buffers::Permission;
use ringlane_engine::observed::ThreadPhase;
use ringlane_engine::seams::{Chip, Company, Probe, Work};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::table::Stop;
use ringlane_task::{HostMemory, Ticks};

use crate::link::{Copied, Direction};
use crate::machine::Machine;
use crate::memory::DeviceBuffer;
use crate::time::{Ps, SECOND, TIME_MAX, later};
use crate::totals::Totals;

/// The modelled chip, as the engine's submitter sees it.
pub(crate) struct SimChip<'t, P> {
    machine: Machine<'t, P>,
    /// The orchestrator's clock. Everything before it has happened.
    now: Ps,
    /// What is told after the run.
    totals: &'t mut Totals,
    /// The task whose edges are being wired.
    wiring: Option<SlotIndex>,
    /// External buffers in memory that the host does not see.
    buffers: Vec<DeviceBuffer>,
}

impl<'t, P: Probe> SimChip<'t, P> {
    pub(crate) fn new(machine: Machine<'t, P>, totals: &'t mut Totals) -> Self {
        *totals = Totals::default();
        machine.clock.show(0);
        SimChip { machine, now: 0, totals, wiring: None, buffers: Vec::new() }
    }

    /// Lets time pass for the orchestrator.
    fn pass(&mut self, ps: Ps) {
        self.go_on_to(later(self.now, ps));
    }

    /// Lets everything happen up to a time, which is the orchestrator's then.
    fn go_on_to(&mut self, at: Ps) {
        self.now = self.now.max(at);
        self.machine.run_until(self.now);
        self.machine.clock.show(self.now);
        if self.now >= TIME_MAX && self.totals.fault.is_none() {
            self.stop(Fault::VirtualTimeOver { seconds: TIME_MAX / SECOND });
        }
    }

    /// Ends the run; the first reason is the one that is told.
    fn stop(&mut self, fault: Fault) {
        self.machine.table.stop(Stop::Fatal);
        self.totals.fault.get_or_insert(fault);
    }

    /// A policy that looks ahead learns of a task when it is first heard of.
    fn introduce(&mut self, task: SlotIndex) {
        if self.wiring != Some(task) && self.machine.policy.looks_ahead() {
            let takes = self.machine.takes(task);
            self.machine.policy.submitted(task, takes);
        }
    }
}

impl<P: Probe> Chip for SimChip<'_, P> {
    const TIMED: bool = true;

    unsafe fn external(&mut self, host: Space, permission: Permission) -> Space {
        if self.host_sees_memory() {
            return host;
        }
        // SAFETY: the caller's promise: the buffer stays, and is the run's alone.
        let Some(buffer) = (unsafe { DeviceBuffer::copy_of(host, permission) }) else {
            // The run is stopped when it begins: nothing comes to touch the host's own.
            let fault = Fault::OutOfMemory { what: "a buffer of the chip", bytes: host.bytes };
            self.totals.fault.get_or_insert(fault);
            return host;
        };
        let space = buffer.space();
        self.buffers.push(buffer);
        space
    }

    /// What the chip cannot see where it is has been copied: that takes its time.
    fn begin(&mut self) {
        if let Some(fault) = self.totals.fault.clone() {
            return self.stop(fault);
        }
        let mut end = self.now;
        for (number, buffer) in self.buffers.iter().enumerate().filter(|(_, buffer)| buffer.bytes() > 0) {
            let what = Copied::Buffer(number as u32);
            end = self.machine.link.copy(end, Direction::In, what, buffer.bytes());
        }
        self.go_on_to(end);
    }

    fn host_sees_memory(&self) -> bool {
        self.machine.spec.host_memory == HostMemory::Mapped
    }

    fn copy_in(&mut self, bytes: u64) {
        if !self.host_sees_memory() {
            let end = self.machine.link.copy(self.now, Direction::In, Copied::Upload, bytes);
            self.go_on_to(end);
        }
    }

    fn copy_out(&mut self, bytes: u64) {
        if !self.host_sees_memory() {
            let end = self.machine.link.copy(self.now, Direction::Out, Copied::Read, bytes);
            self.go_on_to(end);
        }
    }

    fn publish(&mut self, task: SlotIndex) {
        self.introduce(task);
        self.wiring = None;
        self.machine.make_ready(task, self.now, None);
    }

    fn relax(&mut self) {
        let Some(next) = self.machine.next_event() else {
            return self.give_up();
        };
        self.go_on_to(next);
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
        };
        self.pass(takes);
    }

    fn spend(&mut self, ticks: u64) {
        self.pass(self.machine.clock.ps(ticks));
    }

    fn wired(&mut self, predecessor: SlotIndex, successor: SlotIndex) {
        if self.machine.policy.looks_ahead() {
            self.introduce(successor);
            self.wiring = Some(successor);
            self.machine.policy.wired(predecessor, successor);
        }
    }

    /// The control threads come to rest, and what they did is told to the end.
    fn end(&mut self) {
        while let Some(next) = self.machine.next_event() {
            self.go_on_to(next);
        }
        self.now = self.machine.schedulers.iter().map(|s| s.rests_since()).fold(self.now, Ps::max);
        // The run is over when the host has what tasks may have written.
        let mut end = self.now;
        for (number, buffer) in self.buffers.iter().enumerate() {
            // SAFETY: every task is done.
            if unsafe { buffer.copy_back() } {
                let what = Copied::Buffer(number as u32);
                end = self.machine.link.copy(end, Direction::Out, what, buffer.bytes());
            }
        }
        self.now = end;
        // The last records follow after the end, so that a run does not get longer by being watched.
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

    fn company(&self) -> Company {
        Company::Alone
    }
}

impl<P: Probe> SimChip<'_, P> {
    /// Nothing will ever happen: a core is silent.
    #[cold]
    fn give_up(&mut self) {
        match self.machine.silent_core() {
            Some((core, since)) => {
                self.now = self.now.max(since.saturating_add(self.machine.spec.silent_after));
                let fault = self.machine.declare_silent(core, self.now);
                self.stop(fault);
                self.machine.clock.show(self.now);
            }
            // Every task that was published is in a queue or on a core, and every thread with one has an event.
            None => unreachable!("a modelled chip has nothing to do and the orchestrator waits"),
        }
    }
}
