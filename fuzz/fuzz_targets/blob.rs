//! Random bytes as an argument blob: refused, or a blob that can be read and, where its tensors are valid, written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringlane_node::task::{BlobReader, MAX_BLOB_BYTES, write_blob};

fuzz_target!(|data: &[u8]| {
    let Ok(blob) = BlobReader::open(data) else { return };
    assert!(blob.len_bytes() <= data.len() && blob.len_bytes() <= MAX_BLOB_BYTES);
    let tensors: Result<Vec<_>, _> =
        blob.tensors().enumerate().map(|(index, tensor)| tensor.resolve(index, u64::MAX)).collect();
    let scalars: Vec<_> = blob.scalars().collect();
    assert_eq!(scalars.len(), blob.scalar_count());
    if let Ok(tensors) = tensors {
        let mut again = vec![0; MAX_BLOB_BYTES];
        let used = write_blob(&mut again, &tensors, &scalars).expect("it was one");
        assert_eq!(again[..used], data[..used]);
    }
});
