//! Scopes that were opened at the same place, taken together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ringlane_task::{Resource, RingIndex, ScopeId, Ticks};
use ringlane_trace::scopes::{ScopeRow, ScopeStall};
use serde::Serialize;

use super::{Capacities, PER_RING, Waits};

/// What the scopes of a place need and take of one resource of their ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResourceUse {
    /// The resource.
    pub resource: Resource,
    /// The most that one of them needs.
    pub need: u64,
    /// The most that was in use while one of them was open.
    pub peak: u64,
}

/// All scopes of one place on one ring: a place that calls itself has one for each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SiteUse {
    /// Where they were opened, `file:line`.
    pub site: String,
    /// Their label; of several, the first and the last with the number of labels; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The ring that their tasks live on.
    pub ring: RingIndex,
    /// How many there are.
    pub scopes: u64,
    /// Tasks submitted directly in them.
    pub tasks: u64,
    /// Of each resource that a ring has, in the order of [`PER_RING`].
    pub uses: Vec<ResourceUse>,
    /// The most that was in use of the tensor map.
    pub tensormap_peak: u64,
    /// The widest fan-in of a task.
    pub fanin_peak: u64,
    /// Waits of their own submits, without those inside them.
    pub waits: Waits,
    /// The resource that came closest to its capacity.
    pub closest: Resource,
    /// How close: its peak as a share of the capacity.
    pub closest_share: f64,
    /// The largest contiguous pieces of the heap and of arguments.
    #[serde(skip)]
    pieces: [u64; 2],
}

impl SiteUse {
    /// The most that one of them needs of a resource; 0 for the tensor map, whose need is not on record.
    pub fn need_of(&self, resource: Resource) -> u64 {
        self.uses.iter().find(|one| one.resource == resource).map_or(0, |one| one.need)
    }

    /// The largest contiguous piece of a resource.
    pub(super) fn piece_of(&self, resource: Resource) -> u64 {
        let [heap, args] = self.pieces;
        match resource {
            Resource::Heap => heap,
            Resource::Args => args,
            _ => 0,
        }
    }

    fn new(row: &ScopeRow<'_>) -> Self {
        SiteUse {
            site: row.site.to_string(),
            label: None,
            ring: row.ring,
            scopes: 0,
            tasks: 0,
            uses: PER_RING.map(|resource| ResourceUse { resource, need: 0, peak: 0 }).to_vec(),
            tensormap_peak: 0,
            fanin_peak: 0,
            waits: Waits::default(),
            closest: Resource::TaskWindow,
            closest_share: 0.0,
            pieces: [0; 2],
        }
    }

    fn add(&mut self, row: &ScopeRow<'_>, stalls: &[ScopeStall], clock_freq_hz: u64) {
        self.scopes += 1;
        self.tasks = self.tasks.saturating_add(row.tasks);
        let need = &row.need;
        let needs = [need.task_window, need.heap, need.dep_pool, need.args];
        let ring = usize::from(row.ring.0);
        let peaks = [&row.task_window, &row.heap, &row.dep_pool, &row.args];
        for ((most, need), peaks) in self.uses.iter_mut().zip(needs).zip(peaks) {
            most.need = most.need.max(need);
            most.peak = most.peak.max(peaks.get(ring).map_or(0, |peak| peak.peak));
        }
        let [heap, args] = self.pieces;
        self.pieces = [heap.max(need.heap_piece), args.max(need.args_piece)];
        self.tensormap_peak = self.tensormap_peak.max(row.tensormap.peak);
        self.fanin_peak = self.fanin_peak.max(row.fanin.peak);
        stalls.iter().for_each(|stall| self.waits.add(Waits::new(stall, clock_freq_hz)));
    }

    /// Finds the resource that came closest to what was given of it.
    fn find_closest(&mut self, given: &Capacities) {
        let own = self.uses.iter().map(|one| (one.resource, Some(self.ring), one.peak));
        for (resource, ring, peak) in own.chain([(Resource::TensorMap, None, self.tensormap_peak)]) {
            let share = peak as f64 / given.get(resource, ring).max(1) as f64;
            if share >= self.closest_share {
                (self.closest, self.closest_share) = (resource, share);
            }
        }
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

/// One text for the labels of scopes that were opened at one place, in the order in which these ended.
fn label_of(labels: Vec<&str>) -> Option<String> {
    let (first, last) = (*labels.first()?, *labels.last()?);
    let different: BTreeSet<_> = labels.iter().collect();
    Some(match different.len() {
        1 => first.to_string(),
        count => format!("{first} … {last} ({count} labels)"),
    })
}

/// Scopes by ring and place.
pub(super) fn by_place(
    rows: &[ScopeRow<'_>],
    waits: &[Vec<ScopeStall>],
    given: &Capacities,
    clock_freq_hz: u64,
) -> Vec<SiteUse> {
    let mut sites: BTreeMap<(RingIndex, &str), SiteUse> = BTreeMap::new();
    let mut labels: BTreeMap<(RingIndex, &str), Vec<&str>> = BTreeMap::new();
    for (row, stalls) in rows.iter().zip(waits) {
        let site = sites.entry((row.ring, &row.site)).or_insert_with(|| SiteUse::new(row));
        site.add(row, stalls, clock_freq_hz);
        if let Some(label) = &row.label {
            labels.entry((row.ring, &row.site)).or_default().push(label);
        }
    }
    for (place, site) in &mut sites {
        site.find_closest(given);
        site.label = labels.remove(place).and_then(label_of);
    }
    sites.into_values().collect()
}
