//! The collector: takes filled buffers out of the lanes of every kind, and keeps what is in them.
//!
//! A buffer stays in memory while more than half of its lane's buffers are free, so that a short run never touches the
//! disk; then the oldest go to the kind's spool. Pieces of a file are written at once. A failed write is reported
//! once, and from then on the kind's records are discarded and counted; those kept are the beginning of each lane.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

use ringlane_task::topics;
use tracing::{debug, error};

use crate::error::ProbeError;
use crate::kind::{KindSpec, RecordKind, Sink, Storage};
use crate::lane::{Counts, Drain, Filled, Pool, Rules, Writer, lane};
use crate::store::{Spool, WriteFailure, place_pieces};

/// What became of a kind's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounts {
    /// Records that were to be written: `collected + dropped`.
    pub total: u64,
    /// Records that are kept.
    pub collected: u64,
    /// Records that found no buffer, and those that could not be kept after a write error.
    pub dropped: u64,
    /// Ticks that writers waited for empty buffers.
    pub waited_ticks: u64,
    /// Bytes of records that were handed over.
    pub bytes: u64,
    /// Bytes written to the spool or to the pieces' file during the run.
    pub written_bytes: u64,
    /// Bytes of memory that were reserved for buffers.
    pub reserved_bytes: u64,
}

enum OpenSink {
    Spool(Spool),
    Place { storage: Box<dyn Storage>, bytes: u64 },
}

/// One lane and the buffers that are kept in memory, oldest first.
struct Held {
    drain: Drain,
    buffers: VecDeque<Filled>,
}

impl Held {
    /// How many buffers may be held so that three eighths are free beside the one that is being written: enough for the
    /// time until the next poll, and what is held does not have to be written and read again.
    fn limit(&self) -> usize {
        let buffers = self.drain.buffers();
        (buffers - buffers * 3 / 8).saturating_sub(2) as usize
    }

    /// Returns a buffer unread, and the number of records lost with it.
    fn discard(&mut self, filled: Filled) -> u64 {
        let rows = filled.rows.into();
        self.drain.give_back(filled);
        rows
    }
}

/// Whether the writers are still at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// They need empty buffers back.
    Running,
    /// All are closed: what they left can stay where it is.
    Closed,
}

/// The records of one kind: during the run held by the collector, afterwards by the reader.
pub struct RecordedKind {
    kind: RecordKind,
    name: &'static str,
    path: PathBuf,
    sink: OpenSink,
    lanes: Vec<Held>,
    collected: u64,
    discarded: u64,
    failure: Option<WriteFailure>,
}

impl RecordedKind {
    /// Makes the lanes of a kind and their writers.
    pub(crate) fn new(rules: &Rules, pool: &Pool, spec: KindSpec) -> Result<(Self, Vec<Writer>), ProbeError> {
        spec.validate()?;
        let KindSpec { kind, name, path, sink, buffers, buffer_bytes, ready_bytes, writers } = spec;
        let make = |_| lane(rules, pool, buffers, buffer_bytes);
        let made: io::Result<Vec<_>> = (0..writers).map(make).collect();
        let bytes = u64::from(buffers) * u64::from(buffer_bytes) * u64::from(writers);
        let made = made.map_err(|source| ProbeError::NoMemory { kind: name, bytes, source })?;
        let (writers, drains): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        drains.iter().for_each(|drain: &Drain| drain.make_ready(ready_bytes));
        let room = buffers as usize;
        let held = |drain| Held { drain, buffers: VecDeque::with_capacity(room) };
        let sink = match sink {
            Sink::Spool(opener) => OpenSink::Spool(Spool::new(opener)),
            Sink::Place(storage) => OpenSink::Place { storage, bytes: 0 },
        };
        let lanes = drains.into_iter().map(held).collect();
        Ok((
            RecordedKind { kind, name, path, sink, lanes, collected: 0, discarded: 0, failure: None },
            writers,
        ))
    }

    /// Which kind it is.
    pub fn kind(&self) -> RecordKind {
        self.kind
    }

    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Why not all is kept, if a write failed.
    pub fn failure(&self) -> Option<&WriteFailure> {
        self.failure.as_ref()
    }

