//! Whether kernels wait for memory, as far as counters show it.
//!
//! | counters | data moves in | computes in |
//! |---|---|---|
//! | of a chip's pipes (`--pmu`, group 2) | `mte2`, `mte3`, `fixpipe` busy | `vec`, `cube` busy |
//! | of the machine's processor, group `stall` | cycles stalled at the back end | |
//!
//! Kernels are memory-bound if, weighted by the time that matters to the verdict, data moves in at least half of their cycles
//! and in more of them than compute. Other groups, and the fallback that counts nothing, say nothing. Nor does a run of which
//! counters are missing for half of that time.

use std::collections::BTreeMap;

use ringlane_task::KernelId;

use crate::bound::Placement;
use crate::critical_path::CriticalPath;
use crate::pmu::{Counters, Measured};
use crate::timeline::Timeline;

/// Counters of cycles in which data moves, or is waited for.
const MOVING: [&str; 4] =
    ["mte2_busy_cycles", "mte3_busy_cycles", "fixpipe_busy_cycles", "stalled_cycles_backend"];

/// Counters of cycles in which a unit computes.
const COMPUTING: [&str; 2] = ["vec_busy_cycles", "cube_busy_cycles"];

/// From this part of the cycles on, moving data is what takes them.
const MOSTLY: f64 = 0.5;

/// What kernels did with their cycles, as parts of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cycles {
    pub(super) moving: f64,
    pub(super) computing: f64,
}

impl Cycles {
    pub(super) fn is_bound(&self) -> bool {
        self.moving >= MOSTLY && self.moving > self.computing
    }
}

/// Of the kernels whose blocks ran on these cores, by the time they took.
pub(super) fn of_pool(timeline: &Timeline, pool: Placement, counters: &Counters) -> Option<Cycles> {
    let mut times = BTreeMap::<KernelId, f64>::new();
    for block in timeline.blocks.iter().filter(|block| pool.admits(timeline.kind_of(block))) {
        *times.entry(block.func_id).or_default() += block.duration().0 as f64;
    }
    weighted(times, counters)
}

/// Of the kernels on a path, by the time they take of it.
pub(super) fn of_path(path: &CriticalPath, counters: &Counters) -> Option<Cycles> {
    weighted(path.kernels().into_iter().map(|(kernel, ticks, _)| (kernel, ticks.0 as f64)), counters)
}

fn weighted(times: impl IntoIterator<Item = (KernelId, f64)>, counters: &Counters) -> Option<Cycles> {
    let (mut sum, mut counted, mut all) = (Cycles::default(), 0.0, 0.0);
    for (kernel, time) in times {
        all += time;
        if let Some(cycles) = of_kernel(kernel, counters) {
            counted += time;
            sum.moving += time * cycles.moving;
            sum.computing += time * cycles.computing;
        }
    }
    (counted > 0.0 && counted >= MOSTLY * all)
        .then(|| Cycles { moving: sum.moving / counted, computing: sum.computing / counted })
}

/// Of one kernel, on all kinds of cores; `None` if nothing was counted that shows it.
fn of_kernel(kernel: KernelId, counters: &Counters) -> Option<Cycles> {
    let columns = |names: &[&str]| -> Vec<usize> {
        let at = |name: &&str| counters.columns.iter().position(|column| column == name);
        names.iter().filter_map(at).collect()
    };
    let (moving, computing) = (columns(&MOVING), columns(&COMPUTING));
    let rows =
        || counters.kernels.iter().filter(|row| row.kernel == kernel && row.measured == Measured::Cycles);
    let cycles: u128 = rows().map(|row| row.cycles.total).sum();
    // Pipes work side by side: together they can be busy for more cycles than there are.
    let part = |columns: &[usize]| {
        let sums = rows().flat_map(|row| columns.iter().filter_map(|&column| row.sums.get(column)));
        (sums.sum::<u128>() as f64 / cycles as f64).min(1.0)
    };
    (!moving.is_empty() && cycles > 0).then(|| Cycles { moving: part(&moving), computing: part(&computing) })
}
