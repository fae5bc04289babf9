//! Recorded runs of a program of one's own, many of them in one process: none hangs, none touches another, nothing leaks.

mod common;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{ALL_FILES, Sandbox, checked, listed};
use ringlane::prelude::*;
use ringlane_task::TaskId;
use ringlane_trace::deps::Deps;
use ringlane_trace::dump::{Dump, DumpData};
use ringlane_trace::scopes::Scopes;
use ringlane_trace::swimlane::Swimlane;
use ringlane_trace::{Manifest, RunStatus};

kernel! { static COPY = any fn(from: &[u32], to: &mut [u32]) { to.copy_from_slice(from); } }
kernel! { static FOLD = any fn(x: &mut [u32], y: &[u32], by: u32) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x = x.wrapping_mul(by).wrapping_add(*y));
} }
kernel! { static FAIL = any fn(_x: &mut [u32]) -> KernelResult { Err(KernelError::new("as planned")) } }
kernel! { static PANIC = any fn(_x: &mut [u32]) { panic!("as planned") } }

/// What `--dfx` turns on.
fn everything() -> DfxFlags {
    DfxFlags::from_bits(0x7f).unwrap()
}

fn config_in(dir: &Path, flags: DfxFlags) -> CallConfig {
    let mut config = CallConfig::default().with_dfx_flags(flags);
    config.set_output_prefix(dir.to_str().unwrap()).unwrap();
    config
}

/// A program of `rounds` scopes with four tasks each; `salt` makes its values its own.
fn program<'e>(o: &mut Orch<'_, 'e>, x: BufferId, rounds: u32, salt: u32) -> Result<()> {
    let x = o.external(x)?;
    for round in 0..rounds {
        o.scope(|o| {
            let copy = o.submit(&COPY, [x.read(), out(u32, [8])])?.out(0);
            for part in 0..2 {
                let half = x.slice(0, part * 4, 4)?;
                o.submit(&FOLD, [half.inout(), copy.slice(0, part * 4, 4)?.read(), scalar(salt + round)])?;
            }
            o.submit(&FOLD, [x.inout(), copy.read(), scalar(salt)]).map(drop)
        })?;
    }
    Ok(())
}

/// What the program leaves in its buffer.
fn expected(rounds: u32, salt: u32) -> Vec<u32> {
    let fold = |x: u32, y: u32, by: u32| x.wrapping_mul(by).wrapping_add(y);
    let mut now: Vec<u32> = (0..8).collect();
    for round in 0..rounds {
        now.iter_mut().for_each(|x| *x = fold(fold(*x, *x, salt + round), *x, salt));
    }
    now
}

fn run(runtime: &mut Runtime, rounds: u32, salt: u32) -> RunReport {
    let mut data = Buffers::new();
    let x = data.add(&[8], &(0..8).collect::<Vec<u32>>()).unwrap();
    let run = runtime.run(&mut data, |o| program(o, x, rounds, salt));
    run.result.unwrap();
    assert_eq!(data.get::<u32>(x).unwrap(), expected(rounds, salt));
    run.report
}

/// The files of these flags, and no others.
#[track_caller]
fn has_just(dir: &Path, manifest: &Manifest, flags: DfxFlags) {
    let asked = [
        DfxFlags::DEPS,
        DfxFlags::SWIMLANE_CORES,
        DfxFlags::PMU,
        DfxFlags::SCOPES,
        DfxFlags::DUMP,
        DfxFlags::DUMP,
    ];
    let expected: Vec<_> = ALL_FILES
        .into_iter()
        .zip(asked)
        .filter(|(_, flag)| flags.contains(*flag))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(listed(manifest), expected, "{flags}");
    for name in ALL_FILES {
        assert_eq!(dir.join(name).exists(), expected.contains(&name), "{flags}: {name}");
    }
    assert_eq!(dir.join("tensor_dump").exists(), flags.contains(DfxFlags::DUMP), "{flags}");
    assert_eq!(manifest.dfx_flags(), flags);
}

