//! What other threads may read while a run goes on: counts, open scopes, running tasks, ring fill.
//!
//! The submitter and each core store into lines of their own, relaxed; a reader may see a mix of two moments.

#![forbid(unsafe_code)]

use ringlane_task::TaskId;

use crate::limits::{RINGS, SCOPE_DEPTH_MAX};
use crate::sync::{AtomicU32, AtomicU64, Ordering, Padded};

/// One core's own line.
#[derive(Debug)]
pub struct CoreLine {
    /// The task it runs now and, above bit 48, its kernel; `IDLE` when it runs none.
    running: AtomicU64,
    blocks: AtomicU64,
    skipped: AtomicU64,
    failed: AtomicU64,
    /// The system's number of the thread that is this core; 0 where that is not set. Stored by that thread at its start,
    /// loaded by the handler of a crash, on the same thread.
    thread: AtomicU32,
}

/// No task.
const IDLE: u64 = u64::MAX;

impl Default for CoreLine {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        let thread = AtomicU32::new(0);
        CoreLine { running: AtomicU64::new(IDLE), blocks: zero(), skipped: zero(), failed: zero(), thread }
    }
}

impl CoreLine {
    /// The core begins a task.
    #[inline]
    pub fn set_running(&self, task: TaskId, kernel: u16) {
        self.running.store(task.0 | (kernel as u64) << 48, Ordering::Relaxed);
    }

    /// The core runs nothing.
    #[inline]
    pub fn set_idle(&self) {
        self.running.store(IDLE, Ordering::Relaxed);
    }

    /// The core is the thread with this number of the system.
    pub fn set_thread(&self, thread: u32) {
        self.thread.store(thread, Ordering::Relaxed);
    }

    /// The task and the kernel that it runs now.
    fn running(&self) -> Option<(TaskId, u16)> {
        match self.running.load(Ordering::Relaxed) {
            IDLE => None,
            packed => Some((TaskId(packed & ((1 << 34) - 1)), (packed >> 48) as u16)),
        }
    }

    /// A block was executed. Own core only.
    #[inline]
    pub fn add_block(&self) {
        self.add_blocks(1);
    }

    /// This number of blocks was executed. Own core only.
    #[inline]
    pub fn add_blocks(&self, blocks: u64) {
        self.blocks.store(self.blocks.load(Ordering::Relaxed) + blocks, Ordering::Relaxed);
    }

    /// A task was skipped.
    pub fn add_skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }

    /// A task failed.
    pub fn add_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The submitter's line: how far each ring is filled.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    pub(crate) used: [[AtomicU64; 4]; RINGS],
    pub(crate) tensormap: AtomicU64,
    pub(crate) submitted: AtomicU64,
    pub(crate) depth: AtomicU32,
}

/// The board.
#[derive(Debug)]
pub struct Board {
    cores: Vec<Padded<CoreLine>>,
    pub(crate) fill: Padded<Fill>,
    pub(crate) scopes: Box<[AtomicU32]>,
}

/// Totals over all cores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Blocks executed.
    pub blocks: u64,
    /// Tasks skipped.
    pub skipped: u64,
    /// Tasks failed.
    pub failed: u64,
}

impl Board {
    pub(crate) fn new(cores: usize) -> Self {
        Board {
            cores: (0..cores).map(|_| Padded::default()).collect(),
            fill: Padded::default(),
            scopes: (0..SCOPE_DEPTH_MAX).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    pub(crate) fn begin(&self) {
        for line in &self.cores {
            line.blocks.store(0, Ordering::Relaxed);
            line.skipped.store(0, Ordering::Relaxed);
            line.failed.store(0, Ordering::Relaxed);
        }
        self.fill.submitted.store(0, Ordering::Relaxed);
        self.fill.depth.store(0, Ordering::Relaxed);
    }

    /// Number of cores.
    pub fn cores(&self) -> usize {
        self.cores.len()
    }

    /// A core's own line.
    #[inline]
    pub fn core(&self, core: u32) -> &CoreLine {
        &self.cores[core as usize]
    }

    /// What runs now: core, task and kernel.
    pub(crate) fn running(&self) -> impl Iterator<Item = (u32, TaskId, u16)> + '_ {
        let cores = self.cores.iter().zip(0..);
        cores.filter_map(|(line, core)| line.running().map(|(task, kernel)| (core, task, kernel)))
    }

    /// What the core runs now that is this thread: core, task and kernel.
    pub(crate) fn running_on(&self, thread: u32) -> Option<(u32, TaskId, u16)> {
        let (line, core) =
            self.cores.iter().zip(0..).find(|(line, _)| line.thread.load(Ordering::Relaxed) == thread)?;
        line.running().map(|(task, kernel)| (core, task, kernel))
    }

    /// Totals over all cores; exact once the run has ended.
    pub fn totals(&self) -> Totals {
        self.cores.iter().fold(Totals::default(), |sum, line| Totals {
            blocks: sum.blocks + line.blocks.load(Ordering::Relaxed),
            skipped: sum.skipped + line.skipped.load(Ordering::Relaxed),
            failed: sum.failed + line.failed.load(Ordering::Relaxed),
        })
    }
}
