//! What safe code must not be able to do: each of these programs once wrote to memory that it did not own, crashed or
//! never ended.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use ringlane::prelude::*;

/// Every chip, and the cpu with one thread and with several. Miri runs the modelled ones, which use only the
/// program's thread, with small rings: it checks every byte of a table.
fn runtimes() -> impl Iterator<Item = Runtime> {
    let (tasks, bytes) = if cfg!(miri) { (64, 1 << 18) } else { (1 << 14, 1 << 28) };
    let config = CallConfig::default()
        .with_ring_task_window([tasks; 4])
        .with_ring_dep_pool([4 * tasks; 4])
        .with_ring_args([1024 * tasks; 4])
        .with_ring_heap([bytes; 4])
        .with_tensormap(1 << 10);
    let chips = [(Platform::A2a3sim, 1), (Platform::A5sim, 1), (Platform::Cpu, 1), (Platform::Cpu, 2)];
    let on = move |(platform, threads)| {
        Runtime::on(platform).with(&config.with_threads(threads)).expect("it can be had")
    };
    chips.into_iter().take(if cfg!(miri) { 2 } else { 4 }).map(on)
}

/// Elements of a tensor that is larger than those of a nested run.
const LARGE: u32 = if cfg!(miri) { 1 << 10 } else { 1 << 20 };
/// Tasks of a program without dependencies.
const TASKS: u32 = if cfg!(miri) { 32 } else { 256 };

kernel! { static FILL = any fn(x: &mut [f64], to: f64) { x.fill(to); } }
kernel! { static COPY = any fn(x: &[f64], y: &mut [f64]) { y.copy_from_slice(&x[..y.len()]); } }

/// Runs `inner` in a run that is nested in the orchestration of another, with access to the outer run's large
/// tensors, and with buffers of 8 bytes.
fn nested<R>(
    outer: &mut Runtime,
    inner: &mut Runtime,
    f: impl for<'s> FnOnce(&mut Orch<'s, '_>, [Tensor<'s>; 2], Task<'s>) -> Result<R>,
) -> Result<R> {
    let mut large = Buffers::new();
    let external = large.add_zeroed(f64, &[LARGE])?;
    let run = outer.run(&mut large, |o| {
        let made = o.submit(&FILL, [out(f64, [LARGE]), scalar(1.0f64)])?;
        let tensors = [o.external(external)?, made.out(0)];
        let mut small = Buffers::new();
        small.add(&[1], &[2.0f64])?;
        inner.run(&mut small, |o| f(o, tensors, made.task())).result
    });
    run.result
}

#[test]
fn handles_of_another_run_are_refused_wherever_they_are_used() {
    for mut outer in runtimes() {
        for mut inner in runtimes() {
            nested(&mut outer, &mut inner, |o, tensors, task| {
                for tensor in tensors {
                    let written = o.submit(&FILL, [tensor.write(), scalar(3.0f64)]).map(drop);
                    let read = o.submit(&COPY, [tensor.read(), out(f64, [1])]).map(drop);
                    let split = o.submit(FILL.blocks(2), [tensor.out_split(0), scalar(3.0f64)]).map(drop);
                    let values = o.read::<f64>(tensor).map(drop);
                    let seen = o.with_slice(tensor, |_: &[f64]| ());
                    for refused in [written, read, split, values, seen] {
                        assert_eq!(refused.unwrap_err().name(), "ForeignHandle");
                    }
                }
                let followed = o.submit_after(&[task], &FILL, [out(f64, [1]), scalar(3.0f64)]).map(drop);
                assert_eq!(followed.unwrap_err().name(), "ForeignHandle");
                let own = o.submit(&FILL, [out(f64, [1]), scalar(4.0f64)])?;
                assert_eq!(o.read::<f64>(own.out(0))?, [4.0]);
                Ok(())
            })
            .unwrap();
        }
    }
}

/// Panics when it is dropped, with another of its kind.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

fn cost_of_a_bomb(_args: &Args<'_>) -> u64 {
    panic_any(Bomb)
}

kernel! { static EXPLODE = any fn(_x: &mut [f64]) { panic_any(Bomb); } }
kernel! { static COSTLY = any fn(x: &mut [f64]) { x.fill(1.0); } cost Cost::Ticks(cost_of_a_bomb) }

