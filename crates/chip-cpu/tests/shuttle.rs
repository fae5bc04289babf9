//! Small whole runs under schedules that shuttle draws: the values are right whatever the order, and no schedule leaves
//! everyone asleep (shuttle ends a test when no thread can go on, so a lost wake-up is a failure, not a hang).
//!
//! ```text
//! RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p ringlane-chip-cpu --release --test shuttle
//! ```
//! The schedules follow from a fixed seed; `SHUTTLE_RANDOM_SEED=N` draws others, `SHUTTLE_RUNS=N` more of them. With
//! `--features planted-bugs` and `RINGLANE_BUG=NAME` the test must find that planted bug.
#![cfg(shuttle)]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::prelude::*;
use ringlane_task::CallConfig;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

/// Schedules of each kind, for each program and number of threads.
const RUNS: usize = 2000;
/// Places in a schedule of the second kind at which the most important thread changes.
const DEPTH: usize = 4;

kernel! { static SCALE = any fn(x: &[f32], y: &mut [f32], by: f32) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = by * x);
} }
kernel! { static JOIN = any fn(a: &[f32], b: &[f32], sum: &mut [f32]) {
    sum.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a + b);
} }
kernel! { static TOTAL = any fn(x: &[f32], y: &mut [f32]) { y[0] += x.iter().sum::<f32>(); } }
kernel! { static SQUARE = any fn(x: &[f32], y: &mut [f32], block: Block) {
    y.fill(x[block.index.0 as usize].powi(2));
} }
kernel! { static REFUSE = any fn(_x: &mut [f32]) -> KernelResult { Err(KernelError::new("refused")) } }

/// Rings of four slots and four small outputs, and little of everything else.
fn config(threads: i32) -> CallConfig {
    CallConfig::default()
        .with_threads(threads)
        .with_ring_task_window([4; 4])
        .with_ring_heap([256; 4])
        .with_ring_dep_pool([16; 4])
        .with_ring_args([2048; 4])
        .with_tensormap(64)
}

/// Runs `program` with two and with three threads under random schedules of two kinds.
fn explore(program: fn(&mut CpuRuntime)) {
    let runs = std::env::var("SHUTTLE_RUNS").map_or(RUNS, |n| n.parse().expect("SHUTTLE_RUNS is a number"));
    for threads in [2, 3] {
        let run = move || program(&mut CpuRuntime::new(&config(threads)).unwrap());
        let mut settings = Config::new();
        (settings.stack_size, settings.silence_warnings) = (1 << 18, true);
        Runner::new(RandomScheduler::new_from_seed(7, runs), settings.clone()).run(run);
        Runner::new(PctScheduler::new_from_seed(7, DEPTH, runs), settings).run(run);
    }
}

/// Three diamonds, each in a scope that fills its ring; each adds 5 × `x` to the sum.
fn diamonds(runtime: &mut CpuRuntime) {
    let mut data = Buffers::new();
    let (x, sum) = (data.add(&[2], &[1.0f32, 2.0]).unwrap(), data.add_zeroed(f32, &[2]).unwrap());
    let run = runtime.run(&mut data, |o| {
        let (x, sum) = (o.external(x)?, o.external(sum)?);
        for _ in 0..3 {
            o.scope(|o| {
                let top = o.submit(&SCALE, [x.read(), out(f32, [2]), scalar(1.0f32)])?.out(0);
                let left = o.submit(&SCALE, [top.read(), out(f32, [2]), scalar(2.0f32)])?.out(0);
                let right = o.submit(&SCALE, [top.read(), out(f32, [2]), scalar(3.0f32)])?.out(0);
                o.submit(&JOIN, [left.read(), right.read(), sum.inout()])?;
                Ok(())
            })?;
        }
        Ok(())
    });
    run.result.unwrap();
    assert_eq!(run.report.tasks, 12);
    assert_eq!(data.get::<f32>(sum).unwrap(), [15.0, 30.0]);
}

