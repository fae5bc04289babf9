//! The errors that a user's program sees: `{error}` is enough to act on.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ringlane::prelude::*;

kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
kernel! { static FAIL = any fn(_x: &mut [u32]) -> KernelResult { Err(KernelError::new("as planned")) } }
const OVERRUN_LINE: u32 = line!() + 1;
kernel! { static OVERRUN = any fn(x: &mut [u32]) { let past = x.len(); x[past] = 1; } }
kernel! { static RESUMED = any fn(_x: &mut [u32]) {
    let _ = catch_unwind(|| panic!("caught by the kernel itself"));
    resume_unwind(Box::new("raised again".to_string()));
} }

const PLATFORMS: [Platform; 2] = [Platform::Cpu, Platform::A2a3sim];

fn runtime(platform: Platform, config: &CallConfig) -> Runtime {
    Runtime::on(platform).with(config).unwrap()
}

/// The error of an orchestration on a platform.
fn error_on<R: std::fmt::Debug>(
    platform: Platform,
    config: &CallConfig,
    f: impl for<'r, 'e> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> Error {
    runtime(platform, config).run(&mut Buffers::new(), f).result.unwrap_err()
}

fn error_of<R: std::fmt::Debug>(f: impl for<'r, 'e> FnOnce(&mut Orch<'r, 'e>) -> Result<R>) -> Error {
    error_on(Platform::Cpu, &CallConfig::default(), f)
}

/// This file and a line of it, as errors show locations.
fn line(line: u32) -> String {
    format!("{}:{line}: ", file!())
}

#[test]
fn an_error_shows_its_name_its_detail_and_its_hint() {
    let error = error_of(|o| o.submit(&FAIL, [out(u32, [4])]).map(drop));
    let shown = error.to_string();
    assert!(shown.starts_with("TaskFailed: a task failed: task "), "{shown}");
    assert!(shown.contains(&error.detail()) && shown.contains("as planned"), "{shown}");
    assert!(shown.ends_with(&format!(" (hint: {})", error.hint())), "{shown}");
    assert_eq!((shown.lines().count(), format!("{error:?}")), (1, shown));
}

#[test]
fn the_page_about_errors_shows_a_real_error() {
    let error =
        Runtime::on(Platform::Cpu).with(&CallConfig::default().with_ring_task_window([20; 4])).unwrap_err();
    assert!(include_str!("../../../docs/errors.md").contains(&format!("\n{error}\n")), "{error}");
}

#[test]
fn an_error_about_an_argument_has_the_line_of_its_submit() {
    let submit = line!() + 1;
    let error = error_of(|o| o.submit(&SET, [out(f32, [4]), scalar(1u32)]).map(drop));
    assert_eq!(error.name(), "ArgDType");
    assert!(error.detail().starts_with(&line(submit)), "{error}");

    let submit = line!() + 1;
    let error = error_of(|o| o.submit_slice(&[], &SET, &[out(u32, [4])]).map(drop));
    assert!(error.name() == "ArgCount" && error.detail().starts_with(&line(submit)), "{error}");

    // An impossible output is created before the submit, and refused by it.
    let submit = line!() + 1;
    let error = error_of(|o| o.submit(&SET, [out(u32, [0]), scalar(1u32)]).map(drop));
    assert!(error.name() == "EmptyView" && error.detail().starts_with(&line(submit)), "{error}");
}

#[test]
fn an_error_about_a_view_has_the_line_that_created_it() {
    let asked = line!() + 1;
    let error = error_of(|o| o.alloc(u32, [4])?.tile(&[2], &[3]).map(drop));
    assert!(error.name() == "ViewOutOfBounds" && error.detail().starts_with(&line(asked)), "{error}");
    let asked = line!() + 1;
    let error = error_of(|o| o.alloc(u32, [4])?.reshape(&[5]).map(drop));
    assert!(error.name() == "NotReshapable" && error.detail().starts_with(&line(asked)), "{error}");
    let asked = line!() + 1;
    let error = error_of(|o| o.alloc(u32, [0]).map(drop));
    assert!(error.name() == "EmptyView" && error.detail().starts_with(&line(asked)), "{error}");
    let asked = line!() + 1;
    let error = error_of(|o| o.alloc(u32, [4]).and_then(|x| o.read::<f32>(x)).map(drop));
    assert!(error.name() == "ReadDType" && error.detail().starts_with(&line(asked)), "{error}");
}

#[test]
fn a_task_that_panics_has_the_file_and_the_line_of_the_panic() {
    for platform in PLATFORMS {
        let error =
            error_on(platform, &CallConfig::default(), |o| o.submit(&OVERRUN, [out(u32, [4])]).map(drop));
        let place = format!("the kernel panicked at {}:{OVERRUN_LINE}: index out of bounds", file!());
        assert!(error.detail().contains(&place), "{error}");
    }
}

#[test]
fn a_resumed_panic_does_not_get_the_line_of_another() {
    let error = error_of(|o| o.submit(&RESUMED, [out(u32, [4])]).map(drop));
    assert!(error.detail().contains("the kernel panicked: raised again"), "{error}");
}

#[test]
fn a_hint_to_a_program_names_methods() {
    let small = CallConfig::default().with_ring_task_window([4; 4]);
    let many = |o: &mut Orch<'_, '_>| {
        (0..8u32).try_for_each(|i| o.submit(&SET, [out(u32, [1]), scalar(i)]).map(drop))
    };
    let error = error_on(Platform::Cpu, &small, many);
    assert_eq!(error.name(), "FlowControlDeadlock");
    let method = "`CallConfig::default().with_ring_task_window([8; 4])`";
    assert!(error.hint().contains(method) && !error.to_string().contains("--ring"), "{error}");
    // And the hint helps.
    let enough = CallConfig::default().with_ring_task_window([8; 4]);
    runtime(Platform::Cpu, &enough).run(&mut Buffers::new(), many).result.unwrap();

    let odd = Runtime::on(Platform::Cpu).with(&small.with_ring_heap([3; 4])).unwrap_err();
    assert!(odd.hint().contains("with_ring_heap(") && !odd.hint().contains("--"), "{odd}");
    let nowhere =
        Runtime::on(Platform::Cpu).with(&CallConfig::default().with_dfx_flags(DfxFlags::DEPS)).unwrap_err();
    assert!(nowhere.hint().contains("set_output_prefix") && !nowhere.hint().contains("-o"), "{nowhere}");
}

#[test]
fn an_error_contains_the_failed_task_and_the_error_of_the_orchestration() {
    for platform in PLATFORMS {
        let small = CallConfig::default().with_ring_heap([64; 4]);
        let error = error_on(platform, &small, |o| {
            o.submit(&FAIL, [out(u32, [4])])?;
            o.submit(&SET, [out(u32, [1024]), scalar(1u32)]).map(drop)
        });
        assert_eq!((error.name(), error.also().map(Explain::name)), ("TaskFailed", Some("TaskTooLarge")));
        let shown = error.to_string();
        assert!(shown.contains("as planned") && shown.contains("the task needs 4096 of heap"), "{shown}");
        assert!(shown.contains("check the first failed task"), "{shown}");
        assert!(shown.contains("with_ring_heap([4096; 4])"), "{shown}");
    }
}

#[test]
fn a_failed_task_whose_error_the_orchestration_returns_is_named_once() {
    let error = error_of(|o| {
        let made = o.submit(&FAIL, [out(u32, [4])])?.out(0);
        o.read::<u32>(made)
    });
    assert!(error.name() == "TaskFailed" && error.also().is_none(), "{error}");
}

#[test]
fn a_shape_with_too_many_elements_is_refused_for_their_number() {
    let error = error_of(|o| o.alloc(u8, [u32::MAX, u32::MAX]).map(drop));
    assert_eq!(error.name(), "ViewTooLarge");
    assert!(
        error.detail().contains("18446744065119617025 elements in all, at most 281474976710656"),
        "{error}"
    );
    let error = error_of(|o| o.alloc(u8, [u32::MAX, u32::MAX, u32::MAX]).map(drop));
    assert!(error.detail().contains("2^64 elements in all or more"), "{error}");
    let error = error_of(|o| o.alloc(u8, [1])?.broadcast(u32::MAX)?.broadcast(u32::MAX).map(drop));
    assert!(error.detail().contains("elements in all, at most"), "{error}");
}

#[test]
fn a_scalar_that_is_split_is_refused_at_submit() {
    let submit = line!() + 1;
    let error = error_of(|o| o.submit(&SET, [out(u32, [4]), scalar(1u32).split(0)]).map(drop));
    assert_eq!(error.name(), "BadSplit");
    let detail = format!("{}argument 1 of SET: axis 0 of a scalar", line(submit));
    assert_eq!((error.detail(), error.hint().contains("scalars cannot be split")), (detail, true));
}

#[test]
fn an_interrupt_before_a_run_stops_that_run_and_no_other() {
    for platform in PLATFORMS {
        let mut runtime = runtime(platform, &CallConfig::default());
        let set = |o: &mut Orch<'_, '_>| o.submit(&SET, [out(u32, [1]), scalar(1u32)]).map(drop);
        runtime.remote().interrupt();
        let run = runtime.run(&mut Buffers::new(), set);
        assert_eq!((run.result.unwrap_err().name(), run.report.tasks), ("Interrupted", 0));
        runtime.run(&mut Buffers::new(), set).result.unwrap();
    }
}

#[test]
fn too_many_threads_are_refused_with_their_number() {
    let error = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(99_999)).unwrap_err();
    assert_eq!(
        (error.name(), error.detail().as_str()),
        ("CountTooLarge", "threads is 99999, at most 1024 on this chip")
    );
}

