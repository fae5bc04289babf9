//! What a scope needs follows from the program: neither threads nor the size of the rings change it.

mod common;

use common::{Sandbox, checked};
use ringlane::prelude::*;
use ringlane_task::Explain;
use ringlane_trace::scopes::{ScopeNeed, Scopes};

kernel! { static COPY = any fn(from: &[u32], to: &mut [u32]) { to.copy_from_slice(from); } }
kernel! { static SLOW = any fn(x: &mut [u32]) {
    x.iter_mut().for_each(|x| *x = (0..200u32).fold(*x, |x, i| x.wrapping_mul(31).wrapping_add(i)));
} }

/// Scopes six deep, with tasks before and after those inside, reads across them, and a barrier in some.
fn nest(o: &mut Orch<'_, '_>, x: BufferId, depth: u32) -> Result<()> {
    for round in 0..2 {
        o.scope(|o| {
            let whole = o.external(x)?;
            let copy = o.submit(&COPY, [whole.read(), out(u32, [8])])?.out(0);
            o.submit(&SLOW, [copy.inout()])?;
            if depth < 6 {
                nest(o, x, depth + 1)?;
            }
            if (depth + round).is_multiple_of(2) {
                o.barrier()?;
            }
            o.submit(&COPY, [copy.read(), whole.write()])?;
            o.submit(&SLOW, [whole.inout()]).map(drop)
        })?;
    }
    Ok(())
}

/// For each scope, by number: its tasks and its need.
fn needs(threads: i32, window: u32) -> Vec<(u32, u64, ScopeNeed)> {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().join("run");
    let mut config = CallConfig::default().with_threads(threads).with_ring_task_window([window; 4]);
    config = config.with_dfx_flags(DfxFlags::SCOPES.with(DfxFlags::DEPS));
    config.set_output_prefix(dir.to_str().unwrap()).unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[8], &[1u32; 8]).unwrap();
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    runtime.run(&mut data, |o| nest(o, x, 1)).result.unwrap();
    checked(&dir);
    let mut scopes: Vec<_> = Scopes::read(&dir).unwrap().scopes;
    scopes.sort_by_key(|scope| scope.scope.0);
    scopes.iter().map(|scope| (scope.scope.0, scope.tasks, scope.need)).collect()
}

#[test]
fn a_need_is_the_same_on_any_number_of_threads_and_with_any_rings() {
    let first = needs(1, 16_384);
    assert_eq!(first.len(), 1 + (1..=6).map(|depth| 1 << depth).sum::<usize>());
    assert!(first.iter().any(|(_, _, need)| need.dep_pool > 0));
    for (threads, window) in [(1, 256), (2, 16_384), (2, 256), (4, 512), (4, 256)] {
        for _ in 0..3 {
            assert_eq!(needs(threads, window), first, "{threads} threads, {window} slots");
        }
    }
}

#[test]
fn scopes_that_begin_after_the_run_was_stopped_are_not_recorded() {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().join("run");
    let mut config = CallConfig::default().with_ring_task_window([4; 4]).with_dfx_flags(DfxFlags::SCOPES);
    config.set_output_prefix(dir.to_str().unwrap()).unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[8], &[1u32; 8]).unwrap();
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    let run = runtime.run(&mut data, |o| {
        o.scope(|o| {
            let x = o.external(x)?;
            // More than the window holds: from then on what is submitted is only counted.
            (0..8).try_for_each(|_| o.submit(&SLOW, [x.inout()]).map(drop))?;
            o.scope(|o| -> Result<()> { o.scope(|_| panic!("after the end")) })
        })
    });
    assert_eq!(run.result.unwrap_err().name(), "FlowControlDeadlock");
    let scopes = Scopes::read(&dir).unwrap().scopes;
    let open: Vec<_> = scopes.iter().map(|scope| (scope.scope.0, scope.exit.is_none())).collect();
    assert_eq!(open, [(1, true), (0, true)]);
    checked(&dir);
}
