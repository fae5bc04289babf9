//! From a capture to a graph: the memory plan, and a table of exactly the size that the graph has.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringlane_task::{Access, Capacities, RINGS, TensorView};

use super::capture::{CaptureOptions, CapturingChip, GraphMemory};
use super::plan::{self, PlannedTensor, Tasks};
use super::tape::{Kind, Tape};
use super::{Captured, Graph, Init, Param};
use crate::api::arg::NO_SPLIT;
use crate::api::args::{Record, decode, move_tensor, tensor_records};
use crate::api::buffers::Permission;
use crate::fault::{Fault, Result};
use crate::limits::ALIGNMENT;
use crate::slot::{EdgeKind, SlotIndex, TaskFlags, TaskRecord};
use crate::table::Table;

/// Tensors that tasks of a capture make: of each ring those that it has, by their first byte.
struct Tensors {
    /// First byte in the ring's heap, and number among all tensors.
    by_ring: [Vec<(u64, u32)>; RINGS],
    planned: Vec<PlannedTensor>,
    /// What the first user initializes, if anything.
    inits: Vec<Option<TensorView>>,
    spaces: Vec<u32>,
}

impl Tensors {
    fn add(&mut self, space: u32, base: u64, view: &TensorView, task: u32, init: Option<TensorView>) -> u32 {
        let number = self.planned.len() as u32;
        self.by_ring[space as usize].push((base, number));
        let bytes = view.bytes().next_multiple_of(ALIGNMENT);
        self.planned.push(PlannedTensor { bytes, creator: task, last_user: task });
        self.inits.push(init);
        self.spaces.push(space);
        number
    }

    /// The tensor that starts here; `None` for an external buffer.
    fn at(&self, space: u32, base: u64) -> Option<u32> {
        let ring = self.by_ring.get(space as usize)?;
        let found = ring.binary_search_by_key(&base, |&(base, _)| base);
        Some(ring[found.expect("every tensor of a heap ring was made by a task")].1)
    }
}

/// What is known of each task, by its number in submission order.
struct Known<'t> {
    table: &'t Table,
    records: Vec<TaskRecord>,
    predecessors: Vec<Vec<u32>>,
    /// The tensors that each uses, external buffers left out.
    uses: Vec<Vec<u32>>,
}

impl<'t> Known<'t> {
    fn of(table: &'t Table, tape: &Tape) -> Self {
        // SAFETY: the capture is over, and nothing else uses its table.
        let record = |slot: SlotIndex| unsafe { table.slots[slot.0 as usize].record() };
        let records: Vec<TaskRecord> = tape.submits.iter().map(|submit| record(submit.slot)).collect();
        let number = |task| record(table.slot_named(task)).seq as u32;
        let predecessors = tape
            .submits
            .iter()
            .map(|submit| tape.predecessors(submit).iter().map(|&task| number(task)).collect());
        let (predecessors, uses) = (predecessors.collect(), vec![Vec::new(); records.len()]);
        Known { table, records, predecessors, uses }
    }