#[test]
fn control_characters_are_shown_as_escapes() {
    let error = error_of(|_| -> Result<()> { Err(Error::user("a\x1b[31mb\nc")) });
    assert!(
        error.to_string().contains("a\\u{1b}[31mb\\nc") && !error.to_string().contains('\x1b'),
        "{error}"
    );
}

#[test]
fn a_run_that_panics_outside_of_kernels_still_unwinds_with_its_own_payload() {
    let mut runtime = runtime(Platform::Cpu, &CallConfig::default());
    let run = || runtime.run(&mut Buffers::new(), |_| -> Result<()> { panic!("the program's own") });
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"the program's own"));
}

const OUTSIDE_LINE: u32 = line!() + 1;
kernel! { static OUTSIDE = any fn(x: ViewMut<u32, 2>) { let mut x = x; x[[0, 4]] = 1; } }

#[test]
fn an_index_outside_of_a_view_is_reported_at_the_line_of_the_kernel() {
    let error = error_of(|o| o.submit(&OUTSIDE, [out(u32, [2, 4])]).map(drop));
    let place = format!("{}:{OUTSIDE_LINE}: index 4 of axis 1 with length 4", file!());
    assert!(error.detail().contains(&place), "{error}");
}

#[test]
fn an_axis_that_no_tensor_has_is_refused_and_not_treated_as_no_split() {
    for axis in [1, 254, 255] {
        let error =
            error_of(|o| o.submit(SET.blocks(2), [out(u32, [4]).split(axis), scalar(1u32)]).map(drop));
        assert_eq!(error.name(), "BadSplit");
        assert!(error.detail().ends_with(&format!("axis {axis} of a view with rank 1")), "{error}");
    }
}

