//! Scopes that were opened at the same place, taken together.

use std::collections::{BTreeMap, HashMap};

use ringlane_task::{Resource, RingIndex, ScopeId, Ticks};
use ringlane_trace::scopes::{ScopeNeed, ScopeRow, ScopeStall};

use super::{PER_RING, Waits};

/// All scopes of one place on one ring: a place that calls itself has one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteUse {
    /// Where they were opened, `file:line`.
    pub site: String,
    /// The ring that their tasks live on.
    pub ring: RingIndex,
    /// How many there are.
    pub scopes: u64,
    /// Tasks submitted directly in them.
    pub tasks: u64,
    /// The most that one of them needs of each resource.
    pub need: ScopeNeed,
    /// The most that was in use of their ring while one of them was open, in the order of [`PER_RING`].
    pub peaks: [u64; PER_RING.len()],
    /// The most that was in use of the tensor map.
    pub tensormap: u64,
    /// The widest fan-in of a task.
    pub fanin: u64,
    /// Waits of their own submits, without those inside them.
    pub waits: Waits,
}

impl SiteUse {
    /// The most that one of them needs of a resource; 0 for the tensor map, whose need is not on record.
    pub fn need_of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::TaskWindow => self.need.task_window,
            Resource::Heap => self.need.heap,
            Resource::DepPool => self.need.dep_pool,
            Resource::Args => self.need.args,
            Resource::TensorMap => 0,
        }
    }

    /// The largest contiguous piece of a resource.
    pub(super) fn piece_of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Heap => self.need.heap_piece,
            Resource::Args => self.need.args_piece,
            _ => 0,
        }
    }

    fn new(row: &ScopeRow<'_>) -> Self {
        SiteUse {
            site: row.site.to_string(),
            ring: row.ring,
            scopes: 0,
            tasks: 0,
            need: ScopeNeed::default(),
            peaks: [0; PER_RING.len()],
            tensormap: 0,
            fanin: 0,
            waits: Waits::default(),
        }
    }

    fn add(&mut self, row: &ScopeRow<'_>, stalls: &[ScopeStall]) {
        self.scopes += 1;
        self.tasks = self.tasks.saturating_add(row.tasks);
        let need = &mut self.need;
        need.task_window = need.task_window.max(row.need.task_window);
        need.heap = need.heap.max(row.need.heap);
        need.dep_pool = need.dep_pool.max(row.need.dep_pool);
        need.args = need.args.max(row.need.args);
        need.heap_piece = need.heap_piece.max(row.need.heap_piece);
        need.args_piece = need.args_piece.max(row.need.args_piece);
        let ring = usize::from(row.ring.0);
        let rings = [&row.task_window, &row.heap, &row.dep_pool, &row.args];
        for (most, peaks) in self.peaks.iter_mut().zip(rings) {
            *most = (*most).max(peaks.get(ring).map_or(0, |peak| peak.peak));
        }
        self.tensormap = self.tensormap.max(row.tensormap.peak);
        self.fanin = self.fanin.max(row.fanin.peak);
        stalls.iter().for_each(|stall| self.waits.add(Waits { count: stall.count, ticks: stall.ticks }));
    }
}

/// The waits of each row's own submits: a row also counts those inside it, which are on record themselves.
pub(crate) fn own_waits(rows: &[ScopeRow<'_>]) -> Vec<Vec<ScopeStall>> {
    let places: HashMap<ScopeId, usize> = rows.iter().enumerate().map(|(at, row)| (row.scope, at)).collect();
    let mut own: Vec<Vec<ScopeStall>> = rows.iter().map(|row| row.stalls.to_vec()).collect();
    for row in rows {
        let Some(&around) = row.parent.and_then(|parent| places.get(&parent)) else { continue };
        for inner in row.stalls.iter() {
            let same = |stall: &&mut ScopeStall| (stall.ring, stall.resource) == (inner.ring, inner.resource);
            if let Some(outer) = own[around].iter_mut().find(same) {
                outer.count = outer.count.saturating_sub(inner.count);
                outer.ticks = Ticks(outer.ticks.0.saturating_sub(inner.ticks.0));
            }
        }
    }
    own
}

/// Scopes by ring and place.
pub(super) fn by_place(rows: &[ScopeRow<'_>], waits: &[Vec<ScopeStall>]) -> Vec<SiteUse> {
    let mut sites: BTreeMap<(RingIndex, &str), SiteUse> = BTreeMap::new();
    for (row, stalls) in rows.iter().zip(waits) {
        sites.entry((row.ring, &row.site)).or_insert_with(|| SiteUse::new(row)).add(row, stalls);
    }
    sites.into_values().collect()
}
