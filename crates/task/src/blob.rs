//! The arguments of one task as bytes, as they are stored in a mailbox and in a device's memory.
//!
//! ```text
//! [u32 tensors][u32 scalars][WireTensor × T][u64 × S][u8 × S, zeros to a multiple of 8]
//!  └──────── 8 ────────────┘ └── 96 each ──┘ └ bits ┘ └ data-type codes
//! ```
//!
//! The codes after the scalars are an addition to the plain `[u64 × S]`: with them a scalar keeps its type, and a
//! reader that ignores them finds everything else at the expected place.
//!
//! The sender is not trusted. The reader checks both counts against their limits and the total size before it reads a
//! record, and every record before it returns the first. All numbers are little-endian, and nothing needs to be
//! aligned.

mod error;
mod wire;

use zerocopy::{FromBytes, IntoBytes};

pub use error::BlobError;
pub use wire::{BlobTensor, BufferHandle, WireTensor};

use crate::dtype::DType;
use crate::limits::{MAX_SCALARS, MAX_TENSORS};
use crate::scalar::Scalar;

const HEADER_BYTES: usize = 8;
const TENSOR_BYTES: usize = size_of::<WireTensor>();
const SCALAR_BYTES: usize = size_of::<u64>();

/// Bytes of the largest possible blob.
pub const MAX_BLOB_BYTES: usize = blob_bytes(MAX_TENSORS, MAX_SCALARS);

const _: () = assert!(MAX_BLOB_BYTES == 8 + 128 * 96 + 128 * 8 + 128);
const _: () = assert!(cfg!(target_endian = "little"), "the layouts are little-endian");

/// Bytes of a blob with these numbers of arguments; a multiple of 8.
pub const fn blob_bytes(tensors: usize, scalars: usize) -> usize {
    HEADER_BYTES + tensors * TENSOR_BYTES + scalars * SCALAR_BYTES + scalars.next_multiple_of(8)
}

fn check_counts(tensors: usize, scalars: usize) -> Result<(), BlobError> {
    if tensors > MAX_TENSORS {
        return Err(BlobError::TooManyTensors { count: tensors });
    }
    if scalars > MAX_SCALARS {
        return Err(BlobError::TooManyScalars { count: scalars });
    }
    Ok(())
}

/// Writes the arguments of a task to the start of `out` and returns the bytes used. On an error nothing is
/// written.
///
/// ```
/// use ringlane_task::{Access, BlobReader, BlobTensor, BufferHandle, DType, Scalar, TensorView, write_blob};
/// let view = TensorView::contiguous(DType::Float32, &[16, 64]).unwrap();
/// let q = BlobTensor { view, buffer: BufferHandle { id: 3, generation: 1 }, access: Access::Input };
/// let mut mailbox = [0; 256];
/// let used = write_blob(&mut mailbox, &[q], &[Scalar::new(0.125f32)]).unwrap();
///
/// let blob = BlobReader::open(&mailbox[..used]).unwrap();
/// let arg = blob.tensor(0).unwrap();
/// assert_eq!(arg.buffer().id, 3);
/// assert_eq!(arg.resolve(0, 4096), Ok(q));            // the buffer is large enough
/// assert!(arg.resolve(0, 4095).is_err());             // it is not
/// assert_eq!(blob.scalar(0).unwrap().get::<f32>(), Some(0.125));
/// ```
pub fn write_blob(out: &mut [u8], tensors: &[BlobTensor], scalars: &[Scalar]) -> Result<usize, BlobError> {
    check_counts(tensors.len(), scalars.len())?;
    let need_bytes = blob_bytes(tensors.len(), scalars.len());
    let have_bytes = out.len();
    let Some(out) = out.get_mut(..need_bytes) else {
        let (tensors, scalars) = (tensors.len(), scalars.len());
        return Err(BlobError::DoesNotFit { need_bytes, have_bytes, tensors, scalars });
    };
    for (index, tensor) in tensors.iter().enumerate() {
        WireTensor::new(tensor).check(index)?;
    }
    let counts = [tensors.len() as u32, scalars.len() as u32];
    let (header, rest) = out.split_at_mut(HEADER_BYTES);
    header.copy_from_slice(counts.as_bytes());
    let (records, rest) = rest.split_at_mut(tensors.len() * TENSOR_BYTES);
    for (record, tensor) in records.chunks_exact_mut(TENSOR_BYTES).zip(tensors) {
        record.copy_from_slice(WireTensor::new(tensor).as_bytes());
    }
    let (bits, codes) = rest.split_at_mut(scalars.len() * SCALAR_BYTES);
    codes.fill(0);
    for ((slot, code), scalar) in bits.chunks_exact_mut(SCALAR_BYTES).zip(codes).zip(scalars) {
        slot.copy_from_slice(&scalar.bits().to_le_bytes());
        *code = scalar.dtype() as u8;
    }
    Ok(need_bytes)
}