#[test]
fn hints_refer_to_the_given_values() {
    let after = error_of(|o| {
        let tasks = vec![o.submit(&SET, [out(u32, [1]), scalar(1u32)])?.task(); 5000];
        o.submit_after(&tasks, &SET, [out(u32, [1]), scalar(1u32)]).map(drop)
    });
    assert_eq!((after.name(), after.hint().contains("barrier")), ("TooManyArgs", true));
    let nested = error_of(|o| {
        let outer = o.submit(&SET, [out(u32, [1]), scalar(1u32)])?.task();
        let (mut runtime, mut data) = (runtime(Platform::Cpu, &CallConfig::default()), Buffers::new());
        let run = runtime
            .run(&mut data, |o| o.submit_after(&[outer], &SET, [out(u32, [1]), scalar(1u32)]).map(drop));
        run.result
    });
    assert_eq!((nested.name(), nested.hint().contains("tasks of its own run")), ("ForeignHandle", true));
}

#[test]
fn hints_for_a_bad_cost_table_or_chip_name_functions_of_the_library() {
    let path = std::env::temp_dir().join(format!("ringlane-not-a-table-{}", std::process::id()));
    std::fs::write(&path, "[").unwrap();
    let costs = Runtime::on(Platform::A5sim).costs_file(&path).unwrap_err().hint();
    let chip = Runtime::on(Platform::A5sim).chip_file(&path).unwrap_err().hint();
    std::fs::remove_file(&path).unwrap();
    assert!(costs.contains("`recorded_costs([dir])`") && !costs.contains("--costs-out"), "{costs}");
    assert!(chip.contains("`spec::builtin_text(") && !chip.contains("ringlane chips"), "{chip}");
}
