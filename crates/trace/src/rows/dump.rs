//! `tensor_dump/tensor_dump.json`: what went into and came out of each task. The bytes of tensors are in
//! `tensor_dump.bin` beside it; scalars are here.

mod checksum;
mod payload;
mod read;
mod record;
mod scalar;
mod write;

use std::borrow::Cow;

use ringlane_task::{Access, KernelId, Scalar, Seq, TaskId};

use super::deps::TensorIndex;
use super::{KernelRow, RowCounts, ViewRow};
pub use checksum::Checksum;
pub use payload::Payloads;
pub use read::{Dump, DumpHead, DumpRow, read_dump};
pub use write::DumpWriter;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "tensor_dump/tensor_dump.json";

/// The name of the file of bytes in the run directory.
pub const BIN_FILE_NAME: &str = "tensor_dump/tensor_dump.bin";

/// The name of the file of bytes, as the JSON beside it says it.
pub const BIN_FILE: &str = "tensor_dump.bin";

/// The version of the file.
pub const VERSION: u64 = 1;

names! {
    /// What an argument is to its task.
    Role {
        /// Read only.
        Input = "input",
        /// Written only.
        Output = "output",
        /// Read and written.
        InOut = "inout",
    }
}

impl Role {
    /// The role of an access; `None` for one that is not captured.
    pub const fn of(access: Access) -> Option<Self> {
        match access {
            Access::Input => Some(Role::Input),
            Access::Output | Access::OutputExisting => Some(Role::Output),
            Access::InOut => Some(Role::InOut),
            Access::NoDep => None,
        }
    }
}

names! {
    /// When an argument was captured.
    Stage {
        /// Before any block of the task ran.
        BeforeDispatch = "before_dispatch",
        /// After the last block, before any task that waits for it.
        AfterCompletion = "after_completion",
    }
}

row! { object
    /// A kernel of the run.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DumpKernel {
        /// Its number in this run.
        func_id: KernelId,
        /// Its name.
        name: String,
    }
}

impl From<&KernelRow> for DumpKernel {
    fn from(kernel: &KernelRow) -> Self {
        DumpKernel { func_id: kernel.func_id, name: kernel.name.clone() }
    }
}

row! { array
    /// A task that has records.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DumpTask<'a> {
        /// The task.
        task_id: TaskId,
        /// Its place in the order of submission.
        seq: Seq,
        /// Its kernels.
        func_ids: Cow<'a, [KernelId]>,
    }
}

/// One argument at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpRecord {
    /// The task.
    pub task_id: TaskId,
    /// Which of its arguments.
    pub arg_index: u32,
    /// What the argument is to the task.
    pub role: Role,
    /// When it was captured.
    pub stage: Stage,
    /// What was found.
    pub data: DumpData,
}

/// What was found in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpData {
    /// Elements.
    Tensor(DumpTensor),
    /// A value with the type it was added with.
    Scalar(Scalar),
}

/// Where the captured elements of a tensor are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpTensor {
    /// The tensor that the argument is a part of, as in `deps.json`; `None` in files that do not say it.
    pub tensor: Option<TensorIndex>,
    /// The part of its buffer that the argument is.
    pub view: ViewRow,
    /// Whether bytes at the end are missing.
    pub truncated: Truncated,
    /// Where its bytes begin in the file of bytes.
    pub bin_offset: u64,
    /// How many they are.
    pub bin_size: u64,
    /// The CRC-32 of these bytes; `None` if there are none, or the run is from before there were checksums.
    pub crc32: Option<u32>,
}

/// Whether all of a tensor was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truncated {
    /// All of it.
    #[default]
    No,
    /// Only its beginning.
    Yes,
}

/// How many records of each sort there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpCounts {
    /// Records in the file, and those that were lost.
    pub records: RowCounts,
    /// Records of tensors.
    pub tensors: u64,
    /// Records of scalars.
    pub scalars: u64,
    /// Tensors that are cut short.
    pub truncated: u64,
    /// Records from before their task.
    pub before_dispatch: u64,
    /// Records from after their task.
    pub after_completion: u64,
}

impl DumpCounts {
    /// Counts one record.
    pub(crate) fn add(&mut self, record: &DumpRecord) {
        self.records.collected += 1;
        match record.data {
            DumpData::Tensor(tensor) => {
                self.tensors += 1;
                self.truncated += u64::from(tensor.truncated == Truncated::Yes);
            }
            DumpData::Scalar(_) => self.scalars += 1,
        }
        match record.stage {
            Stage::BeforeDispatch => self.before_dispatch += 1,
            Stage::AfterCompletion => self.after_completion += 1,
        }
    }
}
