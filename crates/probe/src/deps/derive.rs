//! Derives which task follows which, as a pure function of the submitted program.
//!
//! The engine's own tensor map, set to forget nothing but what later writes cover, is fed the stored submits one after
//! another; accesses to whole tensors, by far the most, are kept beside it (see `whole_tensors.rs`). Whether a task had retired
//! plays no part. Which tensor an argument is of, `tensors.rs` knows.

use std::collections::HashSet;

use ringlane_engine::limits::RINGS;
use ringlane_engine::observe::{Argument, TensorArgument, recorded_args};
use ringlane_engine::overlap::{Region, Relation};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::tensor_map::{Hazard as MapHazard, Met, NewAccess, Owned, Regions, TensorMap};
use ringlane_task::{Access, DType, Dim, MAX_RANK, TaskId};
use ringlane_trace::deps::{
    DepsArg, DepsEdge, DepsTensor, EdgeCause, EdgeSource, Hazard, Origin, Overlap, TensorIndex,
};
use ringlane_trace::rows::ViewRow;

use super::record::{ALLOC, BARRIER, MANUAL, StoredSubmit, dims_of};
use super::sequence::Sequence;
use super::whole_tensors::{TensorSlot, WholeAccess, WholeTensors};
use crate::tensors::Tensors;

/// A tensor argument of a task, to be looked up and inserted.
struct Touch<'a> {
    seq: u64,
    /// `MANUAL`, if nothing is inferred.
    flags: u8,
    index: u32,
    access: Access,
    tensor: KnownTensor,
    dtype: DType,
    offset: u64,
    dims: &'a [Dim],
    whole: bool,
    split: Option<u8>,
}

impl Touch<'_> {
    const fn hazard(&self) -> MapHazard {
        if self.access.writes() { MapHazard::Write } else { MapHazard::Read }
    }

    fn creates(&self) -> bool {
        self.access == Access::Output
    }

    /// The edge to an earlier access, which is none if that is the task's own.
    #[inline]
    fn finds(&self, seq: u64, earlier: MapHazard, how: Relation, creates: bool) -> Option<Found> {
        let hazard = match (earlier, self.access.reads()) {
            (MapHazard::Read, _) => Hazard::War,
            (MapHazard::Write, true) => Hazard::Raw,
            (MapHazard::Write, false) => Hazard::Waw,
        };
        let overlap = match how {
            Relation::Covered => Overlap::Covered,
            Relation::Possible => Overlap::Possible,
            _ => Overlap::Partial,
        };
        let found = Found { seq, arg: self.index, hazard, overlap, creates, tensor: self.tensor.index };
        (seq != self.seq).then_some(found)
    }
}

/// What one submit adds.
#[derive(Default)]
pub(crate) struct Derived {
    pub(crate) args: Vec<DepsArg>,
    pub(crate) tensors: Vec<DepsTensor>,
    pub(crate) edges: Vec<DepsEdge>,
    pub(crate) scalars: u32,
    /// What `edges` are made of, as long as they are not sorted.
    found: Vec<Found>,
}

/// An edge whose producer is known by its place in submission order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    seq: u64,
    arg: u32,
    hazard: Hazard,
    overlap: Overlap,
    creates: bool,
    tensor: TensorIndex,
}

/// An access to a part of a tensor, or a manual one, that later ones may conflict with.
#[derive(Clone, Copy)]
struct Kept {
    seq: u64,
    creates: bool,
    element: u32,
    offset: u64,
    rank: usize,
    dims: [Dim; MAX_RANK],
}

#[derive(Default)]
struct Archive {
    kept: Vec<Kept>,
    free: Vec<u32>,
}

impl Regions for Archive {
    fn region(&self, _task: SlotIndex, at: u32) -> Region<'_> {
        let kept = &self.kept[at as usize];
        Region { offset: kept.offset, element: kept.element, dims: &kept.dims[..kept.rank] }
    }
}

impl Archive {
    fn keep(&mut self, kept: Kept) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.kept[at as usize] = kept;
                at
            }
            None => {
                self.kept.push(kept);
                self.kept.len() as u32 - 1
            }
        }
    }
}

#[derive(Clone, Copy)]
struct KnownTensor {
    index: TensorIndex,
    place: TensorSlot,
}

/// The derivation, fed one submit after another.
pub(crate) struct Derivation {
    map: TensorMap,
    archive: Archive,
    whole_tensors: WholeTensors,
    tensors: Tensors<KnownTensor>,
    external_bytes: Vec<u64>,
    sequence: Sequence,
    /// The explicit predecessors of the submit so far: each counts once.
    asked: HashSet<TaskId>,
}

