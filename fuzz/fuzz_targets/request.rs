//! Random bytes as what a run is asked for: refused with a name, or a request that arrives again as it is.
//!
//! ```text
//! input: [kind] then …   even kind: the bytes are the request from its start on
//!                        odd kind:  patches of a good one, [u16 place][u8 count][bytes]; a patch of no bytes cuts the
//!                                   request there and mends the length in its head
//! ```
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use ringlane::chip_sim::cost::{BlockTimes, TableRecorder};
use ringlane::chip_sim::spec;
use ringlane::task::{CallConfig, Explain, TaskId};
use ringlane::{DumpSelection, Model, Platform, PolicyName, RunRequest, SelectedKernel, SimOptions};

/// A request with every field.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut times = BlockTimes::default();
    times.add_block(TaskId(1), 0, 0, 5);
    let mut costs = TableRecorder::new("cpu");
    costs.add("QK", times, 1_000_000_000);
    let options = SimOptions { policy: PolicyName::Locality, chaos: Some(7), costs: Some(costs.finish()) };
    let model = Model { chip: spec::builtin("a5sim"), options };
    let kernels = [("QK", None), ("PV", Some(2))].map(|(name, arg)| SelectedKernel { name: name.into(), arg });
    let request = RunRequest::on(Platform::A5sim).with_config(CallConfig::default().with_seed(5));
    request.with_dump(DumpSelection::Kernels(kernels.to_vec())).with_options(model).encode()
});

fn patched(mut data: &[u8]) -> Vec<u8> {
    let mut bytes = GOOD.clone();
    while let [low, high, count, rest @ ..] = data {
        let at = usize::from(u16::from_le_bytes([*low, *high])) % (bytes.len() + 1);
        let count = usize::from(*count).min(rest.len()).min(bytes.len() - at);
        bytes[at..at + count].copy_from_slice(&rest[..count]);
        if count == 0 && at >= 24 {
            bytes.truncate(at);
            bytes[16..24].copy_from_slice(&(at as u64).to_le_bytes());
        }
        data = &rest[count..];
    }
    bytes
}

fuzz_target!(|data: &[u8]| {
    let Some((kind, data)) = data.split_first() else { return };
    let bytes = if kind % 2 == 0 { data.to_vec() } else { patched(data) };
    match RunRequest::decode(&bytes) {
        Ok(request) => {
            let bytes = request.encode();
            assert_eq!(RunRequest::decode(&bytes).expect("it was just written").encode(), bytes);
        }
        Err(error) => {
            assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
        }
    }
});
