//! What a probe is shown: a task with its arguments, a submit, how full a ring is.
//!
//! These are views of what the engine holds; making one costs nothing, and with the probe `()` none is made.

#![forbid(unsafe_code)]

mod program;
pub(crate) mod submitter;

pub use program::{BlockWork, ProgramStep};

use ringlane_task::{Access, CoreId, DType, Dim, Scalar, SiteId, TaskId, TensorView, Ticks};

use crate::api::arg::NO_SPLIT;
use crate::api::args::{Record, TensorRecord, decode};
use crate::api::backend::{Contents, Inference, Site};
use crate::api::kernel::Kernel;
use crate::api::tensor::TaskHandle;
use crate::limits::RINGS;
use crate::memory::Memory;
use crate::ring::slots::Ring;
use crate::scope::{Scope, Usage};
use crate::slot::{SlotIndex, TaskRecord};
use crate::table::{HeldTask, task_id};

/// A task, and what it touches.
#[derive(Clone, Copy)]
pub struct ObservedTask<'t> {
    pub(crate) slot: SlotIndex,
    pub(crate) task: HeldTask<'t>,
    /// Where the bytes of its arguments are; a task that is being submitted has none yet.
    pub(crate) memory: Option<&'t dyn Memory>,
}

/// One argument of a task.
#[derive(Clone, Copy)]
pub enum Argument<'t> {
    /// A tensor.
    Tensor(TensorArgument<'t>),
    /// A scalar, with the type it was added with.
    Scalar(Scalar),
}

/// A tensor argument.
#[derive(Clone, Copy)]
pub struct TensorArgument<'t> {
    pub(crate) record: TensorRecord<'t>,
    /// Where its bytes are.
    pub(crate) bytes: Option<(HeldTask<'t>, &'t dyn Memory)>,
}

impl<'t> ObservedTask<'t> {
    /// Its slot.
    #[inline]
    pub fn slot(&self) -> SlotIndex {
        self.slot
    }

    /// What cores know of it.
    #[inline]
    pub fn record(&self) -> &'t TaskRecord {
        self.task.record()
    }

    /// Its id.
    pub fn id(&self) -> TaskId {
        task_id(self.record())
    }

    /// Its arguments, in order.
    pub fn args(&self) -> impl Iterator<Item = Argument<'t>> + use<'t> {
        arguments(self.words(), self.memory.map(|memory| (self.task, memory)))
    }

    /// Its kernels, in order; none for a task that runs none.
    pub fn kernels(&self) -> impl Iterator<Item = &'static Kernel> {
        let (table, record) = (self.task.table(), self.record());
        record.kernels.iter().take(record.lanes() as usize).filter_map(|&id| table.kernels.get(id as u32))
    }

    /// The name that its submit gave it.
    #[inline]
    pub fn label(&self) -> Option<&'t str> {
        self.task.annotations().label()
    }

    /// How long each of its blocks takes on a modelled chip, if its submit says so.
    #[inline]
    pub fn duration_ps(&self) -> Option<u64> {
        self.task.annotations().duration_ps()
    }

    /// Its argument records as they are in memory, for [`recorded_args`].
    #[inline]
    pub fn words(&self) -> &'t [u64] {
        self.task.words()
    }
}

/// The arguments of records that were copied from [`ObservedTask::words`]. Their bytes are out of reach.
///
/// `words` must be such a copy; anything else may panic.
pub fn recorded_args(words: &[u64]) -> impl Iterator<Item = Argument<'_>> {
    arguments(words, None)
}

fn arguments<'t>(
    mut words: &'t [u64],
    bytes: Option<(HeldTask<'t>, &'t dyn Memory)>,
) -> impl Iterator<Item = Argument<'t>> + use<'t> {
    core::iter::from_fn(move || {
        if words.is_empty() {
            return None;
        }
        let (record, used) = decode(words);
        words = &words[used..];
        Some(match record {
            Record::Tensor(record) => Argument::Tensor(TensorArgument { record, bytes }),
            Record::Scalar(scalar) => Argument::Scalar(scalar),
        })
    })
}

