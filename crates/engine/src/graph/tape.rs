//! What a capture saw, in order: a probe that watches a replay is shown the same.

use core::ops::Range;

use ringlane_task::{RINGS, TaskId, TensorView};

use crate::api::backend::{Contents, Inference};
use crate::api::buffers::Permission;
use crate::api::tensor::TaskHandle;
use crate::observe::{After, CapturedScope, EndedScope, ProgramStep, Submission, Submitted};
use crate::scope::Usage;
use crate::seams::{Probe, Step};
use crate::slot::SlotIndex;
use crate::sync::Mutex;
use crate::table::{Table, task_id};

/// What happened, in order.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) events: Vec<Event>,
    pub(super) submits: Vec<Submit>,
    scopes: Vec<CapturedScope>,
    steps: Vec<TapeStep>,
    after: Vec<TaskHandle>,
    marked: Vec<u16>,
    /// The predecessors of all tasks, one task after another.
    predecessors: Vec<TaskId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    EnterScope,
    ExitScope(u32),
    Submit(u32),
    /// What the orchestration did between its submits.
    Program(u32),
}

/// A step of the orchestration that is not a submit. A captured program reads nothing.
#[derive(Clone, Debug)]
enum TapeStep {
    Buffer { bytes: u64, permission: Permission },
    Enter { scope: u32, site: u32, inference: Inference },
    Label(Box<str>),
    Exit,
    Advance(u64),
}

impl TapeStep {
    fn of(step: &ProgramStep<'_>) -> Option<Self> {
        Some(match *step {
            ProgramStep::Buffer { bytes, permission } => TapeStep::Buffer { bytes, permission },
            ProgramStep::EnterScope { scope, site, inference } => TapeStep::Enter { scope, site, inference },
            ProgramStep::LabelScope(label) => TapeStep::Label(label.into()),
            ProgramStep::ExitScope => TapeStep::Exit,
            ProgramStep::AdvanceTime(ticks) => TapeStep::Advance(ticks),
            ProgramStep::Read { .. } => return None,
        })
    }

    fn shown(&self) -> ProgramStep<'_> {
        match *self {
            TapeStep::Buffer { bytes, permission } => ProgramStep::Buffer { bytes, permission },
            TapeStep::Enter { scope, site, inference } => ProgramStep::EnterScope { scope, site, inference },
            TapeStep::Label(ref label) => ProgramStep::LabelScope(label),
            TapeStep::Exit => ProgramStep::ExitScope,
            TapeStep::Advance(ticks) => ProgramStep::AdvanceTime(ticks),
        }
    }
}

/// A submit.
#[derive(Debug)]
pub(super) struct Submit {
    /// The task's slot.
    pub(super) slot: SlotIndex,
    pub(super) kind: Kind,
    predecessors: Range<u32>,
    scope: u32,
    inference: Inference,
    marked: Range<u32>,
    usage: Usage,
    barrier: Option<TaskId>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Kernels { after: Range<u32> },
    Barrier { since: u64 },
    Alloc { space: u32, base: u64, view: Box<TensorView>, is_upload: bool },
}

/// Records a tape: the probe of a capture.
#[derive(Debug, Default)]
pub(super) struct TapeProbe(Mutex<Tape>);

impl TapeProbe {
    pub(super) fn into_tape(self) -> Tape {
        self.0.into_inner().expect("no panic while a capture is recorded")
    }

    fn record(&self, f: impl FnOnce(&mut Tape)) {
        f(&mut self.0.lock().expect("no panic while a capture is recorded"));
    }
}

/// Appends to a list; where the new part is.
fn append<T>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) -> Range<u32> {
    let start = list.len() as u32;
    list.extend(more);
    start..list.len() as u32
}

fn part<'a, T>(list: &'a [T], range: &Range<u32>) -> &'a [T] {
    &list[range.start as usize..range.end as usize]
}

impl Probe for TapeProbe {
    fn sees_times(&self) -> bool {
        false
    }

    fn edge(&self, predecessor: TaskId, _: TaskId) {
        self.record(|tape| tape.predecessors.push(predecessor));
    }

