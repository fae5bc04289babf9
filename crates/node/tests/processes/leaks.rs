//! A node that is used for long: what it holds does not grow.

use ringlane_node::On;
use ringlane_node::engine::prelude::*;
use ringlane_node::task::CallConfig;

use crate::Test;
use crate::node::{ADD, node};
use crate::roles::{EMPTY, LEAVE};

pub const TESTS: &[Test] = &[("thousands_of_runs_hold_no_more_than_a_few", thousands_of_runs)];

const ANY: CallConfig = CallConfig::DEFAULT;

/// Descriptors, threads, mappings and resident pages of this process.
fn held() -> [usize; 4] {
    let count = |path: &str| std::fs::read_dir(path).unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let resident = statm.split(' ').nth(1).unwrap().parse().unwrap();
    [count("/proc/self/fd"), count("/proc/self/task"), maps, resident]
}

/// `RUNS` runs, every tenth of which loses a worker.
fn thousands_of_runs() {
    let runs: u32 = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(300);
    let mut node = node(2);
    let mut once = |round: u32| {
        let mut data = node.buffers();
        let x = data.add(&[4096], &[round; 4096]).unwrap();
        let run = node.run(data.buffers(), |o| {
            let mut last = o.external(x)?;
            for step in 0..10u32 {
                last = o.submit(&ADD, &[last.read(), out(u32, [4096]), scalar(step)], &ANY, On::Any)?.out(0);
            }
            if round.is_multiple_of(10) {
                o.submit(&LEAVE, &[scalar(1u64)], &ANY, On::Worker(round / 10 % 2))?;
            }
            o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)
        });
        assert_eq!(run.result.is_err(), round.is_multiple_of(10));
    };
    (0..50).for_each(&mut once);
    let before = held();
    (0..runs).for_each(&mut once);
    let after = held();
    println!("{before:?} before {runs} runs, {after:?} after");
    assert_eq!(after[..2], before[..2]);
    assert!(after[2] <= before[2] + 4 && after[3] <= before[3] + 500, "{before:?} {after:?}");
}
