//! A probe that logs scopes, stalls and rings that grow, beside whatever records the run.
//!
//! A run has this probe only if one of these topics is logged when it begins. With any other probe nothing of it is compiled
//! into the run, so that a log that is off costs nothing.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ringlane_engine::observe::{
    EndedScope, Fill, ObservedTask, PlacedBlock, ProgramStep, Submission, ThreadPhase,
};
use ringlane_engine::seams::{Clock, Probe, RecordBytes, Step};
use ringlane_engine::slot::TaskRecord;
use ringlane_task::{CoreId, Resource, RingIndex, TaskId, Ticks, topics};
use tracing::{Level, debug, enabled, trace};

use crate::recorder::Recorder;
use crate::watching::{ANY, Watching};

/// Whether something that [`Logged`] logs is asked for.
pub fn logs_submitter() -> bool {
    enabled!(target: topics::SCOPES, Level::DEBUG)
        || enabled!(target: topics::STALLS, Level::DEBUG)
        || enabled!(target: topics::RINGS, Level::DEBUG)
}

/// Logs what the submitter does, and hands everything on to a recorder, if there is one.
pub struct Logged<'r, C> {
    recorder: Option<Watching<'r, C, ANY>>,
    stall: Mutex<Option<Stall>>,
}

/// A wait that goes on.
struct Stall {
    begun: Instant,
    waits: u64,
    /// For what, once it is known, and the task that waits.
    cause: Option<(RingIndex, Resource, u64)>,
}

impl<'r, C: Clock> Logged<'r, C> {
    /// Beside this recorder.
    pub fn new(recorder: Option<&'r Recorder<C>>) -> Self {
        Logged { recorder: recorder.map(Recorder::probe), stall: Mutex::new(None) }
    }

    /// The submit goes on: a wait that there was is over.
    fn log_stall(&self) {
        let stall = self.stall.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Stall { begun, waits, cause: Some((ring, resource, submit)) }) = stall else { return };
        let waited_us = begun.elapsed().as_micros() as u64;
        debug!(target: topics::STALLS, %ring, %resource, seq = submit, waited_us, waits, "the submitter waited");
    }
}

/// Hands hooks on that give nothing back.
macro_rules! hand_on {
    ($(fn $hook:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $hook(&self, $($argument: $type),*) {
            if let Some(recorder) = &self.recorder {
                recorder.$hook($($argument),*);
            }
        })*
    };
}

impl<C: Clock> Probe for Logged<'_, C> {
    fn sees_times(&self) -> bool {
        self.recorder.as_ref().is_some_and(Probe::sees_times)
    }

    fn sees_tasks(&self) -> bool {
        self.recorder.as_ref().is_some_and(Probe::sees_tasks)
    }

    fn sees_submits(&self) -> bool {
        self.recorder.as_ref().is_some_and(Probe::sees_submits)
    }

    fn sees_scopes(&self) -> bool {
        true
    }

    fn sees_program(&self) -> bool {
        self.recorder.as_ref().is_some_and(Probe::sees_program)
    }

    fn sees_values(&self) -> bool {
        self.recorder.as_ref().is_some_and(Probe::sees_values)
    }

    fn record_bytes(&self) -> RecordBytes {
        self.recorder.as_ref().map(Probe::record_bytes).unwrap_or_default()
    }

    fn ended(&self, core: CoreId, record: &TaskRecord) -> Ticks {
        self.recorder.as_ref().map_or(Ticks(0), |recorder| recorder.ended(core, record))
    }

    fn ready(&self, core: CoreId, floor: Ticks) -> Ticks {
        self.recorder.as_ref().map_or(floor, |recorder| recorder.ready(core, floor))
    }

    fn seen(&self) -> Ticks {
        self.recorder.as_ref().map_or(Ticks(0), Probe::seen)
    }

    hand_on! {
        fn enter(core: CoreId);
        fn leave(core: CoreId);
        fn idle(core: CoreId);
        fn stole(core: CoreId);
        fn take(core: CoreId, ready: Ticks);
        fn dispatch(core: CoreId, task: &ObservedTask<'_>);
        fn start(core: CoreId, record: &TaskRecord, kernel: u16, lane: u8, block: u32);
        fn end(core: CoreId);
        fn hand_in(core: CoreId);
        fn complete(core: CoreId, task: &ObservedTask<'_>);
        fn done(core: CoreId, record: &TaskRecord, ready: Ticks);
        fn finish(core: CoreId);
        fn block(block: &PlacedBlock<'_>);
        fn phase(phase: &ThreadPhase);
        fn edge(predecessor: TaskId, successor: TaskId);
        fn submit(submission: &Submission<'_>);
        fn program(submits: u64, step: &ProgramStep<'_>);
        fn fill(fill: &Fill);
        fn reclaim_begin(now: Ticks);
        fn reclaim(first: TaskId, count: u64);
        fn reclaim_end();
        fn scope_enter();
    }

    fn step(&self, step: Step) {
        self.log_stall();
        if let Some(recorder) = &self.recorder {
            recorder.step(step);
        }
    }

    fn scope_exit(&self, scope: &EndedScope<'_>) {
        log_scope(scope, "a scope ended");
        if let Some(recorder) = &self.recorder {
            recorder.scope_exit(scope);
        }
    }

    fn scope_stopped(&self, scope: &EndedScope<'_>) {
        log_scope(scope, "a scope is open as the run is stopped");
        if let Some(recorder) = &self.recorder {
            recorder.scope_stopped(scope);
        }
    }

    fn stall_begin(&self) {
        let mut stall = self.stall.lock().unwrap_or_else(PoisonError::into_inner);
        stall.get_or_insert_with(|| Stall { begun: Instant::now(), waits: 0, cause: None }).waits += 1;
        drop(stall);
        if let Some(recorder) = &self.recorder {
            recorder.stall_begin();
        }
    }

    fn stall_end(&self, ring: RingIndex, resource: Resource, submit: u64) {
        if let Some(stall) = &mut *self.stall.lock().unwrap_or_else(PoisonError::into_inner) {
            if stall.cause.is_none() {
                trace!(target: topics::STALLS, %ring, %resource, seq = submit, "the submitter waits");
            }
            stall.cause = Some((ring, resource, submit));
        }
        if let Some(recorder) = &self.recorder {
            recorder.stall_end(ring, resource, submit);
        }
    }

    fn ring_grew(&self, ring: RingIndex, resource: Resource, bytes: u64, capacity: u64) {
        debug!(target: topics::RINGS, %ring, %resource, bytes, capacity, "a ring grew");
    }
}

fn log_scope(scope: &EndedScope<'_>, what: &'static str) {
    let (id, site, depth, tasks) = (scope.id(), scope.location(), scope.depth, scope.tasks);
    debug!(target: topics::SCOPES, scope = id, site = format_args!("{}:{}", site.file(), site.line()), depth, tasks, "{what}");
}
