//! What a run on a modelled chip tells beside the engine's report.

use ringlane_engine::seams::Probe;

use crate::chaos::Draw;
use crate::core::CoreKind;
use crate::link::Copy;
use crate::machine::Machine;
use crate::time::Ps;

/// What a run on a modelled chip tells beside the engine's report.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// From begin to end.
    pub makespan: Ps,
    /// How long the cores of each kind were busy, added up.
    pub busy: [Ps; 2],
    /// Cores of each kind.
    pub cores: [u32; 2],
    /// Copies over the link, the first [`COPIES_MAX`](crate::link::COPIES_MAX) of them, and how many there were.
    pub copies: Vec<Copy>,
    /// See `copies`.
    pub copy_count: u64,
    /// What chaos drew, the first [`DRAWS_MAX`](crate::chaos::DRAWS_MAX) of it, and how often.
    pub draws: Vec<Draw>,
    /// See `draws`.
    pub draw_count: u64,
    /// How long control threads waited for room for what they recorded.
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
