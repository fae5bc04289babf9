//! Counters become `pmu.csv`.

use std::io;
use std::sync::atomic::Ordering;

use ringlane_task::CoreId;
use ringlane_trace::pmu::{PmuRow, PmuWriter};
use ringlane_trace::rows::RowCounts;
use ringlane_trace::{ArtifactFile, PmuSource};

use super::{Export, Rows};
use crate::kinds;
use crate::pmu::Group;
use crate::records::{BlockCounters, TICKS};

/// Where the counters came from: the processor if any row did (each row tells), else the clock.
pub(super) fn source(counted: bool, group: Group) -> PmuSource {
    match counted {
        true => PmuSource { source: "perf_event".to_string(), group: group.number().into() },
        false => PmuSource { source: "tsc".to_string(), group: 0 },
    }
}

impl Export<'_> {
    pub(super) fn pmu(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        let group = self.settings.pmu_group;
        // The first counter of every group is the column of cycles, which every file has.
        let columns = &group.columns()[1..];
        let mut writer = PmuWriter::new(out, columns);
        self.for_each(kinds::PMU, rows, |core, block: BlockCounters| {
            let counted = block.name.source != TICKS;
            self.counted.fetch_or(counted, Ordering::Relaxed);
            writer.row(&PmuRow {
                thread_id: core,
                core_id: CoreId(core),
                task_id: block.name.task(),
                func_id: block.name.kernel(),
                core_type: self.core_type_of(CoreId(core)),
                pmu_total_cycles: block.cycles,
                counters: &block.counters[1..=columns.len()],
                event_type: if counted { group.number().into() } else { 0 },
            })
        })?;
        Ok(RowCounts { collected: writer.finish()?, dropped: self.dropped(kinds::PMU, rows) })
    }
}
