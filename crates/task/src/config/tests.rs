//! Properties of a configuration as a whole.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::explain::Explain;

fn with_bytes(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut wire = CallConfig::default().as_wire().to_vec();
    wire[at..at + bytes.len()].copy_from_slice(bytes);
    wire
}

#[test]
fn all_zeros_is_the_default_and_is_valid() {
    assert_eq!(CallConfig::parse(&[0; 1152]), Ok(CallConfig::default()));
    assert_eq!(CallConfig::default().as_wire(), [0; 1152]);
}

#[test]
fn every_field_is_at_its_designed_offset() {
    let mut config = CallConfig::default()
        .with_seed(1)
        .with_ring_heap([2; 4])
        .with_ring_task_window([4; 4])
        .with_ring_dep_pool([8; 4])
        .with_ring_args([16; 4])
        .with_tensormap(32)
        .with_threads(3)
        .with_scheduler_threads(5)
        .with_block_dim(6)
        .with_overflow(Overflow::Drop);
    config.pmu_group = 7;
    config.set_output_prefix("out").unwrap();
    let wire = config.as_wire();
    let byte_at = [(8, 1), (16, 2), (40, 2), (48, 4), (64, 8), (80, 16), (96, 32), (104, 3), (108, 5)];
    for (at, byte) in byte_at.into_iter().chain([(112, 6), (116, 7), (120, 1), (128, b'o'), (131, 0)]) {
        assert_eq!(wire[at], byte, "byte {at}");
    }
}

#[test]
fn every_diagnostic_needs_a_directory() {
    for bit in 0..DfxFlags::USED_BITS {
        let dfx_flags = DfxFlags::from_bits(1 << bit).unwrap();
        let mut config = CallConfig::default().with_dfx_flags(dfx_flags);
        assert_eq!(config.validate(), Err(ConfigError::MissingOutputPrefix { dfx_flags }));
        config.set_output_prefix("outputs/run").unwrap();
        assert_eq!(config.validate(), Ok(()));
        config.set_output_prefix("").unwrap();
        assert_eq!(config.validate().unwrap_err().name(), "MissingOutputPrefix");
    }
}

#[test]
fn a_capacity_that_is_refused_names_its_ring_and_a_setting_that_is_allowed() {
    let refused = |config: CallConfig| {
        let error = config.validate().unwrap_err();
        (error.name(), error.detail().split(',').next().unwrap().to_string(), error.hint())
    };
    let base = CallConfig::default();
    for (config, name, detail, hint) in [
        (
            base.with_ring_task_window([0, 0, 20, 0]),
            "CapacityNotPowerOfTwo",
            "task_window of ring 2: 20 slots",
            "`CallConfig::default().with_ring_task_window([32; 4])`",
        ),
        (
            base.with_ring_task_window([2; 4]),
            "CapacityTooSmall",
            "task_window of ring 0: 2 slots",
            "`CallConfig::default().with_ring_task_window([4; 4])`",
        ),
        (
            base.with_ring_heap([0, 1 << 62, 0, 0]),
            "CapacityTooLarge",
            "heap of ring 1: 4611686018427387904 bytes",
            "`CallConfig::default().with_ring_heap([1099511627776; 4])`",
        ),
        (
            base.with_ring_dep_pool([3, 0, 0, 0]),
            "CapacityNotPowerOfTwo",
            "dep_pool of ring 0: 3 entries",
            "`CallConfig::default().with_ring_dep_pool([4; 4])`",
        ),
        (
            base.with_ring_args([0, 0, 0, u32::MAX]),
            "CapacityTooLarge",
            "args of ring 3: 4294967295 bytes",
            "`CallConfig::default().with_ring_args([1073741824; 4])`",
        ),
        (
            base.with_tensormap(100),
            "CapacityNotPowerOfTwo",
            "tensormap: 100 entries",
            "`CallConfig::default().with_tensormap(128)`",
        ),
    ] {
        assert_eq!(refused(config), (name, detail.to_string(), hint.to_string()));
    }
}

#[test]
fn negative_counts_and_unknown_policies_are_refused() {
    let base = CallConfig::default();
    for config in [base.with_threads(-1), base.with_scheduler_threads(-1), base.with_block_dim(i32::MIN), {
        let mut config = base;
        config.pmu_group = -2;
        config
    }] {
        assert_eq!(config.validate().unwrap_err().name(), "NegativeCount");
    }
    let wire = with_bytes(120, &[2]);
    assert_eq!(CallConfig::parse(&wire), Err(ConfigError::UnknownOverflow { code: 2 }));
    assert_eq!(base.with_overflow(Overflow::Drop).overflow(), Ok(Overflow::Drop));
}

#[test]
fn reserved_fields_and_bits_must_be_zero() {
    for at in [100, 124] {
        let error = ConfigError::ReservedField { offset_bytes: at, value: 9 };
        assert_eq!(CallConfig::parse(&with_bytes(at, &[9])), Err(error));
    }
    assert_eq!(CallConfig::parse(&with_bytes(1, &[1])), Err(ConfigError::ReservedBit { bit: 8 }));
}

#[test]
fn a_truncated_block_is_refused_and_a_longer_one_is_read() {
    let wire = CallConfig::default().with_seed(5).as_wire().to_vec();
    for have_bytes in [0, 1, 128, 1151] {
        let error = ConfigError::ConfigTruncated { have_bytes, need_bytes: 1152 };
        assert_eq!(CallConfig::parse(&wire[..have_bytes]), Err(error));
    }
    // One byte off any alignment, with more bytes after it.
    let mut longer = vec![0xff];
    longer.extend_from_slice(&wire);
    longer.push(0xff);
    assert_eq!(CallConfig::parse(&longer[1..]).unwrap().seed, 5);
}

#[test]
fn a_bad_prefix_is_refused_on_the_wire_too() {
    let names = [(&b"a\0b"[..], "OutputPrefixHasNul"), (b"\xff", "OutputPrefixNotUtf8")];
    for (bytes, name) in names {
        assert_eq!(CallConfig::parse(&with_bytes(128, bytes)).unwrap_err().name(), name);
    }
    let error = CallConfig::parse(&with_bytes(128, &[b'x'; 1024])).unwrap_err();
    assert_eq!(error, ConfigError::OutputPrefixNotTerminated);
}

proptest! {
    #[test]
    fn random_bytes_never_panic_and_accepted_ones_survive_a_round_trip(
        head in proptest::collection::vec(any::<u8>(), 0..140), path in "[a-z/]{0,20}", cut in 0usize..1300,
    ) {
        let mut wire = [0u8; 1300];
        wire[..head.len()].copy_from_slice(&head);
        wire[128..128 + path.len()].copy_from_slice(path.as_bytes());
        if let Ok(config) = CallConfig::parse(&wire[..cut]) {
            prop_assert_eq!(CallConfig::parse(config.as_wire()), Ok(config));
        }
    }

    #[test]
    fn small_changes_of_a_valid_block_never_panic(at in 0usize..1152, byte: u8, windows in any::<[u8; 4]>()) {
        let config = CallConfig::default().with_ring_task_window(windows.map(|w| 4 << (w % 21)));
        let mut wire = config.as_wire().to_vec();
        wire[at] = byte;
        if let Ok(config) = CallConfig::parse(&wire) {
            prop_assert!(crate::Capacities::of(&config).bytes_reserved() > 0);
        }
    }
}
