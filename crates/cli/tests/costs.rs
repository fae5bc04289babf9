//! `ringlane run --costs-out` and `--costs`: what blocks took, recorded from real runs and read again.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::Sandbox;
use ringlane_chip_sim::cost::CostTable;
use ringlane_scenes::Scene;
use ringlane_trace::swimlane::Swimlane;

/// Runs the command and reads the table that it wrote.
#[track_caller]
fn recorded(sandbox: &Sandbox, arguments: &[&str]) -> CostTable {
    let answer = sandbox.ringlane(&[&["run", "--costs-out", "f.json"], arguments].concat());
    assert_eq!(answer.status, 0, "{arguments:?}: {}", answer.stderr);
    assert!(answer.line("costs of ").ends_with("kernels: f.json"), "{}", answer.stderr);
    let hidden: Vec<_> = sandbox.files().into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
    CostTable::read(sandbox.path().join("f.json")).expect("a table")
}

/// Blocks, sum, shortest and longest of each kernel in picoseconds, from the swimlanes themselves.
fn expected(dirs: &[&Path]) -> BTreeMap<String, (u64, u128, u64, u64)> {
    let mut kernels = BTreeMap::new();
    for dir in dirs {
        let swimlane = Swimlane::read(dir.join("l2_perf_records.json")).expect("a swimlane");
        let clock_freq_hz = swimlane.head.meta.clock_freq_hz;
        for block in &swimlane.blocks {
            let kernel = swimlane.head.meta.kernels.iter().find(|kernel| kernel.func_id == block.func_id);
            let ps = u128::from(block.end.0 - block.start.0) * 1_000_000_000_000 / u128::from(clock_freq_hz);
            let entry =
                kernels.entry(kernel.expect("it is listed").name.clone()).or_insert((0, 0, u64::MAX, 0));
            entry.0 += 1;
            entry.1 += ps;
            entry.2 = entry.2.min(ps as u64);
            entry.3 = entry.3.max(ps as u64);
        }
    }
    kernels
}

#[track_caller]
fn agree(table: &CostTable, dirs: &[&Path]) {
    let expected = expected(dirs);
    assert_eq!((table.chip(), table.kernels().len()), ("cpu", expected.len()));
    for (cost, (name, (blocks, total, min, max))) in table.kernels().iter().zip(&expected) {
        assert_eq!(
            (&cost.name, cost.blocks, cost.min_ps, cost.max_ps),
            (name, *blocks, *min, *max),
            "{table:?}"
        );
        // Each block is rounded down here, their sum there.
        let mean = (total / u128::from(*blocks)) as u64;
        assert!(cost.mean_ps.abs_diff(mean) <= 1, "{name}: {} is not {mean}", cost.mean_ps);
    }
}

#[test]
fn the_costs_of_a_run_are_those_of_its_swimlane() {
    let sandbox = Sandbox::new();
    let table = recorded(&sandbox, &["cholesky", "--case", "small", "--chip-swimlane=1", "-o", "run"]);
    assert!(table.kernel("POTRF").is_some_and(|cost| cost.mean_ps > 0), "{table:?}");
    agree(&table, &[&sandbox.path().join("run")]);
}

#[test]
fn all_cases_and_all_observed_rounds_of_a_command_are_merged() {
    let sandbox = Sandbox::new();
    let table = recorded(&sandbox, &["vector", "--case", "small", "--case", "chunked", "--chip-swimlane"]);
    let runs: Vec<_> =
        fs::read_dir(sandbox.path().join("outputs")).unwrap().map(|run| run.unwrap().path()).collect();
    agree(&table, &runs.iter().map(|run| run.as_path()).collect::<Vec<_>>());

    let rounds = ["vector", "--case", "small", "--dfx", "--rounds", "2", "--dfx-rounds", "all", "-o", "all"];
    let table = recorded(&sandbox, &rounds);
    let run = sandbox.path().join("all");
    agree(&table, &[&run.join("round_1"), &run.join("round_2")]);

    let rounds = ["vector", "--case", "small", "--dfx", "--rounds", "3", "-o", "last"];
    agree(&recorded(&sandbox, &rounds), &[&sandbox.path().join("last")]);
}

#[track_caller]
fn refused(sandbox: &Sandbox, options: &[&str], parts: &[&str]) {
    let before = sandbox.files();
    let answer = sandbox.ringlane(&[&["run", "vector", "--case", "one"], options].concat());
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{options:?}: {}", answer.stderr);
    for part in parts {
        assert!(answer.stderr.contains(part), "{options:?}: no {part} in {}", answer.stderr);
    }
    assert!(answer.stderr.contains("\ndetail: ") && answer.stderr.contains("\nhint: "), "{}", answer.stderr);
    assert_eq!(sandbox.files(), before, "{options:?}");
}

