//! A run as a trace that Perfetto and chrome://tracing open.
//!
//! ```text
//! Timeline, scopes ──▶ walk: one track after the other, each in time order ──▶ Sink ──▶ json   merged_swimlane.json
//!                                                                                 └───▶ proto  merged_swimlane.pftrace
//! ```
//!
//! | lane | shows |
//! |---|---|
//! | orchestrator | submits, with what each spent its time on; below them the waits for a ring |
//! | scopes | one track for each depth, so that scopes nest as they did in the program |
//! | schedulers | the phases of each thread; a gap is idle time |
//! | aic, aiv, cpu | the blocks of each core |
//! | tasks without a block | allocations, barriers and skipped tasks, at the moment they were ready |
//! | copies | between host and chip |
//! | counters | busy cores of each kind, ready tasks, tasks in flight of each ring |
//! | each worker of a node | its calls step by step, and the blocks of each core of its chip |
//!
//! An arrow leads from the block of the producer that ended last to the block of the consumer that started first: one
//! for each edge, however many blocks the two have. Nothing is gathered before it is written; memory grows with the
//! timeline and not with the text.

mod clock;
mod counters;
mod flows;
mod json;
mod lanes;
mod names;
mod node;
mod proto;
mod scopes;
mod sink;
mod walk;
mod wire;

use std::io::{self, Write};

use ringlane_insight::timeline::Timeline;

pub use counters::EXACT_MAX as COUNTER_CHANGES_MAX;
pub use node::NodeTrace;
pub use scopes::ScopeSpans;

/// The name of the JSON trace in the run directory.
pub const JSON_FILE_NAME: &str = "merged_swimlane.json";

/// The name of the native trace in the run directory.
pub const PFTRACE_FILE_NAME: &str = "merged_swimlane.pftrace";

/// What a trace is made of.
#[derive(Clone, Copy, Debug)]
pub struct TraceSource<'a> {
    /// What to call the run.
    pub title: &'a str,
    /// When everything ran.
    pub timeline: &'a Timeline,
    /// The scopes, if they were recorded.
    pub scopes: Option<&'a ScopeSpans>,
    /// The workers, if it is a node's run.
    pub node: Option<&'a NodeTrace>,
}

/// What went into a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// Slices of all kinds.
    pub slices: u64,
    /// Arrows; fewer than edges where a task has no block and no moment at which it was ready.
    pub arrows: u64,
    /// Arrows from a worker's call to the run that it made.
    pub call_arrows: u64,
    /// Values of counters.
    pub samples: u64,
    /// Whether a counter has fewer values than it had changes.
    pub thinned: u64,
}

/// Writes the trace as JSON, in the format of chrome://tracing. Times are in µs, with as many digits as it takes to get
/// the ticks back; of a clock beyond 1 GHz they are rounded to whole ns, and blocks have their ticks beside them.
pub fn write_json(source: TraceSource<'_>, out: &mut impl Write) -> io::Result<TraceCounts> {
    walk::walk(source, |names| json::JsonSink::new(out, source, names))
}

/// Writes the trace in Perfetto's own format, compressed. Times are in whole ns, rounded to the nearest.
pub fn write_pftrace(source: TraceSource<'_>, out: &mut impl Write) -> io::Result<TraceCounts> {
    walk::walk(source, |names| proto::ProtoSink::new(out, source, names))
}
