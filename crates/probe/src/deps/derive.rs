//! Who follows whom, as a pure function of the submitted program.
//!
//! The engine's own tensor map, told to forget nothing but what later writes cover, is fed the stored submits one after
//! another. Whether a task had retired plays no part. Tensors on a heap ring are told apart by where they start: one that
//! is made over another ends it.

use std::collections::{BTreeMap, HashSet};

use ringlane_engine::limits::RINGS;
use ringlane_engine::observed::{Argument, TensorArgument, recorded_args};
use ringlane_engine::overlap::{Region, Relation};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::tensor_map::{Hazard as MapHazard, Met, NewAccess, Owned, Regions, TensorMap};
use ringlane_task::{Access, DType, Dim, MAX_RANK, TaskId};
use ringlane_trace::deps::{
    DepsEdge, DepsTensor, EdgeCause, EdgeSource, Hazard, Origin, Overlap, TensorIndex,
};

use super::record::{ALLOC, BARRIER, MANUAL, StoredSubmit};
use super::sequence::Sequence;

/// A tensor argument: its tensor, and the view in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DerivedArg {
    pub(crate) index: u32,
    pub(crate) access: Access,
    pub(crate) tensor: TensorIndex,
    pub(crate) dtype: DType,
    pub(crate) offset: u64,
    pub(crate) rank: usize,
    pub(crate) dims: [Dim; MAX_RANK],
    root: u32,
    whole: bool,
}

impl DerivedArg {
    pub(crate) fn dims(&self) -> &[Dim] {
        &self.dims[..self.rank]
    }

    fn hazard(&self) -> MapHazard {
        if self.access.writes() { MapHazard::Write } else { MapHazard::Read }
    }
}

/// What one submit adds.
#[derive(Default)]
pub(crate) struct Derived {
    pub(crate) args: Vec<DerivedArg>,
    pub(crate) tensors: Vec<DepsTensor>,
    pub(crate) edges: Vec<DepsEdge>,
    /// Where each edge's producer stands in submission order, beside `edges`, while they are sorted.
    found: Vec<Found>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    seq: u64,
    arg: u32,
    hazard: u8,
    overlap: u8,
    creator: bool,
    tensor: u32,
}

/// An access that later ones may conflict with.
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
    root: u32,
    end: u64,
}

/// The derivation, fed one submit after another.
pub(crate) struct Derivation {
    map: TensorMap,
    archive: Archive,
    /// Tensors alive on each heap ring, by where they start.
    heaps: [BTreeMap<u64, KnownTensor>; RINGS],
    externals: Vec<Option<KnownTensor>>,
    external_bytes: Vec<u64>,
    tensors: u32,
    sequence: Sequence,
    /// Whom the submit was told to follow so far: each counts once.
    asked: HashSet<TaskId>,
}

