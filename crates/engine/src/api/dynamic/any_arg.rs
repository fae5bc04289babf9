//! Arguments as they come: for kernels whose parameter types are known only at run time.

#![forbid(unsafe_code)]

use ringlane_task::{Access, DType, Dim, MAX_RANK, Scalar};

use crate::api::args::{Args, Record, decode};

/// An argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum AnyArg {
    /// This block's part of a tensor.
    Tensor(RawTensor),
    /// A typed value.
    Scalar(Scalar),
}

/// This block's part of a tensor argument, by its address.
///
/// The bytes may be accessed until the kernel returns: read, and written if [`is_writable`](Self::is_writable). In a task of
/// several blocks, an argument that is written without being split is shared with the other blocks, which answer for that.
#[derive(Clone, Copy, Debug)]
pub struct RawTensor {
    data: *mut u8,
    dims: [Dim; MAX_RANK],
    rank: usize,
    dtype: DType,
    is_writable: bool,
}

impl RawTensor {
    /// The address of its first element.
    #[inline]
    pub fn data(&self) -> *mut u8 {
        self.data
    }

    /// Lengths and strides, in elements, outermost first. A part of a split argument may be empty.
    #[inline]
    pub fn dims(&self) -> &[Dim] {
        &self.dims[..self.rank]
    }

    /// Number of elements; none in an empty part.
    #[inline]
    pub fn elements(&self) -> u64 {
        self.dims().iter().map(|dim| u64::from(dim.len)).product()
    }

    /// Type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether the kernel may write it.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.is_writable
    }
}

impl Args<'_> {
    /// The next argument, whatever it is; `None` after the last. What it is was checked against the kernel's parameters at
    /// submit.
    #[inline(always)]
    pub fn next_any(&mut self) -> Option<AnyArg> {
        let (any, used) = self.first_any(self.words())?;
        self.advance(used);
        Some(any)
    }

    /// All arguments not yet taken, in order, as [`next_any`](Self::next_any) gives them: for cost models, which must not use
    /// the addresses.
    pub fn each_any(&self) -> impl Iterator<Item = AnyArg> + '_ {
        let mut words = self.words();
        core::iter::from_fn(move || {
            let (any, used) = self.first_any(words)?;
            words = &words[used..];
            Some(any)
        })
    }

    /// The argument at the front of `words`, and the words it takes.
    // As a function of its own it would write the argument in small parts, which callers copy in large ones: these wait.
    #[inline(always)]
    fn first_any(&self, words: &[u64]) -> Option<(AnyArg, usize)> {
        if words.is_empty() {
            return None;
        }
        let (record, used) = decode(words);
        let any = match record {
            Record::Scalar(scalar) => AnyArg::Scalar(scalar),
            Record::Tensor(record) => {
                let part = self.part(&record);
                let is_writable = record.access() != Access::Input && !record.is_read_only();
                let (data, dims, rank) = (part.base, part.dims, part.rank);
                AnyArg::Tensor(RawTensor { data, dims, rank, dtype: record.dtype(), is_writable })
            }
        };
        Some((any, used))
    }
}
