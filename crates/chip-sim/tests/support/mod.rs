//! Chips for tests.

use ringlane_task::{ChipSpec, ControlCosts, HostMemory, LinkSpec, Rates, RecordMemory};

pub fn a2a3() -> ChipSpec {
    ChipSpec {
        name: "a2a3sim".to_string(),
        about: "test".to_string(),
        clusters: 24,
        aiv_per_cluster: 2,
        schedulers: 3,
        schedulers_max: 3,
        counter_hz: 50_000_000,
        pmu_counters: 8,
        host_memory: HostMemory::Mapped,
        dispatch_ahead: 1,
        costs: ControlCosts {
            dispatch_store: 10_000,
            poll: 100_000,
            dispatch_seen: 140_000,
            turn_around: 800_000,
            done_seen: 180_000,
            admit: 60_000,
            look_up: 40_000,
            insert: 30_000,
            wire: 40_000,
            resolve: 40_000,
            reclaim: 20_000,
            round: 20_000,
        },
        link: LinkSpec { latency: 5_000_000, bytes_per_second: 25_000_000_000 },
        rates: Rates { aic_flops: 13e12, aiv_flops: 0.2e12, memory_bytes: 1.6e12 },
        default_block: 2_000_000,
        silent_after: 10_000_000_000,
        records: RecordMemory { buffers: 4, buffer_bytes: 65536 },
        mailbox: [43_300_000, 8_080_000],
    }
}
