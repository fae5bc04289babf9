//! Groups and their columns, and properties of the counters of every block.

use std::collections::BTreeSet;

use proptest::prelude::*;
use ringlane_task::Explain;

use super::*;
use crate::cost::tests::spec;

fn with_counters(pmu_counters: u32) -> ChipSpec {
    ChipSpec { pmu_counters, ..spec() }
}

/// A counter of a block, by name.
fn count(group: Group, cost: &BlockCost, core: CoreKind, cycles: u64, name: &str) -> u64 {
    let pmu = PmuModel::new(&with_counters(10), group);
    let index = pmu.columns().iter().position(|column| *column == name).expect(name);
    pmu.counters(cost, core, cycles)[index]
}

#[test]
fn the_default_group_has_the_columns_of_the_hardware() {
    let pmu = PmuModel::new(&with_counters(8), Group::default());
    assert_eq!(
        pmu.columns().join(", "),
        "vec_busy_cycles, cube_busy_cycles, scalar_busy_cycles, mte1_busy_cycles, mte2_busy_cycles, \
         mte3_busy_cycles, icache_miss, icache_req"
    );
    assert_eq!(pmu.group().number(), 2);
}

#[test]
fn every_group_is_found_by_number_and_name_and_has_as_many_columns_as_the_chip_has_counters() {
    assert_eq!(Group::ALL.map(Group::number), [1, 2, 4, 5, 6, 7, 8]);
    for group in Group::ALL {
        assert_eq!(Group::from_number(group.number().into()), Ok(group));
        assert_eq!(Group::from_name(group.name()), Ok(group));
        assert_eq!(Group::parse(&group.number().to_string()), Ok(group));
        for (counters, columns) in [(0, 0), (4, 4), (8, 8), (10, 10), (99, 10)] {
            let names = group.columns(counters);
            assert_eq!((names.len(), names.iter().collect::<BTreeSet<_>>().len()), (columns, columns));
        }
        let is_plain =
            |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        assert!(group.columns(10).iter().all(is_plain) && !group.columns(10).contains(&"pmu_total_cycles"));
    }
}

#[test]
fn an_unknown_group_is_refused_with_all_that_are_known() {
    for number in [0, 3, 9, -1, i32::MAX] {
        assert_eq!(Group::from_number(number).unwrap_err().detail(), format!("{:?}", number.to_string()));
    }
    for text in ["", "02", "Pipe", "basic"] {
        let error = Group::parse(text).unwrap_err();
        assert_eq!(error.name(), "UnknownPmuGroup");
        let known = "use 1 or arithmetic, 2 or pipe, 4 or memory, 5 or memory_l0, 6 or conflict, 7 or memory_ub, \
                     8 or l2_cache";
        assert_eq!(error.hint(), known);
    }
}

#[test]
fn units_are_busy_for_their_part_of_the_block() {
    // On the chip with round numbers: a quarter of the time computing, half of it loading, an eighth storing.
    let cost = BlockCost { picoseconds: 1000, flops: 1000.0, bytes: 125.0, written: 25.0, is_roofline: true };
    let pipe = |core, name| count(Group::Pipe, &cost, core, 400, name);
    assert_eq!((pipe(CoreKind::Aic, "cube_busy_cycles"), pipe(CoreKind::Aic, "vec_busy_cycles")), (100, 0));
    assert_eq!(
        (pipe(CoreKind::Aic, "mte2_busy_cycles"), pipe(CoreKind::Aiv, "mte2_busy_cycles")),
        (200, 200)
    );
    assert_eq!(
        (pipe(CoreKind::Aic, "mte3_busy_cycles"), pipe(CoreKind::Aic, "fixpipe_busy_cycles")),
        (0, 50)
    );
    assert_eq!(
        (pipe(CoreKind::Aiv, "mte3_busy_cycles"), pipe(CoreKind::Aiv, "fixpipe_busy_cycles")),
        (50, 0)
    );
    // A vector core would need twice as long for these operations: it is busy for all of the block, and not longer.
    assert_eq!((pipe(CoreKind::Aiv, "vec_busy_cycles"), pipe(CoreKind::Aiv, "cube_busy_cycles")), (400, 0));
}

