//! The representation of a tensor argument in a blob.

use core::mem::offset_of;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::BlobError;
use crate::access::Access;
use crate::dtype::DType;
use crate::view::{Dim, MAX_RANK, TensorView};

/// A buffer on the other side. The generation distinguishes a buffer from an earlier one with the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BufferHandle {
    /// The buffer's number.
    pub id: u32,
    /// The number of earlier buffers with this number.
    pub generation: u32,
}

/// A tensor argument: which bytes of which buffer, and how the task uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobTensor {
    /// The bytes of the buffer.
    pub view: TensorView,
    /// The buffer.
    pub buffer: BufferHandle,
    /// How the task uses them.
    pub access: Access,
}

/// The record of a tensor argument: the fields of a [`TensorView`], then the buffer and the access.
///
/// Any bytes can be read as one. Codes, rank, dimensions, alignment and size are checked before
/// [`BlobReader`](super::BlobReader) returns it; only the bounds of the view are not, because [`WireTensor::resolve`]
/// needs the size of the buffer for that, which the owner of the buffer knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct WireTensor {
    offset_bytes: u64,
    dims: [[u32; 2]; MAX_RANK],
    rank: u8,
    dtype: u8,
    view_reserved: [u8; 6],
    buffer: u32,
    generation: u32,
    access: u8,
    reserved: [u8; 7],
}

const _: () = {
    assert!(size_of::<WireTensor>() == 96 && align_of::<WireTensor>() == 8);
    assert!(offset_of!(WireTensor, buffer) == 80);
    assert!(offset_of!(WireTensor, dims) == 8 && size_of::<Dim>() == size_of::<[u32; 2]>());
    assert!(offset_of!(WireTensor, rank) == 72 && offset_of!(WireTensor, dtype) == 73);
    assert!(offset_of!(WireTensor, generation) == 84 && offset_of!(WireTensor, access) == 88);
};

impl WireTensor {
    /// The record of an argument.
    pub fn new(tensor: &BlobTensor) -> Self {
        let mut dims = [[0; 2]; MAX_RANK];
        for (wire, dim) in dims.iter_mut().zip(tensor.view.dims()) {
            *wire = [dim.len, dim.stride];
        }
        WireTensor {
            offset_bytes: tensor.view.offset_bytes(),
            dims,
            rank: tensor.view.rank() as u8,
            dtype: tensor.view.dtype() as u8,
            view_reserved: [0; 6],
            buffer: tensor.buffer.id,
            generation: tensor.buffer.generation,
            access: tensor.access as u8,
            reserved: [0; 7],
        }
    }

    /// The buffer of the argument.
    pub const fn buffer(&self) -> BufferHandle {
        BufferHandle { id: self.buffer, generation: self.generation }
    }

    /// The argument, once the size of its buffer is known; `index` is for the error.
    pub fn resolve(&self, index: usize, buffer_bytes: u64) -> Result<BlobTensor, BlobError> {
        if self.view_reserved != [0; 6] || self.reserved != [0; 7] {
            return Err(BlobError::NotZero { what: "reserved bytes", index });
        }
        let code = self.dtype;
        let dtype = DType::from_code(code).ok_or(BlobError::UnknownDType { what: "tensor", index, code })?;
        let access =
            Access::from_code(self.access).ok_or(BlobError::UnknownAccess { index, code: self.access })?;
        let rank = self.rank as usize;
        if rank > MAX_RANK {
            return Err(BlobError::TooManyDims { index, rank: self.rank });
        }
        if self.dims[rank..].iter().any(|&dim| dim != [0; 2]) {
            return Err(BlobError::NotZero { what: "unused dimensions", index });
        }
        let dims = self.dims.map(|[len, stride]| Dim { len, stride });
        let view = TensorView::from_parts(dtype, self.offset_bytes, &dims[..rank], buffer_bytes)
            .map_err(|source| BlobError::BadView { index, source })?;
        Ok(BlobTensor { view, buffer: self.buffer(), access })
    }

    /// Everything that can be checked without the buffer.
    pub(super) fn check(&self, index: usize) -> Result<(), BlobError> {
        self.resolve(index, u64::MAX).map(|_| ())
    }
}
