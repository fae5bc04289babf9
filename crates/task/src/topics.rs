//! What the log is about: the targets of its events, the same in every crate.
//!
//! ```
//! use ringlane_task::topics;
//! assert!(topics::ALL.iter().all(|topic| topic.starts_with(topics::PREFIX)));
//! ```

/// Runs that begin and end.
pub const RUN: &str = "ringlane::run";
/// Scopes that end.
pub const SCOPES: &str = "ringlane::scopes";
/// Waits of the submitter for a bounded resource.
pub const STALLS: &str = "ringlane::stalls";
/// Rings that take more of the memory that is theirs.
pub const RINGS: &str = "ringlane::rings";
/// Processes that are started, are ready and end.
pub const WORKERS: &str = "ringlane::workers";
/// The collector of a recording: when it polls, spills and fails to write.
pub const COLLECTOR: &str = "ringlane::collector";

/// All of them.
pub const ALL: [&str; 6] = [RUN, SCOPES, STALLS, RINGS, WORKERS, COLLECTOR];
/// What all of them begin with.
pub const PREFIX: &str = "ringlane::";
