//! Bugs planted on purpose, to see that the tests find them. Without the feature `planted-bugs` none exists.

#![forbid(unsafe_code)]

/// A bug that a test can switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bug {
    /// Writers do not wait for earlier readers.
    NoWarEdge = 1,
    /// A slot is reused when its task was closed, before its scope's other tasks are done.
    SlotReusedEarly = 2,
    /// A scope's memory is given back while its tasks still run.
    ScopeEndedEarly = 3,
    /// Nobody is woken: no worker for new work, nor the submitter for a completion it waits for.
    LostWakeUp = 4,
    /// Tasks that read poisoned bytes run all the same.
    PoisonForgotten = 5,
    /// A modelled chip's scheduler takes a block that still runs for one that has ended.
    EndSeenEarly = 6,
}

impl Bug {
    /// All of them, by the names the swarm takes.
    pub const ALL: [(&'static str, Bug); 6] = [
        ("no-war-edge", Bug::NoWarEdge),
        ("slot-reused-early", Bug::SlotReusedEarly),
        ("scope-ended-early", Bug::ScopeEndedEarly),
        ("lost-wake-up", Bug::LostWakeUp),
        ("poison-forgotten", Bug::PoisonForgotten),
        ("end-seen-early", Bug::EndSeenEarly),
    ];
}

#[cfg(feature = "planted-bugs")]
static PLANTED: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Switches a bug on for the whole process, or all off.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.store(bug.map_or(0, |b| b as u8), std::sync::atomic::Ordering::Relaxed);
}

/// Whether a bug is switched on.
#[inline]
pub fn planted(bug: Bug) -> bool {
    #[cfg(feature = "planted-bugs")]
    return PLANTED.load(std::sync::atomic::Ordering::Relaxed) == bug as u8;
    #[cfg(not(feature = "planted-bugs"))]
    {
        let _ = bug;
        false
    }
}
