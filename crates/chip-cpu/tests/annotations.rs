//! Names and durations of tasks, and kernels with a variable number of arguments, on real threads.
#![cfg(not(shuttle))]

use std::time::Duration;

use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::prelude::*;
use ringlane_task::CallConfig;

kernel! { static FAIL = any fn(_x: &mut [u32]) -> Result<(), &'static str> { Err("no luck") } }
kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
kernel! { static SUM = any fn(total: &mut [u32], factor: u32, parts: Rest<&[u32]>, block: Block) {
    assert_eq!(parts.len(), parts.size_hint().0);
    let whole = block.count == 1;
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += factor * p);
    }
    assert!(whole || total.len() == 1);
} }
kernel! { static ROWS = any fn(out: &mut [f32], rows: Rest<View<f32, 2>>) {
    out[0] = rows.map(|view| view[[0, view.shape()[1] - 1]]).sum();
} }
kernel! { static SCATTER = any fn(from: &[u32], to: Rest<&mut [u32]>) {
    to.zip(from).for_each(|(to, from)| to.fill(*from));
} }
kernel! { static VALUES = any fn(out: &mut [i64], values: Rest<i64>) { out[0] = values.sum(); } }

fn runtime() -> CpuRuntime {
    CpuRuntime::new(&CallConfig::default().with_threads(2)).unwrap()
}

