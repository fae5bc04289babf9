//! Tasks of the engine's table as tasks of a batch.

use ringlane_engine::completion::Executor;
use ringlane_engine::placed::EncodedBlock;
use ringlane_engine::seams::Probe;
use ringlane_engine::slot::TaskRecord;

use crate::batch::{Batch, BatchTask};
use crate::device::Answer;
use crate::launcher::Launcher;
use crate::memory::DeviceMemory;

/// Adds a task of the table to a batch.
pub(crate) fn push<P: Probe>(
    batch: &mut Batch,
    launcher: &mut Launcher,
    executor: &Executor<'_, P, DeviceMemory<'_>>,
    record: &TaskRecord,
    predecessors: &[u32],
) -> Answer<()> {
    let task = BatchTask { predecessors, makes_outputs: record.flags.has_outputs() };
    if record.total_blocks() == 1 {
        // SAFETY: as below.
        let block = unsafe { executor.encoded(record, 0) };
        batch.push_one(&task, launcher.number_of(block.kernel)?, &block);
        return Ok(());
    }
    batch.push(&task, &encode_blocks(launcher, executor, record)?);
    Ok(())
}

/// The blocks of a task of the table, each with the number of its kernel in the program.
pub(crate) fn encode_blocks<'a, P: Probe>(
    launcher: &mut Launcher,
    executor: &'a Executor<'_, P, DeviceMemory<'_>>,
    record: &TaskRecord,
) -> Answer<Vec<(u16, EncodedBlock<'a>)>> {
    let mut blocks = Vec::with_capacity(record.total_blocks() as usize);
    for index in 0..record.total_blocks() {
        // SAFETY: the submitter's own task, whose records stay until it is settled.
        let block = unsafe { executor.encoded(record, index) };
        blocks.push((launcher.number_of(block.kernel)?, block));
    }
    Ok(blocks)
}
