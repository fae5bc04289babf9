//! When scopes were open: as much of them as a band needs.

use std::collections::HashMap;

use ringlane_task::{RingIndex, ScopeId, Ticks};
use ringlane_trace::scopes::ScopeRow;

/// The scopes of a run, each with its place, depth and times; a place is stored once.
///
/// ```
/// use ringlane_report::perfetto::ScopeSpans;
/// use ringlane_trace::scopes::ScopeRow;
/// let mut spans = ScopeSpans::default();
/// spans.push(&ScopeRow { site: "src/lib.rs:7".into(), ..ScopeRow::default() });
/// assert_eq!(spans.len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScopeSpans {
    sites: Vec<String>,
    site_places: HashMap<String, u32>,
    spans: Vec<ScopeSpan>,
}

/// When one scope was open.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScopeSpan {
    pub(super) scope: ScopeId,
    pub(super) depth: u32,
    pub(super) site: u32,
    pub(super) ring: RingIndex,
    pub(super) tasks: u64,
    pub(super) enter: Ticks,
    /// `None` if it was open when the run stopped.
    pub(super) exit: Option<Ticks>,
}

impl ScopeSpans {
    /// Adds a scope.
    pub fn push(&mut self, row: &ScopeRow<'_>) {
        let place = row.place();
        let site = match self.site_places.get(&place) {
            Some(&site) => site,
            None => {
                let site = self.sites.len() as u32;
                self.sites.push(place.clone());
                self.site_places.insert(place, site);
                site
            }
        };
        let ScopeRow { scope, depth, ring, tasks, enter, exit, .. } = *row;
        self.spans.push(ScopeSpan { scope, depth, site, ring, tasks, enter, exit });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn sites(&self) -> &[String] {
        &self.sites
    }

    /// All of them, by depth and time.
    pub(super) fn by_depth(&self) -> Vec<ScopeSpan> {
        let mut spans = self.spans.clone();
        spans.sort_unstable_by_key(|span| {
            (span.depth, span.enter, span.exit.is_none(), span.exit, span.scope)
        });
        spans
    }
}
