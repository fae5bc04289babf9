//! Bugs that the swarm found, each in its smallest form.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::prelude::*;
use ringlane_engine::stall::Deadlock;
use ringlane_task::{CallConfig, Resource};

kernel! { static MAKE = any fn(x: &mut [u32]) { x.fill(7); } }
kernel! { static FIRST = any fn(x: &mut [u32]) { x[0] = 1; } }
kernel! { static COPY = any fn(x: &[u32], y: &mut [u32]) { y[0] = y[0].wrapping_add(x[0]); } }
kernel! { static FAIL = any fn(_x: &mut [u32]) -> Result<(), &'static str> { Err("the first kernel") } }
kernel! { static FAIL_TOO = any fn(_x: &mut [u32]) -> Result<(), &'static str> { Err("the second kernel") } }

fn tiny() -> CallConfig {
    CallConfig::default().with_threads(2).with_ring_task_window([64; 4])
}

fn deadlock<R: std::fmt::Debug>(result: Result<R>) -> Deadlock {
    match result.unwrap_err().fault() {
        Fault::FlowControlDeadlock(deadlock) => deadlock.clone(),
        other => panic!("not a deadlock: {other:?}"),
    }
}

#[test]
fn a_refusal_that_comes_after_the_arguments_were_filed_ends_the_run_even_if_it_is_ignored() {
    let mut runtime = CpuRuntime::new(&tiny().with_ring_dep_pool([2; 4])).unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[4], &[0u32; 4]).unwrap();
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        for i in 0..4 {
            o.submit(&MAKE, [x.slice(0, i, 1)?.write()])?;
        }
        let refused = o.submit(&MAKE, [x.write()]);
        assert_eq!(refused.map(drop).unwrap_err().name(), "TaskTooLarge");
        let next = o.submit(&MAKE, [x.write()]);
        assert_eq!(next.map(drop).unwrap_err().name(), "TaskTooLarge");
        Ok(())
    });
    assert_eq!(run.result.unwrap_err().name(), "TaskTooLarge");
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        o.submit(&MAKE, [x.write()]).map(drop)
    });
    assert!(run.result.is_ok());
}

#[test]
fn the_hint_for_one_ring_takes_nothing_away_from_the_others() {
    let config = tiny().with_ring_heap([1 << 16, 64, 128, 256]);
    let run = CpuRuntime::new(&config)
        .unwrap()
        .run(&mut Buffers::new(), |o| o.scope(|o| o.submit(&MAKE, [out(u32, [256])]).map(drop)));
    let error = run.result.unwrap_err();
    assert!(error.hint().contains("with_ring_heap([65536, 1024, 128, 256])` or split the task"), "{error}");
}

#[test]
fn a_deadlock_of_the_tensor_map_is_found_again_in_the_next_run() {
    let mut runtime = CpuRuntime::new(&tiny().with_tensormap(8)).unwrap();
    for _ in 0..3 {
        let run = runtime.run(&mut Buffers::new(), |o| {
            (0..10).try_for_each(|_| o.submit(&MAKE, [out(u32, [1])]).map(drop))
        });
        let found = deadlock(run.result);
        assert_eq!((found.resource, found.capacity, found.need), (Resource::TensorMap, 8, 20));
    }
}

#[test]
fn scopes_on_the_deepest_ring_are_counted_together_whatever_ran_out() {
    let program = |o: &mut Orch<'_, '_>| {
        o.scope(|o| {
            o.scope(|o| {
                o.scope(|o| {
                    o.submit(&MAKE, [out(u32, [1])])?;
                    (0..20).try_for_each(|_| o.scope(|o| o.submit(&MAKE, [out(u32, [1])]).map(drop)))
                })
            })
        })
    };
    let run = CpuRuntime::new(&tiny().with_tensormap(8)).unwrap().run(&mut Buffers::new(), program);
    let found = deadlock(run.result);
    assert_eq!((found.need, found.option.as_str()), (42, "64"));
    let run = CpuRuntime::new(&tiny().with_tensormap(64)).unwrap().run(&mut Buffers::new(), program);
    assert!(run.result.is_ok());
}

