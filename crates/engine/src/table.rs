//! The table that the submitter and all cores share: slots, edges, memory, names, fates.
//!
//! Everything in it is indices and plain data; addresses appear only where a kernel is called.

use core::cell::UnsafeCell;
use core::panic::Location;
use std::sync::OnceLock;

use ringlane_task::{Capacities, Resource, RingIndex, TaskId};

use crate::api::annotations::Annotations;
use crate::api::kernel::Kernel;
use crate::arena::Arena;
use crate::board::Board;
use crate::fault::{Error, Result};
use crate::graph::Captured;
use crate::intern::Names;
use crate::limits::{KERNELS_MAX, RINGS, SITES_MAX};
use crate::memory::{Space, Spaces};
use crate::pace::Pace;
use crate::poison::Poison;
use crate::report::{RunningTask, Status};
use crate::slot::{DoneTag, Edge, Slot, SlotIndex, TaskRecord, lap_tag};
use crate::sync::{AtomicU32, Mutex, Ordering, Reserved, prefetch};

/// Why tasks are no longer run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stop {
    /// They are.
    Running = 0,
    /// Someone asked for it.
    Interrupted = 1,
    /// The runtime stopped the run.
    Fatal = 2,
}

/// The first failed task of a run, in submission order.
#[derive(Clone, Debug)]
pub struct FirstFailure {
    pub(crate) record: TaskRecord,
    /// Which of its blocks, over all its kernels.
    pub(crate) block: u32,
    pub(crate) kernel: u16,
    pub(crate) label: Option<String>,
    pub(crate) cause: String,
}

/// What all threads of a run share.
#[derive(Debug)]
pub struct Table {
    pub(crate) slots: Reserved<Slot>,
    pub(crate) done: Reserved<DoneTag>,
    pub(crate) edges: Reserved<Edge>,
    pub(crate) args: [Arena; RINGS],
    pub(crate) heap: [Arena; RINGS],
    pub(crate) capacities: Capacities,
    /// First slot and first edge of each ring.
    pub(crate) slot_base: [u32; RINGS],
    pub(crate) edge_base: [u32; RINGS],
    /// log2 of each ring's slots.
    pub(crate) slot_shift: [u32; RINGS],
    /// Changed only between runs, when no task exists; read by cores that hold a task.
    spaces: UnsafeCell<Spaces>,
    pub(crate) kernels: Names<Kernel>,
    pub(crate) sites: Names<Location<'static>>,
    pub(crate) poison: Poison,
    pub(crate) failure: Mutex<Option<FirstFailure>>,
    stop: AtomicU32,
    /// Why the chip ended the run.
    aborted: Mutex<Option<Error>>,
    /// How long blocks take, where that is not just the time of their kernels.
    pace: OnceLock<Pace>,
    /// What other threads may read.
    pub board: Board,
    /// What a captured graph adds.
    pub(crate) captured: Option<Captured>,
}

// SAFETY: `spaces` is the only field that is not `Sync` by itself; see its comment.
unsafe impl Sync for Table {}
// SAFETY: as above; the table owns its memory.
unsafe impl Send for Table {}

impl Table {
    /// Reserves a table with these capacities for `cores` cores.
    pub fn new(capacities: &Capacities, cores: usize) -> Result<Self> {
        let heap = |bytes| Arena::new(bytes, "a heap ring");
        Self::with_heap(capacities, cores, heap)
    }

    /// Sets how long blocks take, in all runs; for chips whose blocks take the time they take. Only the first call counts.
    pub fn set_pace(&self, pace: Pace) {
        if !pace.is_empty() {
            let _ = self.pace.set(pace);
        }
    }

    /// How long blocks take, where that is not just the time of their kernels.
    #[inline]
    pub fn pace(&self) -> Option<&Pace> {
        self.pace.get()
    }

    /// As [`new`](Self::new), with the heap rings in memory of the chip: `heap` gives as many bytes as it is asked for. The
    /// host need not see them; the table only computes addresses.
    ///
    /// # Safety
    /// Each space is in the [`Memory`](crate::memory::Memory) of every chip that the table is used with. It is zeroed, aligned
    /// to a cache line, there as long as the table, and nobody else's.
    pub unsafe fn in_memory(
        capacities: &Capacities,
        cores: usize,
        mut heap: impl FnMut(u64) -> Result<Space>,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        Self::with_heap(capacities, cores, |bytes| Ok(unsafe { Arena::of(heap(bytes)?) }))
    }