#[test]
fn costs_that_cannot_be_recorded_are_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    let parts = ["CostsNeedSwimlane", "--chip-swimlane=1"];
    refused(&sandbox, &["--costs-out", "f.json"], &parts);
    refused(&sandbox, &["--costs-out", "f.json", "--dep-gen"], &parts);
    for path in ["missing/f.json", ".", "/", ".."] {
        refused(&sandbox, &["--dfx", "--costs-out", path], &["CostsNotWritable", path]);
    }
    refused(&sandbox, &["--dfx", "--costs-out", ""], &["--costs-out"]);
}

#[test]
fn a_run_that_fails_leaves_an_older_table_as_it_is() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("f.json"), "mine").unwrap();
    let run =
        |case| sandbox.odd(&["run", "odd", "--case", case, "--chip-swimlane=1", "--costs-out", "f.json"]);
    let answer = run("kernel_panics");
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    assert_eq!(answer.line("no costs were written"), ", because not all runs succeeded");
    assert_eq!(fs::read_to_string(sandbox.path().join("f.json")).unwrap(), "mine");
    // One that goes well takes its place.
    assert_eq!(run("nothing").status, 0);
    let table = CostTable::read(sandbox.path().join("f.json")).unwrap();
    assert_eq!(table.kernel("ODD").map(|cost| cost.blocks), Some(3));
    assert!(sandbox.files().iter().all(|name| !name.ends_with(".tmp")));
}