#[test]
fn a_panic_whose_payload_panics_when_it_is_dropped_fails_only_its_task() {
    for mut runtime in runtimes() {
        let mut values = [0.0f64; TASKS as usize];
        let mut data = Buffers::new();
        let x = data.lend_mut(&[TASKS], &mut values).unwrap();
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            for i in 0..TASKS {
                let one = x.slice(0, i, 1)?;
                if i % 2 == 0 {
                    o.submit(&EXPLODE, [one.write()])?;
                } else {
                    o.submit(&COSTLY, [one.write()])?;
                }
            }
            Ok(())
        });
        assert_eq!((run.report.tasks, run.report.failed), (TASKS as u64, TASKS as u64 / 2));
        assert_eq!(run.result.unwrap_err().name(), "TaskFailed");
        drop(data);
        assert!(values.iter().enumerate().all(|(i, value)| *value == (i % 2) as f64));
    }
}

#[test]
fn an_orchestration_whose_panic_payload_panics_on_drop_leaves_the_runtime_usable() {
    for mut runtime in runtimes() {
        let mut data = Buffers::new();
        let x = data.add_zeroed(f64, &[LARGE / 16]).unwrap();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let run = runtime.run(&mut data, |o| -> Result<()> {
                let x = o.external(x)?;
                o.submit(&FILL, [x.write(), scalar(1.0f64)])?;
                panic_any(Bomb)
            });
            run.result
        }));
        std::mem::forget(ended.unwrap_err());
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            o.submit(&FILL, [x.write(), scalar(2.0f64)]).map(drop)
        });
        run.result.unwrap();
        assert!(data.get::<f64>(x).unwrap().iter().all(|value| *value == 2.0));
    }
}

kernel! { static LABEL = any fn(x: ViewMut<u32, 2>, block: Block) {
    let mut x = x;
    let [rows, cols] = x.shape();
    for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
        x[[i, j]] = block.index.0 + 1;
    }
} }

#[test]
fn a_corner_tile_can_be_split_into_more_blocks_than_it_has_rows() {
    for mut runtime in runtimes() {
        let mut data = Buffers::new();
        let x = data.add_zeroed(u32, &[8, 8]).unwrap();
        let run = runtime.run(&mut data, |o| {
            let corner = o.external(x)?.tile(&[6, 5], &[2, 3])?;
            o.submit(LABEL.blocks(7), [corner.inout().split(0)])?;
            Ok(())
        });
        run.result.unwrap();
        let values = data.get::<u32>(x).unwrap();
        assert_eq!((&values[53..56], &values[61..64]), ([1; 3].as_slice(), [2; 3].as_slice()));
        assert_eq!(values.iter().filter(|value| **value != 0).count(), 6);
    }
}

// Miri itself ends at an allocation that fails.
#[cfg_attr(miri, ignore)]
#[test]
fn a_request_for_more_memory_than_exists_is_an_error() {
    let mut data = Buffers::new();
    let most = [1 << 24, 1 << 24];
    assert_eq!(data.add_zeroed(u8, &most).unwrap_err().name(), "OutOfMemory");
    let x = data.add(&[1], &[7u8]).unwrap();
    for mut runtime in runtimes() {
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            let wide = x.broadcast(1 << 24)?.broadcast(1 << 24)?;
            let refused = o.read::<u8>(wide).map(drop).unwrap_err();
            assert_eq!(refused.name(), "OutOfMemory");
            o.read::<u8>(x)
        });
        assert_eq!(run.result.unwrap(), [7]);
    }
}

kernel! { static ADD = any fn(x: View<f32, 4>, y: ViewMut<f32, 4>) {
    let mut y = y;
    let shape = x.shape();
    for at in 0..shape.iter().product::<usize>() {
        let mut rest = at;
        let index = std::array::from_fn(|d| {
            let inner: usize = shape[d + 1..].iter().product();
            let here = rest / inner;
            rest %= inner;
            here
        });
        y[index] += x[index];
    }
} }

#[test]
fn columns_that_share_no_element_can_be_arguments_of_one_task() {
    for mut runtime in runtimes() {
        let mut data = Buffers::new();
        let ones = vec![1.0f32; 5 * 14 * 12 * 6];
        let x = data.add(&[5, 14, 12, 6], &ones).unwrap();
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            let (left, right) = (x.slice(3, 0, 2)?, x.slice(3, 4, 2)?);
            o.submit(&ADD, [left.read(), right.inout()])?;
            let overlapping = o.submit(&ADD, [left.read(), x.slice(3, 1, 2)?.inout()]).map(drop).unwrap_err();
            assert_eq!(overlapping.name(), "ArgsOverlap");
            Ok(())
        });
        run.result.unwrap();
        assert_eq!(data.get::<f32>(x).unwrap().iter().sum::<f32>(), (5 * 14 * 12 * 8) as f32);
    }
}