#[test]
fn a_barrier_waits_where_entries_are_scarce_and_what_follows_it_is_counted() {
    let barriers = |o: &mut Orch<'_, '_>| {
        (0..8).try_for_each(|_| {
            (0..4).try_for_each(|_| o.submit(&MAKE, [out(u32, [1])]).map(drop))?;
            o.barrier().map(drop)
        })
    };
    let run =
        CpuRuntime::new(&tiny().with_ring_dep_pool([64; 4])).unwrap().run(&mut Buffers::new(), barriers);
    assert!(run.result.is_ok(), "a task follows one barrier: 28 entries");
    let run =
        CpuRuntime::new(&tiny().with_ring_dep_pool([16; 4])).unwrap().run(&mut Buffers::new(), barriers);
    let found = deadlock(run.result);
    assert_eq!((found.resource, found.option.as_str()), (Resource::DepPool, "64"), "{found:?}");
}

#[test]
fn a_submit_that_had_to_wait_is_counted_with_all_it_follows() {
    let program = |o: &mut Orch<'_, '_>| {
        let x = o.alloc(u32, [8])?;
        for _ in 0..3 {
            for i in 0..8 {
                o.submit(&MAKE, [x.slice(0, i, 1)?.write()])?;
            }
            o.submit(&MAKE, [x.write()])?;
        }
        Ok(())
    };
    let run = CpuRuntime::new(&tiny().with_ring_dep_pool([8; 4])).unwrap().run(&mut Buffers::new(), program);
    // Eight into each of three, and eight out of each but the last; `alloc` precedes the first eight.
    let found = deadlock(run.result);
    assert!(found.need >= 8 * 5, "{found:?}");
}

#[test]
fn what_a_skipped_task_would_have_made_is_zero_not_what_lay_there() {
    let config = tiny().with_ring_heap([4096; 4]);
    let run = CpuRuntime::new(&config).unwrap().run(&mut Buffers::new(), |o| {
        for _ in 0..16 {
            o.scope(|o| o.submit(&MAKE, [out(u32, [256])]).map(drop))?;
        }
        o.scope(|o| {
            let failed = o.submit(&FAIL, [out(u32, [4])])?;
            let skipped = o.submit(&COPY, [failed.out(0).read(), out(u32, [4])])?;
            o.submit(&FIRST, [skipped.out(0).write()])?;
            assert_eq!(o.read::<u32>(skipped.out(0))?, [1, 0, 0, 0]);
            Ok(())
        })
    });
    assert_eq!(run.result.unwrap_err().name(), "TaskFailed");
}

#[test]
fn of_several_kernels_that_fail_in_one_task_the_first_is_named() {
    let mut runtime = CpuRuntime::new(&tiny()).unwrap();
    for _ in 0..200 {
        let run = runtime.run(&mut Buffers::new(), |o| {
            o.submit(FAIL.mixed(&[&FAIL_TOO]), [out(u32, [1]), out(u32, [1])]).map(drop)
        });
        let error = run.result.unwrap_err();
        let Fault::TaskFailed(failure) = error.fault() else { panic!("{error:?}") };
        assert_eq!((failure.kernel.as_str(), failure.cause.as_str()), ("FAIL", "the first kernel"));
    }
}

#[test]
fn tasks_that_were_only_counted_go_before_the_tensors_that_they_access() {
    let mut runtime = CpuRuntime::new(&tiny().with_ring_task_window([64, 8, 8, 8])).unwrap();
    let run = runtime.run(&mut Buffers::new(), |o| {
        o.scope(|o| {
            let made = o.submit(&MAKE, [out(u32, [8, 8])])?.out(0);
            for row in 0..40 {
                o.submit(&MAKE, [made.slice(0, row % 8, 1)?.write()])?;
            }
            // The other thread completes what was submitted before the deadlock: the end of the scope can reclaim it.
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok(())
        })
    });
    let deadlock = deadlock(run.result);
    assert_eq!((deadlock.resource, deadlock.need), (Resource::TaskWindow, 41));
}
