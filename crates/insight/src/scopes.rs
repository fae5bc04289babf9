//! How full the rings were, which scopes come closest to filling them, and which capacities suffice.
//!
//! ```text
//! rows of scope_stats.json ──▶ by place and ring: peaks, needs, waits     (SiteUse)
//!                          ──▶ by store: what one ring has of one resource (StoreUse), closest to full first
//!                          ──▶ capacities that suffice, as options        (Capacities)
//! ```
//!
//! A *peak* follows from timing: a ring fills up as far as the submitter runs ahead. A *need* follows from the program
//! alone, and is what a capacity must be for the program to pass; so the ranking and the options come from needs. The
//! tensor map has no need on record. There the peak is used instead: whatever the open scopes hold at once was in use at once in
//! a run that went well, so a peak is never less than the need.

mod capacities;
mod sites;

use ringlane_task::{Resource, RingIndex, Ticks};
use ringlane_trace::RunError;
use ringlane_trace::scopes::{ScopeFatal, ScopeStall, Scopes};
use serde::Serialize;

use crate::units::microseconds;
pub use capacities::Capacities;
pub(crate) use sites::own_waits;
pub use sites::{ResourceUse, SiteUse};

/// The resources that every ring has for itself, in the order of their codes.
pub const PER_RING: [Resource; 4] = [Resource::TaskWindow, Resource::Heap, Resource::DepPool, Resource::Args];

/// How often submits waited, and how long in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// How often.
    pub count: u64,
    /// How long in all.
    pub ticks: Ticks,
    /// The same in µs.
    pub us: f64,
}

impl Waits {
    fn new(stall: &ScopeStall, clock_freq_hz: u64) -> Self {
        let us = microseconds(stall.ticks.0 as f64, clock_freq_hz);
        Waits { count: stall.count, ticks: stall.ticks, us }
    }

    fn add(&mut self, other: Waits) {
        self.count = self.count.saturating_add(other.count);
        self.ticks = Ticks(self.ticks.0.saturating_add(other.ticks.0));
        self.us += other.us;
    }
}

/// One resource of one ring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoreUse {
    /// The resource.
    pub resource: Resource,
    /// The ring; `None` for what all rings share.
    pub ring: Option<RingIndex>,
    /// How much there is.
    pub capacity: u64,
    /// The most that was in use at once.
    pub peak: u64,
    /// The most that a scope needs; `None` where that is not on record.
    pub need: Option<u64>,
    /// With how much the run passes whatever the timing, before it is rounded to a capacity that can be set.
    pub enough: u64,
    /// Waits for it.
    pub waits: Waits,
    /// Where the scope was opened that needs most.
    pub site: String,
}

impl StoreUse {
    /// How much of the capacity the program needs; above 1 it passed because its timing let it.
    pub fn share(&self) -> f64 {
        self.enough as f64 / self.capacity.max(1) as f64
    }
}

/// What a run's scopes took, and what they need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Scopes on record.
    pub scopes: u64,
    /// Of these, still open when the run was stopped.
    pub open: u64,
    /// Scopes that were lost: what is said is then true of the others.
    pub dropped: u64,
    /// Scopes by place and ring, those of the outer rings first.
    pub sites: Vec<SiteUse>,
    /// What was used of each resource of each ring, the closest to full first; without those that nothing used.
    pub stores: Vec<StoreUse>,
    /// All waits.
    pub waits: Waits,
    /// What the run had.
    #[serde(skip)]
    pub given: Capacities,
    /// Capacities that suffice for the recorded scopes.
    #[serde(skip)]
    pub enough: Capacities,
    /// Which scope exhausted what, if that ended the run.
    pub fatal: Option<ScopeFatal<'static>>,
}

/// Sums up the scopes of a run, whose clock has this number of ticks in a second.
///
/// ```
/// use std::borrow::Cow;
/// use ringlane_task::Resource;
/// use ringlane_trace::scopes::{Peak, ScopeNeed, ScopeRow, Scopes};
/// let window = [Peak { peak: 9, capacity: 64 }; 4];
/// let need = ScopeNeed { task_window: 9, ..ScopeNeed::default() };
/// let row = ScopeRow { site: Cow::Borrowed("a.rs:1"), task_window: window, need, ..ScopeRow::default() };
/// let summary = ringlane_insight::scopes::summarize(&Scopes { scopes: vec![row], ..Scopes::default() }, 1_000_000);
/// assert_eq!(summary.enough.option(Resource::TaskWindow), "--ring-task-window 16,4,4,4");
/// ```
pub fn summarize(scopes: &Scopes, clock_freq_hz: u64) -> Summary {
    let waits = own_waits(&scopes.scopes);
    let given = Capacities::of_rows(&scopes.scopes);
    let sites = sites::by_place(&scopes.scopes, &waits, &given, clock_freq_hz);
    let mut stores: Vec<StoreUse> =
        given.stores().map(|(resource, ring)| store(resource, ring, &sites, &given)).collect();
    for (row, waits) in scopes.scopes.iter().zip(&waits) {
        for stall in waits.iter() {
            let ring = stall.ring.filter(|_| stall.resource.is_per_ring());
            let found =
                stores.iter_mut().find(|store| (store.resource, store.ring) == (stall.resource, ring));
            if let Some(store) = found {
                store.waits.add(Waits::new(stall, clock_freq_hz));
            }
        }
        peaks(&mut stores, row);
    }
    if let Some(fatal) = &scopes.head.fatal {
        exhausted(&mut stores, fatal, &sites);
    }
    let enough = Capacities::from_fn(|resource, ring| {
        let found = stores.iter().find(|store| (store.resource, store.ring) == (resource, ring));
        found.map_or(0, |store| store.enough)
    });
    stores.retain(|store| store.peak > 0 || store.enough > 0 || store.waits.count > 0);
    stores.sort_by(|a, b| b.share().total_cmp(&a.share()));
    let mut all = Waits::default();
    sites.iter().for_each(|site| all.add(site.waits));
    Summary {
        scopes: scopes.scopes.len() as u64,
        open: scopes.scopes.iter().filter(|scope| scope.exit.is_none()).count() as u64,
        dropped: scopes.head.counts.dropped,
        sites,
        stores,
        waits: all,
        given,
        enough,
        fatal: scopes.head.fatal.clone(),
    }
}