impl Derivation {
    pub(crate) fn new(external_bytes: Vec<u64>) -> Self {
        Derivation {
            map: TensorMap::unforgetting(),
            archive: Archive::default(),
            whole_tensors: WholeTensors::default(),
            tensors: Tensors::default(),
            external_bytes,
            sequence: Sequence::default(),
            asked: HashSet::new(),
        }
    }

    /// Takes the next submit; `derived` receives what it adds.
    pub(crate) fn submit(&mut self, submit: &StoredSubmit<'_>, derived: &mut Derived) {
        derived.args.clear();
        derived.tensors.clear();
        derived.edges.clear();
        derived.found.clear();
        derived.scalars = 0;
        let (head, task) = (&submit.head, TaskId(submit.head.task_id));
        self.sequence.push(head.seq, task);
        self.explicit(submit, derived);
        if head.kind == ALLOC {
            self.alloc(submit, derived);
        } else {
            for (index, argument) in recorded_args(submit.words).enumerate() {
                match argument {
                    Argument::Tensor(tensor) => self.argument(submit, index as u32, &tensor, derived),
                    Argument::Scalar(_) => derived.scalars += 1,
                }
            }
        }
        self.inferred(task, derived);
    }

    /// The number of a tensor on a heap ring, if a task has made it.
    pub(crate) fn tensor_at(&self, space: u32, base: u64) -> Option<TensorIndex> {
        self.tensors.get(space, base).map(|known| known.index)
    }

    /// Edges that the program asked for.
    fn explicit(&mut self, submit: &StoredSubmit<'_>, derived: &mut Derived) {
        let succ = TaskId(submit.head.task_id);
        self.asked.clear();
        let mut add = |pred: TaskId| {
            if self.asked.insert(pred) {
                let source = EdgeSource::Explicit;
                derived.edges.push(DepsEdge { pred, succ, source, cause: None });
            }
        };
        submit.after.iter().for_each(|&task| add(TaskId(task)));
        if let Some(barrier) = submit.barrier {
            add(TaskId(barrier));
        }
        if submit.head.kind == BARRIER {
            self.sequence.range(submit.extra, submit.head.seq, add);
        }
    }

    /// A tensor that is made by a task without a kernel.
    fn alloc(&mut self, submit: &StoredSubmit<'_>, derived: &mut Derived) {
        let dtype = DType::from_code(submit.head.dtype_or_label as u8).unwrap_or(DType::UInt8);
        let (dims, rank) = dims_of(submit.words);
        let elements: u64 = dims[..rank].iter().map(|d| d.len as u64).product();
        let bytes = elements * dtype.size_bytes() as u64;
        let tensor = self.make(submit.head.space.into(), submit.extra, bytes, derived);
        let touch = Touch {
            seq: submit.head.seq,
            flags: submit.head.flags,
            index: 0,
            access: Access::Output,
            tensor,
            dtype,
            offset: 0,
            dims: &dims[..rank],
            whole: true,
            split: None,
        };
        self.touch(&touch, derived);
    }

    #[inline]
    fn argument(
        &mut self,
        submit: &StoredSubmit<'_>,
        index: u32,
        argument: &TensorArgument<'_>,
        derived: &mut Derived,
    ) {
        let (access, space, base) = (argument.access(), argument.space(), argument.tensor_base());
        let tensor = match access {
            Access::Output => self.make(space, base, argument.bytes(), derived),
            _ => self.known(space, base, derived),
        };
        let touch = Touch {
            seq: submit.head.seq,
            flags: submit.head.flags,
            index,
            access,
            tensor,
            dtype: argument.dtype(),
            offset: argument.offset(),
            dims: argument.dims(),
            whole: argument.is_whole(),
            split: argument.split(),
        };
        self.touch(&touch, derived);
    }

    #[inline]
    fn touch(&mut self, touch: &Touch<'_>, derived: &mut Derived) {
        let Some(view) = ViewRow::new(touch.dtype, touch.offset, touch.dims) else { return };
        let (index, access, tensor) = (touch.index, touch.access, touch.tensor.index);
        derived.args.push(DepsArg { index, access, tensor, view, split: touch.split });
        if access == Access::NoDep {
            return;
        }
        if touch.flags & MANUAL != 0 {
            // It covers nothing, as it is not ordered after what was there: one writer is not all.
            self.part(touch, &mut derived.found);
        } else {
            self.access(touch, &mut derived.found);
        }
    }