    fn with_heap(
        capacities: &Capacities,
        cores: usize,
        heap: impl FnMut(u64) -> Result<Arena>,
    ) -> Result<Self> {
        let heap: Result<Vec<Arena>> = capacities.heap.into_iter().map(heap).collect();
        let args = capacities.args.into_iter().map(|bytes| Arena::new(bytes.into(), "an argument ring"));
        let args: Result<Vec<Arena>> = args.collect();
        let window = capacities.task_window;
        let slots = window.iter().map(|&n| n as usize).sum();
        Ok(Table {
            slots: Reserved::new(slots, "task windows")?,
            done: Reserved::new(slots, "task windows")?,
            edges: Reserved::new(capacities.dep_pool.iter().map(|&n| n as usize).sum(), "dependency pools")?,
            args: args?.try_into().expect("one arena for each ring"),
            heap: heap?.try_into().expect("one arena for each ring"),
            capacities: *capacities,
            slot_base: prefix_sums(window),
            edge_base: prefix_sums(capacities.dep_pool),
            slot_shift: window.map(u32::ilog2),
            spaces: UnsafeCell::default(),
            kernels: Names::new(KERNELS_MAX)?,
            sites: Names::new(SITES_MAX)?,
            poison: Poison::default(),
            failure: Mutex::new(None),
            stop: AtomicU32::new(0),
            pace: OnceLock::new(),
            aborted: Mutex::new(None),
            board: Board::new(cores),
            captured: None,
        })
    }

    /// Makes the table ready for a run with these external spaces.
    ///
    /// # Safety
    /// No task exists: no core holds one and none is queued.
    pub(crate) unsafe fn begin(&self, externals: impl Iterator<Item = Space>) {
        let heaps = self.heap.iter().map(|a| Space { base: a.base(), bytes: a.bytes() });
        // SAFETY: the caller's promise: nobody reads the spaces now.
        let spaces = unsafe { &mut *self.spaces.get() };
        spaces.0.clear();
        spaces.0.extend(heaps.chain(externals));
        self.kernels.clear();
        self.sites.clear();
        self.poison.clear();
        *self.failure.lock().expect("no panic while a failure is noted") = None;
        *self.aborted.lock().expect("no panic while a fault is noted") = None;
        self.board.begin();
    }

