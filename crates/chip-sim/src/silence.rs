//! Cores that do not respond.

use ringlane_engine::Fault;
use ringlane_engine::seams::Probe;
use ringlane_engine::table::task_id;

use crate::core::NEVER;
use crate::machine::Machine;
use crate::time::Ps;

impl<P: Probe> Machine<'_, P> {
    /// The core that has been silent the longest, and since when.
    pub(crate) fn silent_core(&self) -> Option<(usize, Ps)> {
        let flights =
            self.cores.iter().enumerate().filter_map(|(i, core)| core.flights.front().map(|f| (i, f)));
        flights
            .filter(|(_, f)| f.end == NEVER)
            .map(|(core, f)| (core, f.start))
            .min_by_key(|&(core, since)| (since, core))
    }

    /// The fault of a silent core. Its block counts as ended now, so that the run can end.
    pub(crate) fn declare_silent(&mut self, core: usize, now: Ps) -> Fault {
        let (since, record) = match self.cores[core].flights.front() {
            Some(flight) => (flight.start, flight.record),
            None => (now, Default::default()),
        };
        let (mut free, turn) = (now, self.costs.turn_around);
        for flight in &mut self.cores[core].flights {
            flight.start = flight.start.min(free);
            (flight.end, flight.seen) = (free, free);
            free += turn;
        }
        (0..self.schedulers.len()).for_each(|thread| self.begin_round_now(thread, now));
        let kernel = self.table.kernel(record.kernels[0]).map_or("", |kernel| kernel.name()).to_string();
        let executor = self.executor(core);
        // SAFETY: a block of the task is in flight, so the chip holds the task.
        let label = unsafe { executor.annotations(&record) }.label().map(str::to_string);
        let ticks = |ps| self.clock.ticks(ps).0;
        let waited_ticks = ticks(now).saturating_sub(ticks(since));
        Fault::CoreSilent {
            core: core as u32,
            task: task_id(&record),
            kernel,
            label,
            since_ticks: ticks(since),
            waited_ticks,
        }
    }
}
