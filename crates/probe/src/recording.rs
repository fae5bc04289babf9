//! A recording: from the moment its lanes are made until what they carried can be read back.
//!
//! ```text
//! Recording::start ──▶ writers, one per lane ──▶ … the run … ──▶ Recording::stop(writers) ──▶ Recorded
//! ```
//! There is no state outside of it: two recordings in one process know nothing of each other, and what is not asked
//! for is never allocated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ringlane_task::{Overflow, topics};
use tracing::{debug, trace};

use crate::clock::Clock;
use crate::collector::{Phase, RecordedKind};
use crate::error::ProbeError;
use crate::kind::{KindSpec, RecordKind};
use crate::lane::{CollectorWaker, Pool, Rules, Writer};

/// How long the collector sleeps between two polls, longer and longer: each poll takes a core from the run. A lane that
/// fills up wakes it, so that a poll after a sleep only serves to have memory ready before a writer comes to it.
const SLEEP_MIN: Duration = Duration::from_millis(8);
const SLEEP_MAX: Duration = Duration::from_millis(64);

/// The writers of a recording, one for each thread that writes.
#[derive(Debug)]
pub struct Writers(Vec<(RecordKind, Vec<Writer>)>);

impl Writers {
    /// Takes the writers of a kind, in the order of their lanes; none if the kind is off or they were taken.
    pub fn take(&mut self, kind: RecordKind) -> Vec<Writer> {
        self.0.iter_mut().find(|(of, _)| *of == kind).map(|(_, all)| core::mem::take(all)).unwrap_or_default()
    }

    /// Gives writers back, for someone else to take.
    pub(crate) fn put(&mut self, kind: RecordKind, writers: impl IntoIterator<Item = Writer>) {
        if let Some((_, all)) = self.0.iter_mut().find(|(of, _)| *of == kind) {
            all.extend(writers);
        }
    }
}

/// A collector thread at work.
#[derive(Debug)]
pub struct Recording {
    /// Release when the writers are closed; pairs with the acquire in [`run`].
    stop: Arc<AtomicBool>,
    collector: Option<JoinHandle<Recorded>>,
}

impl Recording {
    /// Makes the lanes of these kinds and starts their collector.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use ringlane_probe::{Clock, RecordKind, KindSpec, ProbeError, Recording, Sink};
    /// use ringlane_task::Overflow;
    ///
    /// struct Still;
    /// impl Clock for Still {
    ///     fn now(&self) -> u64 { 0 }
    /// }
    /// let numbers = KindSpec {
    ///     kind: RecordKind(0),
    ///     name: "numbers",
    ///     path: "numbers.json".into(),
    ///     sink: Sink::spool(|| std::fs::File::open("/nowhere")), // opened only if memory becomes short
    ///     buffers: 8,
    ///     buffer_bytes: 4096,
    ///     ready_bytes: 4096,
    ///     writers: 1,
    /// };
    /// let (recording, mut writers) = Recording::start(Overflow::Block, Arc::new(Still), vec![numbers])?;
    /// let mut writer = writers.take(RecordKind(0)).remove(0);
    /// writer.push(&7u64);
    /// let recorded = recording.stop([writer])?;
    /// recorded.kind(RecordKind(0)).unwrap().for_each_chunk(|lane, records| {
    ///     assert_eq!((lane, records), (0, &7u64.to_ne_bytes()[..]));
    ///     Ok::<_, ProbeError>(())
    /// })?;
    /// # Ok::<_, ProbeError>(())
    /// ```
    pub fn start(
        overflow: Overflow,
        clock: Arc<dyn Clock>,
        specs: Vec<KindSpec>,
    ) -> Result<(Recording, Writers), ProbeError> {
        Self::start_in(&Pool::default(), overflow, clock, specs)
    }