    /// Makes the table of a captured graph ready for a replay with these external spaces.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    pub(crate) unsafe fn begin_replay(&self, externals: impl Iterator<Item = Space>) {
        // SAFETY: the caller's promise: nobody reads the spaces now.
        let spaces = unsafe { &mut *self.spaces.get() };
        spaces.0.truncate(RINGS);
        if spaces.0.is_empty() {
            spaces.0.extend(self.heap.iter().map(|a| Space { base: a.base(), bytes: a.bytes() }));
        }
        spaces.0.extend(externals);
        self.poison.clear();
        *self.failure.lock().expect("no panic while a failure is noted") = None;
        *self.aborted.lock().expect("no panic while a fault is noted") = None;
        self.board.begin();
        self.done.iter().for_each(|tag| tag.set(0));
    }

    /// The address ranges of the run.
    ///
    /// # Safety
    /// The caller holds a task or is the submitter.
    #[inline]
    pub(crate) unsafe fn spaces(&self) -> &Spaces {
        // SAFETY: while a task exists the spaces are not changed.
        unsafe { &*self.spaces.get() }
    }

    /// The slot of a task of a ring.
    #[inline]
    pub(crate) fn slot_of(&self, ring: usize, position: u64) -> SlotIndex {
        SlotIndex(self.slot_base[ring] + (position as u32 & (self.capacities.task_window[ring] - 1)))
    }

    /// The slot of a task by its id.
    #[inline]
    pub(crate) fn slot_named(&self, task: TaskId) -> SlotIndex {
        self.slot_of(task.ring().0 as usize, task.local() as u64)
    }

    /// The ring a slot belongs to.
    #[inline]
    pub(crate) fn ring_of(&self, slot: SlotIndex) -> usize {
        self.slot_base[1..].iter().filter(|&&base| slot.0 >= base).count()
    }

    /// The id of the task with this number in a slot.
    #[inline]
    pub(crate) fn id_of(&self, slot: SlotIndex, local: u32) -> TaskId {
        TaskId::new(RingIndex(self.ring_of(slot) as u8), local)
    }

    /// Whether the ring's task is done and nothing of it is used any more.
    #[inline]
    pub(crate) fn is_done(&self, ring: usize, position: u64) -> bool {
        self.done[self.slot_of(ring, position).0 as usize].is(lap_tag(position, self.slot_shift[ring]))
    }

    /// The first task of a ring, from `position` up to `end`, that is not done or of which something is still used; `end` if
    /// there is none.
    #[inline]
    pub(crate) fn done_up_to(&self, ring: usize, mut position: u64, end: u64) -> u64 {
        let (first, shift) = (self.slot_base[ring] as usize, self.slot_shift[ring]);
        let tags = &self.done[first..first + (1 << shift)];
        let index = |position: u64| position as usize & (tags.len() - 1);
        while position < end && tags[index(position)].is(lap_tag(position, shift)) {
            position += 1;
        }
        position
    }

    /// The argument records of a task.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter and the task is not reclaimed.
    #[inline]
    pub(crate) unsafe fn words(&self, record: &TaskRecord) -> &[u64] {
        // SAFETY: the submitter wrote that many words there before it published the task; they stay until it is reclaimed.
        unsafe { self.args_words(record.ring as usize, record.args_at, record.args_words as usize) }
    }

    /// Words of a ring's argument memory.
    ///
    /// # Safety
    /// They were written for a task, and as long as they are borrowed the task is not reclaimed.
    #[inline]
    pub(crate) unsafe fn args_words(&self, ring: usize, at: u32, count: usize) -> &[u64] {
        debug_assert!((u64::from(at) + count as u64) * 8 <= self.args[ring].bytes());
        let base = self.args[ring].base().cast::<u64>();
        // SAFETY: only words of the ring are given to tasks; the caller's promise.
        unsafe { core::slice::from_raw_parts(base.add(at as usize), count) }
    }

    /// Words of a captured graph's arguments, to be changed.
    ///
    /// # Safety
    /// They are inside the ring's argument memory, and nobody else uses them.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn captured_words(&self, ring: usize, at: u32, count: usize) -> &mut [u64] {
        debug_assert!((u64::from(at) + count as u64) * 8 <= self.args[ring].bytes());
        let base = self.args[ring].base().cast::<u64>();
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(base.add(at as usize), count) }
    }

    /// How many tasks of a captured graph are on a ring.
    pub(crate) fn captured_tasks(&self, ring: usize) -> u32 {
        self.captured.as_ref().map_or(0, |captured| captured.tasks[ring])
    }

    /// How many words the name and the duration of a task take.
    ///
    /// # Safety
    /// As for [`words`](Self::words).
    pub(crate) unsafe fn annotation_words(&self, record: &TaskRecord) -> usize {
        if !record.flags.is_annotated() {
            return 0;
        }
        let at = record.args_at + u32::from(record.args_words);
        // SAFETY: the caller's promise; the first word is the header.
        Annotations::words_from(unsafe { self.args_words(record.ring as usize, at, 1) }[0])
    }

    /// The name and the duration that a task was given.
    ///
    /// # Safety
    /// As for [`words`](Self::words).
    pub(crate) unsafe fn annotations(&self, record: &TaskRecord) -> Annotations<'_> {
        if !record.flags.is_annotated() {
            return Annotations::default();
        }
        let (ring, at) = (record.ring as usize, record.args_at + u32::from(record.args_words));
        // SAFETY: the submitter wrote them after the argument records before it published the task: a header, which says how
        // many words they are, and these.
        Annotations::decode(unsafe {
            let header = self.args_words(ring, at, 1)[0];
            self.args_words(ring, at, Annotations::words_from(header))
        })
    }

    /// A task with what it was given.
    ///
    /// # Safety
    /// As for [`words`](Self::words), for `'t`.
    #[inline]
    pub(crate) unsafe fn held<'t>(&'t self, record: &'t TaskRecord) -> HeldTask<'t> {
        HeldTask { table: self, record }
    }

    /// Asks for the line of a task that will be run soon.
    #[inline]
    pub fn warm(&self, task: SlotIndex) {
        prefetch(&self.slots[task.0 as usize]);
    }

    /// Whether tasks are still run.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != Stop::Running as u32
    }

    /// Whether someone asked for the end of the run.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) == Stop::Interrupted as u32
    }

    /// Ends the run at the next task.
    pub fn stop(&self, why: Stop) {
        let _ = self.stop.compare_exchange(0, why as u32, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Ends the run for a reason of the chip's, which is its error; the first reason counts. Callable by any thread of the
    /// run. Tasks that are running finish, no other starts.
    #[cold]
    pub fn abort_run(&self, why: impl Into<Error>) {
        self.aborted.lock().expect("no panic while a fault is noted").get_or_insert(why.into());
        self.stop(Stop::Fatal);
    }

    /// Why the chip ended the run, if it did.
    #[cold]
    pub(crate) fn aborted(&self) -> Option<Error> {
        self.aborted.lock().expect("no panic while a fault is noted").clone()
    }

    /// Takes back what ended the run that is over, so that the next one runs; true if that was an interrupt. Not done when a
    /// run begins: an interrupt that comes before it is meant for it.
    pub(crate) fn take_interrupt(&self) -> bool {
        self.stop.swap(Stop::Running as u32, Ordering::Relaxed) == Stop::Interrupted as u32
    }

    /// Number of slots over all rings: the most tasks that can be ready at once.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// What the run is doing now, as far as the board shows.
    pub fn status(&self) -> Status {
        let fill = &self.board.fill;
        let depth = (fill.depth.load(Ordering::Relaxed) as usize).min(self.board.scopes.len());
        let scopes = self.board.scopes[..depth].iter().map(|s| self.site(s.load(Ordering::Relaxed)));
        let running = self
            .board
            .running()
            .map(|(core, task, kernel)| (core, task, self.kernel_name(kernel).to_string()));
        let mut rings = Vec::new();
        for (ring, used) in fill.used.iter().enumerate() {
            let resources = [Resource::TaskWindow, Resource::Heap, Resource::DepPool, Resource::Args];
            for (resource, used) in resources.into_iter().zip(used) {
                let capacity = self.capacities.get(resource, RingIndex(ring as u8));
                rings.push((Some(ring as u8), resource, used.load(Ordering::Relaxed), capacity));
            }
        }
        let map = (fill.tensormap.load(Ordering::Relaxed), self.capacities.tensormap as u64);
        rings.push((None, Resource::TensorMap, map.0, map.1));
        let submitted = fill.submitted.load(Ordering::Relaxed);
        Status { submitted, scopes: scopes.collect(), running: running.collect(), fill: rings }
    }

    /// What the core runs now that is the thread with this number of the system. For the handler of a crash: it waits for
    /// nothing and does not allocate.
    pub fn running_on(&self, thread: u32) -> Option<RunningTask> {
        self.board.running_on(thread).map(|running| self.running_task(running))
    }

    /// What the first core runs that runs anything. For the handler of a crash, as above.
    pub fn first_running(&self) -> Option<RunningTask> {
        self.board.running().next().map(|running| self.running_task(running))
    }

    fn running_task(&self, (core, task, kernel): (u32, TaskId, u16)) -> RunningTask {
        RunningTask { core, task, kernel: self.kernel_name(kernel) }
    }

    /// The site with this number, as `file:line`.
    pub(crate) fn site(&self, id: u32) -> String {
        self.sites.get(id).map_or_else(|| "unknown:0".to_string(), |l| format!("{}:{}", l.file(), l.line()))
    }

    /// The kernels of the last run, by number.
    pub fn kernels(&self) -> impl Iterator<Item = &'static Kernel> {
        (0..self.kernels.count()).filter_map(|id| self.kernels.get(id))
    }

    /// The source sites of the last run as `file:line`, by number.
    pub fn sites(&self) -> impl Iterator<Item = String> {
        (0..self.sites.count()).map(|id| self.site(id))
    }

    /// The sizes of the external buffers of the last run.
    pub fn external_bytes(&self) -> Vec<u64> {
        // SAFETY: a holder of a plain borrow of the table between runs keeps the next one from beginning.
        let spaces = unsafe { self.spaces() };
        spaces.0.iter().skip(RINGS).map(|space| space.bytes).collect()
    }

    /// The capacities it was made with.
    pub fn capacities(&self) -> &Capacities {
        &self.capacities
    }

    /// The kernel with this number.
    pub fn kernel(&self, id: u16) -> Option<&'static Kernel> {
        self.kernels.get(id as u32)
    }

    /// The name of a kernel.
    pub(crate) fn kernel_name(&self, id: u16) -> &'static str {
        self.kernels.get(id as u32).map_or("", |k| k.name())
    }
}

