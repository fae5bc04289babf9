//! What the hardware counted: added up by kernel, and block by block for the cards of tasks.

use ringlane_insight::pmu::Tally;
use ringlane_insight::timeline::{TaskIndex, Timeline};
use ringlane_insight::{Instrument, Run};
use ringlane_trace::pmu::{PmuRow, read_pmu};

use super::{Page, exact};
use crate::page::columns::Coding::Plain;
use crate::page::columns::Column;
use crate::page::limits::DETAILED_TASKS_MAX;

/// Takes rows as they are read, and keeps as little of them as it can.
struct Counted<'a> {
    tally: Tally,
    /// Where tasks are, if they are shown one by one.
    timeline: Option<&'a Timeline>,
    /// Task by task, what each of its blocks counted: cycles first.
    blocks: Vec<(TaskIndex, Vec<u64>)>,
}

impl Counted<'_> {
    fn add(&mut self, row: &PmuRow<'_>) {
        self.tally.add(row);
        if let Some(task) = self.timeline.and_then(|timeline| timeline.find(row.task_id)) {
            let counted = [row.pmu_total_cycles].into_iter().chain(row.counters.iter().copied());
            self.blocks.push((task, counted.collect()));
        }
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
        let mut counted = Counted { tally: Tally::default(), timeline, blocks: Vec::new() };
        let file = run.file(Instrument::Pmu);
        let read = file.and_then(|file| Ok(read_pmu(file, |row| counted.add(&row))?));
        let Some(columns) = self.table(Instrument::Pmu, read) else { return };
        let counters = std::mem::take(&mut counted.tally).finish(&columns);
        self.run.counters = Some(counters.answer(&run.kernel_names()));
        if let Some(timeline) = timeline {
            self.columns.extend(counted.columns(timeline.tasks.len()));
        }
    }
}
