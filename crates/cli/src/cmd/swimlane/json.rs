//! What `ringlane swimlane --json` prints; fields may be added, never renamed.

use ringlane_insight::kernels::KernelStats;
use ringlane_insight::timeline::Timeline;
use ringlane_insight::{Run, Spread};
use ringlane_report::perfetto::TraceCounts;
use serde::Serialize;

/// What was written where, and what is not in it.
pub struct Written {
    pub file: String,
    pub counts: TraceCounts,
    pub notes: Vec<String>,
}

#[derive(Serialize)]
struct Summary<'a> {
    run: String,
    file: String,
    level: u8,
    clock_freq_hz: u64,
    makespan_ticks: u64,
    cores: usize,
    slices: u64,
    arrows: u64,
    notes: Vec<String>,
    kernels: Vec<KernelJson<'a>>,
}

/// One kernel; times in ticks, shares from 0 to 1.
#[derive(Serialize)]
struct KernelJson<'a> {
    func_id: u32,
    name: &'a str,
    core_type: &'a str,
    count: u64,
    total: u128,
    #[serde(flatten)]
    duration: SpreadJson,
    head: Option<SpreadJson>,
    tail: Option<SpreadJson>,
    core_share: f64,
    busy_share: f64,
}

#[derive(Serialize)]
struct SpreadJson {
    mean: f64,
    p50: u64,
    p95: u64,
    max: u64,
}

impl From<Spread> for SpreadJson {
    fn from(spread: Spread) -> Self {
        SpreadJson { mean: spread.mean(), p50: spread.p50.0, p95: spread.p95.0, max: spread.max.0 }
    }
}

impl<'a> From<&'a KernelStats> for KernelJson<'a> {
    fn from(kernel: &'a KernelStats) -> Self {
        KernelJson {
            func_id: kernel.func_id.0,
            name: &kernel.name,
            core_type: &kernel.core_type,
            count: kernel.duration.count,
            total: kernel.duration.total,
            duration: kernel.duration.into(),
            head: kernel.head.map(SpreadJson::from),
            tail: kernel.tail.map(SpreadJson::from),
            core_share: kernel.core_share,
            busy_share: kernel.busy_share,
        }
    }
}

/// The whole text.
pub fn json(run: &Run, timeline: &Timeline, stats: &[KernelStats], written: Written) -> String {
    let summary = Summary {
        run: run.dir.display().to_string(),
        file: written.file,
        level: timeline.level.number(),
        clock_freq_hz: timeline.clock_freq_hz,
        makespan_ticks: timeline.makespan.0,
        cores: timeline.cores.len(),
        slices: written.counts.slices,
        arrows: written.counts.arrows,
        notes: written.notes,
        kernels: stats.iter().map(KernelJson::from).collect(),
    };
    let text = serde_json::to_string(&summary).expect("strings and numbers");
    format!("{text}\n")
}