    fn words(&self, task: usize) -> &'t [u64] {
        // SAFETY: no task of the capture is ever reclaimed.
        unsafe { self.table.words(&self.records[task]) }
    }

    /// The tensors of the graph, with who uses them.
    fn tensors(&mut self, tape: &Tape) -> Tensors {
        let mut tensors = Tensors {
            by_ring: Default::default(),
            planned: Vec::new(),
            inits: Vec::new(),
            spaces: Vec::new(),
        };
        for (task, submit) in tape.submits.iter().enumerate() {
            if let Kind::Alloc { space, base, view, .. } = &submit.kind {
                let made = tensors.add(*space, *base, view, task as u32, Some(**view));
                self.uses[task].push(made);
            }
            for record in tensor_records(self.words(task)) {
                let tensor = if record.access() == Access::Output {
                    let shared = self.records[task].blocks > 1 && record.split() == NO_SPLIT;
                    let view = TensorView::from_parts(record.dtype(), 0, record.dims, u64::MAX);
                    let view = view.expect("checked at submit");
                    Some(tensors.add(record.space, record.base, &view, task as u32, shared.then_some(view)))
                } else {
                    tensors.at(record.space, record.base)
                };
                if let Some(tensor) = tensor.filter(|tensor| !self.uses[task].contains(tensor)) {
                    self.uses[task].push(tensor);
                    tensors.planned[tensor as usize].last_user = task as u32;
                }
            }
        }
        tensors
    }

    /// Decides which task initializes each tensor that the orchestration made: the first one that uses it if all others follow
    /// that one; else the tensor's own task, which the first users then follow.
    fn assign_inits(&mut self, tape: &Tape, tensors: &mut Tensors) {
        let mut first_users: Vec<Vec<u32>> = vec![Vec::new(); tensors.planned.len()];
        for task in 0..self.uses.len() {
            for &tensor in &self.uses[task] {
                let creator = tensors.planned[tensor as usize].creator;
                let follows_user = |&p: &u32| p != creator && self.uses[p as usize].contains(&tensor);
                if creator != task as u32 && !self.predecessors[task].iter().any(follows_user) {
                    first_users[tensor as usize].push(task as u32);
                }
            }
        }
        for (tensor, users) in first_users.into_iter().enumerate() {
            let creator = tensors.planned[tensor].creator;
            if !matches!(tape.submits[creator as usize].kind, Kind::Alloc { .. }) {
                continue;
            }
            if let [first] = users[..] {
                tensors.planned[tensor].creator = first;
                self.uses[creator as usize].clear();
                continue;
            }
            for user in users {
                if !self.predecessors[user as usize].contains(&creator) {
                    self.predecessors[user as usize].push(creator);
                }
            }
        }
    }
}

/// Plans the memory of what was captured, and builds the graph.
pub(super) fn freeze(
    captured: &Table,
    options: &CaptureOptions,
    mut tape: Tape,
    chip: CapturingChip,
    externals: Vec<(TensorView, Permission)>,
    memory: impl FnOnce(u64) -> Result<GraphMemory>,
) -> Result<Graph> {
    let mut known = Known::of(captured, &tape);
    let mut tensors = known.tensors(&tape);
    known.assign_inits(&tape, &mut tensors);
    let (predecessors, uses) = (&known.predecessors, &known.uses);
    let tasks = Tasks { predecessors, uses };
    let limit = options.memory_limit;
    let planned = plan::plan(&tasks, &tensors.planned, limit).map_err(|unfit| {
        let free = plan::plan(&tasks, &tensors.planned, None).map_or(0, |free| free.plan.lower_bound);
        Fault::GraphMemory { needs: unfit.bytes.max(free), limit: limit.unwrap_or(0), lower_bound: free }
    })?;
    for &(from, to) in &planned.edges {
        known.predecessors[to as usize].push(from);
    }
    let edges = known.predecessors.iter().map(|list| list.len() as u64).sum();
    let capacities = exact_capacities(&known, &tape);
    let (space, memory) = memory(planned.plan.bytes.max(ALIGNMENT))?;
    // SAFETY: the rings share the planned memory, which the plan divides among their tensors; only the graph uses it.
    let mut table = unsafe { Table::in_memory(&capacities, options.cores, |_| Ok(space)) }?;
    table.kernels.copy_from(&captured.kernels);
    table.sites.copy_from(&captured.sites);
    let uploads = chip.uploads.into_inner().expect("no panic while an upload is noted").0;
    let inits = inits_of(&known, &table, &tensors, &planned.offsets, uploads);
    let slots = fill(&mut table, &known, &tensors, &planned.offsets, &inits);
    let mut tasks = [0; RINGS];
    known.records.iter().for_each(|record| tasks[record.ring as usize] += 1);
    table.captured = Some(Captured { inits, tasks });
    for (submit, &slot) in tape.submits.iter_mut().zip(&slots) {
        submit.slot = slot;
        if let Kind::Alloc { space, base, .. } = &mut submit.kind {
            *base = tensors.at(*space, *base).map_or(*base, |tensor| planned.offsets[tensor as usize]);
        }
    }
    let roots =
        slots.iter().zip(&known.predecessors).filter(|(_, list)| list.is_empty()).map(|(&slot, _)| slot);
    let params = params_of(&known, chip.named.into_inner());
    let words: u64 = known.records.iter().map(|record| u64::from(record.args_words)).sum();
    Ok(Graph {
        roots: roots.collect(),
        bytes: 64 * slots.len() as u64 + 8 * words + 8 * edges,
        tasks: slots,
        table: Arc::new(table),
        tape,
        externals,
        params,
        plan: planned.plan,
        edges,
        mean_task_ns: None,
        revision: 0,
        _memory: memory,
    })
}

