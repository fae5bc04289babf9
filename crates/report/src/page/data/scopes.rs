//! Scopes: when each was open, and what those of one site and ring took at most of what there is.

use std::collections::BTreeMap;

use ringlane_insight::Instrument;
use ringlane_task::{RINGS, Resource};
use ringlane_trace::scopes::{Peak, ScopeFatal, ScopeRow, Scopes};
use serde::Serialize;

use super::{NoteKind, Page, exact, grouped, tick};
use crate::page::columns::Coding::{Delta, Maybe, Plain};
use crate::page::columns::{Column, ColumnWriter};
use crate::page::limits::{EXACT_MAX, SCOPES_MAX, SITES_MAX};

/// What a page says of scopes.
#[derive(Serialize)]
pub struct ScopesData {
    count: usize,
    /// Names of sites, for the columns.
    sites: Vec<String>,
    /// Peaks of the whole run against capacities.
    limits: Vec<Limit>,
    /// By site and ring, those closest to full first.
    by_site: Vec<SiteData>,
    stalls: Vec<Stall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fatal: Option<Fatal>,
}

/// How much of a resource was in use at most.
#[derive(Clone, Serialize)]
struct Limit {
    resource: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<usize>,
    peak: u64,
    capacity: u64,
}

#[derive(Serialize)]
struct SiteData {
    site: String,
    ring: u8,
    count: u64,
    tasks: u64,
    ticks: u64,
    /// The resource that came closest to its capacity.
    closest: Limit,
    need: [u64; 4],
    stalls: u64,
    stall_ticks: u64,
}

#[derive(Serialize)]
struct Stall {
    resource: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<u8>,
    count: u64,
    ticks: u64,
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
        self.run.scopes = Some(ScopesData {
            count: scopes.scopes.len(),
            sites,
            limits: limits(&scopes.scopes),
            by_site: by_site(&scopes.scopes),
            stalls: stalls(&scopes.scopes),
            fatal: scopes.head.fatal.as_ref().map(Fatal::of),
        });
    }

    /// When scopes were open, depth by depth in the order of time; of too many the longest.
    fn add_band(&mut self, scopes: &Scopes, sites: &mut Vec<String>) {
        let end = self.run.manifest.makespan_ticks.min(EXACT_MAX) as i64;
        let took = |row: &ScopeRow<'_>| row.exit.map_or(end, tick) - tick(row.enter);
        let mut rows: Vec<&ScopeRow<'_>> = scopes.scopes.iter().collect();
        if rows.len() > SCOPES_MAX {
            let text = format!(
                "Of {} scopes the {} longest are in the swimlane.",
                grouped(rows.len()),
                grouped(SCOPES_MAX)
            );
            self.note(Instrument::Scopes, NoteKind::LeftOut, text);
            rows.sort_by_key(|row| std::cmp::Reverse(took(row)));
            rows.truncate(SCOPES_MAX);
        }
        rows.sort_by_key(|row| (row.depth, row.enter, row.scope));
        let mut places: BTreeMap<&str, i64> = BTreeMap::new();
        let mut site = ColumnWriter::new("scopes.site", Plain);
        for row in &rows {
            let next = places.len() as i64;
            let place = *places.entry(&row.site).or_insert_with(|| {
                sites.push(row.site.to_string());
                next
            });
            site.push(place);
        }
        let mut exits = ColumnWriter::new("scopes.took", Maybe);
        rows.iter().for_each(|row| exits.push_maybe(row.exit.map(|_| took(row))));
        let of = |name, coding, of: fn(&ScopeRow<'_>) -> i64| {
            Column::of(name, coding, rows.iter().map(|row| of(row)))
        };
        self.columns.extend([
            of("scopes.id", Delta, |row| i64::from(row.scope.0)),
            of("scopes.depth", Delta, |row| i64::from(row.depth)),
            of("scopes.enter", Delta, |row| tick(row.enter)),
            exits.finish(),
            site.finish(),
            of("scopes.tasks", Plain, |row| exact(row.tasks)),
            of("scopes.ring", Plain, |row| i64::from(row.ring.0)),
        ]);
    }
}

/// Every peak of a scope.
fn peaks<'a>(row: &'a ScopeRow<'_>) -> impl Iterator<Item = Limit> + 'a {
    let rings = [
        ("task_window", &row.task_window),
        ("heap", &row.heap),
        ("dep_pool", &row.dep_pool),
        ("args", &row.args),
    ];
    let by_ring = rings.into_iter().flat_map(|(resource, peaks)| {
        peaks.iter().enumerate().map(move |(ring, peak)| Limit::of(resource, Some(ring), *peak))
    });
    by_ring.chain([Limit::of("tensormap", None, row.tensormap), Limit::of("fanin", None, row.fanin)])
}

