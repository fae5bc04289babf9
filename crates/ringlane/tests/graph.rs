//! Captured graphs: the same bytes as a streamed run, as often as they are replayed, on every chip.

use ringlane::prelude::*;

kernel! { static FILL = aiv fn(y: &mut [f32], a: f32) { y.fill(a); } }
kernel! { static ADD = aiv fn(x: &[f32], y: &[f32], z: &mut [f32]) {
    z.iter_mut().zip(x.iter().zip(y)).for_each(|(z, (x, y))| *z = x + y);
} }
kernel! { static AXPY = aiv fn(x: &[f32], y: &mut [f32], a: f32) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
} }
kernel! { static PART = any fn(y: &mut [f32], block: Block) { y.iter_mut().for_each(|y| *y += block.index.0 as f32); } }
kernel! { static FAIL_IF = any fn(x: &[f32], y: &mut [f32]) -> KernelResult {
    if x[0] < 0.0 { return Err(KernelError::new("negative")); }
    y.copy_from_slice(x);
    Ok(())
} }

const N: u32 = 8;

/// A program with outputs, allocations, uploads, blocks, scopes, barriers and explicit edges.
fn program<'s>(o: &mut Orch<'s, '_>, x: BufferId, y: BufferId, scale: f32) -> Result<()> {
    let (x, y) = (o.external(x)?, o.external(y)?);
    let sum = o.alloc(f32, [N])?;
    let table = o.upload(&(0..N).map(|i| i as f32).collect::<Vec<_>>(), [N])?;
    for step in 0..6 {
        o.scope_named(&format!("step {step}"), |o| {
            let filled = o.submit(&FILL, [out(f32, [N]), scalar(step as f32)])?;
            let task = filled.task();
            let added = o.submit(&ADD, [x.read(), filled.out(0).read(), out(f32, [N])])?;
            o.submit(&AXPY, [added.out(0).read(), sum.inout(), param("scale", scale)])?;
            let parts = o.alloc(f32, [N])?;
            o.submit(PART.blocks(4), [parts.inout().split(0)])?;
            o.submit_after(&[task], &AXPY, [parts.read(), sum.inout(), scalar(1.0f32)])?;
            Ok(())
        })?;
    }
    o.barrier()?;
    o.submit(&ADD, [sum.read(), table.read(), y.write()])?;
    Ok(())
}

fn buffers(shift: f32) -> (Buffers<'static>, BufferId, BufferId) {
    let mut data = Buffers::new();
    let x = data.add(&[N], &(0..N).map(|i| i as f32 * 0.5 + shift).collect::<Vec<_>>()).unwrap();
    let y = data.add(&[N], &[0.0f32; N as usize]).unwrap();
    (data, x, y)
}

fn streamed(shift: f32, scale: f32) -> Vec<f32> {
    let (mut data, x, y) = buffers(shift);
    ringlane::engine::oracle::run(&mut data, |o| program(o, x, y, scale)).unwrap();
    data.get::<f32>(y).unwrap().to_vec()
}

fn runtimes() -> Vec<Runtime> {
    let threads = |n| CallConfig::default().with_threads(n);
    let cpu = [1, 2, 4].map(|n| Runtime::on(Platform::Cpu).with(&threads(n)).unwrap());
    let models =
        [Platform::A2a3sim, Platform::A5sim].map(|p| Runtime::on(p).with(&CallConfig::default()).unwrap());
    cpu.into_iter().chain(models).collect()
}

#[test]
fn a_hundred_replays_with_other_inputs_and_scalars_give_the_bytes_of_streamed_runs() {
    for mut runtime in runtimes() {
        let (data, x, y) = buffers(0.0);
        let mut graph = runtime.capture(&data, |o| program(o, x, y, 2.0)).unwrap();
        drop(data);
        for round in 0..100 {
            let (shift, scale) = (round as f32, 0.25 * round as f32);
            let (mut data, _, y) = buffers(shift);
            graph.set("scale", scale).unwrap();
            let run = runtime.replay(&mut graph, &mut data);
            run.result.unwrap();
            assert_eq!(data.get::<f32>(y).unwrap(), streamed(shift, scale), "{runtime:?}, round {round}");
            assert_eq!((run.report.tasks, run.report.scopes), (40, 7));
        }
    }
}

