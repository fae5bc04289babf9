//! Why a view cannot be made, in words that help.

use alloc::format;
use alloc::string::{String, ToString};

use crate::explain::Explain;
use crate::view::MAX_RANK;

/// Why a view cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum ViewError {
    #[error("a view has more dimensions than a tensor can have")]
    TooManyDims { rank: usize },
    #[error("a view leaves its buffer")]
    OutOfBounds { axis: usize, start: u64, end: u64, len: u64 },
    #[error("a view's bytes leave its buffer")]
    PastEnd { end_bytes: u64, buffer_bytes: u64 },
    #[error("an operation names an axis that the view does not have")]
    NoSuchAxis { axis: usize, rank: usize },
    #[error("an operation gives another number of dimensions than the view has")]
    RankMismatch { given: usize, rank: usize },
    #[error("a view of this size cannot be described")]
    TooLarge { what: &'static str, value: u64 },
    #[error("a view cannot be reshaped")]
    NotReshapable { from: u64, to: u64, contiguous: bool },
    #[error("a dimension of a view is empty")]
    Empty { axis: usize },
    #[error("a view does not start on an element")]
    Misaligned { offset_bytes: u64, element_bytes: usize },
}

impl Explain for ViewError {
    fn name(&self) -> &'static str {
        match self {
            ViewError::TooManyDims { .. } => "TooManyDims",
            ViewError::OutOfBounds { .. } | ViewError::PastEnd { .. } => "ViewOutOfBounds",
            ViewError::NoSuchAxis { .. } => "NoSuchAxis",
            ViewError::RankMismatch { .. } => "RankMismatch",
            ViewError::TooLarge { .. } => "ViewTooLarge",
            ViewError::NotReshapable { .. } => "NotReshapable",
            ViewError::Empty { .. } => "EmptyView",
            ViewError::Misaligned { .. } => "MisalignedView",
        }
    }

    fn detail(&self) -> String {
        match self {
            ViewError::TooManyDims { rank } => format!("{rank} dimensions, at most {MAX_RANK}"),
            ViewError::OutOfBounds { axis, start, end, len } => {
                format!("axis {axis}: {start}..{end} of {len}")
            }
            ViewError::PastEnd { end_bytes, buffer_bytes } => {
                format!("the view ends at byte {end_bytes}, the buffer has {buffer_bytes}")
            }
            ViewError::NoSuchAxis { axis, rank } => format!("axis {axis} of a view with {rank} dimensions"),
            ViewError::RankMismatch { given, rank } => format!("{given} given, the view has {rank}"),
            ViewError::TooLarge { what, value } => format!("{what} of {value}, at most {}", u32::MAX),
            ViewError::NotReshapable { from, to, contiguous } => {
                format!("{from} elements into {to}, contiguous: {contiguous}")
            }
            ViewError::Empty { axis } => format!("axis {axis} has length 0"),
            ViewError::Misaligned { offset_bytes, element_bytes } => {
                format!("offset {offset_bytes} with elements of {element_bytes} bytes")
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            ViewError::TooManyDims { .. } => "merge dimensions that are contiguous with each other",
            ViewError::OutOfBounds { .. } | ViewError::PastEnd { .. } => {
                "check the start and length of the tile"
            }
            ViewError::NoSuchAxis { .. } => "axes count from 0",
            ViewError::RankMismatch { .. } => "give one value for each dimension of the view",
            ViewError::TooLarge { .. } => "split the tensor into several",
            ViewError::NotReshapable { .. } => {
                "reshape keeps the number of elements and needs a contiguous view"
            }
            ViewError::Empty { .. } => "every dimension needs at least one element",
            ViewError::Misaligned { .. } => "give an offset that is a multiple of the element size",
        }
        .to_string()
    }
}
