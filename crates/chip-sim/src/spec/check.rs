//! Checks a chip that was built in code. A file is checked line by line when it is parsed; both use the same limits.

use std::ops::RangeInclusive;

use ringlane_task::ChipSpec;

use super::limits::{
    AIV_PER_CLUSTER, CLUSTERS, COUNTER_HZ, DISPATCH_AHEAD, PMU_COUNTERS, RATE, RECORD_BUFFERS, RECORD_BYTES,
    SCHEDULERS_MAX, SECOND, SILENT_AFTER, TIME,
};

/// The first problem of a chip: the field, its value, and the allowed range.
pub(crate) fn problem(chip: &ChipSpec) -> Option<String> {
    if let Some((field, value, range)) =
        numbers(chip).into_iter().find(|(_, value, range)| !range.contains(value))
    {
        return Some(format!("{field} is {value}; allowed: {} to {}", range.start(), range.end()));
    }
    if !SECOND.is_multiple_of(chip.counter_hz) {
        return Some(format!(
            "counter_hz is {}, whose tick is not an integer number of picoseconds",
            chip.counter_hz
        ));
    }
    let rates = [
        ("aic_flops", chip.rates.aic_flops),
        ("aiv_flops", chip.rates.aiv_flops),
        ("memory_bytes", chip.rates.memory_bytes),
    ];
    let unfit = |rate: &f64| !(*RATE.start() as f64..=*RATE.end() as f64).contains(rate);
    let found = rates.into_iter().find(|(_, rate)| unfit(rate));
    found.map(|(field, rate)| format!("{field} is {rate}; allowed: {} to {}", RATE.start(), RATE.end()))
}

/// All integers of a chip with their allowed ranges.
fn numbers(chip: &ChipSpec) -> Vec<(&'static str, u64, RangeInclusive<u64>)> {
    let costs = &chip.costs;
    let times = [
        ("dispatch_store", costs.dispatch_store),
        ("poll", costs.poll),
        ("dispatch_seen", costs.dispatch_seen),
        ("turn_around", costs.turn_around),
        ("done_seen", costs.done_seen),
        ("admit", costs.admit),
        ("look_up", costs.look_up),
        ("insert", costs.insert),
        ("wire", costs.wire),
        ("resolve", costs.resolve),
        ("reclaim", costs.reclaim),
        ("round", costs.round),
        ("latency", chip.link.latency),
        ("default_block", chip.default_block),
    ];
    let mut numbers = vec![
        ("clusters", chip.clusters.into(), CLUSTERS),
        ("aiv_per_cluster", chip.aiv_per_cluster.into(), AIV_PER_CLUSTER),
        ("schedulers_max", chip.schedulers_max.into(), 1..=SCHEDULERS_MAX),
        ("schedulers", chip.schedulers.into(), 1..=chip.schedulers_max.into()),
        ("counter_hz", chip.counter_hz, COUNTER_HZ),
        ("pmu_counters", chip.pmu_counters.into(), PMU_COUNTERS),
        ("dispatch_ahead", chip.dispatch_ahead.into(), DISPATCH_AHEAD),
        ("bytes_per_second", chip.link.bytes_per_second, RATE),
        ("silent_after", chip.silent_after, SILENT_AFTER),
        ("buffers", chip.records.buffers.into(), RECORD_BUFFERS),
        ("buffer_bytes", chip.records.buffer_bytes, RECORD_BYTES),
    ];
    numbers.extend(times.map(|(field, value)| (field, value, TIME)));
    numbers
}
