//! The experiments that answer "what would help?": one change each.

use ringlane_chip_sim::policy::PolicyName;
use ringlane_task::HostMemory;

use super::change::{Change, Cores, KernelTime};
use super::experiment::Experiment;
use super::limits::KERNELS_MAX;
use crate::device::RecordedDevice;
use crate::machine::RecordedMachine;
use crate::recorded::{GraphBuild, Program, Recorded};

/// Those of a run on the machine's own cores.
pub(super) fn of_machine(recorded: &RecordedMachine) -> Vec<Experiment> {
    let of_task = |place: usize, block: usize| recorded.measured.blocks[place][block].kernel;
    let mut changes = faster(&recorded.program, of_task);
    if !recorded.measured.is_captured {
        changes.extend([0.5, 0.0].map(Change::Submit));
        changes.push(Change::Build(GraphBuild::Captured { memory_limit: None }));
    }
    let more = [recorded.threads + 1, 2 * recorded.threads].map(Cores::Threads);
    changes.extend(more.into_iter().chain([Cores::Unlimited]).map(Change::Cores));
    changes.into_iter().map(Experiment::from).collect()
}

/// Those of a run on a device whose processors run lists of blocks.
pub(super) fn of_device(recorded: &RecordedDevice) -> Vec<Experiment> {
    let of_task = |place: usize, block: usize| recorded.measured.blocks[place][block].kernel;
    let mut changes = faster(&recorded.program, of_task);
    if !recorded.measured.is_captured {
        changes.extend([0.5, 0.0].map(Change::Submit));
        changes.push(Change::Build(GraphBuild::Captured { memory_limit: None }));
    }
    if recorded.measured.copies.iter().any(|&ticks| ticks > 0) {
        changes.extend([0.5, 0.0].map(Change::Copies));
    }
    changes.extend([Cores::Twice, Cores::Unlimited].map(Change::Cores));
    changes.into_iter().map(Experiment::from).collect()
}

/// Those of a run on a modelled chip.
pub(super) fn of_chip(recorded: &Recorded) -> Vec<Experiment> {
    let of_task = |place: usize, block: usize| recorded.costs.of_task(place)[block].work.picoseconds;
    let mut changes = faster(&recorded.program, of_task);
    changes.extend([0.5, 0.0].map(Change::Scheduler));
    changes.extend([Cores::OneMoreCluster, Cores::Twice, Cores::Unlimited].map(Change::Cores));
    let moves_data = |place| recorded.costs.of_task(place).iter().any(|block| block.work.bytes > 0);
    changes.extend((0..recorded.program.tasks.len()).any(moves_data).then_some(Change::Memory(2.0)));
    if recorded.setup.chip.host_memory == HostMemory::Copied {
        changes.extend([0.5, 0.0].map(Change::Copies));
    }
    let others = PolicyName::ALL.into_iter().filter(|policy| *policy != recorded.setup.policy);
    changes.extend(others.map(Change::Policy));
    match recorded.setup.build {
        GraphBuild::Streamed => {
            changes.extend([0.5, 0.0].map(Change::Submit));
            changes
                .extend([Change::UnlimitedRings, Change::Build(GraphBuild::Captured { memory_limit: None })]);
        }
        // A captured graph has no submits and no rings.
        GraphBuild::Captured { .. } => changes.push(Change::Build(GraphBuild::Streamed)),
    }
    changes.into_iter().map(Experiment::from).collect()
}

/// Kernels made faster: those with the most work, by the time of each block.
fn faster(program: &Program, time_of: impl Fn(usize, usize) -> u64) -> Vec<Change> {
    let mut work = vec![0u64; program.kernels.len()];
    for (place, task) in program.tasks.iter().enumerate() {
        for (lane, &kernel) in task.lanes.iter().flatten().enumerate() {
            let first = lane * task.blocks as usize;
            let total: u64 = (first..first + task.blocks as usize).map(|block| time_of(place, block)).sum();
            work[usize::from(kernel)] = work[usize::from(kernel)].saturating_add(total);
        }
    }
    let mut order: Vec<usize> = (0..work.len()).filter(|&kernel| work[kernel] > 0).collect();
    order.sort_by_key(|&kernel| std::cmp::Reverse(work[kernel]));
    order.truncate(KERNELS_MAX);
    let factors = |kernel: usize| {
        let name = &program.kernels[kernel].name;
        [0.9, 0.5, 0.0].map(|factor| Change::Kernel(name.clone(), KernelTime::Factor(factor)))
    };
    order.into_iter().flat_map(factors).collect()
}
