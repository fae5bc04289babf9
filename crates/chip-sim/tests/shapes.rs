//! Blocks and mixed tasks on clusters, failures, and requests that exceed a chip.

mod support;

use std::sync::Mutex;

use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::{SimOptions, SimRuntime};
use ringlane_engine::observe::PlacedBlock;
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_task::{CallConfig, ChipSpec, Explain};

kernel! { static CUBE = aic fn(x: &mut [f32]) { x[0] += 1.0; } }
kernel! { static VECTOR = aiv fn(x: &mut [f32]) { x[0] += 10.0; } }
kernel! { static LONG_CUBE = aic fn(x: &mut [f32]) { x[0] += 1.0; } cost Cost::Ticks(|_| 50_000) }
kernel! { static SHORT_AFTER = aiv fn(x: &[f32], y: &mut [f32]) { y[0] += x[0]; } cost Cost::Ticks(|_| 50) }
kernel! { static PART = aiv fn(x: &mut [f32], block: Block) { x.fill(block.index.0 as f32); } }
kernel! { static FAIL = aiv fn(x: &mut [f32], block: Block) -> Result<(), &'static str> {
    let _ = (x, block);
    Err("no")
} }
kernel! { static COPY = aiv fn(x: &[f32], y: &mut [f32], block: Block) { let _ = block; y.copy_from_slice(&x[..y.len()]); } }

/// Where and when a block ran: core, lane, start, end.
type Row = (u32, u8, u64, u64);

#[derive(Default)]
struct Blocks(Mutex<Vec<Row>>);

impl Probe for Blocks {
    fn block(&self, block: &PlacedBlock<'_>) {
        let row = (block.core.0, block.lane, block.start.0, block.end.0);
        self.0.lock().unwrap().push(row);
    }
}

impl Blocks {
    fn rows(self) -> Vec<Row> {
        self.0.into_inner().unwrap()
    }
}

fn runtime(policy: PolicyName) -> SimRuntime {
    let options = SimOptions { policy, ..SimOptions::default() };
    SimRuntime::new(&support::a2a3(), &CallConfig::default(), options).unwrap()
}

#[test]
fn a_mixed_task_has_its_whole_cluster_for_each_block() {
    for policy in PolicyName::ALL {
        let mut data = Buffers::new();
        let ids: Vec<_> = (0..90).map(|_| data.add(&[1], &[0.0f32]).unwrap()).collect();
        let blocks = Blocks::default();
        let run = runtime(policy).run_at(std::panic::Location::caller(), &mut data, &blocks, |o| {
            let x = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
            for x in x.chunks(3) {
                // Another task keeps the cores busy, too.
                o.submit(&VECTOR, [x[1].inout()])?;
                o.submit(CUBE.mixed(&[&VECTOR, &VECTOR]), [x[0].inout(), x[1].inout(), x[2].inout()])?;
            }
            Ok(())
        });
        run.result.unwrap();
        for (i, &id) in ids.iter().enumerate() {
            assert_eq!(data.get::<f32>(id).unwrap()[0], [1.0, 20.0, 10.0][i % 3]);
        }
        let rows = blocks.rows();
        assert_eq!(rows.len(), 30 * 4);
        let mixed: Vec<_> = rows.iter().filter(|row| row.0 % 3 == 0).collect();
        assert_eq!(mixed.len(), 30, "matrix kernels run on the first core of a cluster");
        for &&(core, _, start, end) in &mixed {
            for lane in 1..=2 {
                let with = rows.iter().filter(|row| row.0 == core + lane && row.1 == lane as u8);
                assert!(
                    with.into_iter().any(|row| row.2 < end && start < row.3),
                    "its vector kernels run beside it"
                );
            }
        }
    }
}

#[test]
fn vector_kernels_of_a_mixed_task_run_one_after_another_if_a_cluster_has_one_vector_core() {
    for (aiv_per_cluster, cores) in [(1, [0, 1, 1]), (2, [0, 1, 2])] {
        let spec = ringlane_task::ChipSpec { aiv_per_cluster, ..support::a2a3() };
        let config = CallConfig::default().with_block_dim(1);
        let mut runtime = SimRuntime::new(&spec, &config, SimOptions::default()).unwrap();
        let (mut data, blocks) = (Buffers::new(), Blocks::default());
        let ids = [0.0f32; 3].map(|zero| data.add(&[1], &[zero]).unwrap());
        let run = runtime.run_at(std::panic::Location::caller(), &mut data, &blocks, |o| {
            let [x, y, z] = [o.external(ids[0])?, o.external(ids[1])?, o.external(ids[2])?];
            o.submit(CUBE.mixed(&[&VECTOR, &VECTOR]), [x.inout(), y.inout(), z.inout()]).map(drop)
        });
        run.result.unwrap();
        assert_eq!(ids.map(|id| data.get::<f32>(id).unwrap()[0]), [1.0, 10.0, 10.0]);
        let mut rows = blocks.rows().to_vec();
        rows.sort_by_key(|row| row.1);
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), cores);
        let apart = |a: &Row, b: &Row| a.0 != b.0 || a.3 <= b.2 || b.3 <= a.2;
        assert!((1..3).all(|i| (0..i).all(|j| apart(&rows[i], &rows[j]))), "{rows:?}");
    }
}

