//! Counters become `pmu.csv`.

use std::io;
use std::sync::atomic::Ordering;

use ringlane_task::CoreId;
use ringlane_trace::pmu::{PmuRow, PmuWriter};
use ringlane_trace::rows::RowCounts;
use ringlane_trace::{ArtifactFile, PmuSource};

use super::{Export, Rows};
use crate::kinds;
use crate::records::{BlockCounters, TICKS};
use crate::settings::Cores;

/// Where the counters came from: the chip's cores or its model; else the processor if any row did (each row says so), else the
/// clock.
pub(super) fn source(counted: bool, cores: &Cores) -> PmuSource {
    let (source, group) = match (cores, counted) {
        (Cores::Modelled { counters, .. }, _) if counters.measured => ("device", counters.group),
        (Cores::Modelled { .. }, _) => ("model", cores.counter_group()),
        (Cores::Threads { .. }, true) => ("perf_event", cores.counter_group()),
        (Cores::Threads { .. }, false) => ("tsc", 0),
    };
    PmuSource { source: source.to_string(), group }
}

impl Export<'_> {
    pub(super) fn pmu(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        let cores = &self.settings.cores;
        let (group, columns) = (cores.counter_group(), cores.counter_columns());
        let mut writer = PmuWriter::new(out, &columns);
        self.for_each(kinds::PMU, rows, |_, block: BlockCounters| {
            let counted = block.source != TICKS;
            let core = CoreId(block.name.core);
            self.counted.fetch_or(counted, Ordering::Relaxed);
            writer.row(&PmuRow {
                thread_id: block.thread,
                core_id: core,
                task_id: block.name.task(),
                func_id: block.name.kernel(),
                core_type: self.core_type_of(core).into(),
                pmu_total_cycles: block.values[0],
                counters: block.values[1..=columns.len()].into(),
                event_type: if counted { group } else { 0 },
            })
        })?;
        Ok(RowCounts { collected: writer.finish()?, dropped: self.dropped(kinds::PMU, rows) })
    }
}