impl<'t> TensorArgument<'t> {
    /// How the task uses it.
    pub fn access(&self) -> Access {
        self.record.access()
    }

    /// Type of its elements.
    pub fn dtype(&self) -> DType {
        self.record.dtype()
    }

    /// Its memory: heap rings first, then external buffers.
    pub fn space(&self) -> u32 {
        self.record.space
    }

    /// Where its tensor starts in that memory.
    pub fn tensor_base(&self) -> u64 {
        self.record.base
    }

    /// Its first byte, counted from the start of its tensor.
    pub fn offset(&self) -> u64 {
        self.record.offset - self.record.base
    }

    /// Whether it is all of its tensor.
    pub fn is_whole(&self) -> bool {
        self.record.is_whole()
    }

    /// Its dimensions.
    pub fn dims(&self) -> &'t [Dim] {
        self.record.dims
    }

    /// The axis along which blocks share it out.
    pub fn split(&self) -> Option<u8> {
        Some(self.record.split()).filter(|&axis| axis != NO_SPLIT)
    }

    /// The view, with its offset counted in the space.
    pub fn view(&self) -> TensorView {
        self.record.view()
    }

    /// Bytes of its elements.
    pub fn bytes(&self) -> u64 {
        let elements: u64 = self.dims().iter().map(|dim| u64::from(dim.len)).product();
        elements * self.dtype().size_bytes() as u64
    }
}

/// What people call a space: heap rings come first, then external buffers.
pub fn space_name(space: u32) -> String {
    match (space as usize).checked_sub(RINGS) {
        None => format!("heap ring {space}"),
        Some(buffer) => format!("external buffer {buffer}"),
    }
}

/// Tasks that a submit follows by explicit edges.
#[derive(Clone, Copy)]
pub struct After<'t> {
    pub(crate) handles: &'t [TaskHandle],
}

impl After<'_> {
    /// How many.
    pub fn count(&self) -> usize {
        self.handles.len()
    }

    /// Their ids.
    pub fn ids(&self) -> impl Iterator<Item = TaskId> {
        self.handles.iter().map(|handle| handle.task())
    }
}

/// What kind of task was submitted.
#[derive(Clone, Copy)]
pub enum Submitted<'t> {
    /// One with kernels.
    Kernels {
        /// The tasks that it follows by explicit edges.
        after: After<'t>,
    },
    /// A barrier: it follows every task from `since` on, in submission order.
    Barrier {
        /// The first task that it follows.
        since: u64,
    },
    /// A tensor was made.
    Alloc {
        /// Its memory.
        space: u32,
        /// Where it starts there.
        base: u64,
        /// What it is.
        view: &'t TensorView,
        /// Whether it begins as zeros, or with values of the orchestration.
        contents: Contents<'t>,
    },
}

/// A submit. What takes some work to find out is found out when it is asked for.
#[derive(Clone, Copy)]
pub struct Submission<'t> {
    /// The task's slot.
    pub slot: SlotIndex,
    /// What cores will know of it.
    pub record: &'t TaskRecord,
    /// What kind.
    pub kind: Submitted<'t>,
    /// The scope it was made in.
    pub scope: u32,
    /// Whether dependencies are inferred.
    pub inference: Inference,
    /// Arguments that the orchestration asked to be captured, by index.
    pub marked: &'t [u16],
    /// What it takes of the bounded resources, dependency entries left out.
    pub usage: &'t Usage,
    pub(crate) held: HeldTask<'t>,
    pub(crate) barrier: Option<TaskId>,
}

