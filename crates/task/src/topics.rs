//! The topics of the log: the targets of its events, the same in every crate.
//!
//! ```
//! use ringlane_task::topics;
//! assert!(topics::ALL.iter().all(|topic| topic.starts_with(topics::PREFIX)));
//! ```

/// The start and end of runs.
pub const RUN: &str = "ringlane::run";
/// The end of scopes.
pub const SCOPES: &str = "ringlane::scopes";
/// Waits of the submitter for a bounded resource.
pub const STALLS: &str = "ringlane::stalls";
/// Rings that grow within their reserved memory.
pub const RINGS: &str = "ringlane::rings";
/// Processes that start, become ready and end.
pub const WORKERS: &str = "ringlane::workers";
/// The collector of a recording: when it polls, spills and fails to write.
pub const COLLECTOR: &str = "ringlane::collector";

/// All topics.
pub const ALL: [&str; 6] = [RUN, SCOPES, STALLS, RINGS, WORKERS, COLLECTOR];
/// The common prefix of all topics.
pub const PREFIX: &str = "ringlane::";