    /// What became of its records.
    pub fn counts(&self) -> KindCounts {
        let mut writers = Counts::default();
        self.lanes.iter().for_each(|lane| writers += lane.drain.counts());
        KindCounts {
            total: writers.total,
            collected: self.collected,
            dropped: writers.dropped + self.discarded,
            waited_ticks: writers.waited_ticks,
            bytes: writers.bytes,
            written_bytes: match &self.sink {
                OpenSink::Spool(spool) => spool.bytes(),
                OpenSink::Place { bytes, .. } => *bytes,
            },
            reserved_bytes: self.lanes.iter().map(|lane| lane.drain.reserved_bytes()).sum(),
        }
    }

    /// Visits all chunks of records, each with its lane (the number of its writer); those of one lane in the order
    /// written. The visitor's first error ends it. Pieces of a file are in that file and are not visited.
    pub fn for_each_chunk<E: From<ProbeError>>(
        &self,
        mut visit: impl FnMut(u32, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let OpenSink::Spool(spool) = &self.sink {
            let read = spool.for_each(&mut visit);
            let unreadable =
                |source| ProbeError::SpoolUnreadable { kind: self.name, path: self.path.clone(), source };
            read.map_err(|error| E::from(unreadable(error)))??;
        }
        for (number, lane) in self.lanes.iter().enumerate() {
            for filled in lane.buffers.iter().filter(|filled| filled.rows > 0) {
                visit(number as u32, lane.drain.records(filled))?;
            }
        }
        Ok(())
    }

    /// Gives up what is on disk, so that the disk has room for other files. What is left to visit is in memory.
    pub fn release_disk(&self) {
        // A file that cannot be shortened keeps its room; nothing else depends on it.
        let _ = match &self.sink {
            OpenSink::Spool(spool) => spool.clear(),
            OpenSink::Place { storage, .. } => storage.clear(),
        };
    }

    /// Takes what the lanes have now, at most one full turn of each lane.
    pub(crate) fn collect(&mut self, phase: Phase) {
        for number in 0..self.lanes.len() {
            for _ in 0..self.lanes[number].drain.buffers() {
                let Some(filled) = self.lanes[number].drain.take() else { break };
                self.keep(number, filled);
                if phase == Phase::Running {
                    self.spill(number);
                }
            }
            if phase == Phase::Running && self.failure.is_none() {
                self.lanes[number].drain.prepare();
            }
        }
    }

    /// Ends the writers' hope that anything more is kept.
    pub(crate) fn halt(&self) {
        self.lanes.iter().for_each(|lane| lane.drain.halt());
    }

    /// Keeps one buffer in memory, or its pieces in their file.
    fn keep(&mut self, number: usize, filled: Filled) {
        let lane = &mut self.lanes[number];
        if self.failure.is_some() {
            self.discarded += lane.discard(filled);
            return;
        }
        let OpenSink::Place { storage, bytes } = &mut self.sink else {
            self.collected += u64::from(filled.rows);
            lane.buffers.push_back(filled);
            return;
        };
        let (placed, outcome) = place_pieces(&**storage, lane.drain.records(&filled), bytes);
        self.collected += u64::from(placed);
        self.discarded += lane.discard(filled) - u64::from(placed);
        if let Err(error) = outcome {
            self.fail(&error);
        }
    }

    /// Writes the oldest buffers of a lane to the spool, until enough are free again.
    fn spill(&mut self, number: usize) {
        let OpenSink::Spool(spool) = &mut self.sink else { return };
        let lane = &mut self.lanes[number];
        while self.failure.is_none() && lane.buffers.len() > lane.limit() {
            let Some(oldest) = lane.buffers.pop_front() else { return };
            debug!(target: topics::COLLECTOR, kind = self.name, lane = number, rows = oldest.rows, "a buffer goes to disk");
            match spool.append(number as u32, oldest.rows, lane.drain.records(&oldest)) {
                Ok(()) => lane.drain.give_back(oldest),
                Err(error) => {
                    lane.buffers.push_front(oldest);
                    return self.fail(&error);
                }
            }
        }
    }

    /// Notes the error. Buffers in memory stay, so that what is kept is the beginning of each lane, up to as many as
    /// leave the writer room to work.
    fn fail(&mut self, error: &io::Error) {
        let failure = WriteFailure::new(error, &self.path);
        let (path, reason) = (failure.path.display(), failure.reason());
        error!(target: topics::COLLECTOR, kind = self.name, %path, reason, "records cannot be written");
        self.failure = Some(failure);
        self.halt();
        for lane in &mut self.lanes {
            while lane.buffers.len() > lane.limit() {
                let Some(newest) = lane.buffers.pop_back() else { break };
                let rows = lane.discard(newest);
                self.collected -= rows;
                self.discarded += rows;
            }
        }
    }
}
