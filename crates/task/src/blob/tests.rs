//! Properties of blobs: what is written is read back, and anything else is refused.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::access::Access;
use crate::explain::Explain;
use crate::view::{Dim, TensorView};

fn matrix() -> BlobTensor {
    let view = TensorView::contiguous(DType::Float32, &[4, 6]).unwrap();
    let view = view.tile(&[1, 2], &[2, 3]).unwrap();
    BlobTensor { view, buffer: BufferHandle { id: 7, generation: 2 }, access: Access::InOut }
}

fn sample() -> Vec<u8> {
    let mut bytes = vec![0xee; MAX_BLOB_BYTES];
    let used = write_blob(&mut bytes, &[matrix(), matrix()], &[Scalar::new(1.5f32), Scalar::new(true)]);
    bytes.truncate(used.unwrap());
    bytes
}

fn refused(at: usize, byte: u8) -> &'static str {
    let mut bytes = sample();
    bytes[at] = byte;
    BlobReader::open(&bytes).unwrap_err().name()
}

#[test]
fn counts_are_refused_before_anything_after_them_is_read() {
    for (counts, name) in [
        ([129u32, 0], "TooManyTensors"),
        ([0, 129], "TooManyScalars"),
        ([u32::MAX; 2], "TooManyTensors"),
        ([128, 128], "BlobTruncated"),
    ] {
        assert_eq!(BlobReader::open(counts.as_bytes()).unwrap_err().name(), name);
    }
    let error = BlobReader::open(&[0; 7]).unwrap_err();
    assert_eq!(error, BlobError::Truncated { need_bytes: 8, have_bytes: 7, tensors: 0, scalars: 0 });
}

#[test]
fn every_shorter_prefix_of_a_blob_is_refused_and_a_longer_one_is_read() {
    let bytes = sample();
    assert_eq!(bytes.len(), blob_bytes(2, 2));
    for end in 0..bytes.len() {
        assert_eq!(BlobReader::open(&bytes[..end]).unwrap_err().name(), "BlobTruncated", "{end}");
    }
    let mut longer = bytes.clone();
    longer.extend_from_slice(&[0xff; 9]);
    assert_eq!(BlobReader::open(&longer).unwrap().len_bytes(), bytes.len());
}

#[test]
fn every_record_is_checked_before_the_first_is_returned() {
    let second = 8 + 96;
    assert_eq!(refused(second, 2), "MisalignedView");
    assert_eq!(refused(second + 8, 0), "EmptyView");
    assert_eq!(refused(second + 8 + 16, 1), "BlobNotZero");
    assert_eq!(refused(second + 72, 9), "TooManyDims");
    assert_eq!(refused(second + 73, 15), "UnknownDType");
    assert_eq!(refused(second + 74, 1), "BlobNotZero");
    assert_eq!(refused(second + 88, 5), "UnknownAccess");
    assert_eq!(refused(second + 95, 1), "BlobNotZero");
    let scalars = 8 + 2 * 96;
    assert_eq!(refused(scalars + 7, 1), "BadScalar");
    assert_eq!(refused(scalars + 16, 200), "UnknownDType");
    assert_eq!(refused(scalars + 18, 1), "BlobNotZero");
}

#[test]
fn a_view_is_checked_against_the_real_size_of_its_buffer() {
    let bytes = sample();
    let tensor = BlobReader::open(&bytes).unwrap().tensor(1).unwrap();
    // The last element is row 2, column 4 of six columns.
    assert_eq!(tensor.resolve(1, (2 * 6 + 4 + 1) * 4), Ok(matrix()));
    let error = tensor.resolve(1, (2 * 6 + 4 + 1) * 4 - 1).unwrap_err();
    assert_eq!(error.name(), "ViewOutOfBounds");
    assert!(error.detail().starts_with("tensor 1: "));
}

