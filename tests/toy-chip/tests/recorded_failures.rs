//! Memory that fails while a run is recorded: the run ends with the error, and what was recorded is written and true.

use ringlane::prelude::*;
use ringlane_engine::memory::MemoryOp;
use ringlane_trace::{Manifest, RunStatus, check_run};
use tempfile::TempDir;
use toy_chip::Failing;

kernel! { static DOUBLE = any fn(x: &[u32], y: &mut [u32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = 2 * x); } }

/// Runs a program with every diagnostic while operations of a kind fail after a number of them; checks what it leaves.
fn recorded(operation: MemoryOp, after: u32) -> (Error, Manifest) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("run");
    let mut config = CallConfig::default().with_dfx_flags(DfxFlags::from_bits(0x7f).unwrap());
    config.set_output_prefix(path.to_str().unwrap()).unwrap();
    let platform = Platform::named("toy").expect("its crate is linked");
    let mut runtime = Runtime::on(platform).with(&config).unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[4], &[1u32; 4]).unwrap();
    Failing { operation, after }.in_the_next_run();
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        o.scope(|o| {
            let up = o.upload(&[3u32; 4], [4])?;
            let mut made = up;
            for _ in 0..8 {
                made = o.submit(&DOUBLE, [made.read(), out(u32, [4])])?.out(0);
            }
            o.submit(&DOUBLE, [made.read(), x.write()])?;
            o.read::<u32>(made)
        })
    });
    let report = check_run(&path).unwrap();
    assert!(report.broken.is_empty(), "{operation:?} {after}: {:?}", report.broken);
    (run.result.unwrap_err(), Manifest::read(&path).unwrap())
}

#[test]
fn a_run_whose_memory_fails_is_recorded_as_far_as_it_came() {
    // 2 copies in; 8 outputs zeroed; gathered: an input and an output of each task for the dump, and the value that is read.
    let cases = [
        (MemoryOp::CopyIn, 0, 0),
        (MemoryOp::CopyIn, 1, 0),
        (MemoryOp::Zero, 0, 1),
        (MemoryOp::Zero, 5, 6),
        (MemoryOp::Gather, 0, 1),
        (MemoryOp::Gather, 7, 4),
        (MemoryOp::CopyOut, 0, 9),
    ];
    for (operation, after, blocks) in cases {
        let (error, manifest) = recorded(operation, after);
        assert_eq!(error.name(), "DeviceMemory", "{operation:?} {after}: {error}");
        assert_eq!(manifest.status, RunStatus::Fatal, "{operation:?} {after}");
        let written = manifest.error.expect("a run that failed says why");
        assert_eq!(written.name, "DeviceMemory", "{operation:?} {after}");
        assert_eq!(manifest.blocks, blocks, "{operation:?} {after}");
        assert_eq!(manifest.files.len(), 6, "{operation:?} {after}: {:?}", manifest.files);
    }
}