#[test]
fn a_hundred_runs_with_random_diagnostics_and_alternating_levels_all_check_out() {
    let sandbox = Sandbox::new();
    let mut rng = Rng::new(0x5eed);
    let mut runtimes = [1, 2, 4].map(|threads| {
        let config = CallConfig::default().with_threads(threads).with_ring_task_window([64; 4]);
        Runtime::on(Platform::Cpu).with(&config).unwrap()
    });
    for number in 0..100u32 {
        // Every level follows every other, none included; the other four bits are random.
        let bits = u64::from(rng.below(16)) << 3;
        let flags = DfxFlags::from_bits(bits)
            .unwrap()
            .with_swimlane_level([3, 0, 1, 2, 1, 0, 3][number as usize % 7])
            .unwrap();
        let overflow = if number % 2 == 0 { Overflow::Block } else { Overflow::Drop };
        let dir = sandbox.path().join(format!("run{number}"));
        let runtime = &mut runtimes[rng.below(3) as usize];
        runtime.observe(&config_in(&dir, flags).with_overflow(overflow)).unwrap();
        let rounds = 1 + rng.below(60);
        let report = run(runtime, rounds, number);
        if flags.is_empty() {
            assert!(!dir.exists());
            continue;
        }
        let manifest = checked(&dir);
        assert_eq!(manifest.program, None, "no command line made it");
        has_just(&dir, &manifest, flags);
        assert_eq!((manifest.tasks, manifest.overflow), (u64::from(rounds) * 4, overflow));
        assert_eq!((manifest.tasks, manifest.scopes), (report.tasks, report.scopes));
        if let Some(entry) = manifest.files.iter().find(|entry| entry.path == "deps.json") {
            assert_eq!(entry.total, Some(manifest.tasks));
        }
    }
}

#[test]
fn two_runs_at_the_same_time_in_one_process_never_touch_each_others_files() {
    let sandbox = Sandbox::new();
    let one = |name: &'static str, rounds: u32, salt: u32| {
        let sandbox = &sandbox;
        move || {
            let config = CallConfig::default().with_threads(2);
            let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
            for number in 0..10 {
                let dir = sandbox.path().join(name).join(number.to_string());
                runtime.observe(&config_in(&dir, everything())).unwrap();
                run(&mut runtime, rounds, salt);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(one("left", 7, 3));
        scope.spawn(one("right", 29, 5));
    });
    for (name, rounds, salt) in [("left", 7u64, 3u64), ("right", 29, 5)] {
        for number in 0..10 {
            let dir = sandbox.path().join(name).join(number.to_string());
            let manifest = checked(&dir);
            assert_eq!(
                (manifest.tasks, manifest.blocks, manifest.scopes),
                (rounds * 4, rounds * 4, rounds + 1)
            );
            has_just(&dir, &manifest, everything());
            // The last task of a scope gets this run's salt, and no task gets the other's.
            let dump = Dump::read(&dir).unwrap();
            let salts = dump.records.iter().filter_map(|record| match record.data {
                DumpData::Scalar(value) => Some(value.bits()),
                DumpData::Tensor(_) => None,
            });
            assert!(salts.min() == Some(salt));
        }
    }
}

#[test]
fn a_program_gives_the_same_deps_at_every_thread_count_whatever_else_is_recorded() {
    let sandbox = Sandbox::new();
    let mut first: Option<Vec<u8>> = None;
    for (number, flags) in
        [DfxFlags::DEPS, everything(), DfxFlags::DEPS.with(DfxFlags::SWIMLANE_TASKS)].iter().enumerate()
    {
        for threads in [1, 2, 4] {
            let dir = sandbox.path().join(format!("run{number}_{threads}"));
            let config = config_in(&dir, *flags).with_threads(threads).with_ring_task_window([16; 4]);
            run(&mut Runtime::on(Platform::Cpu).with(&config).unwrap(), 50, 9);
            checked(&dir);
            let bytes = fs::read(dir.join("deps.json")).unwrap();
            assert!(*first.get_or_insert_with(|| bytes.clone()) == bytes, "{flags} {threads}");
        }
    }
}

