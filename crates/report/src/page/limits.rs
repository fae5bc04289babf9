//! How much a page holds. A page of 10^6 blocks stays below 20 MB; what does not fit is left out, and the page says so.

/// Tasks with arguments, edges, submit details and counters of their own. Each costs about 30 bytes of page; above the
/// limit these are left out, for all tasks.
pub const DETAILED_TASKS_MAX: usize = 200_000;

/// Edges that are kept with their reasons; above, all edges are left out.
pub const EDGES_MAX: usize = 2_000_000;

/// Phases of scheduler threads that are kept one by one; above, neighbours are merged into stretches.
pub const PHASES_MAX: usize = 300_000;

/// Stretches that the phases of all threads are merged into, at most about.
pub const STRETCHES_MAX: usize = 120_000;

/// Segments of the critical path that are drawn one by one; above, neighbours are merged.
pub const PATH_MAX: usize = 200_000;

/// Scopes in the band below the lanes; above, the longest are kept.
pub const SCOPES_MAX: usize = 60_000;

/// Lanes for labelled scopes of one level that run at the same time; above, they share the lanes.
pub const ABREAST_MAX: usize = 4;

/// Captured arguments that are listed; above, the first are.
pub const DUMPED_MAX: usize = 20_000;

/// Rows of a table by source site.
pub const SITES_MAX: usize = 200;

/// Columns of the small charts over the whole run.
pub const OVERVIEW_BINS: usize = 600;

/// Bars of a kernel's histogram.
pub const HISTOGRAM_BARS: usize = 24;

/// Calls of a node's workers; above, the first of each worker are kept. Each costs about 15 bytes of page.
pub const CALLS_MAX: usize = 200_000;

/// Runs of a node's workers that are listed one by one; above, the first are. Their blocks are on the lanes all the same.
pub const CHIP_RUNS_MAX: usize = 1_000;

/// Blocks on all chips of a node that are kept one by one; above, neighbours are merged.
pub const CHIP_BLOCKS_MAX: usize = 400_000;

/// The largest whole number that a page's numbers hold exactly, 2^53; a larger one is stored as this.
pub const EXACT_MAX: u64 = 1 << 53;

const _: () = assert!(STRETCHES_MAX < PHASES_MAX, "merged phases must be fewer than those kept one by one");
