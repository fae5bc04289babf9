//! Scopes and limits: what they took at most of what there is, and which capacities suffice.

use ringlane_insight::scopes::{PER_RING, SiteUse, StoreUse, Summary, summarize};
use ringlane_task::{Resource, RingIndex};
use ringlane_trace::scopes::{ScopeFatal, Scopes};
use serde::Serialize;

use super::Page;
use crate::page::limits::{EXACT_MAX, SITES_MAX};

/// What a page says of scopes.
#[derive(Serialize)]
pub struct ScopesData {
    count: u64,
    /// Names of sites, for the columns.
    sites: Vec<String>,
    /// What was used of each resource of each ring, the closest to full first.
    stores: Vec<Store>,
    /// By site and ring.
    by_site: Vec<Site>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fatal: Option<Fatal>,
    /// Options with which the run passes.
    options: String,
    /// Options that give the run the capacities it had, where they are not the defaults.
    given: Vec<String>,
}

#[derive(Serialize)]
struct Store {
    resource: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<u8>,
    peak: u64,
    capacity: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    need: Option<u64>,
    waits: u64,
    wait_ticks: u64,
}

#[derive(Serialize)]
struct Site {
    site: String,
    ring: u8,
    count: u64,
    tasks: u64,
    need_tasks: u64,
    need_heap: u64,
    waits: u64,
    wait_ticks: u64,
    /// The resource that came closest to its capacity, and how close.
    closest: &'static str,
    share: f64,
}

#[derive(Serialize)]
struct Fatal {
    site: String,
    scope: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<u8>,
    resource: &'static str,
    used: u64,
    capacity: u64,
    need: u64,
}

impl Page {
    pub(super) fn add_scopes(&mut self, scopes: &Scopes) {
        let mut sites = Vec::new();
        self.add_band(scopes, &mut sites);
        let summary = summarize(scopes);
        let set = Resource::ALL.into_iter().filter(|&resource| !summary.given.is_default(resource));
        self.run.scopes = Some(ScopesData {
            count: summary.scopes,
            sites,
            stores: summary.stores.iter().map(Store::of).collect(),
            by_site: by_site(&summary),
            fatal: summary.fatal.as_ref().map(Fatal::of),
            options: summary.options(self.run.manifest.error.as_ref()),
            given: match summary.scopes {
                0 => Vec::new(),
                _ => set.map(|resource| summary.given.option(resource)).collect(),
            },
        });
    }
}

/// The places that came closest to a capacity, or waited.
fn by_site(summary: &Summary) -> Vec<Site> {
    let mut sites: Vec<Site> = summary.sites.iter().map(|site| Site::of(site, summary)).collect();
    sites.sort_by(|a, b| b.wait_ticks.cmp(&a.wait_ticks).then(b.share.total_cmp(&a.share)));
    sites.truncate(SITES_MAX);
    sites
}

impl Store {
    fn of(store: &StoreUse) -> Self {
        Store {
            resource: store.resource.as_str(),
            ring: store.ring.map(|ring| ring.0),
            peak: store.peak.min(EXACT_MAX),
            capacity: store.capacity.min(EXACT_MAX),
            need: store.need.map(|need| need.min(EXACT_MAX)),
            waits: store.waits.count.min(EXACT_MAX),
            wait_ticks: store.waits.ticks.0.min(EXACT_MAX),
        }
    }
}

impl Site {
    fn of(site: &SiteUse, summary: &Summary) -> Self {
        let share = |resource: Resource, peak: u64, ring: Option<RingIndex>| {
            (peak as f64 / summary.given.get(resource, ring).max(1) as f64, resource.as_str())
        };
        let own = PER_RING.into_iter().zip(site.peaks);
        let own = own.map(|(resource, peak)| share(resource, peak, Some(site.ring)));
        let all = own.chain([share(Resource::TensorMap, site.tensormap, None)]);
        let (share, closest) = all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        Site {
            site: site.site.clone(),
            ring: site.ring.0,
            count: site.scopes.min(EXACT_MAX),
            tasks: site.tasks.min(EXACT_MAX),
            need_tasks: site.need.task_window.min(EXACT_MAX),
            need_heap: site.need.heap.min(EXACT_MAX),
            waits: site.waits.count.min(EXACT_MAX),
            wait_ticks: site.waits.ticks.0.min(EXACT_MAX),
            closest,
            share,
        }
    }
}

impl Fatal {
    fn of(fatal: &ScopeFatal<'_>) -> Self {
        Fatal {
            site: fatal.site.to_string(),
            scope: fatal.scope.0,
            ring: fatal.ring.map(|ring| ring.0),
            resource: fatal.resource.as_str(),
            used: fatal.used.min(EXACT_MAX),
            capacity: fatal.capacity.min(EXACT_MAX),
            need: fatal.need.min(EXACT_MAX),
        }
    }
}