#[test]
fn arguments_that_do_not_fit_are_refused_with_the_sizes_and_nothing_is_written() {
    let mut small = [0x55; 103];
    let error = write_blob(&mut small, &[matrix()], &[]).unwrap_err();
    assert_eq!(error.name(), "ArgumentsDoNotFit");
    assert_eq!(error.detail(), "1 tensors and 0 scalars take 104 bytes, but there are only 103");
    assert_eq!(small, [0x55; 103]);
    let many = [matrix(); MAX_TENSORS + 1];
    assert_eq!(write_blob(&mut small, &many, &[]), Err(BlobError::TooManyTensors { count: 129 }));
    let many = [Scalar::new(1u8); MAX_SCALARS + 1];
    assert_eq!(write_blob(&mut small, &[], &many), Err(BlobError::TooManyScalars { count: 129 }));
}

fn any_tensor() -> impl Strategy<Value = BlobTensor> {
    let dims = proptest::collection::vec((1u32..9, 0u32..9), 0..=8);
    (dims, 0..DType::ALL.len(), 0..5u8, any::<(u32, u32)>(), 0..1u64 << 40).prop_map(
        |(dims, dtype, access, (id, generation), at)| {
            let dims: Vec<Dim> = dims.into_iter().map(|(len, stride)| Dim { len, stride }).collect();
            let dtype = DType::ALL[dtype];
            let offset_bytes = at * dtype.size_bytes() as u64;
            let view = TensorView::from_parts(dtype, offset_bytes, &dims, u64::MAX).unwrap();
            let access = Access::from_code(access).unwrap();
            BlobTensor { view, buffer: BufferHandle { id, generation }, access }
        },
    )
}

fn any_scalar() -> impl Strategy<Value = Scalar> {
    (any::<u64>(), 0..DType::ALL.len()).prop_map(|(bits, dtype)| {
        let dtype = DType::ALL[dtype];
        let used = if dtype == DType::Bool { 1 } else { dtype.size_bytes() as u32 * 8 };
        Scalar::from_bits(bits & (u64::MAX >> (64 - used)), dtype).unwrap()
    })
}

/// Reads everything that a reader offers.
fn walk(bytes: &[u8]) {
    let Ok(blob) = BlobReader::open(bytes) else { return };
    for (index, tensor) in blob.tensors().enumerate() {
        for buffer_bytes in [0, 4096, u64::MAX] {
            if let Ok(tensor) = tensor.resolve(index, buffer_bytes) {
                assert!(tensor.view.offset_bytes() + tensor.view.span_bytes() <= buffer_bytes);
                assert!(tensor.view.bytes() >= 1);
            }
        }
    }
    assert_eq!(blob.scalars().count(), blob.scalar_count());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        tensors in proptest::collection::vec(any_tensor(), 0..20),
        scalars in proptest::collection::vec(any_scalar(), 0..20),
        misaligned in 0usize..8,
    ) {
        let mut bytes = vec![0xee; MAX_BLOB_BYTES + 8];
        let used = write_blob(&mut bytes[misaligned..], &tensors, &scalars).unwrap();
        prop_assert_eq!(used % 8, 0);
        let blob = BlobReader::open(&bytes[misaligned..]).unwrap();
        let read: Vec<_> = blob.tensors().map(|t| t.resolve(0, u64::MAX).unwrap()).collect();
        prop_assert_eq!(read, tensors);
        prop_assert_eq!(blob.scalars().collect::<Vec<_>>(), scalars);
    }

    #[test]
    fn random_bytes_never_panic(
        counts in any::<[u8; 2]>(), bytes in proptest::collection::vec(any::<u8>(), 0..800),
    ) {
        walk(&bytes);
        let mut likely = vec![counts[0] % 4, 0, 0, 0, counts[1] % 8, 0, 0, 0];
        likely.extend_from_slice(&bytes);
        walk(&likely);
    }

    #[test]
    fn a_damaged_blob_never_panics_and_never_gives_a_view_outside_its_buffer(
        tensors in proptest::collection::vec(any_tensor(), 1..4),
        damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = vec![0; MAX_BLOB_BYTES];
        let used = write_blob(&mut bytes, &tensors, &[Scalar::new(1i16)]).unwrap();
        for (at, byte) in damage {
            bytes[at % used] = byte;
        }
        walk(&bytes);
    }
}
