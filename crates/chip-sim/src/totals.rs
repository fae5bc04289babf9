//! Totals of a run on a modelled chip, in addition to the engine's report.

use ringlane_engine::seams::Probe;

use crate::chaos::Draw;
use crate::core::CoreKind;
use crate::link::Copy;
use crate::machine::Machine;
use crate::time::Ps;

/// Totals of a run on a modelled chip, in addition to the engine's report.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// The virtual time from begin to end.
    pub makespan: Ps,
    /// Busy time of the cores of each kind, in total.
    pub busy: [Ps; 2],
    /// Cores of each kind.
    pub cores: [u32; 2],
    /// The first [`COPIES_MAX`](crate::link::COPIES_MAX) copies over the link.
    pub copies: Vec<Copy>,
    /// The number of copies.
    pub copy_count: u64,
    /// The first [`DRAWS_MAX`](crate::chaos::DRAWS_MAX) draws of chaos.
    pub draws: Vec<Draw>,
    /// The number of draws.
    pub draw_count: u64,
    /// The time for which control threads waited for an empty record buffer.
    pub record_waits: Ps,
}

impl Totals {
    pub(crate) fn take<P: Probe>(&mut self, machine: &mut Machine<'_, P>, makespan: Ps) {
        (self.makespan, self.record_waits) = (makespan, machine.record_waits);
        (self.copies, self.copy_count) = (core::mem::take(&mut machine.link.copies), machine.link.count);
        if let Some(chaos) = &mut machine.chaos {
            (self.draws, self.draw_count) = (core::mem::take(&mut chaos.draws), chaos.count);
        }
        for core in &machine.cores {
            self.busy[core.kind as usize] += core.busy;
            self.cores[core.kind as usize] += 1;
        }
    }

    /// The share of a kind's time that its cores were busy.
    pub fn utilization(&self, kind: CoreKind) -> f64 {
        let all = self.makespan as f64 * f64::from(self.cores[kind as usize]);
        if all > 0.0 { self.busy[kind as usize] as f64 / all } else { 0.0 }
    }
}