fn limits(scopes: &[ScopeRow<'_>]) -> Vec<Limit> {
    let mut all: Vec<Limit> = Vec::with_capacity(4 * RINGS + 2);
    for row in scopes {
        for (place, limit) in peaks(row).enumerate() {
            match all.get_mut(place) {
                None => all.push(limit),
                Some(known) => known.peak = known.peak.max(limit.peak),
            }
        }
    }
    all
}

fn by_site(scopes: &[ScopeRow<'_>]) -> Vec<SiteData> {
    let mut sites: BTreeMap<(&str, u8), SiteData> = BTreeMap::new();
    for row in scopes {
        let own = peaks(row).filter(|limit| limit.ring.is_none_or(|ring| ring == usize::from(row.ring.0)));
        let closest = own.max_by(|a, b| a.share().total_cmp(&b.share()));
        let Some(closest) = closest else { continue };
        let site =
            sites.entry((&row.site, row.ring.0)).or_insert_with(|| SiteData::new(row, closest.clone()));
        site.add(row, closest);
    }
    let mut sites: Vec<SiteData> = sites.into_values().collect();
    let urgency = |site: &SiteData| (site.stall_ticks as f64, site.closest.share());
    sites.sort_by(|a, b| urgency(b).partial_cmp(&urgency(a)).unwrap_or(std::cmp::Ordering::Equal));
    sites.truncate(SITES_MAX);
    sites
}

fn stalls(scopes: &[ScopeRow<'_>]) -> Vec<Stall> {
    let mut all: BTreeMap<(&'static str, Option<u8>), (u64, u64)> = BTreeMap::new();
    for stall in scopes.iter().flat_map(|row| row.stalls.iter()) {
        let key = (stall.resource.as_str(), stall.ring.map(|ring| ring.0));
        let (count, ticks) = all.entry(key).or_default();
        *count = count.saturating_add(stall.count).min(EXACT_MAX);
        *ticks = ticks.saturating_add(stall.ticks.0).min(EXACT_MAX);
    }
    all.into_iter().map(|((resource, ring), (count, ticks))| Stall { resource, ring, count, ticks }).collect()
}

impl Limit {
    fn of(resource: &'static str, ring: Option<usize>, Peak { peak, capacity }: Peak) -> Self {
        Limit { resource, ring, peak: peak.min(EXACT_MAX), capacity: capacity.min(EXACT_MAX) }
    }

    fn share(&self) -> f64 {
        if self.capacity == 0 { 0.0 } else { self.peak as f64 / self.capacity as f64 }
    }
}

impl SiteData {
    fn new(row: &ScopeRow<'_>, closest: Limit) -> Self {
        let (site, ring) = (row.site.to_string(), row.ring.0);
        SiteData {
            site,
            ring,
            count: 0,
            tasks: 0,
            ticks: 0,
            closest,
            need: [0; 4],
            stalls: 0,
            stall_ticks: 0,
        }
    }

    fn add(&mut self, row: &ScopeRow<'_>, closest: Limit) {
        let took = row.exit.map_or(0, |exit| exit.0.saturating_sub(row.enter.0));
        self.count += 1;
        self.tasks = self.tasks.saturating_add(row.tasks).min(EXACT_MAX);
        self.ticks = self.ticks.saturating_add(took).min(EXACT_MAX);
        if closest.share() > self.closest.share() {
            self.closest = closest;
        }
        let need = [row.need.task_window, row.need.heap, row.need.dep_pool, row.need.args];
        for (most, need) in self.need.iter_mut().zip(need) {
            *most = (*most).max(need.min(EXACT_MAX));
        }
        for stall in row.stalls.iter() {
            self.stalls = self.stalls.saturating_add(stall.count).min(EXACT_MAX);
            self.stall_ticks = self.stall_ticks.saturating_add(stall.ticks.0).min(EXACT_MAX);
        }
    }
}

impl Fatal {
    fn of(fatal: &ScopeFatal<'_>) -> Self {
        let resource: Resource = fatal.resource;
        Fatal {
            site: fatal.site.to_string(),
            scope: fatal.scope.0,
            ring: fatal.ring.map(|ring| ring.0),
            resource: resource.as_str(),
            used: fatal.used.min(EXACT_MAX),
            capacity: fatal.capacity.min(EXACT_MAX),
            need: fatal.need.min(EXACT_MAX),
        }
    }
}