/// What the places need of one store; peaks and waits are added row by row.
fn store(resource: Resource, ring: Option<RingIndex>, sites: &[SiteUse], given: &Capacities) -> StoreUse {
    let capacity = given.get(resource, ring);
    let mut store = StoreUse {
        resource,
        ring,
        capacity,
        peak: 0,
        need: None,
        enough: 0,
        waits: Waits::default(),
        site: String::new(),
    };
    let Some(ring) = ring else { return store };
    let mut piece = 0;
    for site in sites.iter().filter(|site| site.ring == ring) {
        let need = site.need_of(resource);
        piece = piece.max(site.piece_of(resource));
        if store.need.is_none_or(|most| need > most) {
            (store.need, store.site) = (Some(need), site.site.clone());
        }
    }
    store.enough = capacities::enough(resource, store.need.unwrap_or(0), piece);
    store
}

/// A stop knows more than the rows: what the open scopes would have needed until their end.
fn exhausted(stores: &mut [StoreUse], fatal: &ScopeFatal<'_>, sites: &[SiteUse]) {
    let found = stores.iter_mut().find(|store| (store.resource, store.ring) == (fatal.resource, fatal.ring));
    if let Some(store) = found {
        store.need = store.need.max(Some(fatal.need));
        store.enough = store.enough.max(enough_after(fatal, sites));
        store.site = fatal.site.to_string();
    }
}

/// With how much of what ran out the run gets past the scope that exhausted it.
fn enough_after(fatal: &ScopeFatal<'_>, sites: &[SiteUse]) -> u64 {
    let pieces = sites.iter().map(|site| site.piece_of(fatal.resource));
    capacities::enough(fatal.resource, fatal.need, pieces.max().unwrap_or(0))
}

fn peaks(stores: &mut [StoreUse], row: &ringlane_trace::scopes::ScopeRow<'_>) {
    for store in stores {
        let at = store.ring.map_or(0, |ring| usize::from(ring.0));
        let peak = match store.resource {
            Resource::TaskWindow => row.task_window[at].peak,
            Resource::Heap => row.heap[at].peak,
            Resource::DepPool => row.dep_pool[at].peak,
            Resource::Args => row.args[at].peak,
            Resource::TensorMap => row.tensormap.peak,
        };
        if peak > store.peak {
            store.peak = peak;
            if store.resource == Resource::TensorMap {
                (store.enough, store.site) = (peak, row.site.to_string());
            }
        }
    }
}

impl Summary {
    /// Options with capacities that suffice.
    ///
    /// After a successful run: sufficient capacities for all scopes. After a run that was stopped: its own options, with
    /// the capacity of the exhausted resource raised as in the error's hint; what the program needs beyond the point where
    /// it was stopped is unknown.
    pub fn options(&self, error: Option<&RunError>) -> String {
        let Some(raised) = self.fatal.as_ref().map(|fatal| self.raised(fatal)).or(error.map(|_| self.given))
        else {
            return self.enough.options();
        };
        let hinted = error.and_then(|error| hinted(&error.hint));
        let option = |resource: Resource| match &hinted {
            Some((of, option)) if *of == resource => Some(option.clone()),
            _ => (!raised.is_default(resource)).then(|| raised.option(resource)),
        };
        Resource::ALL.into_iter().filter_map(option).collect::<Vec<_>>().join(" ")
    }

    /// What was given, raised to what a stop says it takes.
    fn raised(&self, fatal: &ScopeFatal<'_>) -> Capacities {
        let enough = enough_after(fatal, &self.sites);
        Capacities::from_fn(|resource, ring| match (resource, ring) == (fatal.resource, fatal.ring) {
            true => enough.max(self.given.get(resource, ring)),
            false => self.given.get(resource, ring),
        })
    }
}

/// The capacity that an error's hint gives, as the option to paste, whatever it names there: the engine counts further than the rows go, to the end
/// of the open scopes.
fn hinted(hint: &str) -> Option<(Resource, String)> {
    Resource::ALL.into_iter().find_map(|resource| {
        let values = resource.set_in(hint)?;
        let fits = |value: &str| value.parse().is_ok_and(|value| resource.check(None, value).is_ok());
        values.split(',').all(fits).then(|| (resource, format!("{} {values}", resource.option())))
    })
}

#[cfg(test)]
mod tests;
