//! Captured graphs: a program is submitted once, without running anything, and then run as often as one likes.
//!
//! ```text
//! orchestration ──capture──▶ a table with every task ──plan, freeze──▶ Graph ──replay──▶ the chip's cores
//! ```
//! A graph is a table like that of a streamed run, in which every task of the program has a slot and nothing is reclaimed. So
//! submits are checked and dependencies inferred by the same code ([`capture`]), and cores run and complete the tasks by the same
//! code. What differs: the memory of tensors is planned (`plan.rs`), a task that completes gets ready for the next replay
//! at once (`Slot::rearm`), and memory that the orchestration made (`o.alloc`, `o.upload`) is initialized
//! by the first task that uses it.
//!
//! A replay shows a probe the submits and scopes of the capture first, so every artifact is that of a streamed run.

mod capture;
mod freeze;
mod order;
mod plan;
mod replay;
mod tape;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use ringlane_task::{Element, RINGS, Scalar, TensorView};

use crate::api::args::set_scalar;
use crate::api::buffers::{Buffers, Permission};
use crate::fault::{Fault, Result};
use crate::slot::SlotIndex;
use crate::table::Table;
use tape::Tape;

pub use capture::{CaptureOptions, GraphMemory, capture, host_memory};
pub use plan::MemoryPlan;
pub use replay::{InOrder, replay, replay_at_once};

/// A program that was captured. Made by [`capture`]; run by a chip's replay.
pub struct Graph {
    pub(crate) table: Arc<Table>,
    tape: Tape,
    /// Every task, in submission order.
    tasks: Vec<SlotIndex>,
    /// Those that follow no other.
    roots: Vec<SlotIndex>,
    externals: Vec<(TensorView, Permission)>,
    params: BTreeMap<&'static str, Param>,
    plan: MemoryPlan,
    edges: u64,
    /// Bytes of slots, arguments and edges.
    bytes: u64,
    mean_task_ns: Option<u32>,
    /// How often scalars were changed.
    revision: u64,
    /// Owns the memory of the tensors.
    _memory: Box<dyn Any + Send + Sync>,
}

/// A scalar with a name: its records, by ring and word.
#[derive(Debug)]
struct Param {
    scalar: Scalar,
    records: Vec<(usize, u32)>,
}

/// What a captured graph adds to its table.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// In the order of their tasks' slots.
    inits: Vec<Init>,
    /// Number of tasks on each ring.
    pub(crate) tasks: [u32; RINGS],
}

/// Memory that a task initializes before its first block.
#[derive(Debug)]
pub(crate) struct Init {
    task: SlotIndex,
    pub(crate) space: u32,
    /// What is initialized, counted in the space; contiguous.
    pub(crate) view: TensorView,
    /// The contents; zeros without them.
    pub(crate) bytes: Option<Box<[u8]>>,
}

impl Captured {
    /// What a task initializes.
    pub(crate) fn inits_of(&self, task: SlotIndex) -> impl Iterator<Item = &Init> {
        let first = self.inits.partition_point(|init| init.task < task);
        self.inits[first..].iter().take_while(move |init| init.task == task)
    }
}

impl Graph {
    /// Number of tasks, those without a kernel included.
    pub fn tasks(&self) -> u64 {
        self.tasks.len() as u64
    }

    /// Number of edges, those that a memory limit added included.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Bytes of the graph itself: slots, arguments and edges, without the memory of tensors.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the memory of its tensors comes to.
    pub fn memory(&self) -> MemoryPlan {
        self.plan
    }

    /// The table that its replays run on.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Changes the value of every scalar that was submitted as `param(name, …)`.
    pub fn set<T: Element>(&mut self, name: &str, value: T) -> Result<()> {
        self.set_scalar(name, Scalar::new(value))
    }