    /// A fresh tensor on a heap ring; those that were there before are gone.
    fn make(&mut self, space: u32, base: u64, bytes: u64, derived: &mut Derived) -> KnownTensor {
        while let Some(old) = self.tensors.take_overwritten(space, base, bytes) {
            let free = &mut self.archive.free;
            if let Some(root) = self.whole_tensors.remove(old.place) {
                self.map.forget_root(root, |at| free.push(at));
            }
        }
        self.add(space, base, bytes, Origin::Heap, derived)
    }

    /// A tensor that exists.
    fn known(&mut self, space: u32, base: u64, derived: &mut Derived) -> KnownTensor {
        if let Some(known) = self.tensors.get(space, base) {
            return known;
        }
        match (space as usize).checked_sub(RINGS) {
            // Its making was lost with a full buffer: it is known from here on.
            None => self.make(space, base, 1, derived),
            Some(external) => {
                let bytes = self.external_bytes.get(external).copied().unwrap_or(0);
                self.add(space, base, bytes, Origin::External, derived)
            }
        }
    }

    /// A tensor that was not there before.
    fn add(
        &mut self,
        space: u32,
        base: u64,
        bytes: u64,
        origin: Origin,
        derived: &mut Derived,
    ) -> KnownTensor {
        let known = KnownTensor { index: self.tensors.number(), place: self.whole_tensors.add() };
        self.tensors.put(space, base, bytes, known);
        derived.tensors.push(DepsTensor { tensor: known.index, bytes, origin });
        known
    }

    /// Finds the tasks that an access conflicts with, and keeps it for later ones.
    #[inline]
    fn access(&mut self, touch: &Touch<'_>, found: &mut Vec<Found>) {
        let (place, hazard) = (touch.tensor.place, touch.hazard());
        let how = if touch.whole { Relation::Covered } else { Relation::Partial };
        self.whole_tensors.meet(place, hazard, |old| {
            found.extend(touch.finds(old.seq, old.hazard, how, old.creates));
        });
        if !touch.whole || self.whole_tensors.root(place).is_some() {
            self.part(touch, found);
        }
        if touch.whole {
            self.whole_tensors.keep(place, WholeAccess { seq: touch.seq, hazard, creates: touch.creates() });
        }
    }

    /// As `access`, for what the tensor map knows: finds the tasks an access conflicts with unless it is manual, and keeps it
    /// unless it is kept as one to a whole tensor.
    fn part(&mut self, touch: &Touch<'_>, found: &mut Vec<Found>) {
        let (element, hazard) = (touch.dtype.size_bytes() as u32, touch.hazard());
        let region = Region { offset: touch.offset, element, dims: touch.dims };
        let root = self.whole_tensors.root_or(touch.tensor.place, || self.map.new_root());
        let new = NewAccess { root, region, whole: touch.whole, hazard };
        let (bounds, manual) = (self.map.locate(&new, &self.archive), touch.flags & MANUAL != 0);
        if !manual {
            let (kept, mut freed) = (&self.archive.kept, Vec::new());
            self.map.look_up(&new, bounds.as_ref(), &self.archive, |met| {
                let Met::Alive(met) = met else { return };
                let old = &kept[met.at as usize];
                found.extend(touch.finds(old.seq, met.hazard, met.how, old.creates));
                if met.how == Relation::Covered && hazard == MapHazard::Write {
                    freed.push(met.at);
                }
            });
            self.archive.free.append(&mut freed);
        }
        if manual || !touch.whole {
            let mut dims = [Dim::default(); MAX_RANK];
            dims[..touch.dims.len()].copy_from_slice(touch.dims);
            let (seq, offset, rank) = (touch.seq, touch.offset, touch.dims.len());
            let at = self.archive.keep(Kept { seq, creates: touch.creates(), element, offset, rank, dims });
            let owned = &mut Owned::NOTHING.clone();
            self.map.insert(&new, bounds.as_ref(), &self.archive, owned, (SlotIndex(0), at));
        }
    }

    /// Turns what was found into edges, in an order that depends on nothing but the program.
    fn inferred(&self, succ: TaskId, derived: &mut Derived) {
        derived.found.sort_unstable();
        derived.found.dedup_by_key(|found| (found.seq, found.arg));
        for found in &derived.found {
            let Some(pred) = self.sequence.task(found.seq) else { continue };
            let source = if found.creates { EdgeSource::Creator } else { EdgeSource::TensorMap };
            let Found { hazard, arg, tensor, overlap, .. } = *found;
            derived.edges.push(DepsEdge {
                pred,
                succ,
                source,
                cause: Some(EdgeCause { hazard, arg, tensor, overlap }),
            });
        }
    }
}