#[test]
fn blocks_of_one_task_spread_over_the_cores_of_their_kind() {
    let mut data = Buffers::new();
    let x = data.add_zeroed(f32, &[96, 2]).unwrap();
    let blocks = Blocks::default();
    let run = runtime(PolicyName::Fifo).run_at(std::panic::Location::caller(), &mut data, &blocks, |o| {
        let x = o.external(x)?;
        o.submit(PART.blocks(96), [x.out_split(0)]).map(drop)
    });
    run.result.unwrap();
    assert!(data.get::<f32>(x).unwrap().chunks(2).enumerate().all(|(i, row)| row == [i as f32; 2]));
    let mut cores: Vec<_> = blocks.rows().iter().map(|row| row.0).collect();
    assert_eq!(cores.len(), 96);
    cores.sort_unstable();
    cores.dedup();
    assert_eq!(cores.len(), 48, "every vector core, and no other");
    assert!(cores.iter().all(|core| core % 3 != 0));
}

#[test]
fn readers_of_a_failed_task_are_skipped_with_all_their_blocks_and_the_runtime_stays_usable() {
    for policy in PolicyName::ALL {
        let mut runtime = runtime(policy);
        let mut data = Buffers::new();
        let [x, y] = [0; 2].map(|_| data.add_zeroed(f32, &[8]).unwrap());
        let run = runtime.run(&mut data, |o| {
            let (x, y) = (o.external(x)?, o.external(y)?);
            o.submit(FAIL.blocks(4), [x.out_split(0)])?;
            o.submit(COPY.blocks(8), [x.read(), y.out_split(0)]).map(drop)
        });
        let error = run.result.unwrap_err();
        assert_eq!((error.name(), run.report.failed, run.report.skipped), ("TaskFailed", 1, 1));
        let again = runtime.run(&mut data, |o| {
            let y = o.external(y)?;
            o.submit(PART.blocks(8), [y.out_split(0)]).map(drop)
        });
        again.result.unwrap();
        assert_eq!(data.get::<f32>(y).unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    }
}

#[test]
fn a_request_beyond_the_chip_is_refused_with_the_maximum() {
    let spec = support::a2a3();
    let ask =
        |config: CallConfig| SimRuntime::new(&spec, &config, SimOptions::default()).err().map(|e| e.detail());
    let mut config = CallConfig::default();
    config.block_dim = 25;
    assert_eq!(ask(config).unwrap(), "block_dim is 25, at most 24 on this chip");
    (config.block_dim, config.scheduler_threads) = (4, 4);
    assert_eq!(ask(config).unwrap(), "scheduler_threads is 4, at most 3 on this chip");
    // A scheduler without a cluster would have nothing to do.
    (config.block_dim, config.scheduler_threads) = (2, 3);
    assert_eq!(ask(config).unwrap(), "scheduler_threads is 3, at most 2 on this chip");
    config.scheduler_threads = 0;
    assert_eq!(ask(config), None);
}

#[test]
fn a_chip_built_in_code_has_the_same_limits_as_a_file() {
    let refused = |change: fn(&mut ChipSpec)| {
        let mut spec = support::a2a3();
        change(&mut spec);
        let made = SimRuntime::new(&spec, &CallConfig::default(), SimOptions::default());
        made.err().map(|error| error.detail()).unwrap_or_default()
    };
    assert_eq!(refused(|spec| spec.clusters = 0), "a2a3sim: clusters is 0; allowed: 1 to 1024");
    assert_eq!(refused(|spec| spec.schedulers = 0), "a2a3sim: schedulers is 0; allowed: 1 to 3");
    assert!(refused(|spec| spec.counter_hz = 3_000_000_000).contains("not an integer number of picoseconds"));
    assert!(refused(|spec| spec.costs.poll = u64::MAX).starts_with("a2a3sim: poll is "));
    assert!(refused(|spec| spec.rates.aiv_flops = f64::NAN).starts_with("a2a3sim: aiv_flops is NaN"));
    assert!(refused(|spec| spec.records.buffers = 0).starts_with("a2a3sim: buffers is 0"));
    assert_eq!(refused(|_| {}), "");
}

#[test]
fn tasks_queued_after_a_skipped_mixed_task_still_run() {
    for policy in PolicyName::ALL {
        let mut spec = support::a2a3();
        (spec.clusters, spec.schedulers, spec.dispatch_ahead) = (2, 2, 0);
        let options = SimOptions { policy, ..SimOptions::default() };
        let mut runtime = SimRuntime::new(&spec, &CallConfig::default(), options).unwrap();
        let mut data = Buffers::new();
        let ids: Vec<_> = (0..24).map(|_| data.add(&[1], &[0.0f32]).unwrap()).collect();
        let run = runtime.run(&mut data, |o| {
            let x = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
            // Both clusters are busy, a mixed task waits for one of them, and it will not run: it reads the output of
            // a failed task.
            o.submit(&LONG_CUBE, [x[0].inout()])?;
            o.submit(&LONG_CUBE, [x[1].inout()])?;
            o.submit(&FAIL, [x[2].inout()])?;
            o.submit(CUBE.mixed(&[&VECTOR, &VECTOR]), [x[2].inout(), x[3].inout(), x[4].inout()])?;
            x[5..].iter().try_for_each(|&y| o.submit(&VECTOR, [y.inout()]).map(drop))
        });
        assert_eq!(run.result.unwrap_err().name(), "TaskFailed");
        assert_eq!((run.report.failed, run.report.skipped, run.report.blocks), (1, 1, 22));
        assert!(ids[5..].iter().all(|&id| data.get::<f32>(id).unwrap() == [10.0]), "{policy}");
    }
}

#[test]
fn a_silent_core_ends_a_task_of_many_blocks_with_the_first_fault_and_nothing_more_is_computed() {
    let mut spec = support::a2a3();
    (spec.clusters, spec.aiv_per_cluster, spec.schedulers) = (1, 1, 1);
    let mut silent = 0;
    for seed in 0..24 {
        let options = SimOptions { chaos: Some(seed), ..SimOptions::default() };
        let mut runtime = SimRuntime::new(&spec, &CallConfig::default(), options).unwrap();
        let mut data = Buffers::new();
        let x = data.add_zeroed(f32, &[960]).unwrap();
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            o.submit(PART.blocks(960), [x.out_split(0)]).map(drop)
        });
        let Err(error) = run.result else { continue };
        assert_eq!(error.name(), "CoreSilent");
        if error.detail().starts_with("core 1 ") {
            silent += 1;
            assert!(run.report.blocks < 200, "{} blocks after {}", run.report.blocks, error.detail());
            assert!(runtime.totals().makespan < 2 * spec.silent_after, "it is found once");
        }
    }
    assert!(silent > 0);
}

