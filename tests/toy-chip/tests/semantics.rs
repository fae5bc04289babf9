//! The toy chip against the in-order oracle: the same bytes, through copies alone.

use std::sync::Mutex;

use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_scenes::scenes;
use ringlane_task::{CallConfig, Explain};
use toy_chip::ToyRuntime;

kernel! { static FILL = any fn(y: &mut [u32], first: u32) {
    y.iter_mut().zip(first..).for_each(|(y, i)| *y = i);
} }
kernel! { static ADD = any fn(x: View<u32, 2>, y: ViewMut<u32, 2>) {
    let mut y = y;
    let [rows, cols] = x.shape();
    (0..rows).for_each(|i| (0..cols).for_each(|j| y[[i, j]] += x[[i, j]]));
} }
kernel! { static EVERY_OTHER = any fn(y: &mut [u32]) { y.iter_mut().step_by(2).for_each(|y| *y = 7); } }
kernel! { static MINE = any fn(y: SharedMut<u32>, block: Block) {
    // SAFETY: every block has another element.
    unsafe { y.set(2 * block.index.0 as usize, block.index.0 + 1) };
} }
kernel! { static FAIL = any fn(y: &mut [u32]) -> KernelResult { y[0] = 9; Err(KernelError::new("as planned")) } }

static ORDER: Mutex<Vec<u32>> = Mutex::new(Vec::new());
kernel! { static NOTE = any fn(y: &mut [u32], number: u32) { y[0] = number; ORDER.lock().unwrap().push(number); } }

fn toy() -> ToyRuntime {
    // Small rings: memory is reused, so what is not zeroed shows.
    ToyRuntime::new(&CallConfig::default().with_ring_heap([1 << 14; 4])).unwrap()
}

/// Strided views, tiles, blocks that share or split what they make, uploads, reads, gaps that kernels leave.
fn program<'e>(o: &mut Orch<'_, 'e>, [x, y]: [BufferId; 2]) -> Result<Vec<Vec<u32>>> {
    let (x, y, mut seen) = (o.external(x)?, o.external(y)?, Vec::new());
    for round in 0..6u32 {
        seen.push(o.scope(|o| {
            let made = o.submit(&FILL, [out(u32, [12, 16]), scalar(round)])?.out(0);
            let tile = made.tile(&[2, 3], &[8, 8])?;
            o.submit(&ADD, [tile.read(), x.tile(&[1, 1], &[8, 8])?.inout()])?;
            o.submit(&ADD, [x.transpose(0, 1)?.read(), y.inout()])?;
            let zeros = o.alloc(u32, [8, 8])?;
            o.submit(&ADD, [y.tile(&[1, 0], &[8, 8])?.read(), zeros.inout()])?;
            let up = o.upload(&[round; 64], [8, 8])?;
            o.submit(&ADD, [zeros.transpose(0, 1)?.read(), up.inout()])?;
            let gaps = o.submit(&EVERY_OTHER, [out(u32, [101])])?.out(0);
            let parts = o.submit(EVERY_OTHER.blocks(3), [out(u32, [10, 4]).split(0)])?.out(0);
            let shared = o.submit(MINE.blocks(5), [out(u32, [11])])?.out(0);
            let mut seen = o.read::<u32>(tile)?;
            for tensor in [zeros.transpose(0, 1)?, up, gaps, parts, shared, x.tile(&[3, 0], &[2, 9])?] {
                seen.extend(o.read::<u32>(tensor)?);
            }
            Ok(seen)
        })?);
    }
    Ok(seen)
}

fn buffers() -> (Buffers<'static>, [BufferId; 2]) {
    let mut data = Buffers::new();
    let values: Vec<u32> = (0..81).collect();
    let ids = [data.add(&[9, 9], &values).unwrap(), data.add_zeroed(u32, &[9, 9]).unwrap()];
    (data, ids)
}