/// The smallest capacities that hold the graph: of tensors, what they took in the capture, where none shared memory.
fn exact_capacities(known: &Known<'_>, tape: &Tape) -> Capacities {
    let mut capacities = Capacities {
        task_window: [4; RINGS],
        heap: tape.heap_bytes().map(|bytes| bytes.max(ALIGNMENT).next_power_of_two()),
        dep_pool: [1; RINGS],
        args: [8; RINGS],
        tensormap: tape.accesses().max(1).next_power_of_two() as u32,
    };
    let (mut tasks, mut edges) = ([0u64; RINGS], [0u64; RINGS]);
    for (record, predecessors) in known.records.iter().zip(&known.predecessors) {
        let ring = record.ring as usize;
        tasks[ring] += 1;
        edges[ring] += predecessors.len() as u64;
        let end = annotated_end(known.table, record) * 8;
        capacities.args[ring] = capacities.args[ring].max(end.next_power_of_two() as u32);
    }
    for ring in 0..RINGS {
        capacities.task_window[ring] = tasks[ring].max(4).next_power_of_two() as u32;
        capacities.dep_pool[ring] = edges[ring].max(1).next_power_of_two() as u32;
    }
    capacities
}

/// One past the last word of a task's arguments and annotations.
fn annotated_end(table: &Table, record: &TaskRecord) -> u64 {
    // SAFETY: no task of the capture is ever reclaimed.
    let annotations = unsafe { table.annotation_words(record) };
    u64::from(record.args_at) + u64::from(record.args_words) + annotations as u64
}

/// What tasks initialize, in the order of their slots.
fn inits_of(
    known: &Known<'_>,
    table: &Table,
    tensors: &Tensors,
    offsets: &[u64],
    uploads: Vec<(usize, u64, Box<[u8]>)>,
) -> Vec<Init> {
    let mut contents: BTreeMap<u32, Box<[u8]>> = uploads
        .into_iter()
        .filter_map(|(ring, base, bytes)| Some((tensors.at(ring as u32, base)?, bytes)))
        .collect();
    let slot_of = |task: u32| {
        let record = &known.records[task as usize];
        table.slot_of(record.ring as usize, record.local as u64)
    };
    let mut inits: Vec<Init> = (0u32..)
        .zip(&tensors.inits)
        .filter_map(|(tensor, init)| {
            let view = init.as_ref()?.shifted(offsets[tensor as usize]);
            let task = slot_of(tensors.planned[tensor as usize].creator);
            let space = tensors.spaces[tensor as usize];
            Some(Init { task, space, view, bytes: contents.remove(&tensor) })
        })
        .collect();
    inits.sort_by_key(|init| init.task);
    inits
}

