//! What the hardware counted: added up by kernel, and block by block for the cards of tasks.

use std::collections::BTreeMap;

use ringlane_insight::timeline::{TaskIndex, Timeline};
use ringlane_insight::{Instrument, Run};
use ringlane_task::KernelId;
use ringlane_trace::pmu::{PmuRow, is_counter, read_pmu};
use serde::Serialize;

use super::{Page, exact};
use crate::page::columns::Coding::Plain;
use crate::page::columns::Column;
use crate::page::limits::{DETAILED_TASKS_MAX, EXACT_MAX};

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

/// Takes rows as they are read, and keeps as little of them as it can.
struct Tally<'a> {
    kernels: BTreeMap<KernelId, (u64, Vec<u64>)>,
    /// Where tasks stand, if they are told one by one.
    timeline: Option<&'a Timeline>,
    /// Task by task, what each of its blocks counted.
    blocks: Vec<(TaskIndex, Vec<u64>)>,
}

impl Tally<'_> {
    fn add(&mut self, row: PmuRow<'_>) {
        let task = self.timeline.and_then(|timeline| timeline.find(row.task_id));
        let counted: Vec<u64> =
            [row.pmu_total_cycles].into_iter().chain(row.counters.iter().copied()).collect();
        let (blocks, sums) = self.kernels.entry(row.func_id).or_insert_with(|| (0, vec![0; counted.len()]));
        *blocks += 1;
        for (sum, count) in sums.iter_mut().zip(&counted) {
            *sum = sum.saturating_add(*count).min(EXACT_MAX);
        }
        self.blocks.extend(task.map(|task| (task, counted)));
    }

    /// How many rows each task has, and their numbers one row after the other.
    fn columns(mut self, tasks: usize) -> [Column; 2] {
        self.blocks.sort_by_key(|&(task, _)| task);
        let mut counts = vec![0; tasks];
        self.blocks.iter().for_each(|(task, _)| counts[task.at()] += 1);
        let values = self.blocks.iter().flat_map(|(_, counted)| counted).map(|&count| exact(count));
        [Column::of("tasks.counted", Plain, counts), Column::of("pmu.values", Plain, values)]
    }
}

impl Page {
    pub(super) fn add_counters(&mut self, run: &Run, timeline: Option<&Timeline>) {
        let timeline = timeline.filter(|timeline| timeline.tasks.len() <= DETAILED_TASKS_MAX);
        let mut tally = Tally { kernels: BTreeMap::new(), timeline, blocks: Vec::new() };
        let file = run.file(Instrument::Pmu);
        let read = file.and_then(|file| Ok(read_pmu(file, |row| tally.add(row))?));
        let Some(columns) = self.table(Instrument::Pmu, read) else { return };
        let counters = columns.into_iter().filter(|name| is_counter(name));
        let first = "pmu_total_cycles".to_string();
        let kernels = tally.kernels.iter().map(|(kernel, (blocks, sums))| KernelCounters {
            func_id: kernel.0,
            blocks: *blocks,
            sums: sums.clone(),
        });
        let kernels = kernels.collect();
        self.run.counters =
            Some(CountersData { columns: [first].into_iter().chain(counters).collect(), kernels });
        if let Some(timeline) = timeline {
            self.columns.extend(tally.columns(timeline.tasks.len()));
        }
    }
}
