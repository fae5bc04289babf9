//! The two seams of the engine: a chip decides who runs what and when; a probe sees it happen.
//!
//! Both are type parameters. With the probe `()` every observation compiles to nothing.

#![forbid(unsafe_code)]

use core::ops::Range;

use ringlane_task::{CoreId, Resource, RingIndex, TaskId, Ticks};

use crate::api::buffers::{Contents, Permission};
use crate::fault::Result;
use crate::memory::{DirectMemory, Memory, Space};
use crate::observe::{EndedScope, Fill, ObservedTask, PlacedBlock, ProgramStep, Submission, ThreadPhase};
use crate::slot::{SlotIndex, TaskRecord};

/// Whether other threads run tasks beside the submitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threading {
    /// The submitter's thread does everything: plain loads and stores suffice.
    Single,
    /// Other threads complete tasks meanwhile.
    Multi,
}

/// What a submit does next, where that takes time of the chip's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It takes a slot, argument memory and heap.
    Admit,
    /// It looks up this many tensors.
    LookUp(u32),
    /// It files this many accesses.
    Insert(u32),
    /// It has wired this many edges, those to predecessors that were not done: what it takes is charged before the task can
    /// become ready.
    Wire(u32),
    /// It has recorded a scope that ended.
    EndScope,
    /// The orchestration copies this number of bytes of its own into a tensor.
    CopyIn(u64),
    /// This number of bytes of a tensor is copied out to the orchestration.
    CopyOut(u64),
}

/// An external buffer of a run that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// Where the host has it.
    pub host: Space,
    /// Whether tasks may write it.
    pub permission: Permission,
    /// What it holds, if nobody else can change it between runs.
    pub contents: Option<Contents>,
}

/// What the submitter needs of a chip.
pub trait Chip {
    /// Whether the submitter's own work takes time of the chip's clock: the chip hears of it only where it does.
    const TIMED: bool = false;
    /// Whether submits are only written down, for a graph that is run later: nothing is published, and nothing ever completes.
    const CAPTURES: bool = false;

    /// The memory that heap rings and external buffers are in.
    #[inline]
    fn memory(&self) -> impl Memory {
        DirectMemory
    }
    /// Where the chip keeps an external buffer of the run about to begin: where the host has it if the host sees the chip's
    /// memory; else in that memory, as large and there until the run has ended. What it holds is copied in before
    /// [`begin`](Self::begin) and, if tasks may write it, out before [`end`](Self::end).
    #[inline]
    fn external(&mut self, buffer: &External) -> Result<Space> {
        Ok(buffer.host)
    }
    /// Whether the chip's memory already has what an external buffer holds, by its number in the run: it is not copied in.
    #[inline]
    fn holds(&self, _external: usize) -> bool {
        false
    }
    /// The bytes of an external buffer outside of which no task of this run may have written: only they are copied out.
    #[inline]
    fn written(&self, _external: usize) -> Range<u64> {
        0..u64::MAX
    }
    /// The run begins.
    #[inline]
    fn begin(&mut self) {}
    /// Every task is done: the run ends with this.
    #[inline]
    fn end(&mut self) {}
    /// Takes a task that became ready while it was submitted.
    fn publish(&mut self, task: SlotIndex);
    /// Called at the end of every submit of a task that runs kernels.
    #[inline]
    fn submit_ended(&mut self) {}
    /// Called every [`SUBMITS_PER_POLL`](crate::limits::SUBMITS_PER_POLL) submits with the number of tasks of the current ring
    /// that are not known to be done: a chip whose submitter is one of its cores may run tasks now, before more wait than fit
    /// the caches. It must not wait for anything.
    #[inline]
    fn submitted(&mut self, _outstanding: u64) {}
    /// Called in every wait loop of the submitter: helps, or lets time pass.
    fn relax(&mut self);
    /// The submitter does this work, which takes effect when the call returns.
    #[inline]
    fn work(&mut self, _work: Work) {}
    /// The orchestration itself takes this many ticks.
    #[inline]
    fn advance_time(&mut self, _ticks: u64) {}
    /// A task that is being submitted waits for another.
    #[inline]
    fn wired(&mut self, _predecessor: SlotIndex, _successor: SlotIndex) {}
    /// A captured task has a scalar with this name, whose record begins at this word of the ring's argument memory.
    #[inline]
    fn named_scalar(&mut self, _name: &'static str, _ring: usize, _at: u32) {}
    /// Whether [`keeps_edge`](Self::keeps_edge) leaves out any edge.
    #[inline]
    fn drops_edges(&self) -> bool {
        false
    }
    /// Whether a task waits for another, both by their places in submission order: an experiment leaves edges out. Asked only
    /// of chips that compute no values.
    #[inline]
    fn keeps_edge(&self, _before: u64, _after: u64) -> bool {
        true
    }
    /// The chip's clock.
    fn now(&self) -> Ticks;
    /// Whether other threads run tasks.
    fn threading(&self) -> Threading;
}

/// A clock that any thread can read.
pub trait Clock: Sync {
    /// Now. May be read a little early, before earlier work is finished.
    fn now(&self) -> Ticks;
    /// Now, and certainly after everything that the thread has seen so far.
    #[inline]
    fn now_ordered(&self) -> Ticks {
        self.now()
    }
    /// A time that no reading of the run to come is before.
    fn epoch(&self) -> Ticks {
        self.now()
    }
}

/// Where a submit has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It begins.
    Begin,
    /// It has a slot, map entries and argument memory.
    Admitted,
    /// Its arguments are looked up; reported only where lookup and insertion are separate steps.
    LookedUp,
    /// Its arguments are written, looked up and filed.
    Placed,
    /// No submit: the orchestration waits for a value, or for the end of the run.
    Wait,
    /// It has the value that it waited for.
    Waited,
}