    /// The same with memory from a pool, to which it goes back with the [`Recorded`].
    pub fn start_in(
        pool: &Pool,
        overflow: Overflow,
        clock: Arc<dyn Clock>,
        specs: Vec<KindSpec>,
    ) -> Result<(Recording, Writers), ProbeError> {
        let rules = Rules { overflow, clock, waker: Arc::new(CollectorWaker::default()) };
        let (mut kinds, mut writers) = (Vec::<RecordedKind>::new(), Vec::new());
        for spec in specs {
            if kinds.iter().any(|other| other.kind() == spec.kind) {
                return Err(ProbeError::KindTwice { kind: spec.name });
            }
            let (kind, of_kind) = RecordedKind::new(&rules, pool, spec)?;
            writers.push((kind.kind(), of_kind));
            kinds.push(kind);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let collector =
            thread::Builder::new().name("ringlane-collector".into()).spawn(move || run(kinds, &seen));
        let collector = collector.map_err(|source| ProbeError::NoCollector { source })?;
        rules.waker.set(collector.thread().clone());
        Ok((Recording { stop, collector: Some(collector) }, Writers(writers)))
    }

    /// Closes the writers, takes what they still hold, and ends the collector, at once and not at its next poll.
    ///
    /// A writer that was dropped before is closed already. One that lives on loses what it has not handed over.
    pub fn stop(mut self, writers: impl IntoIterator<Item = Writer>) -> Result<Recorded, ProbeError> {
        writers.into_iter().for_each(drop);
        self.end().unwrap_or(Err(ProbeError::CollectorDied))
    }

    /// Ends the collector, if that has not been done.
    fn end(&mut self) -> Option<Result<Recorded, ProbeError>> {
        let collector = self.collector.take()?;
        self.stop.store(true, Ordering::Release);
        collector.thread().unpark();
        Some(collector.join().map_err(|_| ProbeError::CollectorDied))
    }
}

impl Drop for Recording {
    /// What was recorded is discarded; the collector ends all the same.
    fn drop(&mut self) {
        self.end();
    }
}

/// What the collector does. If it should panic, its ends of the lanes go with it, and that frees waiting writers.
fn run(mut kinds: Vec<RecordedKind>, stop: &AtomicBool) -> Recorded {
    let mut busy = Duration::ZERO;
    let (mut phase, mut sleep) = (Phase::Running, SLEEP_MIN);
    debug!(target: topics::COLLECTOR, kinds = kinds.len(), "the collector begins");
    loop {
        trace!(target: topics::COLLECTOR, ?phase, "the collector polls");
        let begun = Instant::now();
        kinds.iter_mut().for_each(|kind| kind.collect(phase));
        busy += begun.elapsed();
        if phase == Phase::Closed {
            break;
        }
        // Acquire: pairs with the release in `end`, so that the last poll sees all that closed writers handed over.
        if stop.load(Ordering::Acquire) {
            phase = Phase::Closed;
        } else {
            thread::park_timeout(sleep);
            sleep = (2 * sleep).min(SLEEP_MAX);
        }
    }
    kinds.iter().for_each(RecordedKind::halt);
    debug!(target: topics::COLLECTOR, busy_us = busy.as_micros() as u64, "the collector ends");
    Recorded { kinds, busy }
}

/// What was recorded, to be read back as often as needed.
pub struct Recorded {
    kinds: Vec<RecordedKind>,
    busy: Duration,
}

impl Recorded {
    /// A kind that was on.
    pub fn kind(&self, kind: RecordKind) -> Option<&RecordedKind> {
        self.kinds.iter().find(|recorded| recorded.kind() == kind)
    }

    /// All kinds that were on, in the order given.
    pub fn kinds(&self) -> &[RecordedKind] {
        &self.kinds
    }

    /// How long the collector was at work, its sleep not counted.
    pub fn collector_busy(&self) -> Duration {
        self.busy
    }

    /// Bytes of memory that were reserved for buffers.
    pub fn reserved_bytes(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.counts().reserved_bytes).sum()
    }
}

/// What tests of records need.
#[cfg(all(test, not(any(loom, shuttle))))]
pub(crate) mod tests_support {
    use super::*;
    use crate::kind::Sink;

    /// The clock of a test that asks for no time.
    pub(crate) struct Still;

    impl Clock for Still {
        fn now(&self) -> u64 {
            0
        }
    }

    /// What one writer wrote, as one chunk.
    pub(crate) fn one_writer(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let (path, sink) = ("run/records".into(), Sink::spool(|| std::fs::File::open("/nowhere")));
        let (kind, name) = (RecordKind(0), "records");
        let spec =
            KindSpec { kind, name, path, sink, buffers: 4, buffer_bytes: 4096, ready_bytes: 0, writers: 1 };
        let started = Recording::start(Overflow::Block, Arc::new(Still), vec![spec]);
        let (recording, mut writers) = started.expect("memory and a thread");
        let mut writer = writers.take(kind).remove(0);
        write(&mut writer);
        let recorded = recording.stop([writer]).expect("a collector");
        let mut chunks = Vec::new();
        let visited = recorded.kinds()[0].for_each_chunk(|_, chunk| {
            chunks.extend_from_slice(chunk);
            Ok::<_, ProbeError>(())
        });
        visited.expect("records in memory");
        chunks
    }
}