/// A task that is not reclaimed for `'t`: its core holds it, or it is the submitter's.
#[derive(Clone, Copy)]
pub(crate) struct HeldTask<'t> {
    table: &'t Table,
    record: &'t TaskRecord,
}

impl<'t> HeldTask<'t> {
    /// The table that it is in.
    #[inline]
    pub(crate) fn table(self) -> &'t Table {
        self.table
    }

    /// What cores know of it.
    #[inline]
    pub(crate) fn record(self) -> &'t TaskRecord {
        self.record
    }

    /// Its argument records.
    #[inline]
    pub(crate) fn words(self) -> &'t [u64] {
        // SAFETY: it is held for `'t`, as `held` was promised; so below.
        unsafe { self.table.words(self.record) }
    }

    /// The name and the duration that it was given.
    #[inline]
    pub(crate) fn annotations(self) -> Annotations<'t> {
        // SAFETY: as above.
        unsafe { self.table.annotations(self.record) }
    }

    /// The address ranges of the run.
    #[inline]
    pub(crate) fn spaces(self) -> &'t Spaces {
        // SAFETY: as above.
        unsafe { self.table.spaces() }
    }
}

/// The id of a task in every artifact.
#[inline]
pub fn task_id(record: &TaskRecord) -> TaskId {
    TaskId::new(RingIndex(record.ring), record.local)
}

fn prefix_sums(sizes: [u32; RINGS]) -> [u32; RINGS] {
    let mut next = 0;
    sizes.map(|size| {
        next += size;
        next - size
    })
}