    /// As [`set`](Self::set), of a value whose type is known only at run time.
    pub fn set_scalar(&mut self, name: &str, scalar: Scalar) -> Result<()> {
        let known = || self.params.iter().map(|(name, param)| format!("{name} ({})", param.scalar.dtype()));
        let param = self.params.get(name).filter(|param| param.scalar.dtype() == scalar.dtype());
        let Some(param) = param else {
            let name = format!("{name:?} ({})", scalar.dtype());
            return Err(Fault::UnknownParam { name, known: known().collect() }.into());
        };
        for &(ring, at) in &param.records {
            // SAFETY: `&mut self`: no replay goes on, and the record was written at this place.
            set_scalar(unsafe { self.table.captured_words(ring, at, 2) }, scalar);
        }
        self.params.get_mut(name).expect("found above").scalar = scalar;
        self.revision += 1;
        Ok(())
    }

    /// The names of its scalars, with their values.
    pub fn params(&self) -> impl Iterator<Item = (&'static str, Scalar)> {
        self.params.iter().map(|(&name, param)| (name, param.scalar))
    }

    /// How often its scalars were changed: a chip that keeps a copy of the graph compares it.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Every task, in submission order. For chips that run the graph by a copy of their own.
    pub fn order(&self) -> &[SlotIndex] {
        &self.tasks
    }

    /// The tasks that follow a task. Between replays only.
    pub fn successors(&self, task: SlotIndex) -> impl Iterator<Item = SlotIndex> {
        self.table.slots[task.0 as usize].successors(&self.table.edges).map(|(successor, _)| successor)
    }

    /// What a task initializes before its first block: the space, the first byte in it, the number of bytes, and the contents,
    /// which are zeros without them.
    pub fn inits(&self, task: SlotIndex) -> impl Iterator<Item = (u32, u64, u64, Option<&[u8]>)> {
        let all = self.table.captured.iter().flat_map(move |captured| captured.inits_of(task));
        all.map(|init| (init.space, init.view.offset_bytes(), init.view.bytes(), init.bytes.as_deref()))
    }

    /// What a task took in the last replay, roughly, if the chip measured it: for its choice of how to run the next one.
    pub fn mean_task_ns(&self) -> Option<u32> {
        self.mean_task_ns
    }

    /// Takes note of what a task took.
    pub fn set_mean_task_ns(&mut self, ns: u32) {
        self.mean_task_ns = Some(ns);
    }

    /// Refuses a chip with another number of cores than the graph was captured for.
    pub fn check_cores(&self, cores: usize) -> Result<()> {
        let captured = self.table.board.cores();
        if captured == cores { Ok(()) } else { Err(Fault::ForeignGraph { captured, cores }.into()) }
    }

    /// Refuses buffers that are not like those of the capture.
    fn check_buffers(&self, buffers: &Buffers<'_>) -> Result<()> {
        let given =
            (0..buffers.len()).map(|buffer| Some(buffers.entry(buffer))).chain(std::iter::repeat(None));
        let captured = self.externals.iter().map(|external| Some(*external)).chain(std::iter::repeat(None));
        let count = buffers.len().max(self.externals.len());
        for (buffer, (captured, given)) in captured.zip(given).take(count).enumerate() {
            if captured != given {
                let (captured, given) = (described(captured), described(given));
                return Err(Fault::BufferMismatch { buffer, captured, given }.into());
            }
        }
        Ok(())
    }
}

impl core::fmt::Debug for Graph {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Graph({} tasks, {} edges)", self.tasks(), self.edges())
    }
}

/// A buffer, in words.
fn described(buffer: Option<(TensorView, Permission)>) -> String {
    let Some((view, permission)) = buffer else { return "no buffer".to_string() };
    let shape: Vec<u32> = view.dims().iter().map(|dim| dim.len).collect();
    let permission = match permission {
        Permission::Read => "read-only",
        Permission::ReadWrite => "read-write",
    };
    format!("{} {shape:?}, {permission}", view.dtype())
}
