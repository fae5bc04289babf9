//! The external buffers of a run in the device's memory, and what stays there for the next run.
//!
//! A buffer is not copied in if the device still has its [`Contents`](ringlane_engine::api::buffers::Contents). Only bytes that
//! some task may have written are copied back; then the device has what the host has.

use core::ops::Range;

use ringlane_engine::Result;
use ringlane_engine::completion::Executor;
use ringlane_engine::memory::Space;
use ringlane_engine::seams::{External, Probe};
use ringlane_engine::slot::TaskRecord;

use crate::launcher::Launcher;
use crate::memory::DeviceMemory;
use crate::pool::Memory;

/// The external buffers of a run, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Externals {
    /// What the buffers of the last run hold, by the numbers of their contents.
    kept: Vec<(u64, Memory)>,
    placed: Vec<Placed>,
}

#[derive(Debug)]
struct Placed {
    memory: Memory,
    /// Whether it held what the buffer holds when the run began.
    is_held: bool,
    /// What it holds after the run.
    after: Option<u64>,
    /// The bytes that tasks may have written.
    written: Range<u64>,
}

/// No bytes.
pub(crate) const NOTHING: Range<u64> = 0..0;

/// All bytes from the first of both to the last.
pub(crate) fn hull(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    if one.is_empty() { other.clone() } else { one.start.min(other.start)..one.end.max(other.end) }
}

impl Externals {
    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.placed.clear();
    }

    /// Places the next buffer.
    pub(crate) fn place(&mut self, launcher: &Launcher, buffer: &External) -> Result<Space> {
        let (before, after) = (buffer.contents.map(|c| c.before), buffer.contents.map(|c| c.after));
        let kept = self.kept.iter().position(|(known, _)| Some(*known) == before);
        let (memory, is_held) = match kept {
            Some(kept) => (self.kept.swap_remove(kept).1, true),
            None => (self.reserve(launcher, buffer.host.bytes)?, false),
        };
        let space = Space { base: memory.at as *mut u8, bytes: buffer.host.bytes };
        self.placed.push(Placed { memory, is_held, after, written: NOTHING });
        Ok(space)
    }

    fn reserve(&mut self, launcher: &Launcher, bytes: u64) -> Result<Memory> {
        let first_try = launcher.reserve(bytes);
        if first_try.is_err() && !self.kept.is_empty() {
            // What is kept may be in the way.
            self.kept.clear();
            return Ok(launcher.reserve(bytes)?);
        }
        Ok(first_try?)
    }

    /// Whether the device has what a buffer holds.
    pub(crate) fn holds(&self, external: usize) -> bool {
        self.placed.get(external).is_some_and(|placed| placed.is_held)
    }

    /// Notes what a task may write.
    ///
    /// # Safety
    /// The caller holds the task, or is the submitter.
    pub(crate) unsafe fn note_writes<P: Probe>(
        &mut self,
        executor: &Executor<'_, P, DeviceMemory<'_>>,
        record: &TaskRecord,
    ) {
        // SAFETY: the caller's promise.
        for (external, bytes) in unsafe { executor.external_writes(record) } {
            let written = &mut self.placed[external].written;
            *written = hull(written, &bytes);
        }
    }

    /// The bytes of a buffer that tasks may have written.
    pub(crate) fn written(&self, external: usize) -> Range<u64> {
        self.placed[external].written.clone()
    }

    /// The run has ended. If it went well, device and host have the same contents, which are kept.
    pub(crate) fn end(&mut self, went_well: bool) {
        self.kept.clear();
        let placed = self.placed.drain(..).filter(|_| went_well);
        self.kept.extend(placed.filter_map(|placed| Some((placed.after?, placed.memory))));
    }
}