impl<'t> Submission<'t> {
    /// The task.
    #[inline]
    pub fn task(&self) -> ObservedTask<'t> {
        ObservedTask { slot: self.slot, task: self.held, memory: None }
    }

    /// The barrier that it follows.
    #[inline]
    pub fn barrier(&self) -> Option<TaskId> {
        self.barrier
    }
}

/// How much is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// The ring.
    pub ring: usize,
    /// Its slots, heap bytes, dependency entries and argument bytes.
    pub used: [u64; 4],
    /// Entries of the tensor map.
    pub tensormap: u64,
}

/// A scope that ends, or that is open when the run is stopped. What is asked for is found out then.
#[derive(Clone, Copy)]
pub struct EndedScope<'t> {
    /// How many scopes are around it.
    pub depth: usize,
    /// Tasks submitted in it and in the scopes inside it.
    pub tasks: u64,
    /// The number of the scope around it.
    pub parent: Option<u32>,
    /// The widest fan-in of a task in it.
    pub fan_in: u64,
    /// Entries of the tensor map in use.
    pub tensormap: u64,
    pub(crate) of: ScopeSource<'t>,
}

/// Where what is known of a scope comes from.
#[derive(Clone, Copy)]
pub(crate) enum ScopeSource<'t> {
    /// From the submitter, which has just taken it off its stack.
    Submitter { scope: &'t Scope, rings: &'t [Ring; RINGS], labels: &'t str },
    /// From the capture of a graph.
    Captured(&'t CapturedScope),
}

/// What was known of a scope when it ended during a capture.
#[derive(Clone, Debug)]
pub(crate) struct CapturedScope {
    pub(crate) depth: usize,
    pub(crate) tasks: u64,
    pub(crate) parent: Option<u32>,
    pub(crate) fan_in: u64,
    pub(crate) tensormap: u64,
    pub(crate) id: u32,
    pub(crate) label: String,
    pub(crate) site_id: u32,
    pub(crate) location: Site,
    pub(crate) need: [u64; 4],
    pub(crate) largest_pieces: [u64; 2],
    pub(crate) used_rings: u8,
    pub(crate) used: [[u64; 4]; RINGS],
}

impl CapturedScope {
    /// Of a scope that ends now.
    pub(crate) fn of(ended: &EndedScope<'_>) -> Self {
        let EndedScope { depth, tasks, parent, fan_in, tensormap, .. } = *ended;
        CapturedScope {
            depth,
            tasks,
            parent,
            fan_in,
            tensormap,
            id: ended.id(),
            label: ended.label().to_string(),
            site_id: ended.site().0,
            location: ended.location(),
            need: ended.need(),
            largest_pieces: ended.largest_pieces(),
            used_rings: ended.used_rings(),
            used: core::array::from_fn(|ring| ended.used(ring)),
        }
    }

    /// As a probe sees it.
    pub(crate) fn ended(&self) -> EndedScope<'_> {
        let CapturedScope { depth, tasks, parent, fan_in, tensormap, .. } = *self;
        EndedScope { depth, tasks, parent, fan_in, tensormap, of: ScopeSource::Captured(self) }
    }
}

