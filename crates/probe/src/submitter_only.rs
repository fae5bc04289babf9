//! The probe of a run whose cores are not watched: what only the submitter knows costs the cores nothing.

use ringlane_engine::observed::{Fill, Held, Submission};
use ringlane_engine::seams::{Clock, Probe};
use ringlane_task::{Resource, RingIndex, SiteId};

use crate::recorder::Recorder;

/// A recorder of what the submitter does alone: the cores are not watched, and nothing of it is on their way.
pub struct SubmitterOnly<'r, C>(&'r Recorder<C>);

impl<C> Recorder<C> {
    /// Whether cores have to be watched for what is recorded. Where not, [`Recorder::submitter_only`] is enough.
    pub fn watches_cores(&self) -> bool {
        self.times_blocks || self.places_blocks || self.times_tasks || self.captures
    }

    /// The probe of a run whose cores are not watched.
    pub fn submitter_only(&self) -> SubmitterOnly<'_, C> {
        SubmitterOnly(self)
    }
}

impl<C: Clock> Probe for SubmitterOnly<'_, C> {
    const WATCHES_CORES: bool = false;

    #[inline]
    fn sees_tasks(&self) -> bool {
        false
    }

    #[inline]
    fn sees_submits(&self) -> bool {
        self.0.sees_submits
    }

    #[inline]
    fn sees_scopes(&self) -> bool {
        self.0.sees_scopes
    }

    #[inline]
    fn submit(&self, submission: &Submission<'_>) {
        self.0.submitter().submit(&self.0.clock, submission);
    }

    #[inline]
    fn fill(&self, fill: &Fill) {
        self.0.fill(fill);
    }

    fn scope_enter(&self, scope: u32, site: SiteId, held: &Held) {
        self.0.scope_enter(scope, site, held);
    }

    fn scope_exit(&self, held: &Held) {
        self.0.scope_exit(held);
    }

    fn stall_begin(&self) {
        self.0.stall_begin();
    }

    fn stall_end(&self, ring: RingIndex, resource: Resource, submit: u64) {
        self.0.stall_end(ring, resource, submit);
    }

    fn fatal(&self, held: &[Held]) {
        self.0.fatal(held);
    }
}
