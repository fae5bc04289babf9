//! Errors of argument blobs.

use alloc::format;
use alloc::string::{String, ToString};

use crate::dtype::DType;
use crate::explain::Explain;
use crate::limits::{MAX_SCALARS, MAX_TENSORS};
use crate::view::MAX_RANK;
use crate::view_error::ViewError;

/// Why an argument blob is refused, by its writer or by its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BlobError {
    /// A task has more tensors than it can take.
    TooManyTensors { count: usize },
    /// A task has more scalars than it can take.
    TooManyScalars { count: usize },
    /// The arguments of a task do not fit into the space for them.
    DoesNotFit { need_bytes: usize, have_bytes: usize, tensors: usize, scalars: usize },
    /// An argument blob is truncated.
    Truncated { need_bytes: usize, have_bytes: usize, tensors: usize, scalars: usize },
    /// An argument has an unknown data type.
    UnknownDType { what: &'static str, index: usize, code: u8 },
    /// A tensor argument has an unknown access.
    UnknownAccess { index: usize, code: u8 },
    /// A tensor argument has more dimensions than a tensor can have.
    TooManyDims { index: usize, rank: u8 },
    /// Bytes of an argument blob that must be zero are not.
    NotZero { what: &'static str, index: usize },
    /// A tensor argument is not a view of its buffer.
    BadView { index: usize, source: ViewError },
    /// A scalar argument is not a value of its type.
    BadScalar { index: usize, bits: u64, dtype: DType },
}

crate::explained_error!(BlobError);

impl Explain for BlobError {
    fn name(&self) -> &'static str {
        match self {
            BlobError::TooManyTensors { .. } => "TooManyTensors",
            BlobError::TooManyScalars { .. } => "TooManyScalars",
            BlobError::DoesNotFit { .. } => "ArgumentsDoNotFit",
            BlobError::Truncated { .. } => "BlobTruncated",
            BlobError::UnknownDType { .. } => "UnknownDType",
            BlobError::UnknownAccess { .. } => "UnknownAccess",
            BlobError::TooManyDims { .. } => "TooManyDims",
            BlobError::NotZero { .. } => "BlobNotZero",
            BlobError::BadView { source, .. } => source.name(),
            BlobError::BadScalar { .. } => "BadScalar",
        }
    }

    fn summary(&self) -> String {
        match self {
            BlobError::TooManyTensors { .. } => "a task has more tensors than it can take",
            BlobError::TooManyScalars { .. } => "a task has more scalars than it can take",
            BlobError::DoesNotFit { .. } => "the arguments of a task do not fit into the space for them",
            BlobError::Truncated { .. } => "an argument blob is truncated",
            BlobError::UnknownDType { .. } => "an argument has an unknown data type",
            BlobError::UnknownAccess { .. } => "a tensor argument has an unknown access",
            BlobError::TooManyDims { .. } => "a tensor argument has more dimensions than a tensor can have",
            BlobError::NotZero { .. } => "bytes of an argument blob that must be zero are not",
            BlobError::BadView { .. } => "a tensor argument is not a view of its buffer",
            BlobError::BadScalar { .. } => "a scalar argument is not a value of its type",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            BlobError::TooManyTensors { count } => format!("{count} tensors, at most {MAX_TENSORS}"),
            BlobError::TooManyScalars { count } => format!("{count} scalars, at most {MAX_SCALARS}"),
            BlobError::DoesNotFit { need_bytes, have_bytes, tensors, scalars }
            | BlobError::Truncated { need_bytes, have_bytes, tensors, scalars } => {
                format!(
                    "{tensors} tensors and {scalars} scalars take {need_bytes} bytes, but there are only {have_bytes}"
                )
            }
            BlobError::UnknownDType { what, index, code } => format!("{what} {index}: code {code}"),
            BlobError::UnknownAccess { index, code } => format!("tensor {index}: code {code}"),
            BlobError::TooManyDims { index, rank } => {
                format!("tensor {index}: {rank} dimensions, at most {MAX_RANK}")
            }
            BlobError::NotZero { what, index } => format!("{what}, argument {index}"),
            BlobError::BadView { index, source } => format!("tensor {index}: {}", source.detail()),
            BlobError::BadScalar { index, bits, dtype } => format!("scalar {index}: {bits:#x} as {dtype}"),
        }
    }

    fn hint(&self) -> String {
        match self {
            BlobError::TooManyTensors { .. } => "pass several tensors as one, or split the task",
            BlobError::TooManyScalars { .. } => "pass the scalars as a tensor, or split the task",
            BlobError::DoesNotFit { .. } => "pass fewer arguments to the task",
            BlobError::BadView { source, .. } => return source.hint(),
            BlobError::Truncated { .. }
            | BlobError::UnknownDType { .. }
            | BlobError::UnknownAccess { .. }
            | BlobError::TooManyDims { .. }
            | BlobError::NotZero { .. }
            | BlobError::BadScalar { .. } => {
                "the sender is faulty or another version: check that both sides run the same build"
            }
        }
        .to_string()
    }
}
