//! The counters: one row for each block.

use super::{Checks, Run};
use crate::rows::pmu::{self, FILE_NAME, Pmu};

pub(super) fn check(checks: &mut Checks, pmu: &Pmu, run: &Run) {
    if !pmu.rows.is_empty() {
        let columns = &pmu.columns;
        let counters: Vec<&str> = pmu.counter_columns().collect();
        let framed = *columns == pmu::columns(&counters);
        checks.that(framed, || format!("columns {columns:?}"));
        checks.that(!counters.is_empty(), || "no counter columns".to_string());
    }
    if !run.blocks().is_empty() {
        if !run.lost_blocks() && !run.lost_rows_of(FILE_NAME) {
            let mut rows: Vec<_> =
                pmu.rows.iter().map(|row| (row.core_id, row.task_id, row.func_id)).collect();
            let mut blocks: Vec<_> =
                run.blocks().iter().map(|block| (block.core, block.task_id, block.func_id)).collect();
            rows.sort_unstable();
            blocks.sort_unstable();
            checks.that(rows == blocks, || "rows are not those of the blocks".to_string());
        }
        let counts = pmu.rows.is_empty() && run.lost_rows_of(FILE_NAME)
            || pmu.rows.iter().any(|row| row.pmu_total_cycles > 0);
        checks.that(counts, || "every row counts 0 cycles".to_string());
    }
    // The reader refuses negative numbers.
    checks.held(pmu.rows.len());
}
