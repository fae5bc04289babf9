//! The probe of a recorded run, made for what is recorded.
//!
//! A hook that asks whether it is wanted costs little, but there are some twenty on the way of a task. So what is often recorded alone
//! has a probe of its own, in which everything else is left out when it is compiled; any other set asks.

use ringlane_engine::seams::{Clock, Probe};
use ringlane_task::DfxFlags;

use crate::recorder::Recorder;

/// Hands each event to the instruments that are on. `FLAGS` are the bits of their [`DfxFlags`], or [`ANY`].
pub struct Watching<'r, C, const FLAGS: u64>(pub(crate) &'r Recorder<C>);

/// A set of instruments that only the recorder knows. No set has all bits.
pub const ANY: u64 = u64::MAX;

/// Instruments that observe cores.
pub(crate) const OF_CORES: u64 = DfxFlags::SWIMLANE_PHASES.with(DfxFlags::PMU).with(DfxFlags::DUMP).bits();

impl<C, const FLAGS: u64> Watching<'_, C, FLAGS> {
    /// What is on.
    #[inline(always)]
    pub(crate) fn on(&self) -> On {
        if FLAGS == ANY { self.0.on } else { On(FLAGS) }
    }
}

/// Which instruments are on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct On(u64);

impl On {
    pub(crate) const fn new(flags: DfxFlags) -> Self {
        On(flags.bits())
    }

    /// Whether all of these are on.
    #[inline(always)]
    pub(crate) const fn has(self, flags: DfxFlags) -> bool {
        self.0 & flags.bits() == flags.bits()
    }

    /// Whether anything asks when blocks begin and end.
    #[inline(always)]
    pub(crate) const fn times_blocks(self) -> bool {
        self.has(DfxFlags::SWIMLANE_CORES) || self.has(DfxFlags::PMU)
    }
}

/// What is to be done with a probe, whatever its type.
pub trait WithProbe {
    /// What comes of it.
    type Done;
    /// Does it.
    fn with(self, probe: &impl Probe) -> Self::Done;
}

impl<C: Clock> Recorder<C> {
    /// The probe for whatever is recorded.
    pub fn probe(&self) -> Watching<'_, C, ANY> {
        Watching(self)
    }

    /// Does something with the probe that costs the least for what is recorded.
    pub fn watch<W: WithProbe>(&self, what: W) -> W::Done {
        const SCOPES: u64 = DfxFlags::SCOPES.bits();
        const DEPS: u64 = DfxFlags::DEPS.bits();
        const DEPS_AND_SCOPES: u64 = DEPS | SCOPES;
        const CORES: u64 = DfxFlags::SWIMLANE_CORES.bits();
        const TASKS: u64 = DfxFlags::SWIMLANE_TASKS.bits();
        const PHASES: u64 = DfxFlags::SWIMLANE_PHASES.bits();
        match self.on.0 {
            SCOPES => what.with(&Watching::<C, SCOPES>(self)),
            DEPS => what.with(&Watching::<C, DEPS>(self)),
            DEPS_AND_SCOPES => what.with(&Watching::<C, DEPS_AND_SCOPES>(self)),
            CORES => what.with(&Watching::<C, CORES>(self)),
            TASKS => what.with(&Watching::<C, TASKS>(self)),
            PHASES => what.with(&Watching::<C, PHASES>(self)),
            _ => what.with(&self.probe()),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_level_of_the_timeline_includes_those_below_it() {
        let on = On::new(DfxFlags::SWIMLANE_TASKS.with(DfxFlags::DEPS));
        let has = [DfxFlags::SWIMLANE_CORES, DfxFlags::SWIMLANE_TASKS, DfxFlags::DEPS];
        assert!(has.into_iter().all(|flag| on.has(flag)));
        let has_not = [DfxFlags::SWIMLANE_PHASES, DfxFlags::DUMP, DfxFlags::PMU, DfxFlags::SCOPES];
        assert!(has_not.into_iter().all(|flag| !on.has(flag)));
    }
}
