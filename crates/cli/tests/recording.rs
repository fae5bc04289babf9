//! A program of one's own records a run and gets the directory, insight's answers and the page, without the command.

mod common;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use common::{Sandbox, checked};
use ringlane::Recording;
use ringlane::insight::critical_path::Cause;
use ringlane::prelude::*;
use ringlane::trace::RunStatus;

kernel! { static FILL = aiv fn(x: &mut [u32], with: u32) { x.fill(with); } }
kernel! { static ADD = aiv fn(x: &[u32], total: &mut [u32]) { total[0] += x.iter().sum::<u32>(); } }
kernel! { static FAIL = any fn(_x: &mut [u32]) -> KernelResult { Err(KernelError::new("as planned")) } }

fn program(o: &mut Orch<'_, '_>) -> Result<u32> {
    let total = o.alloc(u32, [1])?;
    for i in 1..=4u32 {
        o.scope(|o| {
            let made = o.submit(&FILL, [out(u32, [8]), scalar(i)])?;
            o.submit(&ADD, [made.out(0).read(), total.inout()]).map(drop)
        })?;
    }
    Ok(o.read::<u32>(total)?[0])
}

fn runtime(platform: Platform) -> Runtime {
    Runtime::on(platform).with(&CallConfig::default()).unwrap()
}

#[track_caller]
fn recorded<'r>(runtime: &'r Runtime, dir: &Path) -> &'r Recording {
    let recording = runtime.recording().unwrap();
    assert_eq!(recording.dir(), dir);
    recording
}

