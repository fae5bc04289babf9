//! Valid tables, invalid tables, and recorded tables.

use proptest::prelude::*;
use ringlane_task::Explain;

use super::super::limits::{RECORDED_BLOCKS_MAX, SPREAD_GROUPS};
use super::super::{BlockTimes, Programs, TableRecorder};
use super::*;
use crate::time::SECOND;

fn parse(json: &str) -> Result<CostTable, CostTableError> {
    CostTable::parse(json.as_bytes(), Path::new("f.json"))
}

fn with_kernels(kernels: &str) -> String {
    format!(r#"{{"version":1,"chip":"cpu","clock_freq_hz":1000000000,"kernels":[{kernels}]}}"#)
}

const QK: &str = r#"{"name":"QK","blocks":2,"mean_ps":4,"min_ps":3,"max_ps":5,"later":null}"#;
const PV: &str = r#"{"name":"PV","blocks":1,"mean_ps":7,"min_ps":7,"max_ps":7}"#;

#[test]
fn a_table_is_read_and_its_kernels_are_found_by_name() {
    let table = parse(&with_kernels(&format!("{QK},{PV}"))).unwrap();
    assert_eq!((table.chip(), table.clock_freq_hz(), table.kernels().len()), ("cpu", 1_000_000_000, 2));
    assert_eq!(table.kernel("QK").map(|cost| (cost.blocks, cost.mean_ps)), Some((2, 4)));
    assert_eq!(table.kernel("PV").map(|cost| cost.max_ps), Some(7));
    assert_eq!(table.kernel("Q"), None);
    assert_eq!(parse(&with_kernels("")).unwrap().kernels(), []);
}

#[test]
fn every_problem_of_a_table_has_a_named_error() {
    let edited = |from: &str, to: &str| with_kernels(&QK.replace(from, to));
    for (json, name, part) in [
        (String::new(), "DamagedCosts", "EOF"),
        ("[]".to_string(), "DamagedCosts", "f.json"),
        ("{}".to_string(), "DamagedCosts", "version"),
        (r#"{"version":1}"#.to_string(), "DamagedCosts", "chip"),
        (
            r#"{"version":3,"rows":[]}"#.to_string(),
            "UnknownCostsVersion",
            "version 3, known versions: 1 to 2",
        ),
        (with_kernels(QK) + "x", "DamagedCosts", "trailing"),
        (with_kernels(&format!("{QK},{PV},{QK}")), "DuplicateKernelCosts", "QK"),
        (edited("\"QK\"", "\"\""), "ImpossibleCosts", "name"),
        (edited("\"blocks\":2", "\"blocks\":0"), "ImpossibleCosts", "0 blocks"),
        (edited("\"min_ps\":3", "\"min_ps\":6"), "ImpossibleCosts", "min_ps 6"),
        (edited("\"max_ps\":5", "\"max_ps\":3"), "ImpossibleCosts", "max_ps 3"),
        (edited("\"mean_ps\":4", "\"mean_ps\":-4"), "DamagedCosts", "-4"),
        (edited("\"mean_ps\":4", "\"mean_ps\":4.5"), "DamagedCosts", "4.5"),
        (edited("\"mean_ps\":4", "\"mean_ps\":1e400"), "DamagedCosts", "number"),
        (edited("\"mean_ps\":4,", ""), "DamagedCosts", "mean_ps"),
        (" ".repeat(TABLE_BYTES_MAX as usize + 1), "CostsTooLong", "16777216"),
        ("[".repeat(100_000), "DamagedCosts", "f.json"),
    ] {
        let error = parse(&json).expect_err(&json[..json.len().min(80)]);
        assert_eq!(error.name(), name, "{}", error.detail());
        assert!(error.detail().contains(part), "{part} is not in {}", error.detail());
        assert!(!error.hint().is_empty() && !error.to_string().is_empty());
    }
}

#[test]
fn a_file_that_cannot_be_read_is_reported_with_the_reason() {
    let missing = CostTable::read("/nowhere/f.json").unwrap_err();
    assert_eq!(missing.name(), "CannotReadCosts");
    assert!(missing.detail().contains("/nowhere/f.json"), "{}", missing.detail());
    assert_eq!(CostTable::read("/").unwrap_err().name(), "CannotReadCosts");
    assert_eq!(CostTable::read("/dev/zero").unwrap_err().name(), "CostsTooLong");
}

#[test]
fn tasks_of_a_table_are_found_by_id_and_damaged_ones_are_refused() {
    let with =
        |tasks: &str| QK.replace("\"later\":null", &format!("\"spread_ps\":[3,5],\"tasks\":[{tasks}]"));
    let table = parse(&with_kernels(&with("[9,5],[4,3,4]"))).unwrap();
    let qk = table.kernel("QK").unwrap();
    assert_eq!((qk.of_task(TaskId(4)), qk.of_task(TaskId(9))), (Some(&[3, 4][..]), Some(&[5][..])));
    assert_eq!((qk.block_ps(TaskId(4), 1), qk.block_ps(TaskId(9), 0)), (4, 5));
    for (tasks, name, part) in [
        ("[4,3],[4,5]", "ImpossibleCosts", "task 4 occurs twice"),
        ("[4]", "DamagedCosts", "a duration for each block"),
        ("[]", "DamagedCosts", "a duration for each block"),
        ("[4,-1]", "DamagedCosts", "-1"),
    ] {
        let error = parse(&with_kernels(&with(tasks))).unwrap_err();
        assert_eq!(error.name(), name, "{}", error.detail());
        assert!(error.detail().contains(part), "{part} is not in {}", error.detail());
    }
}

#[test]
fn a_block_that_was_not_recorded_gets_a_duration_of_the_spread_or_the_mean_of_an_old_table() {
    let old = parse(&with_kernels(QK)).unwrap();
    assert!((0..50).all(|task| old.kernel("QK").unwrap().block_ps(TaskId(task), 0) == 4));
    let mut recorder = TableRecorder::new("cpu").of(Programs::Several);
    let times = (1..=1600).map(|time| (TaskId(time), 0, 0, time));
    recorder.add("QK", times_of(times), SECOND);
    let table = recorder.finish();
    let qk = table.kernel("QK").unwrap();
    assert_eq!((qk.spread_ps.len(), qk.spread_ps[0], qk.spread_ps[15], qk.tasks.len()), (16, 50, 1550, 0));
    let drawn: Vec<_> = (0..1600).map(|task| qk.block_ps(TaskId(task), 0)).collect();
    assert!(qk.spread_ps.iter().all(|time| drawn.contains(time)), "some group is never drawn");
    let mean = drawn.iter().sum::<u64>() / 1600;
    assert!(mean.abs_diff(qk.mean_ps) < qk.mean_ps / 10, "{mean} against {}", qk.mean_ps);
    assert_eq!(drawn, (0..1600).map(|task| qk.block_ps(TaskId(task), 0)).collect::<Vec<_>>());
}

fn times_of(blocks: impl IntoIterator<Item = (TaskId, u8, u32, u64)>) -> BlockTimes {
    let mut times = BlockTimes::default();
    blocks.into_iter().for_each(|(task, lane, block, ticks)| times.add_block(task, lane, block, ticks));
    times
}

#[test]
fn runs_with_different_counters_are_merged_in_picoseconds() {
    let slow = times_of([(TaskId(7), 0, 0, 2)]);
    let fast = times_of([(TaskId(8), 0, 1, 33), (TaskId(8), 0, 0, 20), (TaskId(7), 0, 0, 10)]);
    let mut recorder = TableRecorder::new("cpu");
    assert!(recorder.is_empty());
    recorder.add("NEVER_RAN", BlockTimes::default(), 1);
    recorder.add("QK", slow, 50_000_000);
    recorder.add("QK", fast, 1_000_000_000);
    let table = recorder.finish();
    // Task 7 ran twice; the blocks of task 8 were added in another order.
    let task = |task, blocks_ps: &[u64]| RecordedTask { task: TaskId(task), blocks_ps: blocks_ps.to_vec() };
    let merged = KernelCost {
        name: "QK".into(),
        blocks: 4,
        mean_ps: 25_750,
        min_ps: 10_000,
        max_ps: 40_000,
        spread_ps: vec![10_000, 20_000, 33_000, 40_000],
        tasks: vec![task(7, &[25_000]), task(8, &[20_000, 33_000])],
    };
    assert_eq!(table.kernels(), [merged]);
}

#[test]
fn a_table_of_too_many_blocks_keeps_only_the_spread() {
    let times = (0..=RECORDED_BLOCKS_MAX as u64).map(|task| (TaskId(task), 0, 0, task));
    let mut recorder = TableRecorder::new("cpu");
    recorder.add("QK", times_of(times), SECOND);
    let table = recorder.finish();
    let qk = table.kernel("QK").unwrap();
    assert_eq!((qk.blocks, qk.tasks.len()), (RECORDED_BLOCKS_MAX as u64 + 1, 0));
    assert_eq!(qk.spread_ps.len(), SPREAD_GROUPS);
}

proptest! {
    #[test]
    fn every_recorded_table_can_be_parsed(
        times in proptest::collection::vec((".{1,8}", proptest::collection::vec(any::<u64>(), 1..5)), 0..5),
        clock_freq_hz in 0..=u64::MAX,
    ) {
        let mut recorder = TableRecorder::new("cpu");
        for (kernel, ticks) in &times {
            let blocks = ticks.iter().enumerate().map(|(task, &ticks)| (TaskId(task as u64 / 2), 0, 0, ticks));
            recorder.add(kernel, times_of(blocks), clock_freq_hz);
        }
        let table = recorder.finish();
        prop_assert_eq!(parse(&table.to_json()).unwrap(), table);
    }

    #[test]
    fn no_bytes_make_parsing_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = CostTable::parse(&bytes, Path::new("f.json"));
    }
}