#[test]
fn bytes_and_operations_are_those_of_the_cost_model() {
    let cost = BlockCost { picoseconds: 1000, flops: 1000.0, bytes: 125.0, written: 25.0, is_roofline: true };
    let memory = |core, name| count(Group::Memory, &cost, core, 400, name);
    assert_eq!(memory(CoreKind::Aiv, "main_mem_read_bytes"), 100);
    assert_eq!(memory(CoreKind::Aiv, "main_mem_write_bytes"), 25);
    assert_eq!((memory(CoreKind::Aiv, "ub_write_bytes"), memory(CoreKind::Aic, "ub_write_bytes")), (100, 0));
    assert_eq!((memory(CoreKind::Aiv, "l1_write_bytes"), memory(CoreKind::Aic, "l1_write_bytes")), (0, 100));
    assert_eq!(count(Group::Arithmetic, &cost, CoreKind::Aic, 400, "cube_fops"), 1000);
    assert_eq!(count(Group::MemoryL0, &cost, CoreKind::Aic, 400, "l0c_read_bytes"), 25);
    assert_eq!(count(Group::MemoryUb, &cost, CoreKind::Aiv, 400, "ub_read_bytes_mte"), 25);
    assert_eq!(count(Group::L2Cache, &cost, CoreKind::Aiv, 400, "l2_write_bytes"), 25);
}

#[test]
fn the_counters_of_a_kernel_without_a_cost_model_are_zero() {
    let cost = BlockCost { picoseconds: 2_000_000, ..BlockCost::default() };
    for group in Group::ALL {
        let pmu = PmuModel::new(&with_counters(10), group);
        assert_eq!(pmu.counters(&cost, CoreKind::Aic, 100), [0; COUNTERS_MAX]);
    }
}

fn costs() -> impl Strategy<Value = BlockCost> {
    let amount = || prop_oneof![Just(0.0), 0.0..1e18f64, Just(f64::MAX), Just(f64::NAN)];
    (any::<u64>(), amount(), amount(), 0.0..=1.0f64).prop_map(|(picoseconds, flops, bytes, share)| {
        BlockCost { picoseconds, flops, bytes, written: bytes * share, is_roofline: true }
    })
}

proptest! {
    #[test]
    fn nothing_is_busy_for_longer_than_the_block_and_equal_blocks_count_equal(
        cost in costs(),
        total_cycles in any::<u64>(),
        is_matrix in any::<bool>(),
        counters in 0..12u32,
        rate in prop_oneof![Just(0.0), 1.0..1e15f64],
    ) {
        let mut spec = with_counters(counters);
        (spec.rates.aic_flops, spec.rates.memory_bytes) = (rate, rate);
        let core = if is_matrix { CoreKind::Aic } else { CoreKind::Aiv };
        for group in Group::ALL {
            let pmu = PmuModel::new(&spec, group);
            let counted = pmu.counters(&cost, core, total_cycles);
            prop_assert_eq!(counted, pmu.counters(&cost, core, total_cycles));
            let columns = pmu.columns();
            prop_assert!(counted[columns.len()..].iter().all(|&count| count == 0));
            for (name, count) in columns.iter().zip(counted) {
                prop_assert!(!name.ends_with("_cycles") || count <= total_cycles, "{} {}", name, count);
            }
        }
    }

    #[test]
    fn more_work_in_the_same_time_never_counts_less(
        flops in 0.0..1e9f64,
        bytes in 0.0..1e9f64,
        more in 1.0..10.0f64,
        total_cycles in 0..1u64 << 40,
    ) {
        let less = BlockCost { picoseconds: 1_000_000, flops, bytes, written: bytes / 4.0, is_roofline: true };
        let cost = BlockCost { flops: flops * more, bytes: bytes * more, written: less.written * more, ..less };
        for (group, core) in Group::ALL.into_iter().flat_map(|g| [(g, CoreKind::Aic), (g, CoreKind::Aiv)]) {
            let pmu = PmuModel::new(&with_counters(10), group);
            let [a, b] = [less, cost].map(|cost| pmu.counters(&cost, core, total_cycles));
            prop_assert!(a.iter().zip(b).all(|(a, b)| *a <= b + 1), "{:?} {:?}", a, b);
        }
    }
}