fn file_names(recording: &Recording) -> Vec<&str> {
    recording.files().iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn a_program_records_one_run_and_gets_answers_and_the_page_on_every_platform() {
    let sandbox = Sandbox::new();
    for platform in [Platform::Cpu, Platform::A2a3sim, Platform::A5sim] {
        let dir = sandbox.path().join(platform.as_str());
        let mut runtime = runtime(platform);
        assert_eq!(runtime.record(&dir).unwrap().run(&mut Buffers::new(), program).result.unwrap(), 80);
        let recording = recorded(&runtime, &dir);
        let mut names = file_names(recording);
        names.sort_unstable();
        assert_eq!(names, ["deps.json", "l2_perf_records.json", "pmu.csv", "scope_stats.json"]);

        let (run, path) = (recording.run().unwrap(), recording.critical_path().unwrap());
        assert_eq!((run.manifest.status, run.manifest.tasks), (RunStatus::Ok, 9));
        assert_eq!(path.whole().0, run.manifest.makespan_ticks);
        assert_eq!(recording.overhead().unwrap().makespan, path.whole());
        let verdict = recording.verdict().unwrap().unwrap();
        assert!(recording.findings().unwrap().iter().any(|finding| finding.text == verdict.sentence));
        assert!(recording.check().unwrap().broken.is_empty());
        assert!(recording.cost().bytes > 0);

        let page = recording.report().unwrap();
        assert_eq!(page, dir.join("report.html"));
        assert!(fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
        checked(&dir);
    }
}

#[test]
fn only_the_next_run_is_recorded_and_what_was_observed_before_is_observed_again() {
    let sandbox = Sandbox::new();
    let (watched, own) = (sandbox.path().join("watched"), sandbox.path().join("own"));
    let mut runtime = runtime(Platform::Cpu);
    runtime.record(&own).unwrap().run(&mut Buffers::new(), program).result.unwrap();
    runtime.run(&mut Buffers::new(), program).result.unwrap();
    recorded(&runtime, &own);

    let mut config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
    config.set_output_prefix(watched.to_str().unwrap()).unwrap();
    runtime.observe(&config).unwrap();
    let second = sandbox.path().join("second");
    runtime.record(&second).unwrap().run(&mut Buffers::new(), program).result.unwrap();
    assert_eq!(file_names(recorded(&runtime, &second)), ["deps.json"]);
    assert!(!watched.exists());
    runtime.run(&mut Buffers::new(), program).result.unwrap();
    assert_eq!(file_names(recorded(&runtime, &watched)), ["deps.json"]);
}

#[test]
fn a_recording_without_a_timeline_says_what_is_missing_and_still_has_a_page() {
    let sandbox = Sandbox::new();
    let mut config = CallConfig::default().with_dfx_flags(DfxFlags::SCOPES);
    config.set_output_prefix(sandbox.path().join("run").to_str().unwrap()).unwrap();
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    runtime.run(&mut Buffers::new(), program).result.unwrap();
    let recording = runtime.recording().unwrap();
    assert_eq!(recording.overhead().unwrap_err().name(), "NotRecorded");
    assert!(recording.report().unwrap().is_file());
}

#[test]
fn a_run_that_fails_or_panics_leaves_a_recording_and_one_that_cannot_begin_leaves_none() {
    let sandbox = Sandbox::new();
    let (failed, panicked) = (sandbox.path().join("failed"), sandbox.path().join("panicked"));
    let mut runtime = runtime(Platform::Cpu);
    let run = runtime
        .record(&failed)
        .unwrap()
        .run(&mut Buffers::new(), |o| o.submit(&FAIL, [out(u32, [1])]).map(drop));
    assert_eq!(run.result.unwrap_err().name(), "TaskFailed");
    assert_eq!(recorded(&runtime, &failed).run().unwrap().manifest.status, RunStatus::Failed);

    runtime.record(&panicked).unwrap();
    let panics =
        || runtime.run(&mut Buffers::new(), |o| -> Result<()> { panic!("{:?}", o.barrier().map(drop)) });
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    let manifest = recorded(&runtime, &panicked).run().unwrap().manifest;
    assert_eq!(
        (manifest.status, manifest.error.unwrap().name.as_str()),
        (RunStatus::Fatal, "ProgramPanicked")
    );

    let again = runtime.record(&failed).unwrap().run(&mut Buffers::new(), program);
    assert_eq!(again.result.unwrap_err().name(), "RunExists");
    assert!(runtime.recording().is_none());
    assert_eq!(runtime.run(&mut Buffers::new(), program).result.unwrap(), 80);
}

#[test]
fn a_directory_that_cannot_be_named_is_refused_at_once() {
    use std::os::unix::ffi::OsStrExt;
    let mut runtime = runtime(Platform::Cpu);
    let names = [(&b"a\xff"[..], "OutputPrefixNotUtf8"), (&[b'a'; 2000], "OutputPrefixTooLong")];
    for (name, error) in names {
        let dir = Path::new(std::ffi::OsStr::from_bytes(name));
        assert_eq!(runtime.record(dir).map(drop).unwrap_err().name(), error);
    }
    assert_eq!(runtime.record("").map(drop).unwrap_err().name(), "MissingOutputPrefix");
    assert_eq!(runtime.run(&mut Buffers::new(), program).result.unwrap(), 80);
    assert!(runtime.recording().is_none());
}

#[test]
fn an_upload_to_memory_that_the_host_does_not_see_is_data_on_its_way_on_the_critical_path() {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().join("run");
    let mut runtime = runtime(Platform::A5sim);
    let run = runtime.record(&dir).unwrap().run(&mut Buffers::new(), |o| {
        let total = o.alloc(u32, [1])?;
        let x = o.upload(&[2u32; 25_000], [25_000])?;
        o.submit(&ADD, [x.read(), total.inout()]).map(drop)
    });
    run.result.unwrap();
    checked(&dir);
    let recording = recorded(&runtime, &dir);
    let copies = recording.run().unwrap().timeline().unwrap().copies;
    let upload = copies.iter().find(|copy| copy.what == "upload").unwrap();
    let waits = recording.critical_path().unwrap().total(Cause::Data);
    assert_eq!((upload.bytes, waits.0), (100_000, upload.end.0 - upload.start.0));
}
