//! What experiments on runs whose blocks were measured have in common: those on the machine's own cores, and those on a device.

use super::change::KernelTime;
use super::experiment::check_kernel;
use crate::error::ReplayError;
use crate::recorded::{GraphBuild, Program};

/// The blocks of a kernel, among those of all tasks: by lane, then by block.
pub(super) fn blocks_of<'b, B>(
    program: &'b Program,
    blocks: &'b mut [Vec<B>],
    name: &'b str,
) -> Result<impl Iterator<Item = &'b mut B>, ReplayError> {
    check_kernel(program, name)?;
    let is_it = move |kernel: u16| program.kernels[usize::from(kernel)].name == name;
    let of_task = move |(task, blocks): (&'b crate::recorded::ProgramTask, &'b mut Vec<B>)| {
        let lanes = task.lanes.iter().flatten().zip(blocks.chunks_mut(task.blocks.max(1) as usize));
        lanes.filter(move |(kernel, _)| is_it(**kernel)).flat_map(|(_, lane)| lane)
    };
    Ok(program.tasks.iter().zip(blocks).flat_map(of_task))
}

impl KernelTime {
    /// What a block takes that took this number of ticks.
    pub(super) fn of_block(self, ticks: u64, clock_freq_hz: u64) -> u64 {
        match self {
            KernelTime::Factor(factor) => (ticks as f64 * factor) as u64,
            KernelTime::Picoseconds(picoseconds) => {
                (u128::from(picoseconds) * u128::from(clock_freq_hz) / 1_000_000_000_000) as u64
            }
        }
    }
}

/// Multiplies times.
pub(super) fn scale(times: &mut [u64], factor: f64) {
    times.iter_mut().for_each(|ticks| *ticks = (*ticks as f64 * factor) as u64);
}

/// Whether a run whose graph was built one way becomes one of a captured graph. What submits of a streamed run take is not
/// known from a captured one.
pub(super) fn is_captured_by(
    build: GraphBuild,
    was_captured: bool,
    program: &Program,
    options: &str,
) -> Result<bool, ReplayError> {
    let impossible =
        |what: &str, hint: &str| ReplayError::Impossible { what: what.into(), hint: hint.into() };
    match (build, was_captured) {
        (GraphBuild::Captured { .. }, true) | (GraphBuild::Streamed, false) => Ok(false),
        (GraphBuild::Streamed, true) => Err(impossible(
            "the run is of a captured graph: it shows no times of submits, which streaming has",
            "record the run again with --runtime tensormap_and_ringbuffer",
        )),
        (GraphBuild::Captured { .. }, false) if program.reads_values() => Err(impossible(
            "the program reads values while it submits tasks, so it cannot be captured",
            options,
        )),
        (GraphBuild::Captured { .. }, false) => Ok(true),
    }
}