/// A checked blob. See [`write_blob`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct BlobReader<'b> {
    tensors: &'b [u8],
    bits: &'b [u8],
    codes: &'b [u8],
}

impl<'b> BlobReader<'b> {
    /// Checks the blob at the start of `bytes`; anything after it is ignored.
    pub fn open(bytes: &'b [u8]) -> Result<Self, BlobError> {
        let have_bytes = bytes.len();
        let truncated =
            |need_bytes, tensors, scalars| BlobError::Truncated { need_bytes, have_bytes, tensors, scalars };
        let (counts, _) = <[u32; 2]>::read_from_prefix(bytes).map_err(|_| truncated(HEADER_BYTES, 0, 0))?;
        let [tensors, scalars] = counts.map(|count| count as usize);
        check_counts(tensors, scalars)?;
        let need_bytes = blob_bytes(tensors, scalars);
        let blob = bytes.get(..need_bytes).ok_or_else(|| truncated(need_bytes, tensors, scalars))?;
        let (records, rest) = blob[HEADER_BYTES..].split_at(tensors * TENSOR_BYTES);
        let (bits, padded) = rest.split_at(scalars * SCALAR_BYTES);
        let (codes, padding) = padded.split_at(scalars);
        let reader = BlobReader { tensors: records, bits, codes };
        reader.check_records(padding)?;
        Ok(reader)
    }

    fn check_records(&self, padding: &[u8]) -> Result<(), BlobError> {
        for index in 0..self.tensor_count() {
            self.record(index).check(index)?;
        }
        for index in 0..self.scalar_count() {
            self.read_scalar(index)?;
        }
        if padding.iter().any(|&byte| byte != 0) {
            return Err(BlobError::NotZero { what: "padding after the scalars", index: self.scalar_count() });
        }
        Ok(())
    }

    /// Number of tensors.
    pub const fn tensor_count(&self) -> usize {
        self.tensors.len() / TENSOR_BYTES
    }

    /// Number of scalars.
    pub const fn scalar_count(&self) -> usize {
        self.codes.len()
    }

    /// The bytes of the blob itself, without anything after it.
    pub const fn len_bytes(&self) -> usize {
        blob_bytes(self.tensor_count(), self.scalar_count())
    }

    /// The tensor with this index, if it exists; [`WireTensor::resolve`] checks it against its buffer.
    pub fn tensor(&self, index: usize) -> Option<WireTensor> {
        (index < self.tensor_count()).then(|| self.record(index))
    }

    /// The scalar with this index, if it exists.
    pub fn scalar(&self, index: usize) -> Option<Scalar> {
        if index < self.scalar_count() { self.read_scalar(index).ok() } else { None }
    }

    /// All tensors, in order.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = WireTensor> + use<'b> {
        let reader = *self;
        (0..self.tensor_count()).map(move |index| reader.record(index))
    }

    /// All scalars, in order.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + use<'b> {
        let reader = *self;
        (0..self.scalar_count()).filter_map(move |index| reader.scalar(index))
    }

    fn record(&self, index: usize) -> WireTensor {
        let bytes = &self.tensors[index * TENSOR_BYTES..][..TENSOR_BYTES];
        WireTensor::read_from_bytes(bytes).expect("the slice has the size of a record")
    }

    fn read_scalar(&self, index: usize) -> Result<Scalar, BlobError> {
        let bytes = &self.bits[index * SCALAR_BYTES..][..SCALAR_BYTES];
        let bits = u64::read_from_bytes(bytes).expect("the slice has the size of a scalar");
        let code = self.codes[index];
        let dtype = DType::from_code(code).ok_or(BlobError::UnknownDType { what: "scalar", index, code })?;
        Scalar::from_bits(bits, dtype).ok_or(BlobError::BadScalar { index, bits, dtype })
    }
}

#[cfg(test)]
mod tests;
