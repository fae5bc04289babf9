//! A scope that does not fit its ring stops at once, says where, and passes with the hinted capacity.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::prelude::*;
use ringlane_engine::stall::{Counted, Deadlock};
use ringlane_task::{CallConfig, Resource};

kernel! { static TOUCH = any fn(x: &mut [u32]) { x[0] = x[0].wrapping_mul(3).wrapping_add(1); } }
kernel! { static MAKE = any fn(x: &mut [u32]) { x.fill(7); } }
kernel! { static COPY = any fn(x: &[u32], y: &mut [u32]) { y[0] = y[0].wrapping_add(x[0]); } }

/// A scope of `tasks` tasks, each touching one buffer, using an output and an edge.
fn one_scope(o: &mut Orch<'_, '_>, x: BufferId, tasks: u32) -> Result<()> {
    let x = o.external(x)?;
    o.scope(|o| {
        for _ in 0..tasks / 2 {
            let made = o.submit(&MAKE, [out(u32, [64])])?;
            o.submit(&COPY, [made.out(0).read(), x.inout()])?;
        }
        Ok(())
    })
}

fn run(config: &CallConfig, tasks: u32) -> Result<u32> {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32])?;
    CpuRuntime::new(config)?.run(&mut data, |o| one_scope(o, x, tasks)).result?;
    Ok(data.get::<u32>(x)?[0])
}

fn deadlock(error: &Error) -> Deadlock {
    match error.fault() {
        Fault::FlowControlDeadlock(deadlock) => deadlock.clone(),
        other => panic!("not a deadlock: {other:?}"),
    }
}

fn with(config: CallConfig, resource: Resource, option: &str) -> CallConfig {
    let values: Vec<u64> = option.split(',').map(|v| v.parse().unwrap()).collect();
    let each: [u64; 4] = std::array::from_fn(|ring| *values.get(ring).unwrap_or(&values[0]));
    let narrow = each.map(|v| v as u32);
    match resource {
        Resource::TaskWindow => config.with_ring_task_window(narrow),
        Resource::Heap => config.with_ring_heap(each),
        Resource::DepPool => config.with_ring_dep_pool(narrow),
        Resource::Args => config.with_ring_args(narrow),
        Resource::TensorMap => config.with_tensormap(narrow[0]),
    }
}

#[test]
fn a_full_ring_with_an_open_scope_is_a_deadlock_that_names_the_scope_and_the_way_out() {
    let small = [
        (Resource::TaskWindow, "16"),
        (Resource::Heap, "1024"),
        (Resource::DepPool, "8"),
        (Resource::Args, "512"),
        (Resource::TensorMap, "16"),
    ];
    for (resource, capacity) in small {
        for (tasks, threads) in [(20, 1), (20, 2), (100, 1), (100, 2), (100, 4)] {
            let config = with(CallConfig::default().with_threads(threads), resource, capacity);
            let found = deadlock(&run(&config, tasks).unwrap_err());
            assert_eq!((found.resource, found.counted), (resource, Counted::ToScopeEnd), "{found:?}");
            assert!(found.used <= found.capacity && found.need > found.capacity, "{found:?}");
            assert!(found.scope_site.contains("flow_control.rs:16"), "{found:?}");
            if resource != Resource::TensorMap {
                assert_eq!(found.ring, 1, "{found:?}");
            }
            if resource == Resource::TaskWindow {
                assert_eq!((found.used, found.capacity, found.need), (16, 16, tasks as u64), "{found:?}");
            }
            let again = run(&with(config, resource, &found.option), tasks);
            assert_eq!(again.unwrap(), 7 * (tasks / 2), "{found:?}");
        }
    }
}

#[test]
fn a_value_read_ends_the_count_and_the_hint_says_so() {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32]).unwrap();
    let config = CallConfig::default().with_threads(2).with_ring_task_window([4; 4]);
    let mut runtime = CpuRuntime::new(&config).unwrap();
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        for _ in 0..6 {
            o.submit(&TOUCH, [x.inout()])?;
        }
        let value = o.read::<u32>(x)?;
        (0..value[0]).try_for_each(|_| o.submit(&TOUCH, [x.inout()]).map(drop))
    });
    let found = deadlock(&run.result.unwrap_err());
    assert_eq!((found.counted, found.need, found.ring), (Counted::ToRead, 6, 0));
    assert!(found.hint().contains("with_ring_task_window([8; 4])"), "{}", found.hint());
}

#[test]
fn a_flat_loop_of_20000_submits_gets_a_hint_with_the_scope_to_paste() {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32]).unwrap();
    let run = CpuRuntime::new(&CallConfig::default()).unwrap().run(&mut data, |o| {
        let x = o.external(x)?;
        (0..20_000).try_for_each(|_| o.submit(&TOUCH, [x.inout()]).map(drop))
    });
    let error = run.result.unwrap_err();
    assert!(
        error.hint().contains("o.scope(|o| {") && error.hint().contains("with_ring_task_window([32768; 4])"),
        "{error:?}"
    );
}

