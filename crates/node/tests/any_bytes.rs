//! The readers of a mailbox, fed with bytes that nobody meant: they refuse or give something valid, and nothing else.

use std::os::fd::AsFd;

use proptest::prelude::*;
use ringlane_node::mailbox::{MAILBOX_BYTES, Region, Request, Scratch};
use ringlane_node::task::{
    Access, BlobTensor, BufferHandle, CallConfig, DType, Explain, Scalar, TensorView, limits::MAX_TENSORS,
};
use ringlane_node::{CallError, Digest, NodeError};

/// A mailbox that has a call and an error in it.
fn used() -> Region {
    let region = Region::create().unwrap();
    let view = TensorView::contiguous(DType::Float32, &[16, 64]).unwrap();
    let tensor = BlobTensor { view, buffer: BufferHandle { id: 3, generation: 1 }, access: Access::InOut };
    let mut config = CallConfig::default().with_seed(5);
    config.set_output_prefix("outputs/here").unwrap();
    let scalars = [Scalar::new(1.5f32), Scalar::new(7u64)];
    let request = Request {
        digest: Digest([9; 32]),
        config: &config,
        member: (1, 2),
        tensors: &[tensor; 3],
        scalars: &scalars,
    };
    region.write_request(1, &request, &mut Scratch::default()).unwrap();
    region.write_error(1, &CallError::new("Name", "détail", "hint"));
    region
}

fn overwrite(region: &Region, at: usize, bytes: &[u8]) {
    rustix::io::pwrite(region, bytes, at as u64).unwrap();
}

/// Reads everything there is to read, and uses all of what is given.
fn read_all(region: &Region) -> Result<(), NodeError> {
    let adopted = Region::adopt(region.as_fd().try_clone_to_owned().unwrap());
    let state = region.state();
    let mut scratch = Scratch::default();
    let call = region.read_request(1, &mut scratch);
    if let Ok(call) = &call {
        assert_eq!(call.config.validate(), Ok(()));
        assert!(call.arguments.tensor_count() <= MAX_TENSORS);
        for tensor in call.arguments.tensors() {
            let _ = tensor.resolve(0, 1 << 20);
        }
        assert_eq!(call.arguments.scalars().count(), call.arguments.scalar_count());
    }
    let error = region.read_error(1);
    if let Ok(error) = &error {
        assert!(error.name.len() <= 64 && error.detail.len() <= 1024 && error.hint.len() <= 512);
    }
    adopted.map(drop).and(state.map(drop)).and(call.map(drop)).and(error.map(drop))
}

#[test]
fn a_mailbox_that_nobody_touched_is_read() {
    assert_eq!(read_all(&used()), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_flipped_bits_are_refused_with_a_name_or_harmless(
        flips in proptest::collection::vec((0..MAILBOX_BYTES, 0u8..8), 1..8),
    ) {
        let region = used();
        for (at, bit) in flips {
            let mut byte = [0];
            rustix::io::pread(&region, &mut byte, at as u64).unwrap();
            overwrite(&region, at, &[byte[0] ^ 1 << bit]);
        }
        if let Err(error) = read_all(&region) {
            prop_assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
        }
    }

    #[test]
    fn any_bytes_anywhere_are_refused_with_a_name_or_harmless(
        at in 0..MAILBOX_BYTES,
        bytes in proptest::collection::vec(any::<u8>(), 1..512),
    ) {
        let region = used();
        overwrite(&region, at, &bytes[..bytes.len().min(MAILBOX_BYTES - at)]);
        let _ = read_all(&region);
    }

    #[test]
    fn a_flipped_bit_in_the_head_is_corrupt_and_names_the_field(at in 0usize..16, bit in 0u8..8) {
        let region = used();
        let mut byte = [0];
        rustix::io::pread(&region, &mut byte, at as u64).unwrap();
        overwrite(&region, at, &[byte[0] ^ 1 << bit]);
        let field = match at { 0..8 => "magic", 8..12 => "version", _ => "bytes" };
        let is_corrupt =
            |error: NodeError| matches!(error, NodeError::CorruptMailbox { field: named, .. } if named == field);
        prop_assert!(is_corrupt(region.read_request(1, &mut Scratch::default()).unwrap_err()));
        prop_assert!(is_corrupt(region.read_error(1).unwrap_err()));
    }
}
