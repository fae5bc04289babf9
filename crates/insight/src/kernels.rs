//! What each kernel cost: how often it ran, how long, and what the scheduler added before and after.
//!
//! ```text
//!        dispatch ──head──▶ start ────duration────▶ end ──tail──▶ finish
//! ```

use std::collections::BTreeMap;

use ringlane_task::{KernelId, Ticks};
use ringlane_trace::swimlane::{BlockRow, SwimlaneLevel};
use serde::Serialize;

use crate::Spread;
use crate::timeline::Timeline;

/// One kernel in numbers; times in ticks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelStats {
    /// Its number in this run.
    pub func_id: KernelId,
    /// Its name; `?` if the swimlane does not name it.
    pub name: String,
    /// The kind of core it asks for: `aic`, `aiv` or `any`.
    pub core_type: String,
    /// How many blocks ran, and how long each took.
    #[serde(flatten)]
    pub duration: Spread,
    /// From dispatch to start, from level 2 on.
    pub head: Option<Spread>,
    /// From end to finish, from level 2 on.
    pub tail: Option<Spread>,
    /// Part of the time of all cores, 0 to 1.
    pub core_share: f64,
    /// Part of the time in which cores ran blocks, 0 to 1.
    pub busy_share: f64,
}

/// Every kernel that ran, the one with the most time first.
///
/// ```no_run
/// let run = ringlane_insight::Run::open("outputs/cholesky")?;
/// for kernel in ringlane_insight::kernels::kernels(&run.timeline()?) {
///     println!("{} × {}", kernel.duration.count, kernel.name);
/// }
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
pub fn kernels(timeline: &Timeline) -> Vec<KernelStats> {
    let durations = by_kernel(timeline, BlockRow::duration);
    let between = |from: Ticks, to: Ticks| Ticks(to.0.saturating_sub(from.0));
    let (mut heads, mut tails) = match timeline.level {
        SwimlaneLevel::Blocks => Default::default(),
        _ => (
            by_kernel(timeline, |block| between(block.dispatch, block.start)),
            by_kernel(timeline, |block| between(block.end, block.finish)),
        ),
    };
    let busy: u128 = durations.values().map(|spread| spread.total).sum();
    let of_cores = timeline.cores.len() as u128 * u128::from(timeline.makespan.0);
    let stats = durations.into_iter().map(|(func_id, duration)| KernelStats {
        func_id,
        name: timeline.kernel_name(func_id).to_string(),
        core_type: timeline.kernel(func_id).map_or_else(|| "?".into(), |kernel| kernel.core_type.clone()),
        duration,
        head: heads.remove(&func_id),
        tail: tails.remove(&func_id),
        core_share: share(duration.total, of_cores),
        busy_share: share(duration.total, busy),
    });
    let mut stats: Vec<KernelStats> = stats.collect();
    stats.sort_by(|a, b| b.duration.total.cmp(&a.duration.total).then(a.func_id.cmp(&b.func_id)));
    stats
}

/// How a value is spread over the blocks of each kernel.
fn by_kernel(timeline: &Timeline, value: impl Fn(&BlockRow) -> Ticks) -> BTreeMap<KernelId, Spread> {
    let mut values = BTreeMap::<KernelId, Vec<Ticks>>::new();
    // Blocks of one kernel are often adjacent.
    for run in timeline.blocks.chunk_by(|a, b| a.func_id == b.func_id) {
        values.entry(run[0].func_id).or_default().extend(run.iter().map(&value));
    }
    values.into_iter().map(|(kernel, values)| (kernel, Spread::of(values))).collect()
}

fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
