//! What a format has to be able to write.

use std::borrow::Cow;
use std::io;

use ringlane_task::Ticks;

use super::names::NameId;

/// A family of tracks, shown together; in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Orchestrator,
    Scopes,
    Schedulers,
    Aic,
    Aiv,
    Cpu,
    Sm,
    /// The workers of a node, as the node saw them.
    Workers,
    NoBlock,
    Copies,
    Counters,
    /// A worker of a node, by its place.
    Worker(u32),
}

impl Group {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Group::Orchestrator => "orchestrator",
            Group::Scopes => "scopes",
            Group::Schedulers => "schedulers",
            Group::Aic => "aic cores",
            Group::Aiv => "aiv cores",
            Group::Cpu => "cpu cores",
            Group::Sm => "sm cores",
            Group::Workers => "tasks on workers",
            Group::NoBlock => "tasks without a block",
            Group::Copies => "copies",
            Group::Counters => "counters",
            Group::Worker(_) => "worker",
        }
    }

    /// Its place among all families.
    pub(super) const fn order(self) -> u32 {
        match self {
            Group::Orchestrator => 0,
            Group::Scopes => 1,
            Group::Schedulers => 2,
            Group::Aic => 3,
            Group::Aiv => 4,
            Group::Cpu => 5,
            Group::Sm => 6,
            Group::Workers => 7,
            Group::NoBlock => 8,
            Group::Copies => 9,
            Group::Counters => 10,
            Group::Worker(place) => 11 + place,
        }
    }
}

/// A line of the trace: slices one after the other, or the values of a counter.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub(super) group: Group,
    /// What the family is called.
    pub(super) family: Cow<'static, str>,
    pub(super) name: String,
    pub(super) kind: TrackKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrackKind {
    Slices,
    Values,
}

/// What a slice carries beside its name and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Arg {
    Task,
    Seq,
    Block,
    Lane,
    HeadNs,
    TailNs,
    StallNs,
    AllocNs,
    LookupNs,
    InsertNs,
    WireNs,
    HeapBytes,
    Scope,
    Ring,
    Tasks,
    Bytes,
    Open,
    StartTicks,
    EndTicks,
    Call,
    StretchThousandths,
    /// The name of a task: its value is the place of a name.
    Label,
}

impl Arg {
    pub(super) const COUNT: usize = Arg::Label as usize + 1;

    pub(super) const fn name(self) -> &'static str {
        match self {
            Arg::Task => "task",
            Arg::Seq => "seq",
            Arg::Block => "block",
            Arg::Lane => "lane",
            Arg::HeadNs => "head_ns",
            Arg::TailNs => "tail_ns",
            Arg::StallNs => "stall_ns",
            Arg::AllocNs => "alloc_ns",
            Arg::LookupNs => "lookup_ns",
            Arg::InsertNs => "insert_ns",
            Arg::WireNs => "wire_ns",
            Arg::HeapBytes => "heap_bytes",
            Arg::Scope => "scope",
            Arg::Ring => "ring",
            Arg::Tasks => "tasks",
            Arg::Bytes => "bytes",
            Arg::Open => "open",
            Arg::StartTicks => "start_ticks",
            Arg::EndTicks => "end_ticks",
            Arg::Call => "call",
            Arg::StretchThousandths => "stretch_thousandths",
            Arg::Label => "label",
        }
    }
}

/// A stretch of time on a track.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'a> {
    pub(super) name: NameId,
    pub(super) start: Ticks,
    pub(super) end: Ticks,
    pub(super) args: &'a [(Arg, u64)],
    /// Arrows that begin here.
    pub(super) arrows_out: &'a [u64],
    /// Arrows that end here.
    pub(super) arrows_in: &'a [u64],
}

/// A format. Tracks come one after the other; what follows a track, until the next, is on it, in time order.
pub(super) trait Sink {
    fn track(&mut self, track: &Track) -> io::Result<()>;
    fn slice(&mut self, slice: Slice<'_>) -> io::Result<()>;
    fn value(&mut self, at: Ticks, value: Value) -> io::Result<()>;
    fn finish(self) -> io::Result<()>;
}

/// The value of a counter: a whole number, or thousandths of one where it summarizes a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Whole(u64),
    Thousandths(u64),
}