#[test]
fn views_strides_blocks_uploads_and_reads_are_as_on_the_oracle() {
    let (mut on_toy, toy_ids) = buffers();
    let (mut on_oracle, oracle_ids) = buffers();
    let mut runtime = toy();
    for _ in 0..3 {
        let seen = runtime.run(&mut on_toy, |o| program(o, toy_ids)).result.unwrap();
        let expected = oracle::run(&mut on_oracle, |o| program(o, oracle_ids)).unwrap();
        assert_eq!(seen, expected);
        for (a, b) in toy_ids.into_iter().zip(oracle_ids) {
            assert_eq!(on_toy.get::<u32>(a).unwrap(), on_oracle.get::<u32>(b).unwrap());
        }
    }
}

#[test]
fn every_scene_meets_its_golden() {
    let mut runtime = ToyRuntime::new(&CallConfig::default()).unwrap();
    for scene in scenes() {
        let fewer = [("tasks".to_string(), "20000".to_string())];
        let params = if scene.name == "stream" { &fewer[..] } else { &[] };
        let settings = scene.settings(scene.default_case(), params, 1).unwrap();
        let mut program = (scene.build)(&settings).unwrap();
        let mut buffers = program.buffers().unwrap();
        runtime.run(&mut buffers, |o| program.orchestrate(o)).result.unwrap();
        assert!(program.golden(&buffers).unwrap().passed(), "{}", scene.name);
    }
}

#[test]
fn what_is_only_lent_for_reading_is_not_copied_back_and_reading_it_is_refused() {
    let (values, mut results) = ([5u32; 4], [0u32; 4]);
    let mut data = Buffers::new();
    let x = data.lend(&[2, 2], &values).unwrap();
    let y = data.lend_mut(&[2, 2], &mut results).unwrap();
    let run = toy().run(&mut data, |o| {
        let (x, y) = (o.external(x)?, o.external(y)?);
        o.submit(&ADD, [x.read(), y.inout()])?;
        Ok(o.with_slice(y, |seen: &[u32]| seen.to_vec()).unwrap_err().name())
    });
    assert_eq!(run.result.unwrap(), "NotMapped");
    drop(data);
    assert_eq!((values, results), ([5; 4], [5; 4]));
}

#[test]
fn a_failed_task_and_what_follows_it_end_as_on_the_oracle() {
    let orchestrate = |o: &mut Orch<'_, '_>, out_of: BufferId| {
        let y = o.external(out_of)?;
        for _ in 0..20 {
            o.scope(|o| {
                let bad = o.submit(&FAIL, [out(u32, [16])])?.out(0);
                o.submit(&ADD, [bad.reshape(&[4, 4])?.read(), y.inout()])?;
                let full = o.submit(&FILL, [out(u32, [16]), scalar(3u32)])?.out(0);
                o.read::<u32>(full).map(drop)
            })?;
        }
        Ok(())
    };
    let run = |on_toy: bool| {
        let mut data = Buffers::new();
        let y = data.add(&[4, 4], &[1u32; 16]).unwrap();
        let result = match on_toy {
            true => toy().run(&mut data, |o| orchestrate(o, y)).result,
            false => oracle::run(&mut data, |o| orchestrate(o, y)),
        };
        let error = result.unwrap_err();
        let Fault::TaskFailed(failure) = error.fault() else { panic!("{error}") };
        (failure.cause.clone(), data.get::<u32>(y).unwrap().to_vec())
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn tasks_run_in_the_order_in_which_they_were_submitted() {
    let mut data = Buffers::new();
    let x = data.add_zeroed(u32, &[64]).unwrap();
    let run = toy().run(&mut data, |o| {
        let x = o.external(x)?;
        // Chains of tasks of which the last one of one chain is submitted before the second one of the next.
        for i in 0..200u32 {
            o.submit(&NOTE, [x.tile(&[i * 7 % 64], &[1])?.write(), scalar(i)])?;
        }
        Ok(())
    });
    run.result.unwrap();
    assert_eq!(*ORDER.lock().unwrap(), (0..200).collect::<Vec<_>>());
}