impl EndedScope<'_> {
    /// Its number.
    #[inline]
    pub fn id(&self) -> u32 {
        match self.of {
            ScopeSource::Submitter { scope, .. } => scope.id,
            ScopeSource::Captured(scope) => scope.id,
        }
    }

    /// Its label; empty without one.
    #[inline]
    pub fn label(&self) -> &str {
        match &self.of {
            ScopeSource::Submitter { scope, labels, .. } => scope.label.of(labels),
            ScopeSource::Captured(scope) => &scope.label,
        }
    }

    /// Where it was begun.
    #[inline]
    pub fn site(&self) -> SiteId {
        SiteId(match self.of {
            ScopeSource::Submitter { scope, .. } => scope.site_id,
            ScopeSource::Captured(scope) => scope.site_id,
        })
    }

    /// The same as a place in the source.
    pub fn location(&self) -> Site {
        match self.of {
            ScopeSource::Submitter { scope, .. } => scope.site,
            ScopeSource::Captured(scope) => scope.location,
        }
    }

    /// What was handed out on its ring between its beginning and its end: slots, heap bytes, dependency entries, argument
    /// bytes. The scope needs that much, whatever the timing. Of the entries only those for edges from tasks of scopes that
    /// were open are counted: for others the engine can wait instead.
    #[inline]
    pub fn need(&self) -> [u64; 4] {
        let (scope, rings) = match self.of {
            ScopeSource::Submitter { scope, rings, .. } => (scope, rings),
            ScopeSource::Captured(scope) => return scope.need,
        };
        let (begin, end) = (&scope.entry, rings[scope.ring].marks());
        let edges = end.edges - begin.edges - scope.watched.spared_edges;
        [end.slots - begin.slots, end.heap - begin.heap, edges, end.args - begin.args]
    }

    /// The largest pieces of heap and of arguments on its ring so far.
    #[inline]
    pub fn largest_pieces(&self) -> [u64; 2] {
        match self.of {
            ScopeSource::Submitter { scope, rings, .. } => {
                let ring = &rings[scope.ring];
                [ring.heap.largest(), ring.args.largest()]
            }
            ScopeSource::Captured(scope) => scope.largest_pieces,
        }
    }

    /// A bit for each ring that was ever used.
    #[inline]
    pub fn used_rings(&self) -> u8 {
        match self.of {
            ScopeSource::Submitter { rings, .. } => {
                let bit = |ring: usize| u8::from(rings[ring].head > 0) << ring;
                (0..RINGS).fold(0, |bits, ring| bits | bit(ring))
            }
            ScopeSource::Captured(scope) => scope.used_rings,
        }
    }

    /// Slots, heap bytes, dependency entries and argument bytes of a ring that are in use now.
    #[inline]
    pub fn used(&self, ring: usize) -> [u64; 4] {
        match self.of {
            ScopeSource::Submitter { rings, .. } => rings[ring].used_of_each(),
            ScopeSource::Captured(scope) => scope.used[ring],
        }
    }
}

const _: () = assert!(RINGS <= 8, "a bit for each ring");

/// A block on a chip that places blocks itself and keeps its own time.
#[derive(Clone, Copy, Debug)]
pub struct PlacedBlock<'t> {
    /// Where it ran.
    pub core: CoreId,
    /// The control thread that gave it to the core and saw its end.
    pub thread: u32,
    /// Its task.
    pub record: &'t TaskRecord,
    /// Its kernel's number.
    pub kernel: u16,
    /// Its lane in a mixed task, 0 otherwise.
    pub lane: u8,
    /// Which block.
    pub block: u32,
    /// When the control thread gave it to the core.
    pub dispatch: Ticks,
    /// When the core began it.
    pub start: Ticks,
    /// When the core ended it.
    pub end: Ticks,
    /// When the control thread saw that.
    pub finish: Ticks,
    /// All cycles, then the counters of the chosen group; empty where none were asked for.
    pub counters: &'t [u64],
    /// What the cost model says of it, where there is one.
    pub work: Option<BlockWork>,
}

/// What a control thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadWork {
    /// Polls for blocks that ended.
    Complete,
    /// Releases the successors of tasks that are complete.
    Resolve,
    /// Gives blocks to cores.
    Dispatch,
    /// Gives back what complete tasks held.
    Reclaim,
    /// Found nothing to do.
    Idle,
}

/// A stretch of a control thread's time.
#[derive(Clone, Copy, Debug)]
pub struct ThreadPhase {
    /// Which thread.
    pub thread: u32,
    /// What it did.
    pub work: ThreadWork,
    /// Since when.
    pub start: Ticks,
    /// Until when.
    pub end: Ticks,
    /// The thread's round, counted from 0.
    pub round: u64,
    /// How many tasks or blocks it was about.
    pub tasks: u32,
}
