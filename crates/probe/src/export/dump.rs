//! Captured arguments become `tensor_dump/tensor_dump.json`; their bytes are in place already.

use std::io;

use ringlane_task::{Access, DType, Dim, KernelId, Scalar, Seq, TaskId};
use ringlane_trace::ArtifactFile;
use ringlane_trace::deps::TensorIndex;
use ringlane_trace::dump::{
    DumpData, DumpKernel, DumpRecord, DumpTask, DumpTensor, DumpWriter, Role, Stage, Truncated,
};
use ringlane_trace::rows::{RowCounts, ViewRow};

use super::checksums::Checksums;
use super::{Export, Rows};
use crate::dump::{BEFORE, Captured, CapturedTask, SCALAR};
use crate::kinds;

impl Export<'_> {
    pub(super) fn dump(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        let selection = self.settings.dump.chosen();
        let kernels: Vec<_> = self.facts.kernels.iter().map(DumpKernel::from).collect();
        let mut writer = DumpWriter::new(out, selection.as_deref(), &kernels);
        self.for_each(kinds::DUMP_TASKS, rows, |_, task: CapturedTask| {
            let func_ids = task.kernels.map(|id| KernelId(id as u32));
            let func_ids = func_ids[..(task.lanes as usize).min(3)].into();
            writer.task(&DumpTask { task_id: TaskId(task.task_id), seq: Seq(task.seq), func_ids })
        })?;
        let lost = self.recorded.kind(kinds::PAYLOAD).is_some_and(|payload| payload.failure().is_some());
        let mut checksums = Checksums::new(self.payload.as_ref());
        self.for_each(kinds::DUMP, rows, |_, captured: Captured| {
            // The bytes of one record may be many.
            self.go_on()?;
            record(&captured, lost, &mut checksums).map_or(Ok(()), |record| writer.record(&record))
        })?;
        Ok(writer.finish(self.dropped(kinds::DUMP, rows))?.records)
    }
}

/// The row of a captured argument. Where bytes were lost on their way to the file, `lost`, none are claimed.
fn record(captured: &Captured, lost: bool, checksums: &mut Checksums<'_>) -> Option<DumpRecord> {
    let dtype = DType::from_code(captured.dtype)?;
    let (role, data) = if captured.kind == SCALAR {
        (Role::Input, DumpData::Scalar(Scalar::from_bits(captured.value, dtype)?))
    } else {
        let dims = captured.dims.map(|[len, stride]| Dim { len, stride });
        let view = ViewRow::new(dtype, captured.offset, &dims[..captured.rank as usize])?;
        let bin_size = if lost { 0 } else { captured.bin_size };
        let truncated = if bin_size < captured.bytes { Truncated::Yes } else { Truncated::No };
        // The place of bytes that are not there may be past the end of the file.
        let bin_offset = if bin_size == 0 { 0 } else { captured.bin_offset };
        let crc32 = checksums.of(bin_offset, bin_size);
        let tensor = Some(TensorIndex(captured.tensor));
        let tensor = DumpTensor { tensor, view, truncated, bin_offset, bin_size, crc32 };
        (Role::of(Access::from_code(captured.access)?)?, DumpData::Tensor(tensor))
    };
    let stage = if captured.stage == BEFORE { Stage::BeforeDispatch } else { Stage::AfterCompletion };
    Some(DumpRecord { task_id: TaskId(captured.task_id), arg_index: captured.arg as u32, role, stage, data })
}
