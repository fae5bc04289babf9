//! Tables that are well, tables that are not, and tables that are made.

use proptest::prelude::*;
use ringlane_task::Explain;

use super::*;

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
fn what_is_wrong_with_a_table_is_said_by_name() {
    let edited = |from: &str, to: &str| with_kernels(&QK.replace(from, to));
    for (json, name, part) in [
        (String::new(), "DamagedCosts", "EOF"),
        ("[]".to_string(), "DamagedCosts", "f.json"),
        ("{}".to_string(), "DamagedCosts", "version"),
        (r#"{"version":1}"#.to_string(), "DamagedCosts", "chip"),
        (r#"{"version":2,"rows":[]}"#.to_string(), "UnknownCostsVersion", "2"),
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
fn a_file_that_cannot_be_read_is_said_with_the_reason() {
    let missing = CostTable::read("/nowhere/f.json").unwrap_err();
    assert_eq!(missing.name(), "CannotReadCosts");
    assert!(missing.detail().contains("/nowhere/f.json"), "{}", missing.detail());
    assert_eq!(CostTable::read("/").unwrap_err().name(), "CannotReadCosts");
    assert_eq!(CostTable::read("/dev/zero").unwrap_err().name(), "CostsTooLong");
}

#[test]
fn runs_with_counters_of_their_own_are_merged_in_picoseconds() {
    let (mut slow, mut fast) = (BlockTimes::default(), BlockTimes::default());
    slow.add(2);
    [10, 20, 33].into_iter().for_each(|ticks| fast.add(ticks));
    let mut recorder = TableRecorder::new("cpu");
    assert!(recorder.is_empty());
    recorder.add("NEVER_RAN", &BlockTimes::default(), 1);
    recorder.add("QK", &slow, 50_000_000);
    recorder.add("QK", &fast, 1_000_000_000);
    let table = recorder.finish();
    let merged = KernelCost { name: "QK".into(), blocks: 4, mean_ps: 25_750, min_ps: 10_000, max_ps: 40_000 };
    assert_eq!(table.kernels(), [merged]);
}

proptest! {
    #[test]
    fn whatever_is_recorded_can_be_read_again(
        times in proptest::collection::vec((".{1,8}", proptest::collection::vec(any::<u64>(), 1..5)), 0..5),
        clock_freq_hz in 0..=u64::MAX,
    ) {
        let mut recorder = TableRecorder::new("cpu");
        for (kernel, ticks) in &times {
            let mut block_times = BlockTimes::default();
            ticks.iter().for_each(|&ticks| block_times.add(ticks));
            recorder.add(kernel, &block_times, clock_freq_hz);
        }
        let table = recorder.finish();
        prop_assert_eq!(parse(&table.to_json()).unwrap(), table);
    }

    #[test]
    fn no_text_is_more_than_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = CostTable::parse(&bytes, Path::new("f.json"));
    }
}