    fn submit(&self, submission: &Submission<'_>) {
        let Submission { slot, scope, inference, usage, .. } = *submission;
        self.record(|tape| {
            let kind = match submission.kind {
                Submitted::Kernels { after } => {
                    Kind::Kernels { after: append(&mut tape.after, after.handles.iter().copied()) }
                }
                Submitted::Barrier { since } => Kind::Barrier { since },
                Submitted::Alloc { space, base, view, contents } => {
                    let is_upload = matches!(contents, Contents::Host(_));
                    Kind::Alloc { space, base, view: Box::new(*view), is_upload }
                }
            };
            let first = tape.submits.last().map_or(0, |submit| submit.predecessors.end);
            let submit = Submit {
                slot,
                kind,
                predecessors: first..tape.predecessors.len() as u32,
                scope,
                inference,
                marked: append(&mut tape.marked, submission.marked.iter().copied()),
                usage: *usage,
                barrier: submission.barrier,
            };
            let number = tape.submits.len() as u32;
            tape.submits.push(submit);
            tape.events.push(Event::Submit(number));
        });
    }

    fn sees_program(&self) -> bool {
        true
    }

    fn program(&self, _submits: u64, step: &ProgramStep<'_>) {
        self.record(|tape| {
            if let Some(step) = TapeStep::of(step) {
                tape.events.push(Event::Program(tape.steps.len() as u32));
                tape.steps.push(step);
            }
        });
    }

    fn scope_enter(&self) {
        self.record(|tape| tape.events.push(Event::EnterScope));
    }

    fn scope_exit(&self, scope: &EndedScope<'_>) {
        self.record(|tape| {
            let number = tape.scopes.len() as u32;
            tape.scopes.push(CapturedScope::of(scope));
            tape.events.push(Event::ExitScope(number));
        });
    }
}

impl Tape {
    /// The tasks that a submit follows, as inferred and asked for.
    pub(super) fn predecessors(&self, submit: &Submit) -> &[TaskId] {
        part(&self.predecessors, &submit.predecessors)
    }

    /// Bytes of tensors on each ring, and accesses to them, when the capture ended.
    pub(super) fn heap_bytes(&self) -> [u64; RINGS] {
        const HEAP: usize = 1;
        self.scopes.last().map_or([0; RINGS], |root| root.used.map(|used| used[HEAP]))
    }

    /// Accesses to tensors in the tensor map when the capture ended.
    pub(super) fn accesses(&self) -> u64 {
        self.scopes.last().map_or(0, |root| root.tensormap)
    }

    /// Number of scopes.
    pub(super) fn scope_count(&self) -> u64 {
        self.scopes.len() as u64
    }

    /// Shows a probe all that happened. `table` has the tasks.
    pub(super) fn show(&self, table: &Table, probe: &impl Probe) {
        let mut submits = 0;
        for event in &self.events {
            match *event {
                Event::Program(step) if probe.sees_program() => {
                    probe.program(submits, &self.steps[step as usize].shown());
                }
                Event::EnterScope if probe.sees_scopes() => probe.scope_enter(),
                Event::ExitScope(scope) if probe.sees_scopes() => {
                    probe.scope_exit(&self.scopes[scope as usize].ended());
                }
                Event::Submit(submit) => {
                    self.show_submit(&self.submits[submit as usize], table, probe);
                    submits += 1;
                }
                Event::EnterScope | Event::ExitScope(_) | Event::Program(_) => {}
            }
        }
    }

    fn show_submit(&self, submit: &Submit, table: &Table, probe: &impl Probe) {
        [Step::Begin, Step::Admitted, Step::Placed].into_iter().for_each(|step| probe.step(step));
        // SAFETY: a graph's records are written before its first replay and never change.
        let record = &unsafe { table.slots[submit.slot.0 as usize].record() };
        if probe.sees_tasks() {
            self.predecessors(submit).iter().for_each(|&task| probe.edge(task, task_id(record)));
        }
        if !probe.sees_submits() {
            return;
        }
        let kind = match &submit.kind {
            Kind::Kernels { after } => {
                Submitted::Kernels { after: After { handles: part(&self.after, after) } }
            }
            Kind::Barrier { since } => Submitted::Barrier { since: *since },
            Kind::Alloc { space, base, view, is_upload } => {
                // The values themselves are those of the capture.
                let contents = if *is_upload { Contents::Host(&[]) } else { Contents::Zeros };
                Submitted::Alloc { space: *space, base: *base, view, contents }
            }
        };
        probe.submit(&Submission {
            slot: submit.slot,
            record,
            kind,
            scope: submit.scope,
            inference: submit.inference,
            marked: part(&self.marked, &submit.marked),
            usage: &submit.usage,
            // SAFETY: no task of a graph is ever reclaimed.
            held: unsafe { table.held(record) },
            barrier: submit.barrier,
        });
    }
}