/// A fan-in of tiles, a task in blocks that waits for it, a value that decides how it goes on, and in scopes two deep
/// a tensor that is overwritten after it was read.
fn fan_in_blocks_and_a_read(runtime: &mut CpuRuntime) {
    let mut data = Buffers::new();
    let x = data.add(&[3], &[1.0f32, 2.0, 3.0]).unwrap();
    let (squares, total) = (data.add_zeroed(f32, &[6]).unwrap(), data.add_zeroed(f32, &[1]).unwrap());
    let run = runtime.run(&mut data, |o| {
        let (x, squares, total) = (o.external(x)?, o.external(squares)?, o.external(total)?);
        let tiles = o.alloc(f32, [3])?;
        o.scope(|o| {
            for i in 0..3 {
                let (from, to) = (x.slice(0, i, 1)?, tiles.slice(0, i, 1)?);
                o.submit(&SCALE, [from.read(), to.write(), scalar(2.0f32)])?;
            }
            o.submit(SQUARE.blocks(3), [tiles.read(), squares.out_split(0)]).map(drop)
        })?;
        o.submit(&TOTAL, [squares.read(), total.inout()])?;
        let sum = o.read::<f32>(total)?[0];
        o.scope(|o| {
            let half = o.submit(&SCALE, [x.read(), out(f32, [3]), scalar(sum / 112.0)])?.out(0);
            o.scope(|o| {
                let more = o.submit(&SCALE, [half.read(), out(f32, [3]), scalar(10.0f32)])?.out(0);
                o.submit(&TOTAL, [more.read(), total.inout()]).map(drop)
            })?;
            o.submit(&TOTAL, [half.read(), total.inout()])?;
            o.submit(&SCALE, [x.read(), half.write(), scalar(0.0f32)]).map(drop)
        })?;
        Ok(sum)
    });
    // Squares of 2, 4 and 6, each twice; then 10 × 6 and 6.
    assert_eq!(run.result.unwrap(), 112.0);
    assert_eq!(data.get::<f32>(squares).unwrap(), [4.0, 4.0, 16.0, 16.0, 36.0, 36.0]);
    assert_eq!(data.get::<f32>(total).unwrap(), [178.0]);
}

/// Tensors read in deeper scopes than they were made in, so often that their slots and memory are used again.
fn outputs_read_deeper(runtime: &mut CpuRuntime) {
    let mut data = Buffers::new();
    let (x, total) = (data.add(&[2], &[1.0f32, 2.0]).unwrap(), data.add_zeroed(f32, &[1]).unwrap());
    let run = runtime.run(&mut data, |o| {
        let (x, total) = (o.external(x)?, o.external(total)?);
        for round in 1..=6 {
            o.scope(|o| {
                let made = o.submit(&SCALE, [x.read(), out(f32, [2]), scalar(round as f32)])?.out(0);
                o.scope(|o| o.submit(&TOTAL, [made.read(), total.inout()]).map(drop))
            })?;
        }
        Ok(())
    });
    run.result.unwrap();
    assert_eq!(data.get::<f32>(total).unwrap(), [63.0]);
}

/// A task that fails: what reads its bytes or follows it is skipped, the rest runs, and the runtime can be used again.
fn failure(runtime: &mut CpuRuntime) {
    let mut data = Buffers::new();
    let x = data.add(&[2], &[1.0f32, 2.0]).unwrap();
    let bad = data.add_zeroed(f32, &[1]).unwrap();
    let (after, apart) = (data.add_zeroed(f32, &[1]).unwrap(), data.add_zeroed(f32, &[1]).unwrap());
    let run = runtime.run(&mut data, |o| {
        let (x, bad, after, apart) =
            (o.external(x)?, o.external(bad)?, o.external(after)?, o.external(apart)?);
        o.scope(|o| {
            let refused = o.submit(&REFUSE, [bad.inout()])?.task();
            o.submit(&TOTAL, [bad.read(), after.inout()])?;
            o.submit_after(&[refused], &TOTAL, [x.read(), out(f32, [1])])?;
            o.submit(&TOTAL, [x.read(), apart.inout()]).map(drop)
        })
    });
    assert_eq!(run.result.unwrap_err().name(), "TaskFailed");
    assert_eq!((run.report.failed, run.report.skipped), (1, 2));
    assert_eq!((data.get::<f32>(after).unwrap(), data.get::<f32>(apart).unwrap()), (&[0.0][..], &[3.0][..]));
    diamonds(runtime);
}

const PROGRAMS: [fn(&mut CpuRuntime); 4] = [diamonds, fan_in_blocks_and_a_read, outputs_read_deeper, failure];

#[test]
#[cfg_attr(feature = "planted-bugs", ignore = "a bug is planted")]
fn every_schedule_gives_the_values_of_running_in_order() {
    PROGRAMS.into_iter().for_each(explore);
}

/// Some bugs make runs touch memory that is not theirs, so each is searched for in its own process.
#[cfg(feature = "planted-bugs")]
#[test]
fn the_planted_bug_is_found() {
    use ringlane_engine::planted::{Bug, plant};
    let wanted = std::env::var("RINGLANE_BUG").unwrap_or_else(|_| "lost-wake-up".to_string());
    let (name, bug) =
        Bug::ALL.into_iter().find(|(name, _)| *name == wanted).expect("RINGLANE_BUG names a bug");
    plant(Some(bug));
    let found = PROGRAMS.iter().position(|&program| std::panic::catch_unwind(|| explore(program)).is_err());
    println!("{name}: found by program {found:?}");
    assert!(found.is_some(), "{name} was not found");
}