#[test]
fn a_second_run_into_the_directory_of_one_that_goes_on_is_refused_and_harms_nothing() {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().join("run");
    let config = config_in(&dir, everything()).with_threads(1);
    let mut outer = Runtime::on(Platform::Cpu).with(&config).unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[8], &(0..8).collect::<Vec<u32>>()).unwrap();
    let run = outer.run(&mut data, |o| {
        let mut inner = Runtime::on(Platform::Cpu).with(&config)?;
        let second = inner.run(&mut Buffers::new(), |o| o.alloc(u32, [1]).map(drop));
        assert_eq!(second.result.unwrap_err().name(), "DirectoryInUse");
        program(o, x, 3, 5)
    });
    run.result.unwrap();
    let manifest = checked(&dir);
    assert_eq!((manifest.tasks, listed(&manifest)), (12, ALL_FILES.to_vec()));
}

#[test]
fn two_hundred_tiny_recorded_runs_wait_for_no_poll() {
    let sandbox = Sandbox::new();
    let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(2)).unwrap();
    let times = (0..200).map(|number| {
        runtime.observe(&config_in(&sandbox.path().join(number.to_string()), everything())).unwrap();
        let start = Instant::now();
        run(&mut runtime, 1, number);
        start.elapsed()
    });
    // A guard against waiting for a clock, which every run would do. Under load some take long, the fastest does not.
    let fastest = times.min().unwrap();
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
    checked(&sandbox.path().join("199"));
}

#[test]
fn failed_runs_leave_no_trace_in_the_next_recording_of_the_same_runtime() {
    let sandbox = Sandbox::new();
    let config = CallConfig::default().with_threads(2).with_ring_task_window([16; 4]);
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    for (number, way) in ["fail", "panic", "orchestration", "deadlock"].repeat(3).iter().enumerate() {
        let dir = sandbox.path().join(format!("bad{number}"));
        runtime.observe(&config_in(&dir, everything())).unwrap();
        let mut data = Buffers::new();
        let x = data.add(&[8], &[0u32; 8]).unwrap();
        let mut bad = || {
            runtime.run(&mut data, |o| {
                let (fails, x) = (if *way == "panic" { &PANIC } else { &FAIL }, o.external(x)?);
                o.scope(|o| {
                    o.submit(&FOLD, [x.inout(), x.read(), scalar(1u32)]).map(drop).unwrap_or(());
                    match *way {
                        "orchestration" => panic!("as planned"),
                        "deadlock" => {
                            (0..40).try_for_each(|_| o.submit(&COPY, [x.read(), out(u32, [8])]).map(drop))
                        }
                        _ => o.submit(fails, [x.inout()]).map(drop),
                    }
                })
            })
        };
        let (status, error) = match *way {
            "orchestration" => {
                assert!(catch_unwind(AssertUnwindSafe(&mut bad)).is_err());
                (RunStatus::Fatal, "ProgramPanicked")
            }
            "deadlock" => (RunStatus::Fatal, bad().result.unwrap_err().name()),
            _ => (RunStatus::Failed, bad().result.unwrap_err().name()),
        };
        let manifest = checked(&dir);
        has_just(&dir, &manifest, everything());
        assert_eq!((manifest.status, manifest.error.unwrap().name.as_str()), (status, error), "{way}");
        let good = sandbox.path().join(format!("good{number}"));
        runtime.observe(&config_in(&good, everything())).unwrap();
        run(&mut runtime, 5, 3);
        let manifest = checked(&good);
        assert_eq!((manifest.status, manifest.tasks, manifest.scopes), (RunStatus::Ok, 20, 6), "after {way}");
        assert_eq!(Scopes::read(&good).unwrap().head.fatal, None);
    }
}

#[test]
fn an_interrupted_program_leaves_the_files_of_what_ran() {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().join("run");
    let mut runtime =
        Runtime::on(Platform::Cpu).with(&config_in(&dir, everything()).with_threads(2)).unwrap();
    let remote = runtime.remote();
    let mut data = Buffers::new();
    let x = data.add(&[8], &[0u32; 8]).unwrap();
    let run = runtime.run(&mut data, |o| {
        for round in 0..1000 {
            program(o, x, 1, round)?;
            if round == 30 {
                remote.interrupt();
            }
        }
        Ok(())
    });
    assert_eq!(run.result.unwrap_err().name(), "Interrupted");
    let manifest = checked(&dir);
    assert_eq!(manifest.status, RunStatus::Interrupted);
    has_just(&dir, &manifest, everything());
    assert_eq!(Deps::read(&dir).unwrap().tasks.len() as u64, manifest.tasks);
}