#[test]
fn a_thread_dispatches_ahead_once_no_core_is_idle() {
    let mut spec = support::a2a3();
    (spec.clusters, spec.aiv_per_cluster, spec.schedulers) = (2, 1, 2);
    spec.costs.turn_around = 100_000;
    let mut data = Buffers::new();
    let ids: Vec<_> = (0..13).map(|_| data.add(&[1], &[0.0f32]).unwrap()).collect();
    let blocks = Blocks::default();
    let mut runtime = SimRuntime::new(&spec, &CallConfig::default(), SimOptions::default()).unwrap();
    let run = runtime.run_at(std::panic::Location::caller(), &mut data, &blocks, |o| {
        let x = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
        o.submit(&LONG_CUBE, [x[0].inout()])?;
        o.submit(&LONG_CUBE, [x[1].inout()])?;
        o.submit(&VECTOR, [x[2].inout()])?;
        x[3..].iter().try_for_each(|&y| o.submit(&SHORT_AFTER, [x[2].read(), y.inout()]).map(drop))
    });
    run.result.unwrap();
    // Ten consumers for two cores. While at least as many wait as there are cores, each core has its next one before
    // the last has ended: it follows after the turn-around of 100 ns, 5 ticks.
    for core in [1, 3] {
        let mut rows: Vec<_> = blocks.0.lock().unwrap().iter().copied().filter(|row| row.0 == core).collect();
        rows.sort_by_key(|row| row.2);
        let gaps: Vec<_> = rows.windows(2).map(|pair| pair[1].2 - pair[0].3).collect();
        assert!(gaps.iter().filter(|gap| **gap == 5).count() >= 3, "{gaps:?}: {rows:?}");
    }
}

#[test]
fn the_end_of_virtual_time_is_a_named_error() {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0.0f32]).unwrap();
    let mut runtime = runtime(PolicyName::Fifo);
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        o.advance_time(u64::MAX);
        o.submit(&VECTOR, [x.inout()]).map(drop)
    });
    assert_eq!(run.result.unwrap_err().name(), "VirtualTimeOver");
    let again = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        o.submit(&VECTOR, [x.inout()]).map(drop)
    });
    again.result.unwrap();
}
