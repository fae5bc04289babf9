//! What the submitter records: its submits, the edges it wires, what it reclaims, the scopes.
//!
//! Only the submitting thread touches this.

use ringlane_engine::observe::{ProgramStep, Submission};
use ringlane_engine::seams::{Clock, Step};
use ringlane_engine::table::task_id;
use ringlane_task::{DfxFlags, Resource, RingIndex, TaskId};
use ringlane_trace::swimlane::Phase;
use zerocopy::transmute;

use crate::deps::{record, steps};
use crate::lane::Writer;
use crate::records::{PhaseTime, Reclaim, SubmitTime};
use crate::scopes::Scopes;
use crate::selection::{ArgMask, DumpSelection};
use crate::tensors::TensorCounter;
use crate::watching::On;

/// The submitter's state.
#[derive(Default)]
pub(crate) struct SubmitterState {
    pub(crate) reclaims: Option<Reclaims>,
    pub(crate) edges: Option<Writer>,
    pub(crate) submits: Option<Submits>,
    pub(crate) deps: Option<Writer>,
    pub(crate) scopes: Option<Scopes>,
    pub(crate) dump: Option<Selected>,
    /// When the wait that goes on began.
    pub(crate) stalled: u64,
    /// Steps between submits so far.
    pub(crate) steps: u64,
}

impl SubmitterState {
    /// A task is submitted; when, if that was read.
    #[inline]
    pub(crate) fn submit(&mut self, clock: &impl Clock, on: On, submission: &Submission<'_>) -> Option<u64> {
        if on.has(DfxFlags::DEPS)
            && let Some(deps) = &mut self.deps
        {
            record::store(deps, submission);
        }
        match &mut self.submits {
            Some(submits) if on.has(DfxFlags::SWIMLANE_PHASES) => Some(submits.finish(clock, submission)),
            _ => None,
        }
    }

    /// The orchestration did something between its submits.
    pub(crate) fn program(&mut self, submits: u64, step: &ProgramStep<'_>) {
        if let Some(deps) = &mut self.deps {
            self.steps += 1;
            steps::store(deps, submits, step);
        }
    }

    /// The submitter has waited since `stalled`.
    pub(crate) fn stall(&mut self, now: u64, ring: RingIndex, resource: Resource, submit: u64) {
        let ticks = now.saturating_sub(self.stalled);
        if let Some(scopes) = &mut self.scopes {
            scopes.stall(ring, resource, submit, ticks);
        }
        if let Some(submits) = &mut self.submits {
            submits.stall += ticks;
        }
    }
}

/// When tasks were reclaimed, from level 2 on.
pub(crate) struct Reclaims {
    writer: Writer,
    /// When the reclaim that goes on began, and of how many tasks it is.
    begun: u64,
    count: u64,
    /// Reclaims as phases of the submitter's thread, which is that of core 0, at level 3; not where the chip has schedulers that
    /// report their own.
    phases: Option<Writer>,
}

impl Reclaims {
    pub(crate) fn new(writer: Writer, phases: Option<Writer>) -> Self {
        Reclaims { writer, begun: 0, count: 0, phases }
    }

    pub(crate) fn begin(&mut self, now: u64) {
        (self.begun, self.count) = (now, 0);
    }

    pub(crate) fn reclaim(&mut self, first: TaskId, count: u64) {
        if count > 0 {
            self.count += count;
            self.writer.push(&Reclaim { first: first.0, count, at: self.begun });
        }
    }

    pub(crate) fn end(&mut self, now: u64) {
        if let Some(phases) = self.phases.as_mut().filter(|_| self.count > 0) {
            let (start, phase, tasks) = (self.begun, Phase::Reclaim as u16, self.count as u32);
            phases.push(&PhaseTime { start, end: now, phase, thread: 0, tasks });
        }
    }
}

/// What submits spend their time on, at level 3.
pub(crate) struct Submits {
    writer: Writer,
    start: u64,
    /// Time up to the last step, waits left out.
    admitted: u64,
    looked_up: u64,
    placed: u64,
    /// Waits so far, and those before the last step.
    stall: u64,
    stall_seen: u64,
    last: u64,
    /// When the wait for a value that goes on began.
    waits_since: u64,
    /// Waits for values since the last submit, and when the last of them ended.
    read: u64,
    read_end: u64,
}

impl Submits {
    pub(crate) fn new(writer: Writer) -> Self {
        Submits {
            writer,
            start: 0,
            admitted: 0,
            looked_up: 0,
            placed: 0,
            stall: 0,
            stall_seen: 0,
            last: 0,
            waits_since: 0,
            read: 0,
            read_end: 0,
        }
    }

    #[inline]
    pub(crate) fn step(&mut self, step: Step, now: u64) {
        match step {
            Step::Begin => (self.start, self.last, self.stall, self.stall_seen) = (now, now, 0, 0),
            Step::Admitted => (self.admitted, self.looked_up) = (self.since_last(now), 0),
            Step::LookedUp => self.looked_up = self.since_last(now),
            Step::Placed => self.placed = self.since_last(now),
            Step::Wait => self.waits_since = now,
            Step::Waited => {
                self.read += now.saturating_sub(self.waits_since);
                self.read_end = now;
            }
        }
    }

    /// Time since the last step, waits left out.
    #[inline]
    fn since_last(&mut self, now: u64) -> u64 {
        let waited = self.stall - core::mem::replace(&mut self.stall_seen, self.stall);
        now.saturating_sub(core::mem::replace(&mut self.last, now)).saturating_sub(waited)
    }

    /// The submit ends, now.
    #[inline]
    fn finish(&mut self, clock: &impl Clock, submission: &Submission<'_>) -> u64 {
        let end = clock.now().0;
        let wire = self.since_last(end);
        let time = SubmitTime {
            task_id: task_id(submission.record).0,
            start: self.start,
            end,
            stall: self.stall,
            alloc: self.admitted,
            looked_up: self.looked_up,
            placed: self.placed,
            wire,
            heap_bytes: submission.usage.heap,
            read: core::mem::take(&mut self.read),
            read_end: core::mem::take(&mut self.read_end),
        };
        self.writer.push_words::<11>(transmute!(time));
        end
    }
}

/// Which arguments of each submit are captured.
pub(crate) struct Selected {
    selection: DumpSelection,
    /// By kernel number, for tasks of one kernel; filled in when a kernel is first seen.
    known: Vec<Option<ArgMask>>,
    /// Numbers of tensors; those of tasks that are not captured count, too.
    pub(crate) tensors: TensorCounter,
}

impl Selected {
    pub(crate) fn new(selection: DumpSelection) -> Self {
        Selected { selection, known: Vec::new(), tensors: TensorCounter::default() }
    }

    pub(crate) fn mask(&mut self, submission: &Submission<'_>) -> ArgMask {
        let record = submission.record;
        let mut mask = match record.lanes() {
            0 => return ArgMask::default(),
            1 => self.of_kernel(submission, record.kernels[0] as usize),
            _ => self.selection.mask(submission.task().kernels()),
        };
        submission.marked.iter().for_each(|&arg| mask.insert(arg as usize));
        mask
    }

    fn of_kernel(&mut self, submission: &Submission<'_>, kernel: usize) -> ArgMask {
        if self.known.len() <= kernel {
            self.known.resize(kernel + 1, None);
        }
        *self.known[kernel].get_or_insert_with(|| self.selection.mask(submission.task().kernels()))
    }
}