#[test]
fn a_failed_task_is_named_by_its_label_also_after_the_text_is_gone_and_many_tasks_later() {
    let run = runtime().run(&mut Buffers::new(), |o| {
        let x = o.alloc(u32, [1])?;
        for i in 0..200u32 {
            o.submit(
                SET.labelled(&format!("set {i}")).taking(Duration::from_secs(900)),
                [x.write(), scalar(i)],
            )?;
        }
        let label = format!("layer {}\n\u{1b}", 3);
        o.submit(FAIL.labelled(&label), [x.write()])?;
        drop(label);
        for i in 0..200u32 {
            o.submit(SET.labelled("after"), [out(u32, [4]), scalar(i)])?;
        }
        Ok(())
    });
    let error = run.result.unwrap_err();
    assert!(error.detail().contains(r#"(FAIL "layer 3\n\u{1b}", submitted at"#), "{}", error.detail());
    let Fault::TaskFailed(failure) = error.fault() else { panic!("{error:?}") };
    assert_eq!((failure.kernel.as_str(), failure.label.as_deref()), ("FAIL", Some("layer 3\n\u{1b}")));
    assert_eq!(run.report.skipped, 0, "an overwrite heals");
}

#[test]
fn a_task_without_a_name_is_named_by_its_kernel_alone() {
    let run = runtime().run(&mut Buffers::new(), |o| {
        o.submit(FAIL.labelled(""), [out(u32, [1])])?;
        o.submit(FAIL.taking(Duration::ZERO), [out(u32, [1])]).map(drop)
    });
    let error = run.result.unwrap_err();
    assert!(error.detail().contains("(FAIL, submitted at"), "{}", error.detail());
}

#[test]
fn labels_take_argument_memory_and_give_it_back() {
    // Room for eight labelled tasks at a time.
    let config = CallConfig::default().with_threads(2).with_ring_args([4096; 4]);
    let mut runtime = CpuRuntime::new(&config).unwrap();
    let run = runtime.run(&mut Buffers::new(), |o| {
        let x = o.alloc(u32, [1])?;
        let label = "x".repeat(1000);
        for i in 0..1000u32 {
            o.scope(|o| o.submit(SET.labelled(&label), [x.write(), scalar(i)]).map(drop))?;
        }
        o.read::<u32>(x)
    });
    assert_eq!(run.result.unwrap(), [999]);
}

#[test]
fn the_rest_of_the_arguments_is_any_number_of_tensors_or_scalars_read_or_written() {
    let mut data = Buffers::new();
    let x = data.add(&[3, 2], &[1u32, 2, 3, 4, 5, 6]).unwrap();
    let m = data.add(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let run = runtime().run(&mut data, |o| {
        let (x, m) = (o.external(x)?, o.external(m)?);
        let rows = (0..3).map(|row| x.select(0, row)).collect::<Result<Vec<_>>>()?;
        let mut sums = vec![];
        for count in 0..=3 {
            let mut args = vec![out(u32, [2]), scalar(10u32)];
            args.extend(rows[..count].iter().map(|row| row.read()));
            let sum = o.submit_slice(&[], &SUM, &args)?;
            sums.push(o.read::<u32>(sum.out(0))?);
        }
        assert_eq!(sums, [[0, 0], [10, 20], [40, 60], [90, 120]]);
        // In blocks: what is written is split, what is read may be.
        let args = [out(u32, [2]).split(0), scalar(1u32), rows[0].read().split(0), rows[2].read().split(0)];
        let sum = o.submit(SUM.blocks(2), args)?;
        assert_eq!(o.read::<u32>(sum.out(0))?, [6, 8]);
        // Strided views, a written rest, and scalars.
        let turned = m.transpose(0, 1)?;
        let last = o.submit(&ROWS, [out(f32, [1]), m.read(), turned.read(), m.read()])?;
        assert_eq!(o.read::<f32>(last.out(0))?, [3.0 + 4.0 + 3.0]);
        let scattered = o.submit(&SCATTER, [rows[1].read(), out(u32, [2]), out(u32, [3])])?;
        assert_eq!(o.read::<u32>(scattered.out(0))?, [3, 3]);
        assert_eq!(o.read::<u32>(scattered.out(1))?, [4, 4, 4]);
        let sum = o.submit(&VALUES, [out(i64, [1]), scalar(5i64), scalar(-7i64)])?;
        assert_eq!(o.read::<i64>(sum.out(0))?, [-2]);
        Ok(())
    });
    run.result.unwrap();
}

#[track_caller]
fn refused<'s>(o: &mut Orch<'s, '_>, launch: Launch<'_>, args: &[Arg<'s>], name: &str, part: &str) {
    let error = o.submit_slice(&[], launch, args).map(drop).unwrap_err();
    assert_eq!(error.name(), name, "{}", error.detail());
    assert!(error.detail().contains(part), "{}", error.detail());
}

#[test]
fn each_of_the_rest_is_checked_at_submit() {
    let run = runtime().run(&mut Buffers::new(), |o| {
        let (x, f, m) = (o.alloc(u32, [4])?, o.alloc(f32, [4])?, o.alloc(f32, [2, 2])?);
        let wide = o.alloc(u32, [4, 4])?;
        let column = wide.select(1, 0)?;
        let (total, one) = (out(u32, [4]), scalar(1u32));
        refused(o, (&SUM).into(), &[total], "ArgCount", "takes 2 or more arguments, but the submit has 1");
        refused(o, (&SUM).into(), &[total, one, x.read(), f.read()], "ArgDType", "argument 3 of SUM");
        refused(o, (&SUM).into(), &[total, one, x.read(), one], "ArgKind", "argument 3 of SUM");
        refused(o, (&SUM).into(), &[total, one, x.inout()], "ArgKind", "argument 2 of SUM");
        refused(
            o,
            (&SUM).into(),
            &[total, one, x.read(), column.read()],
            "NotContiguous",
            "argument 3 of SUM",
        );
        refused(o, (&ROWS).into(), &[out(f32, [1]), m.read(), f.read()], "ArgRank", "argument 2 of ROWS");
        refused(o, (&SCATTER).into(), &[x.read(), x.write()], "ArgsOverlap", "SCATTER writes argument 1");
        let split = [x.read(), out(u32, [4]).split(0), out(u32, [4])];
        refused(o, SCATTER.blocks(2), &split, "UnsplitWrite", "argument 2 of SCATTER");
        let mixed = Launch::mixed(None, &[&SUM, &SET]);
        refused(o, mixed, &[total, one, x.read(), one], "BadLaunch", "SUM takes any number of arguments");
        let many: Vec<_> = [total, one].into_iter().chain((0..200).map(|_| x.read())).collect();
        refused(o, (&SUM).into(), &many, "TooManyArgs", "201 tensors, at most 128");
        Ok(())
    });
    run.result.unwrap();
}