/// Bytes that a probe's records take where they are made: what a modelled chip needs to know of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordBytes {
    /// Of a block.
    pub block: u64,
    /// Of a stretch of a control thread's time.
    pub phase: u64,
    /// Of a submit.
    pub submit: u64,
    /// Of a scope.
    pub scope: u64,
}

/// What can be observed. Every method has an empty default.
///
/// Those that name a core are called by the thread that is this core, the others by the submitter, which is core 0 where
/// it runs tasks too. None may panic: while tasks are running that ends the process.
pub trait Probe: Sync {
    /// Whether anything is observed: what only serves observation is left out where this is false.
    const WATCHES: bool = true;
    /// Whether cores are watched too, and not the submitter alone.
    const WATCHES_CORES: bool = Self::WATCHES;

    /// Whether blocks and tasks are timed. Then times travel with the dependencies, so that a clock that is read a little early
    /// does not put what follows before what it follows: these are ticks since a moment of the probe's own choice; later ones
    /// than [`FLOOR_MAX`](crate::slot::FLOOR_MAX) count as that.
    #[inline]
    fn sees_times(&self) -> bool {
        Self::WATCHES
    }
    /// Whether the life of tasks is observed: when they become ready and are reclaimed, and what they wait for.
    #[inline]
    fn sees_tasks(&self) -> bool {
        Self::WATCHES
    }
    /// Whether submits are observed: they are not shown otherwise.
    #[inline]
    fn sees_submits(&self) -> bool {
        Self::WATCHES
    }
    /// Whether scopes are observed.
    #[inline]
    fn sees_scopes(&self) -> bool {
        Self::WATCHES
    }
    /// Whether [`program`](Self::program) does anything.
    #[inline]
    fn sees_program(&self) -> bool {
        false
    }

    /// Whether the values of arguments are captured before and after each task. Then a chip runs a task only after that, and
    /// completes it before another one overwrites them.
    #[inline]
    fn sees_values(&self) -> bool {
        Self::WATCHES
    }

