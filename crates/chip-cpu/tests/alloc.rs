//! `alloc` gives zeroes, also where the memory was used before, and does not make the submitter touch what was not.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::prelude::*;
use ringlane_task::CallConfig;

const LENGTH: u32 = 1 << 22;

kernel! { static SPOIL = any fn(x: &mut [u64]) { x.fill(u64::MAX); } }
kernel! { static COUNT = any fn(x: &[u64], n: &mut [u64]) { n[0] = x.iter().filter(|v| **v != 0).count() as u64; } }

/// Pages that this thread had to have made for it so far: the tenth field of its `stat`, after its name.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn memory_that_was_never_used_is_left_to_the_core_that_writes_it_first() {
    let mut runtime = CpuRuntime::new(&CallConfig::default().with_threads(2)).unwrap();
    let run = runtime.run(&mut Buffers::new(), |o| {
        let before = page_faults();
        o.alloc(u64, [LENGTH])?;
        Ok(page_faults() - before)
    });
    let pages = u64::from(LENGTH) * 8 / 4096;
    let touched = run.result.unwrap();
    assert!(touched < pages / 16, "{touched} of {pages} pages");
}

#[test]
fn memory_that_was_used_before_is_zero_again() {
    let mut runtime = CpuRuntime::new(&CallConfig::default().with_threads(2)).unwrap();
    for _ in 0..3 {
        let run = runtime.run(&mut Buffers::new(), |o| {
            let mut found = 0;
            for length in [5, 1000, 3, 100_000] {
                o.scope(|o| {
                    let x = o.alloc(u64, [length])?;
                    let count = o.submit(&COUNT, [x.read(), out(u64, [1])])?.out(0);
                    o.submit(&SPOIL, [x.write()])?;
                    found += o.read::<u64>(count)?[0];
                    Ok(())
                })?;
            }
            Ok(found)
        });
        assert_eq!(run.result.unwrap(), 0);
    }
}