#[test]
fn a_table_that_cannot_be_read_is_refused_by_name_and_a_good_one_is_for_simulators() {
    let sandbox = Sandbox::new();
    let file = |name: &str, text: &str| fs::write(sandbox.path().join(name), text).unwrap();
    file("none.json", "");
    file("later.json", r#"{"version":7}"#);
    file("short.json", r#"{"version":1,"chip":"cpu"}"#);
    let kernel = r#"{"name":"QK","blocks":2,"mean_ps":4,"min_ps":3,"max_ps":5}"#;
    let table = |kernels: &str| {
        format!(r#"{{"version":1,"chip":"cpu","clock_freq_hz":1000000000,"kernels":[{kernels}]}}"#)
    };
    file("twice.json", &table(&format!("{kernel},{kernel}")));
    file("good.json", &table(kernel));
    for (name, error) in [
        ("missing.json", "CannotReadCosts"),
        (".", "CannotReadCosts"),
        ("none.json", "DamagedCosts"),
        ("later.json", "UnknownCostsVersion"),
        ("short.json", "DamagedCosts"),
        ("twice.json", "DuplicateKernelCosts"),
        ("/dev/zero", "CostsTooLong"),
    ] {
        refused(&sandbox, &["--platform", "a2a3sim", "--costs", name], &[error, name]);
    }
    refused(
        &sandbox,
        &["--costs", "good.json"],
        &["OnlyOnSimulators", "an option applies only to simulators", "cpu"],
    );
}

#[test]
fn a_table_without_a_kernel_of_the_scene_is_a_warning_that_lists_the_kernels_of_the_scene() {
    let sandbox = Sandbox::new();
    let run = |kernel: &str| {
        let kernel = format!(r#"{{"name":"{kernel}","blocks":2,"mean_ps":4,"min_ps":3,"max_ps":5}}"#);
        let table =
            format!(r#"{{"version":1,"chip":"cpu","clock_freq_hz":1000000000,"kernels":[{kernel}]}}"#);
        fs::write(sandbox.path().join("f.json"), table).unwrap();
        sandbox.ringlane(&["run", "vector", "--case", "one", "-p", "a2a3sim", "--costs", "f.json", "--json"])
    };
    let kernels: Vec<_> = Scene::find("vector").unwrap().kernels.iter().map(|kernel| kernel.name()).collect();
    let answer = run("QK");
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert_eq!(answer.line("warning: "), "CostsUnused: the cost table names no kernel of the scene");
    let detail =
        format!("f.json has 1 kernels, none of them a kernel of vector, which runs {}", kernels.join(", "));
    assert_eq!(answer.line("detail: "), detail);
    assert_eq!(
        answer.line("hint: "),
        "record them with `ringlane run vector --chip-swimlane=1 --costs-out FILE`"
    );
    // One that is of use, be it only for one of them, needs no words.
    let answer = run(kernels[0]);
    assert_eq!((answer.status, answer.stderr.contains("warning")), (0, false), "{}", answer.stderr);
}

/// What each block took in nanoseconds, by task, lane and number.
fn durations(run: &Path) -> BTreeMap<(u64, u8, u32), u64> {
    let swimlane = Swimlane::read(run.join("l2_perf_records.json")).expect("a swimlane");
    let hz = u128::from(swimlane.head.meta.clock_freq_hz);
    let ns = |ticks: u64| (u128::from(ticks) * 1_000_000_000 / hz) as u64;
    let row = |block: &ringlane_trace::swimlane::BlockRow| {
        ((block.task_id.0, block.lane, block.block.0), ns(block.end.0 - block.start.0))
    };
    swimlane.blocks.iter().map(row).collect()
}

#[test]
fn a_replay_on_a_modelled_chip_gives_each_block_what_that_very_block_took() {
    let sandbox = Sandbox::new();
    let table = recorded(&sandbox, &["moe", "--case", "small", "--chip-swimlane=1", "-o", "measured"]);
    assert!(table.kernels().iter().all(|cost| !cost.tasks.is_empty() && !cost.spread_ps.is_empty()));
    let answer = sandbox.ringlane(&[
        "run",
        "moe",
        "--case",
        "small",
        "-p",
        "a5sim",
        "--costs",
        "f.json",
        "--chip-swimlane=1",
        "-o",
        "replayed",
    ]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let (measured, replayed) =
        (durations(&sandbox.path().join("measured")), durations(&sandbox.path().join("replayed")));
    assert_eq!(measured.keys().collect::<Vec<_>>(), replayed.keys().collect::<Vec<_>>());
    for (block, took) in &measured {
        // A duration is a picosecond at least, and each end of it is rounded to a tick of 1 ns.
        assert!(replayed[block].abs_diff(*took) <= 2, "{block:?}: {} is not {took}", replayed[block]);
    }
}

#[test]
fn a_table_of_several_cases_has_no_tasks_and_one_of_several_rounds_has() {
    let sandbox = Sandbox::new();
    let cases = recorded(&sandbox, &["vector", "--case", "small", "--case", "chunked", "--chip-swimlane"]);
    assert!(cases.kernels().iter().all(|cost| cost.tasks.is_empty() && !cost.spread_ps.is_empty()));
    let rounds = ["vector", "--case", "small", "--dfx", "--rounds", "2", "--dfx-rounds", "all", "-o", "all"];
    let rounds = recorded(&sandbox, &rounds);
    let kept = |cost: &ringlane_chip_sim::cost::KernelCost| {
        cost.tasks.iter().map(|task| task.blocks_ps.len() as u64).sum::<u64>()
    };
    assert!(rounds.kernels().iter().all(|cost| 2 * kept(cost) == cost.blocks), "{rounds:?}");
}

#[test]
fn a_program_can_give_a_chip_file_and_a_cost_table_itself() {
    use ringlane::prelude::*;
    kernel! { static STEP = any fn(x: &mut [f32]) { x[0] += 1.0; } }
    let sandbox = Sandbox::new();
    let (chip, costs) = (sandbox.path().join("mine.toml"), sandbox.path().join("f.json"));
    let text = ringlane::chip_sim::spec::builtin_text("a2a3sim").unwrap();
    fs::write(&chip, text.replace("schedulers = 3", "schedulers = 1")).unwrap();
    let kernel = r#"{"name":"STEP","blocks":1,"mean_ps":7000000,"min_ps":7000000,"max_ps":7000000}"#;
    fs::write(&costs, format!(r#"{{"version":1,"chip":"x","clock_freq_hz":1,"kernels":[{kernel}]}}"#))
        .unwrap();
    let on = Runtime::on(Platform::A2a3sim).chip_file(&chip).unwrap().costs_file(&costs).unwrap();
    let mut runtime = on.with(&CallConfig::default()).unwrap();
    assert_eq!(runtime.threads(), 2, "one scheduler and the orchestrator");
    let run = runtime.run(&mut Buffers::new(), |o| {
        let x = o.alloc(f32, [1])?;
        (0..10).try_for_each(|_| o.submit(&STEP, [x.inout()]).map(drop))
    });
    run.result.unwrap();
    // Ten of 7 µs one after another, at 50 MHz, and not of the 2 µs that the chip's file says.
    assert!((3_500..4_500).contains(&run.report.makespan_ticks), "{}", run.report.makespan_ticks);
    let error = Runtime::on(Platform::A5sim).costs_file(&chip).unwrap_err();
    assert_eq!(Error::from(error).name(), "DamagedCosts");
}