    /// The core takes part in the run from now on.
    #[inline]
    fn enter(&self, _core: CoreId) {}
    /// The core has done its last of the run.
    #[inline]
    fn leave(&self, _core: CoreId) {}
    /// The core polled for work and found none.
    #[inline]
    fn idle(&self, _core: CoreId) {}
    /// The core got work from another core.
    #[inline]
    fn stole(&self, _core: CoreId) {}
    /// The core took a task (or some blocks of one) to run, which [became ready](Self::ready) then. Called if it
    /// [sees times](Self::sees_times).
    #[inline]
    fn take(&self, _core: CoreId, _ready: Ticks) {}
    /// The first block of a task is about to start, the others cannot have: its inputs are as it will see them.
    #[inline]
    fn dispatch(&self, _core: CoreId, _task: &ObservedTask<'_>) {}
    /// A core begins a block.
    #[inline]
    fn start(&self, _core: CoreId, _record: &TaskRecord, _kernel: u16, _lane: u8, _block: u32) {}
    /// A core ended the block it began; called before anything that depends on it is released.
    #[inline]
    fn end(&self, _core: CoreId) {}
    /// The core is through with one of several blocks of a task; called before others can see it.
    #[inline]
    fn hand_in(&self, _core: CoreId) {}
    /// A task that was not skipped is complete; called before its successors are released.
    #[inline]
    fn complete(&self, _core: CoreId, _task: &ObservedTask<'_>) {}
    /// When what the core has completed ended: what follows it was not ready before. Asked before its successors are released,
    /// if it [sees times](Self::sees_times).
    #[inline]
    fn ended(&self, _core: CoreId, _record: &TaskRecord) -> Ticks {
        Ticks(0)
    }
    /// A task becomes ready, and nothing that it follows ended after `floor`: when that is, or a time before that. Asked before
    /// it is published, if it [sees times](Self::sees_times).
    #[inline]
    fn ready(&self, _core: CoreId, floor: Ticks) -> Ticks {
        floor
    }
    /// A task that [became ready](Self::ready) then was run or skipped, and its successors are released. Called if it
    /// [sees times](Self::sees_times).
    #[inline]
    fn done(&self, _core: CoreId, _record: &TaskRecord, _ready: Ticks) {}
    /// The core is through with what it took; of a task that it completed, before the slot can be reused.
    #[inline]
    fn finish(&self, _core: CoreId) {}

    /// What its records take where they are made.
    #[inline]
    fn record_bytes(&self) -> RecordBytes {
        RecordBytes::default()
    }
    /// Bytes that it captured of tasks on this core since it was last asked, with their records.
    #[inline]
    fn captured_bytes(&self, _core: CoreId) -> u64 {
        0
    }
    /// A block that ran on a chip that keeps its own time: reported once, when its end was seen. Such a chip does not call
    /// `take`, `start`, `end`, `hand_in` and `finish`.
    #[inline]
    fn block(&self, _block: &PlacedBlock<'_>) {}
    /// What a control thread of such a chip did for a while.
    #[inline]
    fn phase(&self, _phase: &ThreadPhase) {}

    /// A submit has got somewhere.
    #[inline]
    fn step(&self, _step: Step) {}
    /// The second task waits for the first. Called if it [sees tasks](Self::sees_tasks).
    #[inline]
    fn edge(&self, _predecessor: TaskId, _successor: TaskId) {}
    /// A task was submitted (its edges are wired, it is about to be released).
    #[inline]
    fn submit(&self, _submission: &Submission<'_>) {}
    /// The orchestration did something between its submits, of which there were `submits` so far.
    #[inline]
    fn program(&self, _submits: u64, _step: &ProgramStep<'_>) {}
    /// How much of a ring and of the tensor map is in use: the most since the last call.
    #[inline]
    fn fill(&self, _fill: &Fill) {}
    /// Now, and certainly after the end of every task that the submitter has seen done. Asked if it
    /// [sees times](Self::sees_times).
    #[inline]
    fn seen(&self) -> Ticks {
        Ticks(0)
    }
    /// Tasks are about to be reclaimed; they were [seen](Self::seen) done then.
    #[inline]
    fn reclaim_begin(&self, _now: Ticks) {}
    /// The slots and the memory of `count` tasks of a ring, this one and those after it, may be reused.
    #[inline]
    fn reclaim(&self, _first: TaskId, _count: u64) {}
    /// Tasks were reclaimed.
    #[inline]
    fn reclaim_end(&self) {}
    /// A scope was opened.
    #[inline]
    fn scope_enter(&self) {}
    /// The innermost scope ended.
    #[inline]
    fn scope_exit(&self, _scope: &EndedScope<'_>) {}
    /// The submitter begins to wait for a resource of a ring.
    #[inline]
    fn stall_begin(&self) {}
    /// It has waited a little; it may have to go on. `submit` is the number of the task that it waits to submit.
    #[inline]
    fn stall_end(&self, _ring: RingIndex, _resource: Resource, _submit: u64) {}
    /// A heap or argument ring keeps to `bytes` bytes from now on, more than before; it may have up to `capacity`.
    #[inline]
    fn ring_grew(&self, _ring: RingIndex, _resource: Resource, _bytes: u64, _capacity: u64) {}
    /// The runtime stops the run while this scope is open; called for each, the innermost first.
    #[inline]
    fn scope_stopped(&self, _scope: &EndedScope<'_>) {}
}

impl Probe for () {
    const WATCHES: bool = false;
}
