//! Programs on the device code, run by this machine's threads, against the same programs run in submission order on the host.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::{runtime, runtime_with};
use ringlane_engine::api::kernel::CudaBody;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_task::{CallConfig, Explain};

kernel! { static ADD = any fn(x: &[u32], y: &mut [u32], by: u32) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = y.wrapping_mul(3).wrapping_add(*x).wrapping_add(by));
} cuda "rl_each(i, y.len()) y[i] = y[i] * 3u + x[i] + by;" }
kernel! { static MAKE = any fn(x: &[u32], y: &mut [u32]) {
    y.iter_mut().zip(x).step_by(2).for_each(|(y, x)| *y = x.wrapping_add(7));
} cuda "rl_each(i, (y.len() + 1) / 2) y[2 * i] = x[2 * i] + 7u;" }
kernel! { static FILL = any fn(y: &mut [u32], block: Block) { y.fill(block.index.0 + 100 * block.count); }
cuda "rl_each(i, y.len()) y[i] = block.index + 100u * block.count;" }
kernel! { static SUM = any fn(total: &mut [u32], parts: Rest<&[u32]>) {
    parts.for_each(|part| total.iter_mut().zip(part).for_each(|(t, p)| *t = t.wrapping_add(*p)));
} cuda "for (u32 k = 0; k < parts.len(); k++) { rl_each(i, total.len()) total[i] += parts[k][i]; rl_sync(); }" }
kernel! { static FAIL_IF = any fn(y: &mut [u32], at: u32) -> KernelResult {
    if y[0] % 16 == at { return Err(KernelError::new("on purpose")); }
    y[0] += 1;
    Ok(())
} cuda "if (y[0] % 16u == at) { rl_fail(\"on purpose\"); return; } rl_sync(); rl_one y[0] += 1u;" }
kernel! { static FAIL_SOME = any fn(y: &mut [u32], block: Block) -> KernelResult {
    y.fill(block.index.0 + 1);
    if block.index.0 % 3 == 1 { return Err(KernelError::new(format!("block {} fails", block.index.0))); }
    Ok(())
} cuda "rl_each(i, y.len()) y[i] = block.index + 1u;
    rl_sync();
    if (block.index == 1) { rl_fail(\"block 1 fails\"); return; }
    if (block.index % 3u == 1u) rl_fail(\"a later block fails\");" }
// No run uses it, so that nobody hears of its mistake.
kernel! { static UNUSED = any fn(y: &mut [u32]) { y[0] = 1; } cuda "y[0] = no_such_name_either;" }
kernel! { static HOST_ONLY = any fn(y: &mut [u32]) { y[0] = 1; } }
/// Not declared with `kernel!`: the programs of all others would contain it.
static WRONG: Kernel =
    Kernel::new("WRONG", CoreType::Any, &[<&mut [u32]>::SPEC], |_| Ok(())).with_cuda(CudaBody {
        source: "y[0] = no_such_name;",
        params: &["y"],
        file: "somewhere/wrong.rs",
        line: 17,
    });

const TILES: u32 = 8;
const LEN: u32 = 16;

/// Numbers that look random, and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as u32) % sides
    }
}

/// A random program: tiles of one buffer that are read and written, tensors that are made and used, tasks of several blocks,
/// barriers, and tasks that fail.
fn program(o: &mut Orch<'_, '_>, data: BufferId, seed: u64, failing: u32) -> Result<()> {
    let mut dice = Dice(seed);
    let all = o.external(data)?;
    let tile = |number: u32| all.tile(&[number * LEN], &[LEN]);
    for _ in 0..6 {
        o.scope(|o| {
            let up = o.upload(&[dice.roll(9); LEN as usize], [LEN])?;
            let made = o.submit(&MAKE, [tile(dice.roll(TILES))?.read(), out(u32, [LEN])])?.out(0);
            for _ in 0..20 {
                let (a, b) = (dice.roll(TILES), dice.roll(TILES - 1));
                let b = if b >= a { b + 1 } else { b };
                let (by, at) = (scalar(dice.roll(50)), scalar(dice.roll(4)));
                match dice.roll(8) {
                    0 => {
                        o.submit(FILL.blocks(dice.roll(5) + 1), [tile(a)?.out_split(0)])?;
                    }
                    1 => {
                        o.submit(&SUM, [tile(a)?.inout(), tile(b)?.read(), made.read(), up.read()])?;
                    }
                    2 => {
                        o.submit(&ADD, [made.read(), tile(a)?.inout(), by])?;
                    }
                    3 if dice.roll(100) < failing => {
                        o.submit(&FAIL_IF, [tile(a)?.inout(), at])?;
                    }
                    4 => {
                        o.barrier()?;
                    }
                    _ => {
                        o.submit(&ADD, [tile(a)?.read(), tile(b)?.inout(), by])?;
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn buffers() -> (Buffers<'static>, BufferId) {
    let mut data = Buffers::new();
    let values: Vec<u32> = (0..TILES * LEN).map(|i| i % 5).collect();
    let id = data.add(&[TILES * LEN], &values).unwrap();
    (data, id)
}

#[test]
fn random_programs_give_the_bytes_of_submission_order_streamed_and_captured_also_when_tasks_fail() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let mut failed = 0;
    for seed in 0..300 {
        let failing = if seed % 2 == 0 { 0 } else { 40 };
        let (mut data, id) = buffers();
        let in_order = oracle::run(&mut data, |o| program(o, id, seed, failing));
        let expected = data.get::<u32>(id).unwrap().to_vec();
        failed += u32::from(in_order.is_err());
        let name = |result: &Result<()>| result.as_ref().err().map(|error| error.name());

        let (mut data, id) = buffers();
        let run = runtime.run_at(Location::caller(), &mut data, &(), |o| program(o, id, seed, failing));
        assert_eq!(name(&run.result), name(&in_order), "seed {seed}");
        assert_eq!(data.get::<u32>(id).unwrap(), expected, "seed {seed}");

        let (data, id) = buffers();
        let captured = runtime.capture_at(Location::caller(), &data, None, |o| program(o, id, seed, failing));
        let (_, mut graph) = captured.unwrap();
        for _ in 0..2 {
            let (mut data, id) = buffers();
            let replayed = runtime.replay_at(&mut graph, &mut data, &());
            assert_eq!(name(&replayed.result), name(&in_order), "seed {seed}, captured");
            assert_eq!(data.get::<u32>(id).unwrap(), expected, "seed {seed}, captured");
            assert_eq!(replayed.report.tasks, run.report.tasks);
        }
    }
    assert!((25..275).contains(&failed), "{failed} of 300 programs failed");
}

#[test]
fn a_task_that_fails_is_named_with_its_cause_and_only_what_reads_its_bytes_is_skipped() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let (mut data, id) = buffers();
    let run = runtime.run_at(Location::caller(), &mut data, &(), |o| {
        let all = o.external(id)?;
        let tile = |number: u32| all.tile(&[number * LEN], &[LEN]);
        o.submit(&FAIL_IF, [tile(0)?.inout(), scalar(0u32)])?;
        o.submit(&ADD, [tile(0)?.read(), tile(1)?.inout(), scalar(1u32)])?;
        o.submit(&ADD, [tile(2)?.read(), tile(3)?.inout(), scalar(1u32)])?;
        Ok(())
    });
    let error = run.result.unwrap_err();
    assert_eq!(error.name(), "TaskFailed");
    assert!(error.detail().contains("on purpose") && error.detail().contains("FAIL_IF"), "{error}");
    assert_eq!((run.report.failed, run.report.skipped), (1, 1));
    let again = runtime.run_at(Location::caller(), &mut data, &(), |o| {
        let all = o.external(id)?;
        o.submit(&FILL, [all.tile(&[0], &[LEN])?.write()])?;
        Ok(())
    });
    again.result.unwrap();
    assert_eq!(data.get::<u32>(id).unwrap()[..2], [100, 100]);
}

#[test]
fn all_blocks_of_a_failed_task_run_and_the_first_one_that_fails_is_named() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let blocks = 8 * TILES;
    // Which of the blocks had begun when one failed is chance.
    for _ in 0..40 {
        let (mut data, id) = buffers();
        let run = runtime.run_at(Location::caller(), &mut data, &(), |o| {
            let all = o.external(id)?;
            o.submit(FAIL_SOME.blocks(blocks), [all.write().split(0)]).map(drop)
        });
        let error = run.result.unwrap_err();
        assert!(error.detail().contains("block 1 fails"), "{error}");
        assert_eq!((run.report.blocks, run.report.failed), (u64::from(blocks), 1));
        let expected: Vec<u32> = (0..TILES * LEN).map(|i| i / (TILES * LEN / blocks) + 1).collect();
        assert_eq!(data.get::<u32>(id).unwrap(), expected);
    }
}

#[test]
fn a_kernel_without_a_body_and_a_body_that_does_not_compile_end_the_run_with_errors_that_name_them() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let mut run = |kernel: &'static Kernel| {
        let (mut data, id) = buffers();
        let run = runtime.run_at(Location::caller(), &mut data, &(), |o| {
            let all = o.external(id)?;
            o.submit(kernel, [all.inout()])?;
            Ok(())
        });
        run.result.unwrap_err()
    };
    let error = run(&HOST_ONLY);
    assert_eq!(error.name(), "NoDeviceKernel");
    assert!(error.detail().contains("HOST_ONLY"), "{error}");
    let error = run(&WRONG);
    assert_eq!(error.name(), "DeviceProgram");
    assert!(error.detail().contains("no_such_name"), "{error}");
    // As the C++ compiler and as NVRTC write it.
    let places = ["somewhere/wrong.rs:17", "somewhere/wrong.rs(17)"];
    assert!(places.iter().any(|place| error.detail().contains(place)), "{error}");
    assert_eq!(run(&HOST_ONLY).name(), "NoDeviceKernel", "the program without the wrong body is used again");
}

#[test]
fn kernels_that_a_run_meets_while_tasks_run_join_the_program() {
    for _ in 0..2 {
        let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
        let program = |o: &mut Orch<'_, '_>, data: BufferId| {
            let all = o.external(data)?;
            let tile = |number: u32| all.tile(&[number % TILES * LEN], &[LEN]);
            // Of each more than a batch, so that the next kernel comes while it runs.
            for number in 0..4500 {
                let (from, to) = (tile(number)?.read(), tile(number + 1)?.inout());
                match number / 1500 {
                    0 => o.submit(&ADD, [from, to, scalar(number)]).map(drop)?,
                    1 => o.submit(&MAKE, [from, to]).map(drop)?,
                    _ => o.submit(&SUM, [to, from]).map(drop)?,
                };
            }
            Ok(())
        };
        let (mut data, id) = buffers();
        oracle::run(&mut data, |o| program(o, id)).unwrap();
        let expected = data.get::<u32>(id).unwrap().to_vec();
        let (mut data, id) = buffers();
        runtime.run_at(Location::caller(), &mut data, &(), |o| program(o, id)).result.unwrap();
        assert_eq!(data.get::<u32>(id).unwrap(), expected);
    }
    assert!(UNUSED.cuda().is_some());
}

#[test]
fn a_scalar_of_a_graph_can_be_changed_between_replays() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    let (mut data, id) = buffers();
    let captured = runtime.capture_at(Location::caller(), &data, None, |o| {
        let all = o.external(id)?;
        let (a, b) = (all.tile(&[0], &[LEN])?, all.tile(&[LEN], &[LEN])?);
        o.submit(&ADD, [a.read(), b.inout(), param("by", 0u32)])?;
        Ok(())
    });
    let (_, mut graph) = captured.unwrap();
    for by in [5u32, 0, 77] {
        graph.set("by", by).unwrap();
        let before = data.get::<u32>(id).unwrap().to_vec();
        runtime.replay_at(&mut graph, &mut data, &()).result.unwrap();
        let after = data.get::<u32>(id).unwrap();
        let place = LEN as usize;
        assert_eq!(after[place], before[place] * 3 + before[0] + by);
    }
}

#[test]
fn a_launch_for_each_task_gives_the_same_bytes_and_ends_the_run_if_a_task_fails() {
    for policy in ["cuda-graph", "launches"] {
        let Some(mut runtime) = runtime_with(&CallConfig::default(), Some(policy)) else { return };
        for seed in (0..60).step_by(2) {
            let (mut data, id) = buffers();
            oracle::run(&mut data, |o| program(o, id, seed, 0)).unwrap();
            let expected = data.get::<u32>(id).unwrap().to_vec();
            let (data, id) = buffers();
            let captured = runtime.capture_at(Location::caller(), &data, None, |o| program(o, id, seed, 0));
            let (_, mut graph) = captured.unwrap();
            for _ in 0..2 {
                let (mut data, id) = buffers();
                runtime.replay_at(&mut graph, &mut data, &()).result.unwrap();
                assert_eq!(data.get::<u32>(id).unwrap(), expected, "seed {seed}, {policy}");
            }
        }
        let (mut data, id) = buffers();
        let fails = |o: &mut Orch<'_, '_>| {
            let tile = o.external(id)?.tile(&[0], &[LEN])?;
            o.submit(&FAIL_IF, [tile.inout(), scalar(0u32)]).map(drop)
        };
        let (_, mut graph) = runtime.capture_at(Location::caller(), &data, None, fails).unwrap();
        let error = runtime.replay_at(&mut graph, &mut data, &()).result.unwrap_err();
        assert_eq!(error.name(), "TaskFailedInGraph");
        assert!(error.detail().contains("on purpose"), "{error}");
        let streamed = runtime.run_at(Location::caller(), &mut data, &(), |_| Ok(()));
        assert_eq!(streamed.result.unwrap_err().name(), "OnlyCaptured");
    }
}
