//! Why a view cannot be created.

use alloc::format;
use alloc::string::{String, ToString};

use crate::explain::Explain;
use crate::limits::MAX_VIEW_ELEMENTS;
use crate::view::MAX_RANK;

/// Why a view cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ViewError {
    /// A view has more dimensions than a tensor can have.
    TooManyDims { rank: usize },
    /// A view leaves its buffer.
    OutOfBounds { axis: usize, start: u64, end: u64, len: u64 },
    /// A view's bytes leave its buffer.
    PastEnd { end_bytes: u64, buffer_bytes: u64 },
    /// An operation names an axis that the view does not have.
    NoSuchAxis { axis: usize, rank: usize },
    /// An operation gives another number of dimensions than the view has.
    RankMismatch { given: usize, rank: usize },
    /// A view of this size cannot be represented.
    TooLarge { what: &'static str, value: u64, limit: u64 },
    /// A view cannot be reshaped.
    NotReshapable { from: u64, to: u64, contiguous: bool },
    /// A dimension of a view is empty.
    Empty { axis: usize },
    /// A view does not start on an element.
    Misaligned { offset_bytes: u64, element_bytes: usize },
}

impl ViewError {
    /// A view of this shape has more elements than can be counted safely.
    #[cold]
    pub(crate) fn elements(shape: impl Iterator<Item = u32>) -> Self {
        let value = shape.fold(1u64, |elements, len| elements.saturating_mul(len as u64));
        ViewError::TooLarge { what: "elements in all", value, limit: MAX_VIEW_ELEMENTS }
    }

    /// The distance between two elements of a dimension is too large.
    #[cold]
    pub(crate) fn stride(value: u64) -> Self {
        let what = "elements between adjacent indices of a dimension";
        ViewError::TooLarge { what, value, limit: u32::MAX as u64 }
    }
}

crate::explained_error!(ViewError);

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

    fn summary(&self) -> String {
        match self {
            ViewError::TooManyDims { .. } => "a view has more dimensions than a tensor can have",
            ViewError::OutOfBounds { .. } => "a view exceeds its tensor",
            ViewError::PastEnd { .. } => "the bytes of a view exceed its buffer",
            ViewError::NoSuchAxis { .. } => "an operation names an axis that the view does not have",
            ViewError::RankMismatch { .. } => {
                "an operation has a different number of dimensions than the view"
            }
            ViewError::TooLarge { .. } => "a view of this size cannot be represented",
            ViewError::NotReshapable { .. } => "a view cannot be reshaped",
            ViewError::Empty { .. } => "a dimension of a view is empty",
            ViewError::Misaligned { .. } => "a view does not start on an element",
        }
        .to_string()
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
            ViewError::RankMismatch { given, rank } => {
                format!("{given} dimensions given, the view has {rank}")
            }
            ViewError::TooLarge { what, value: u64::MAX, limit } => {
                format!("2^64 {what} or more, at most {limit}")
            }
            ViewError::TooLarge { what, value, limit } => format!("{value} {what}, at most {limit}"),
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
