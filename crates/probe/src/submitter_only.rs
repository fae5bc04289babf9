//! The probe of a run whose cores are not watched: what only the submitter knows costs the cores nothing.

use ringlane_engine::observed::{EndedScope, Fill, Submission};
use ringlane_engine::seams::{Clock, Probe};
use ringlane_task::{Resource, RingIndex};

use crate::recorder::Recorder;

/// A recorder of what the submitter does alone: the cores are not watched, and nothing of it is on their way. Where `SUBMITS` is
/// false, only scopes are recorded, and nothing of the rest is on the way of a submit.
pub struct SubmitterOnly<'r, C, const SUBMITS: bool>(&'r Recorder<C>);

impl<C> Recorder<C> {
    /// How much of a run has to be watched for what is recorded.
    pub fn watches(&self) -> Watches<'_, C> {
        if self.times_blocks || self.places_blocks || self.times_tasks || self.captures {
            Watches::Cores(self)
        } else if self.sees_submits {
            Watches::Submits(SubmitterOnly(self))
        } else {
            Watches::Scopes(SubmitterOnly(self))
        }
    }
}

/// How much of a run is watched, and the probe that does it.
pub enum Watches<'r, C> {
    /// Cores and the submitter.
    Cores(&'r Recorder<C>),
    /// The submitter.
    Submits(SubmitterOnly<'r, C, true>),
    /// The submitter, as far as scopes are concerned.
    Scopes(SubmitterOnly<'r, C, false>),
}

impl<C: Clock, const SUBMITS: bool> Probe for SubmitterOnly<'_, C, SUBMITS> {
    const WATCHES_CORES: bool = false;

    #[inline]
    fn sees_tasks(&self) -> bool {
        false
    }

    #[inline]
    fn sees_submits(&self) -> bool {
        SUBMITS
    }

    #[inline]
    fn sees_scopes(&self) -> bool {
        !SUBMITS || self.0.sees_scopes
    }

    #[inline]
    fn submit(&self, submission: &Submission<'_>) {
        self.0.submitter().submit(&self.0.clock, submission);
    }

    #[inline]
    fn fill(&self, fill: &Fill) {
        self.0.fill(fill);
    }

    #[inline]
    fn scope_enter(&self) {
        self.0.scope_enter();
    }

    #[inline]
    fn scope_exit(&self, scope: &EndedScope<'_>) {
        self.0.scope_exit(scope);
    }

    fn stall_begin(&self) {
        self.0.stall_begin();
    }

    fn stall_end(&self, ring: RingIndex, resource: Resource, submit: u64) {
        self.0.stall_end(ring, resource, submit);
    }

    fn scope_stopped(&self, scope: &EndedScope<'_>) {
        self.0.scope_stopped(scope);
    }
}
