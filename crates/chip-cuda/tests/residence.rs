//! External buffers: what is copied to the device before a run, what comes back after it, and what stays there for the next run.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::runtime;
use ringlane_chip_cuda::CudaRuntime;
use ringlane_engine::api::buffers::Permission;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_task::CallConfig;

kernel! { static ADD = any fn(x: &[u32], y: &mut [u32]) -> KernelResult {
    if y[0] == 99 { return Err(KernelError::new("99")); }
    y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
    Ok(())
} cuda "if (y[0] == 99u) { rl_fail(\"99\"); return; } rl_sync(); rl_each(i, y.len()) y[i] += x[i];" }

/// Elements of a buffer, and of the parts that tasks use.
const LEN: u32 = 64;
const PART: u32 = 16;

/// Adds a part of x to a part of y.
fn add(o: &mut Orch<'_, '_>, x: BufferId, y: BufferId, part: u32) -> Result<()> {
    let [x, y] = [x, y].map(|id| o.external(id)?.tile(&[part * PART], &[PART]));
    o.submit(&ADD, [x?.read(), y?.inout()]).map(drop)
}

/// Bytes of the copies of the last run, to the device and back.
fn copied(runtime: &CudaRuntime) -> (Vec<u64>, Vec<u64>) {
    let copies = runtime.copies().copies;
    let bytes =
        |to_chip| copies.iter().filter(|copy| copy.to_chip == to_chip).map(|copy| copy.bytes).collect();
    (bytes(true), bytes(false))
}

const WHOLE: u64 = LEN as u64 * 4;
const TILE: u64 = PART as u64 * 4;

#[test]
fn a_buffer_is_copied_once_and_only_what_tasks_write_comes_back() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let (ones, mut values) = ([1u32; LEN as usize], vec![5u32; LEN as usize]);
    let mut data = Buffers::new();
    let x = data.lend(&[LEN], &ones).unwrap();
    let y = data.lend_mut(&[LEN], &mut values).unwrap();
    let z = data.add(&[LEN], &ones).unwrap();
    let mut run = |data: &mut Buffers<'_>, (x, y): (BufferId, BufferId), part| {
        let run = runtime.run_at(Location::caller(), data, &(), |o| add(o, x, y, part));
        run.result.unwrap();
        copied(&runtime)
    };
    assert_eq!(run(&mut data, (x, y), 1), (vec![WHOLE; 3], vec![TILE]));
    assert_eq!(run(&mut data, (y, z), 3), (vec![], vec![TILE]));
    assert_eq!(run(&mut data, (z, y), 1), (vec![], vec![TILE]));
    assert_eq!(data.get::<u32>(y).unwrap()[15..18], [5, 7, 7]);
    // New contents are copied, those of the others are still there.
    let mut others = Buffers::new();
    let zeros = [0, 1].map(|_| others.add(&[LEN], &[0u32; LEN as usize]).unwrap());
    data.copy_from(y, &others, zeros[0]).unwrap();
    assert_eq!(run(&mut data, (z, y), 0), (vec![WHOLE], vec![TILE]));
    assert_eq!(data.get::<u32>(y).unwrap()[15..18], [1, 0, 0]);
    // What another chip writes is a new content too.
    oracle::run(&mut data, |o| add(o, x, z, 0)).unwrap();
    assert_eq!(run(&mut data, (z, y), 0).0, [WHOLE, WHOLE]);
    assert_eq!(data.get::<u32>(y).unwrap()[15..18], [3, 0, 0]);
    // Another set of buffers has nothing there, and takes the place.
    assert_eq!(run(&mut others, zeros.into(), 0).0, [WHOLE; 2]);
    assert_eq!(run(&mut data, (x, y), 0).0, [WHOLE; 3]);
}

#[test]
fn after_a_run_that_fails_nothing_is_taken_for_granted() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let mut data = Buffers::new();
    let x = data.add(&[LEN], &[1u32; LEN as usize]).unwrap();
    let y = data.add(&[LEN], &[98u32; LEN as usize]).unwrap();
    let mut run = |data: &mut Buffers<'_>| {
        let run = runtime.run_at(Location::caller(), data, &(), |o| add(o, x, y, 0));
        (run.result.map_err(|error| error.name()), copied(&runtime).0.len())
    };
    assert_eq!(run(&mut data), (Ok(()), 2));
    assert_eq!(run(&mut data), (Err("TaskFailed"), 0));
    assert_eq!(run(&mut data), (Err("TaskFailed"), 2));
}

#[test]
fn memory_that_was_lent_by_its_address_may_change_between_runs() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let (mut x, mut y) = ([1u32; LEN as usize], [0u32; LEN as usize]);
    let (from, to) = (x.as_mut_ptr(), y.as_mut_ptr());
    let mut data = Buffers::new();
    let mut lend = |at: *mut u32, permission| {
        // SAFETY: both arrays live as long as the buffers, and are used between runs only.
        unsafe { data.lend_at(at.cast(), DType::UInt32, &[LEN], permission) }.unwrap()
    };
    let (x, y) = (lend(from, Permission::Read), lend(to, Permission::ReadWrite));
    for expected in [1, 11] {
        runtime.run_at(Location::caller(), &mut data, &(), |o| add(o, x, y, 0)).result.unwrap();
        assert_eq!(copied(&runtime), (vec![WHOLE; 2], vec![TILE]));
        // SAFETY: no run uses it now.
        assert_eq!(unsafe { to.read() }, expected);
        // SAFETY: as above.
        unsafe { from.write(10) };
    }
}

#[test]
fn replays_and_runs_in_turn_see_what_the_others_wrote() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let mut data = Buffers::new();
    let x = data.add(&[LEN], &(0..LEN).collect::<Vec<u32>>()).unwrap();
    let y = data.add(&[LEN], &[0u32; LEN as usize]).unwrap();
    let program = |o: &mut Orch<'_, '_>| (0..LEN / PART).try_for_each(|part| add(o, x, y, part));
    let (_, mut graph) = runtime.capture_at(Location::caller(), &data, None, program).unwrap();
    for round in 0..4u32 {
        runtime.replay_at(&mut graph, &mut data, &()).result.unwrap();
        assert_eq!(copied(&runtime), (if round == 0 { vec![WHOLE; 2] } else { vec![] }, vec![WHOLE]));
        runtime.run_at(Location::caller(), &mut data, &(), |o| add(o, y, x, 2)).result.unwrap();
        assert_eq!(copied(&runtime), (vec![], vec![TILE]));
    }
    let mut expected = [(0..LEN).collect::<Vec<u32>>(), vec![0; LEN as usize]];
    for _ in 0..4 {
        let [x, y] = &mut expected;
        y.iter_mut().zip(&*x).for_each(|(y, x)| *y += x);
        let part = 2 * PART as usize..3 * PART as usize;
        x[part.clone()].iter_mut().zip(&y[part]).for_each(|(x, y)| *x += y);
    }
    assert_eq!([x, y].map(|id| data.get::<u32>(id).unwrap().to_vec()), expected);
}