#[test]
fn a_failure_skips_what_depends_on_it_and_the_next_replay_is_whole() {
    for mut runtime in runtimes() {
        let body = |o: &mut Orch<'_, '_>, x, y| {
            let (x, y) = (o.external(x)?, o.external(y)?);
            let first = o.submit(&FAIL_IF, [x.read(), out(f32, [N])])?;
            let (task, first) = (first.task(), first.out(0));
            o.submit(&ADD, [first.read(), x.read(), y.write()])?;
            o.submit_after(&[task], &FILL, [out(f32, [N]), scalar(1.0f32)])?;
            Ok(())
        };
        let (data, x, y) = buffers(0.0);
        let mut graph = runtime.capture(&data, |o| body(o, x, y)).unwrap();
        drop(data);
        for round in 0..6 {
            let (mut data, x, y) = buffers(if round % 2 == 0 { -1.0 } else { 1.0 });
            let run = runtime.replay(&mut graph, &mut data);
            if round % 2 == 0 {
                assert_eq!(run.result.unwrap_err().name(), "TaskFailed");
                assert_eq!((run.report.failed, run.report.skipped), (1, 2), "{runtime:?}");
                let (mut data, x, y) = buffers(-1.0);
                let streamed = runtime.run(&mut data, |o| body(o, x, y));
                assert_eq!((streamed.report.failed, streamed.report.skipped), (1, 2));
            } else {
                run.result.unwrap();
                let wanted: Vec<f32> = data.get::<f32>(x).unwrap().iter().map(|x| x + x).collect();
                assert_eq!(data.get::<f32>(y).unwrap(), wanted);
            }
        }
    }
}

#[test]
fn a_read_names_its_line_and_other_buffers_and_scalars_are_refused() {
    for mut runtime in runtimes() {
        let (mut data, x, y) = buffers(0.0);
        let mut line = 0;
        let reads = |o: &mut Orch<'_, '_>| {
            let x = o.external(x)?;
            line = line!() + 1;
            o.read::<f32>(x)
        };
        let error = runtime.capture(&data, reads).unwrap_err();
        assert_eq!(error.name(), "ReadInCapture");
        assert!(error.detail().contains(&format!("graph.rs:{line}")), "{}", error.detail());
        let mut graph = runtime.capture(&data, |o| program(o, x, y, 1.0)).unwrap();
        assert_eq!(graph.set("scale", 1.0f64).unwrap_err().name(), "UnknownParam");
        assert!(graph.set("scala", 1.0f32).unwrap_err().detail().contains("scale (float32)"));
        data.add(&[1], &[1.0f32]).unwrap();
        let refused = runtime.replay(&mut graph, &mut data).result.unwrap_err();
        assert_eq!(refused.name(), "BufferMismatch");
        let mut other = Buffers::new();
        other.add(&[N], &[1u32; N as usize]).unwrap();
        other.add(&[N], &[1.0f32; N as usize]).unwrap();
        let refused = runtime.replay(&mut graph, &mut other).result.unwrap_err();
        assert!(
            refused.detail().contains("captured as float32 [8], read-write, given as uint32"),
            "{refused}"
        );
    }
}

#[test]
fn the_memory_plan_keeps_to_a_limit_by_adding_edges() {
    let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(4)).unwrap();
    let site = std::panic::Location::caller();
    let body = |o: &mut Orch<'_, '_>, y| {
        let y = o.external(y)?;
        for i in 0..32 {
            let filled = o.submit(&FILL, [out(f32, [N]), scalar(i as f32)])?;
            o.submit(&AXPY, [filled.out(0).read(), y.inout(), scalar(1.0f32)])?;
        }
        Ok(())
    };
    let (data, _, y) = buffers(0.0);
    let free = runtime.capture(&data, |o| body(o, y)).unwrap().memory();
    assert_eq!((free.sum, free.lower_bound, free.added_edges), (32 * 64, 64, 0));
    let (_, mut graph) = runtime.capture_from(site, &data, Some(128), |o| body(o, y)).unwrap();
    let plan = graph.memory();
    assert!(plan.bytes <= 128 && plan.added_edges > 0, "{plan:?}");
    drop(data);
    for _ in 0..10 {
        let (mut data, _, y) = buffers(0.0);
        runtime.replay(&mut graph, &mut data).result.unwrap();
        assert_eq!(data.get::<f32>(y).unwrap(), [(0..32).sum::<i32>() as f32; N as usize]);
    }
    let (data, _, y) = buffers(0.0);
    let error = runtime.capture_from(site, &data, Some(32), |o| body(o, y)).unwrap_err();
    assert_eq!(error.name(), "GraphMemory");
}

#[test]
fn a_recorded_replay_has_the_dependencies_of_the_streamed_run() {
    for (number, mut runtime) in runtimes().into_iter().enumerate() {
        let dir = std::env::temp_dir().join(format!("ringlane-graph-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        let (mut data, x, y) = buffers(0.0);
        runtime.record(dir.join("streamed")).unwrap();
        runtime.run(&mut data, |o| program(o, x, y, 2.0)).result.unwrap();
        let mut graph = runtime.capture(&data, |o| program(o, x, y, 2.0)).unwrap();
        runtime.record(dir.join("replayed")).unwrap();
        runtime.replay(&mut graph, &mut data).result.unwrap();
        let recording = runtime.recording().unwrap();
        assert_eq!(recording.check().unwrap().broken, [], "{runtime:?}");
        let read = |name: &str| std::fs::read_to_string(dir.join(name).join("deps.json")).unwrap();
        assert_eq!(read("streamed"), read("replayed"));
        assert!(recording.report().is_ok());
        std::fs::remove_dir_all(dir).unwrap();
    }
}