#[test]
fn inner_scopes_are_reclaimed_while_outer_ones_stay_open() {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32]).unwrap();
    let config =
        CallConfig::default().with_threads(2).with_ring_task_window([4; 4]).with_ring_heap([1024; 4]);
    let mut runtime = CpuRuntime::new(&config).unwrap();
    runtime
        .run(&mut data, |o| o.scope(|o| o.scope(|o| (0..1000).try_for_each(|_| one_scope(o, x, 4)))))
        .result
        .unwrap();
    assert_eq!(data.get::<u32>(x).unwrap(), [14_000]);
}

#[test]
fn a_task_too_big_for_its_ring_is_refused_with_the_capacity_it_needs() {
    let config = CallConfig::default().with_threads(1).with_ring_heap([128; 4]);
    let error = run(&config, 2).unwrap_err();
    assert_eq!(error.name(), "TaskTooLarge");
    assert!(error.hint().contains("with_ring_heap([256; 4])"), "{}", error.hint());
}

#[test]
fn a_runtime_can_be_used_again_after_a_deadlock_a_failure_and_a_panic() {
    kernel! { static FAIL = any fn(_x: &mut [u32]) -> Result<(), KernelError> { Err(KernelError::new("no")) } }
    let config = CallConfig::default().with_threads(2).with_ring_task_window([16; 4]);
    let mut runtime = CpuRuntime::new(&config).unwrap();
    for _ in 0..20 {
        let mut data = Buffers::new();
        let x = data.add(&[1], &[0u32]).unwrap();
        assert!(runtime.run(&mut data, |o| one_scope(o, x, 100)).result.is_err());
        let failed = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            o.submit(&FAIL, [x.write()]).map(drop)
        });
        assert_eq!(failed.result.unwrap_err().name(), "TaskFailed");
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            runtime.run(&mut data, |o| -> Result<()> {
                let x = o.external(x)?;
                o.submit(&TOUCH, [x.inout()])?;
                panic!("the orchestration panics")
            })
        }));
        assert!(panicked.is_err());
        let mut data = Buffers::new();
        let x = data.add(&[1], &[0u32]).unwrap();
        runtime.run(&mut data, |o| one_scope(o, x, 8)).result.unwrap();
        assert_eq!(data.get::<u32>(x).unwrap(), [28]);
    }
}

/// A tree of scopes, `levels` deep, that adds 1 to `x` at each of its leaves. With an alloc of its own before its inner
/// scopes each of them holds a task while those run.
fn tree<'s>(o: &mut Orch<'s, '_>, x: Tensor<'s>, levels: u32, own: Option<DType>) -> Result<()> {
    if levels == 0 {
        return o.submit(&TOUCH, [x.inout()]).map(drop);
    }
    if let Some(dtype) = own {
        o.alloc(dtype, [1])?;
    }
    o.scope(|o| tree(o, x, levels - 1, own))?;
    o.scope(|o| tree(o, x, levels - 1, own))?;
    o.submit(&TOUCH, [x.inout()]).map(drop)
}

fn run_tree(own: Option<DType>) -> Result<()> {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32])?;
    let config = CallConfig::default().with_threads(2).with_ring_task_window([4; 4]);
    let run = CpuRuntime::new(&config)?.run(&mut data, |o| {
        let x = o.external(x)?;
        tree(o, x, 10, own)
    });
    run.result
}

#[test]
fn a_recursion_that_submits_after_its_inner_scopes_needs_four_slots_at_any_depth() {
    run_tree(None).unwrap();
}

#[test]
fn a_deadlock_in_a_recursion_names_the_ring_that_inner_scopes_share() {
    let error = run_tree(Some(u32)).unwrap_err();
    let found = deadlock(&error);
    assert_eq!((found.ring, found.depth), (3, 3), "{found:?}");
    let hint = error.hint();
    assert!(hint.contains("depth 3 and deeper share ring 3"), "{hint}");
    assert!(hint.contains("only after its inner scopes have ended"), "{hint}");
}

/// Adds an uploaded number.
fn add<'s>(o: &mut Orch<'s, '_>, sum: Tensor<'s>, number: u32) -> Result<()> {
    let x = o.upload(&[number; 64], [64])?;
    o.submit(&COPY, [x.read(), sum.inout()]).map(drop)
}

#[test]
fn an_upload_waits_for_room_and_counts_towards_a_deadlock_as_an_alloc_does() {
    let config = CallConfig::default().with_threads(2).with_ring_heap([1024; 4]);
    let uploads = |config: &CallConfig, scoped: bool| {
        CpuRuntime::new(config)?
            .run(&mut Buffers::new(), |o| {
                let sum = o.alloc(u32, [1])?;
                for i in 0..40u32 {
                    if scoped { o.scope(|o| add(o, sum, i))? } else { add(o, sum, i)? }
                }
                o.read::<u32>(sum)
            })
            .result
    };
    assert_eq!(uploads(&config, true).unwrap(), [780]);
    let found = deadlock(&uploads(&config, false).unwrap_err());
    assert_eq!((found.resource, found.counted), (Resource::Heap, Counted::ToRead));
    let enough = with(config, Resource::Heap, &found.option);
    assert_eq!(uploads(&enough, false).unwrap(), [780]);
}
