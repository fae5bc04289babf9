//! Scopes and limits: what they took at most of what there is, and which capacities suffice.

use ringlane_insight::scopes::{Summary, summarize};
use ringlane_task::Resource;
use ringlane_trace::scopes::Scopes;
use serde::Serialize;

use super::Page;
use crate::page::limits::SITES_MAX;

/// What a page says of scopes.
#[derive(Serialize)]
pub struct ScopesData {
    #[serde(flatten)]
    summary: Summary,
    /// Names of sites, for the columns.
    site_names: Vec<String>,
    /// Options with which the run passes.
    options: String,
    /// Options that give the run the capacities it had, where they are not the defaults.
    given: Vec<String>,
}

impl Page {
    pub(super) fn add_scopes(&mut self, scopes: &Scopes) {
        let mut site_names = Vec::new();
        self.add_band(scopes, &mut site_names);
        let mut summary = summarize(scopes, self.run.manifest.clock_freq_hz);
        let options = summary.options(self.run.manifest.error.as_ref());
        let set = Resource::ALL.into_iter().filter(|&resource| !summary.given.is_default(resource));
        let given = match summary.scopes {
            0 => Vec::new(),
            _ => set.map(|resource| summary.given.option(resource)).collect(),
        };
        // The places that waited, then those that came closest to a capacity.
        summary.sites.sort_by(|a, b| {
            b.waits.ticks.cmp(&a.waits.ticks).then(b.closest_share.total_cmp(&a.closest_share))
        });
        summary.sites.truncate(SITES_MAX);
        self.run.scopes = Some(ScopesData { summary, site_names, options, given });
    }
}