#[test]
fn the_root_scope_has_the_site_of_the_caller() {
    let sandbox = Sandbox::new();
    let mut runtime =
        Runtime::on(Platform::Cpu).with(&config_in(&sandbox.path().join("run"), DfxFlags::SCOPES)).unwrap();
    let run = runtime.run(&mut Buffers::new(), |o| o.alloc(u32, [1]).map(drop));
    run.result.unwrap();
    let scopes = Scopes::read(sandbox.path().join("run")).unwrap().scopes;
    assert!(scopes[0].site.contains("dfx_library.rs:"), "{}", scopes[0].site);
}

/// Names that break what does not quote them.
const ODD_NAMES: [&str; 5] =
    ["\"><script>", "a,b\nc", "tab\tand\\slash", "\u{1f980} \u{0}\u{1b}[31m", "é{}[]:'"];

static ODD: [Kernel; 5] = {
    const fn odd(name: &'static str) -> Kernel {
        Kernel::new(name, CoreType::Any, &[<&mut [u32]>::SPEC, <u32>::SPEC], |args| {
            let (x, to) = (args.take::<&mut [u32]>()?, args.take::<u32>()?);
            x.fill(to);
            Ok(())
        })
    }
    [odd(ODD_NAMES[0]), odd(ODD_NAMES[1]), odd(ODD_NAMES[2]), odd(ODD_NAMES[3]), odd(ODD_NAMES[4])]
};

#[test]
fn kernels_with_odd_names_keep_them_in_every_file() {
    let sandbox = Sandbox::new();
    let dir = sandbox.path().join("odd \"><script>,\n run");
    let mut runtime =
        Runtime::on(Platform::Cpu).with(&config_in(&dir, everything()).with_threads(2)).unwrap();
    let run = runtime.run(&mut Buffers::new(), |o| {
        ODD.iter().try_for_each(|kernel| o.submit(kernel, [out(u32, [2]), scalar(3u32)]).map(drop))
    });
    run.result.unwrap();
    checked(&dir);
    let swimlane = Swimlane::read(&dir).unwrap();
    let names: Vec<_> = swimlane.head.meta.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ODD_NAMES);
    let tasks: Vec<TaskId> = Deps::read(&dir).unwrap().tasks.iter().map(|task| task.task_id).collect();
    let deps = Deps::read(&dir).unwrap();
    assert!(deps.tasks.iter().map(|task| task.kernels[0].kernel.name.as_str()).eq(ODD_NAMES));
    let dump = Dump::read(&dir).unwrap();
    assert!(dump.head.kernels.iter().map(|kernel| kernel.name.as_str()).eq(ODD_NAMES));
    assert_eq!(tasks.len(), 5);
    read_by_others(&dir);
}

/// Python's readers of JSON and CSV agree, where there is a Python.
fn read_by_others(dir: &Path) {
    const SCRIPT: &str = "import csv, json, sys\n\
        names = [k['name'] for k in json.load(open('l2_perf_records.json'))['metadata']['kernels']]\n\
        assert names == [k['name'] for k in json.load(open('tensor_dump/tensor_dump.json'))['kernels']]\n\
        assert names == [t['kernels'][0]['name'] for t in json.load(open('deps.json'))['tasks']]\n\
        json.load(open('run.json')), json.load(open('scope_stats.json'))\n\
        rows = list(csv.DictReader(open('pmu.csv', newline='')))\n\
        assert len(rows) == 5 and sorted(int(r['func_id']) for r in rows) == list(range(5)), rows\n\
        sys.stdout.write(json.dumps(names))";
    let Ok(output) = Command::new("python3").args(["-c", SCRIPT]).current_dir(dir).output() else {
        println!("skipped: there is no python3 here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<String> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(names, ODD_NAMES);
}
