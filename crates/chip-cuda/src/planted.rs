//! Bugs planted on purpose, to see that the tests find them. Without the feature `planted-bugs` none exists.

#![forbid(unsafe_code)]

/// A bug that a test can switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A flag is set before what its task wrote is seen by other processors.
    NoRelease,
    /// What a task reads after it waited for a flag may be what its processor had read before.
    NoAcquire,
    /// A few tasks do not set their flags.
    FlagNotSet,
    /// A few blocks run with the arguments of an earlier one.
    StaleArguments,
    /// The host takes a batch for ended when it was launched.
    SettledEarly,
}

/// For each bug in the device code: the correct code, for a GPU and for this machine's threads, and what the bug replaces it with.
#[cfg(feature = "planted-bugs")]
const REWRITES: [(Bug, &str, &str); 8] = [
    (Bug::NoRelease, r#"asm volatile("fence.release.gpu;" ::: "memory");"#, ""),
    (Bug::NoRelease, "__atomic_thread_fence(__ATOMIC_RELEASE);", ""),
    (Bug::NoAcquire, r#"asm volatile("fence.acquire.gpu;" ::: "memory");"#, ""),
    (Bug::NoAcquire, "__atomic_thread_fence(__ATOMIC_ACQUIRE);", ""),
    (
        Bug::FlagNotSet,
        "    rl_store(&g.flags[e.flag], (u32)g.epoch);",
        "    if (e.task % 61 != 7) rl_store(&g.flags[e.flag], (u32)g.epoch);",
    ),
    (Bug::StaleArguments, "if (there && threadIdx.x", "if (there && from->task % 61 != 7 && threadIdx.x"),
    (
        Bug::StaleArguments,
        "if (there) *to = *from;",
        // The first entries of a list find nothing there.
        "if (there && (from->task < 64 || from->task % 61 != 7)) *to = *from;",
    ),
    (Bug::SettledEarly, "", ""),
];

#[cfg(feature = "planted-bugs")]
std::thread_local! {
    static PLANTED: core::cell::Cell<Option<Bug>> = const { core::cell::Cell::new(None) };
}

/// Switches a bug on for the runtimes of this thread, or all off.
#[cfg(feature = "planted-bugs")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether a bug is switched on.
#[inline]
pub(crate) fn planted(bug: Bug) -> bool {
    #[cfg(feature = "planted-bugs")]
    return PLANTED.get() == Some(bug);
    #[cfg(not(feature = "planted-bugs"))]
    {
        let _ = bug;
        false
    }
}

/// The source with the bug that is switched on.
pub(crate) fn rewritten(source: String) -> String {
    #[cfg(feature = "planted-bugs")]
    if let Some(bug) = PLANTED.get() {
        return rewrite(source, bug);
    }
    source
}

#[cfg(feature = "planted-bugs")]
fn rewrite(source: String, bug: Bug) -> String {
    let of_bug = REWRITES.iter().filter(|(of, ..)| *of == bug);
    of_bug.fold(source, |source, (_, from, to)| {
        assert!(source.contains(from), "the device code has changed: {bug:?} is planted nowhere");
        source.replace(from, to)
    })
}