/// Fills the graph's table. Gives the slot of each task, in submission order.
fn fill(
    table: &mut Table,
    known: &Known<'_>,
    tensors: &Tensors,
    offsets: &[u64],
    inits: &[Init],
) -> Vec<SlotIndex> {
    let slot = |record: &TaskRecord| table.slot_of(record.ring as usize, record.local as u64);
    let slots: Vec<SlotIndex> = known.records.iter().map(slot).collect();
    let fan_outs = fan_outs(known);
    let mut next_edge = 0;
    for (task, record) in known.records.iter().enumerate() {
        let mut record = TaskRecord { tag: 0x80, ..*record };
        if inits.binary_search_by_key(&slots[task], |init| init.task).is_ok() {
            record.flags |= TaskFlags::INITS;
        }
        let successors = &fan_outs[task];
        let first = (!successors.is_empty()).then_some(next_edge);
        for (i, &(successor, kind)) in successors.iter().enumerate() {
            let next = (i + 1 < successors.len()).then_some(next_edge + 1);
            // SAFETY: the table is new: nobody else uses it.
            unsafe { table.edges[next_edge as usize].capture(slots[successor as usize], kind, next) };
            next_edge += 1;
        }
        // SAFETY: as above.
        unsafe {
            table.slots[slots[task].0 as usize].capture(record, known.predecessors[task].len() as u32, first);
        }
        copy_args(table, known, task, tensors, offsets);
    }
    slots
}

/// The successors of each task, in submission order, with the kinds of the edges.
fn fan_outs(known: &Known<'_>) -> Vec<Vec<(u32, EdgeKind)>> {
    let mut fan_outs: Vec<Vec<(u32, EdgeKind)>> = vec![Vec::new(); known.records.len()];
    for (task, predecessors) in (0u32..).zip(&known.predecessors) {
        for &predecessor in predecessors {
            fan_outs[predecessor as usize].push((task, EdgeKind::Data));
        }
    }
    for (record, fan_out) in known.records.iter().zip(&mut fan_outs) {
        let slot = known.table.slot_of(record.ring as usize, record.local as u64);
        for (successor, kind) in known.table.slots[slot.0 as usize].successors(&known.table.edges) {
            if kind == EdgeKind::Explicit {
                // SAFETY: the capture is over, and nothing else uses its table.
                let seq = unsafe { known.table.slots[successor.0 as usize].record() }.seq as u32;
                let edge = fan_out.iter_mut().find(|(task, _)| *task == seq);
                edge.expect("every edge was shown to the capture's probe").1 = kind;
            }
        }
    }
    fan_outs
}

/// Copies the arguments and annotations of a task, with tensors where the plan has them.
fn copy_args(table: &Table, known: &Known<'_>, task: usize, tensors: &Tensors, offsets: &[u64]) {
    let record = &known.records[task];
    let (ring, at) = (record.ring as usize, record.args_at);
    let count = (annotated_end(known.table, record) - u64::from(at)) as usize;
    // SAFETY: they were written for the task, which is never reclaimed.
    let from = unsafe { known.table.args_words(ring, at, count) };
    // SAFETY: the table is new: nobody else uses it.
    let words = unsafe { table.captured_words(ring, at, count) };
    words.copy_from_slice(from);
    let mut rest = &mut words[..record.args_words as usize];
    while !rest.is_empty() {
        let (place, used) = match decode(rest) {
            (Record::Tensor(tensor), used) => (tensors.at(tensor.space, tensor.base), used),
            (Record::Scalar(_), used) => (None, used),
        };
        if let Some(tensor) = place {
            move_tensor(rest, offsets[tensor as usize]);
        }
        rest = &mut rest[used..];
    }
}

/// The scalars with names.
fn params_of(known: &Known<'_>, named: Vec<(&'static str, usize, u32)>) -> BTreeMap<&'static str, Param> {
    let mut params = BTreeMap::<&'static str, Param>::new();
    for (name, ring, at) in named {
        // SAFETY: it was written there for a task, which is never reclaimed.
        let (Record::Scalar(scalar), _) = decode(unsafe { known.table.args_words(ring, at, 2) }) else {
            continue;
        };
        params.entry(name).or_insert(Param { scalar, records: Vec::new() }).records.push((ring, at));
    }
    params
}
