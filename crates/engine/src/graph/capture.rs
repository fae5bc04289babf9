//! Submitting a program without running it: the ordinary submitter, with a chip that does nothing.

use core::cell::RefCell;
use std::any::Any;

use ringlane_task::{CallConfig, Capacities, RINGS, Ticks};

use super::Graph;
use super::freeze::freeze;
use super::tape::TapeProbe;
use crate::api::backend::{Backend, Inference, Site};
use crate::api::buffers::Buffers;
use crate::api::orch::Orch;
use crate::arena::Arena;
use crate::fault::Result;
use crate::live_runs::LiveRun;
use crate::memory::{Memory, MemoryResult, Space};
use crate::orchestrator::{Orchestrator, State};
use crate::seams::{Chip, Threading};
use crate::slot::SlotIndex;
use crate::submitter::IdleTable;
use crate::sync::Mutex;
use crate::table::Table;

/// Tasks of each scope depth that a graph can have by default; 64 bytes each, as far as they are used.
const TASKS: u32 = 1 << 20;
/// Edges to the tasks of each scope depth; 8 bytes each.
const EDGES: u32 = 1 << 22;
/// Bytes of arguments of each scope depth.
const ARGS: u32 = 1 << 28;
/// Bytes of the tensors of each scope depth before any share memory: addresses only.
const HEAP: u64 = 1 << 40;
/// Accesses that later tasks may depend on.
const ACCESSES: u32 = 1 << 22;

/// How a graph is captured.
#[derive(Clone, Copy, Debug)]
pub struct CaptureOptions {
    /// How large the graph may become; memory is used only as far as it is.
    pub capacities: Capacities,
    /// Bytes that the tensors that the graph makes may take together; edges are added where that is needed.
    pub memory_limit: Option<u64>,
    /// Cores of the chip that will run it.
    pub cores: usize,
}

impl CaptureOptions {
    /// The capacities of a configuration, where it sets any, else those of graphs.
    pub fn of(config: &CallConfig, cores: usize) -> Self {
        let (given, streamed) = (Capacities::of(config), Capacities::default());
        let narrow = |given: u32, streamed: u32, graph: u32| if given == streamed { graph } else { given };
        let each = |given: [u32; RINGS], streamed: [u32; RINGS], graph| {
            core::array::from_fn(|ring| narrow(given[ring], streamed[ring], graph))
        };
        let capacities = Capacities {
            task_window: each(given.task_window, streamed.task_window, TASKS),
            heap: [HEAP; RINGS],
            dep_pool: each(given.dep_pool, streamed.dep_pool, EDGES),
            args: each(given.args, streamed.args, ARGS),
            tensormap: narrow(given.tensormap, streamed.tensormap, ACCESSES),
        };
        CaptureOptions { capacities, memory_limit: None, cores }
    }
}

/// Memory of a graph's tensors, with what owns it.
pub type GraphMemory = (Space, Box<dyn Any + Send + Sync>);

/// Memory of the host, for a chip whose kernels use it.
pub fn host_memory(bytes: u64) -> Result<GraphMemory> {
    let arena = Arena::new(bytes, "the tensors of a captured graph")?;
    Ok((Space { base: arena.base(), bytes: arena.bytes() }, Box::new(arena)))
}

/// Captures an orchestration on these buffers: checks every submit, infers the dependencies, plans the memory, runs nothing.
/// `memory` reserves zeroed memory of the chip, aligned to a cache line, that only the graph uses.
///
/// # Errors
/// What a submit of a streamed run answers, and `ReadInCapture`, `GraphTooLarge`, `GraphFanIn` and `GraphMemory`.
pub fn capture<'e, R>(
    options: &CaptureOptions,
    site: Site,
    buffers: &'e Buffers<'_>,
    memory: impl FnOnce(u64) -> Result<GraphMemory>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> Result<(R, Graph)> {
    // SAFETY: nothing is read or written at these addresses: the chip's memory records what would be.
    let table = unsafe { Table::in_memory(&options.capacities, 1, next_address()) }?;
    let mut state = State::new(&table);
    let externals = (0..buffers.len()).map(|buffer| buffers.entry(buffer)).collect();
    let (probe, chip) = (TapeProbe::default(), CapturingChip::default());
    // SAFETY: the table is new, and nothing is published.
    let idle = unsafe { IdleTable::new(&table) };
    let mut orchestrator = Orchestrator::begin(LiveRun::begin()?, idle, &mut state, chip, &probe, buffers);
    orchestrator.enter_scope(site, Inference::Inherit)?;
    let value = Orch::on(&mut orchestrator, f);
    orchestrator.exit_scope()?;
    let fatal = orchestrator.take_fatal();
    let chip = core::mem::take(orchestrator.chip());
    drop(orchestrator);
    let value = fatal.map_or(value, Err)?;
    let graph = freeze(&table, options, probe.into_tape(), chip, externals, memory)?;
    Ok((value, graph))
}

/// Addresses of heap rings that nothing is behind: a ring for each multiple of [`RING_ADDRESSES`].
fn next_address() -> impl FnMut(u64) -> Result<Space> {
    let mut next = 0;
    move |bytes| {
        next += RING_ADDRESSES;
        Ok(Space { base: core::ptr::without_provenance_mut(next), bytes })
    }
}

/// Distance between the first addresses of two heap rings.
const RING_ADDRESSES: usize = 1 << 44;
const _: () = assert!(HEAP as usize <= RING_ADDRESSES);

/// Bytes that the orchestration uploaded: the ring, where in it, and the bytes.
#[derive(Debug, Default)]
pub(super) struct Uploads(pub(super) Vec<(usize, u64, Box<[u8]>)>);

/// A chip that takes tasks and never runs one.
#[derive(Default)]
pub(super) struct CapturingChip {
    pub(super) uploads: Mutex<Uploads>,
    /// Scalars with names: the name, and the record's ring and first word.
    pub(super) named: RefCell<Vec<(&'static str, usize, u32)>>,
}

impl Chip for CapturingChip {
    const CAPTURES: bool = true;

    fn memory(&self) -> impl Memory {
        CapturedMemory(&self.uploads)
    }

    fn publish(&mut self, _: SlotIndex) {}

    fn relax(&mut self) {}

    fn named_scalar(&mut self, name: &'static str, ring: usize, at: u32) {
        self.named.get_mut().push((name, ring, at));
    }

    fn now(&self) -> Ticks {
        Ticks(0)
    }

    fn threading(&self) -> Threading {
        Threading::Single
    }
}

/// Memory that is only written down. A replay zeroes what has to be zero, so that is left out here.
struct CapturedMemory<'c>(&'c Mutex<Uploads>);

impl Memory for CapturedMemory<'_> {
    fn host_sees(&self) -> bool {
        // External buffers are neither copied nor accessed.
        true
    }

    unsafe fn zero(&self, _: *mut u8, _: usize) -> MemoryResult {
        Ok(())
    }

    unsafe fn copy_in(&self, from: &[u8], at: *mut u8) -> MemoryResult {
        let (ring, offset) = (at.addr() / RING_ADDRESSES - 1, at.addr() % RING_ADDRESSES);
        self.0.lock().expect("no panic while an upload is noted").0.push((ring, offset as u64, from.into()));
        Ok(())
    }

    unsafe fn copy_out(&self, _: *const u8, _: &mut [u8]) -> MemoryResult {
        unreachable!("nothing is read during a capture")
    }
}
