//! What the hardware counted, added up by kernel.

use std::collections::BTreeMap;

use ringlane_insight::{Instrument, Run};
use ringlane_task::KernelId;
use ringlane_trace::pmu::{HEAD_COLUMNS, LAST_COLUMN, read_pmu};
use serde::Serialize;

use super::Page;
use crate::page::limits::EXACT_MAX;

/// Counters by kernel.
#[derive(Serialize)]
pub struct CountersData {
    /// The counters' names; the first is cycles, or ticks where cycles cannot be counted.
    columns: Vec<String>,
    kernels: Vec<KernelCounters>,
}

#[derive(Serialize)]
struct KernelCounters {
    func_id: u32,
    blocks: u64,
    sums: Vec<u64>,
}

impl Page {
    pub(super) fn add_counters(&mut self, run: &Run) {
        let mut kernels: BTreeMap<KernelId, (u64, Vec<u64>)> = BTreeMap::new();
        let read = run.file(Instrument::Pmu).and_then(|file| {
            let columns = read_pmu(file, |row| {
                let (blocks, sums) =
                    kernels.entry(row.func_id).or_insert_with(|| (0, vec![0; row.counters.len() + 1]));
                *blocks += 1;
                let counted = [row.pmu_total_cycles].into_iter().chain(row.counters);
                for (sum, count) in sums.iter_mut().zip(counted) {
                    *sum = sum.saturating_add(count).min(EXACT_MAX);
                }
            })?;
            Ok(columns)
        });
        let Some(columns) = self.table(Instrument::Pmu, read) else { return };
        let counters =
            columns.into_iter().filter(|name| name != LAST_COLUMN && !HEAD_COLUMNS.contains(&name.as_str()));
        let kernels = kernels.into_iter().map(|(kernel, (blocks, sums))| KernelCounters {
            func_id: kernel.0,
            blocks,
            sums,
        });
        let first = HEAD_COLUMNS[HEAD_COLUMNS.len() - 1].to_string();
        let columns = [first].into_iter().chain(counters).collect();
        self.run.counters = Some(CountersData { columns, kernels: kernels.collect() });
    }
}
