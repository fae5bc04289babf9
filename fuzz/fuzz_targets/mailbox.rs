//! Random bytes in a mailbox, as another process could write them: every reader refuses them or gives something valid.
//!
//! ```text
//! input: [kind] then …   even kind: the bytes are the mailbox from its start on
//!                        odd kind:  patches of a good mailbox, [u16 place][u8 count][bytes]
//! ```
//! Most random bytes are refused at the first field. Patches of a good mailbox reach those after it.
#![no_main]

use std::os::fd::AsFd;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ringlane_node::mailbox::{MAILBOX_BYTES, Region, Request, Scratch};
use ringlane_node::task::{Access, BlobTensor, BufferHandle, CallConfig, DType, Explain, Scalar, TensorView};
use ringlane_node::{CallError, Digest};

static REGION: LazyLock<Region> = LazyLock::new(|| Region::create().expect("shared memory"));

/// The bytes of a mailbox that has a call and an error in it.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let region = Region::create().expect("shared memory");
    let view = TensorView::contiguous(DType::Float32, &[16, 64]).expect("a view");
    let tensor = BlobTensor { view, buffer: BufferHandle { id: 3, generation: 1 }, access: Access::InOut };
    let mut config = CallConfig::default().with_seed(5);
    config.set_output_prefix("outputs/here").expect("a short path");
    let scalars = [Scalar::new(1.5f32), Scalar::new(7u64)];
    let request =
        Request { digest: Digest([9; 32]), config: &config, member: (1, 2), tensors: &[tensor; 3], scalars: &scalars };
    region.write_request(1, &request, &mut Scratch::default()).expect("it fits");
    region.write_error(1, &CallError::new("Name", "détail", "hint"));
    let mut bytes = vec![0; MAILBOX_BYTES];
    rustix::io::pread(&region, &mut bytes, 0).expect("all of it");
    bytes
});

fn filled(data: &[u8]) -> Vec<u8> {
    let Some((kind, mut data)) = data.split_first() else { return vec![0; MAILBOX_BYTES] };
    if kind % 2 == 0 {
        let mut bytes = data[..data.len().min(MAILBOX_BYTES)].to_vec();
        bytes.resize(MAILBOX_BYTES, 0);
        return bytes;
    }
    let mut bytes = GOOD.clone();
    while let [low, high, count, rest @ ..] = data {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % MAILBOX_BYTES;
        let count = usize::from(*count).min(rest.len()).min(MAILBOX_BYTES - at);
        bytes[at..at + count].copy_from_slice(&rest[..count]);
        data = &rest[count..];
    }
    bytes
}

fuzz_target!(|data: &[u8]| {
    let region = &*REGION;
    rustix::io::pwrite(region, &filled(data), 0).expect("all of it");
    if let Err(error) = Region::adopt(region.as_fd().try_clone_to_owned().expect("a descriptor")) {
        assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
    }
    let _ = region.state();
    let mut scratch = Scratch::default();
    if let Ok(call) = region.read_request(1, &mut scratch) {
        assert_eq!(call.config.validate(), Ok(()));
        for tensor in call.arguments.tensors() {
            let _ = tensor.resolve(0, 1 << 20);
        }
        assert_eq!(call.arguments.scalars().count(), call.arguments.scalar_count());
    }
    if let Ok(error) = region.read_error(1) {
        assert!(error.name.len() <= 64 && error.detail.len() <= 1024 && error.hint.len() <= 512);
    }
});