impl Derivation {
    pub(crate) fn new(external_bytes: Vec<u64>) -> Self {
        Derivation {
            map: TensorMap::unforgetting(),
            archive: Archive::default(),
            heaps: Default::default(),
            externals: vec![None; external_bytes.len()],
            external_bytes,
            tensors: 0,
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
        let (head, task) = (&submit.head, TaskId(submit.head.task_id));
        self.sequence.push(head.seq, task);
        self.explicit(submit, derived);
        if head.kind == ALLOC {
            self.alloc(submit, derived);
        }
        for (index, argument) in
            recorded_args(if head.kind == ALLOC { &[] } else { submit.words }).enumerate()
        {
            if let Argument::Tensor(tensor) = argument {
                let arg = self.arg(index as u32, &tensor, derived);
                derived.args.push(arg);
            }
        }
        for i in 0..derived.args.len() {
            let arg = derived.args[i];
            if arg.access != Access::NoDep {
                self.access(head.seq, head.flags & MANUAL == 0, &arg, &mut derived.found);
            }
        }
        self.inferred(task, derived);
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
        let mut dims = [Dim::default(); MAX_RANK];
        let dtype = DType::from_code(submit.head.dtype as u8).unwrap_or(DType::UInt8);
        for (dim, word) in dims.iter_mut().zip(submit.words) {
            *dim = Dim { len: *word as u32, stride: (*word >> 32) as u32 };
        }
        let rank = submit.words.len().min(MAX_RANK);
        let elements: u64 = dims[..rank].iter().map(|d| d.len as u64).product();
        let bytes = elements * dtype.size_bytes() as u64;
        let known = self.make(submit.head.space.into(), submit.extra, bytes, derived);
        derived.args.push(DerivedArg {
            index: 0,
            access: Access::Output,
            tensor: known.index,
            dtype,
            offset: 0,
            rank,
            dims,
            root: known.root,
            whole: true,
        });
    }

    fn arg(&mut self, index: u32, tensor: &TensorArgument<'_>, derived: &mut Derived) -> DerivedArg {
        let (space, base) = (tensor.space(), tensor.tensor_base());
        let known = match tensor.access() {
            Access::Output => self.make(space, base, tensor.view().bytes(), derived),
            _ => self.known(space, base, derived),
        };
        let mut dims = [Dim::default(); MAX_RANK];
        dims[..tensor.dims().len()].copy_from_slice(tensor.dims());
        DerivedArg {
            index,
            access: tensor.access(),
            tensor: known.index,
            dtype: tensor.dtype(),
            offset: tensor.offset(),
            rank: tensor.dims().len(),
            dims,
            root: known.root,
            whole: tensor.is_whole(),
        }
    }

    /// A fresh tensor on a heap ring; those that lay there before are gone.
    fn make(&mut self, space: u32, base: u64, bytes: u64, derived: &mut Derived) -> KnownTensor {
        let heap = &mut self.heaps[space as usize % RINGS];
        let end = base + bytes.max(1);
        while let Some((&at, old)) = heap.range(..end).next_back().filter(|(_, old)| old.end > base) {
            let free = &mut self.archive.free;
            self.map.forget_root(old.root, |at| free.push(at));
            heap.remove(&at);
        }
        let known = KnownTensor { index: TensorIndex(self.tensors), root: self.map.new_root(), end };
        heap.insert(base, known);
        self.tensors += 1;
        derived.tensors.push(DepsTensor { tensor: known.index, bytes, origin: Origin::Heap });
        known
    }

    /// A tensor that exists.
    fn known(&mut self, space: u32, base: u64, derived: &mut Derived) -> KnownTensor {
        if (space as usize) < RINGS {
            return match self.heaps[space as usize].get(&base) {
                Some(known) => *known,
                // Its making was lost with a full buffer: it is known from here on.
                None => self.make(space, base, 1, derived),
            };
        }
        let external = space as usize - RINGS;
        if let Some(known) = self.externals.get(external).copied().flatten() {
            return known;
        }
        let known = KnownTensor { index: TensorIndex(self.tensors), root: self.map.new_root(), end: 0 };
        self.tensors += 1;
        let bytes = self.external_bytes.get(external).copied().unwrap_or(0);
        derived.tensors.push(DepsTensor { tensor: known.index, bytes, origin: Origin::External });
        if let Some(place) = self.externals.get_mut(external) {
            *place = Some(known);
        }
        known
    }

    /// Finds whom an access conflicts with, if that is inferred, and keeps it for those that follow.
    fn access(&mut self, seq: u64, inferred: bool, arg: &DerivedArg, found: &mut Vec<Found>) {
        let (element, hazard) = (arg.dtype.size_bytes() as u32, arg.hazard());
        let region = Region { offset: arg.offset, element, dims: arg.dims() };
        let new = NewAccess { root: arg.root, region, whole: arg.whole, hazard };
        let tile = self.map.locate(&new);
        if inferred {
            let (kept, mut freed) = (&self.archive.kept, Vec::new());
            self.map.look_up(&new, tile.as_ref(), &self.archive, |met| {
                let Met::Alive(met) = met else { return };
                let old = &kept[met.at as usize];
                let (wrote, reads) = (met.hazard == MapHazard::Write, arg.access.reads());
                if old.seq != seq {
                    found.push(Found {
                        seq: old.seq,
                        arg: arg.index,
                        hazard: if !wrote {
                            Hazard::War
                        } else if reads {
                            Hazard::Raw
                        } else {
                            Hazard::Waw
                        } as u8,
                        overlap: match met.how {
                            Relation::Covered => Overlap::Covered,
                            Relation::Possible => Overlap::Possible,
                            _ => Overlap::Partial,
                        } as u8,
                        creator: old.creates,
                        tensor: arg.tensor.0,
                    });
                }
                if met.how == Relation::Covered && hazard == MapHazard::Write {
                    freed.push(met.at);
                }
            });
            self.archive.free.append(&mut freed);
        }
        let (offset, rank, creates) = (arg.offset, arg.rank, arg.access == Access::Output);
        let at = self.archive.keep(Kept { seq, creates, element, offset, rank, dims: arg.dims });
        self.map.insert(&new, tile.as_ref(), &mut Owned::NOTHING.clone(), SlotIndex(0), at);
    }

    /// Turns what was found into edges, in an order that depends on nothing but the program.
    fn inferred(&self, succ: TaskId, derived: &mut Derived) {
        derived.found.sort_unstable();
        derived.found.dedup_by_key(|found| (found.seq, found.arg));
        for found in &derived.found {
            let Some(pred) = self.sequence.task(found.seq) else { continue };
            let source = if found.creator { EdgeSource::Creator } else { EdgeSource::TensorMap };
            let cause = EdgeCause {
                hazard: Hazard::from_code(found.hazard).unwrap_or(Hazard::Raw),
                arg: found.arg,
                tensor: TensorIndex(found.tensor),
                overlap: Overlap::from_code(found.overlap).unwrap_or(Overlap::Possible),
            };
            derived.edges.push(DepsEdge { pred, succ, source, cause: Some(cause) });
        }
    }
}
