//! Runs lists of entries on a device, and says what became of each.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ringlane_engine::api::kernel::{Kernel, registered_kernels};

use crate::batch::{Batch, BatchTask, Laid};
use crate::device::{Address, Answer, Device, Mapped, bytes_of, bytes_of_mut};
use crate::entry::{Board, Entry, Grid, Times};
use crate::error::DeviceError;
use crate::source::{Bounds, Machine, program};

/// The smallest piece of memory that is reserved.
const SMALLEST_BYTES: u64 = 4096;
/// Sizes up to this are rounded up to powers of two.
const ROUNDED_BYTES_MAX: u64 = 64 << 20;
/// How often the clocks are compared; the shortest comparison counts.
const COMPARISONS: u32 = 5;

/// A block that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedBlock {
    /// The task's number in its batch.
    pub(crate) task: u32,
    /// The block's number in its task.
    pub(crate) index: u32,
    pub(crate) text: String,
}

/// What became of a launch.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// For each entry, when it ran; whether it ended is in it too. Empty if all of them ended and nobody wanted times.
    pub(crate) times: Vec<Times>,
    pub(crate) failed: Vec<FailedBlock>,
    pub(crate) epoch: u32,
}

/// Lists that are on the device.
#[derive(Debug)]
pub(crate) struct Uploaded {
    /// Entries, then where lists begin, then arguments that are not in entries.
    memory: Memory,
    first: Address,
    entries: usize,
    tasks: usize,
}

/// Memory of the device that can be used again after this is dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) at: Address,
    bytes: u64,
    kept: Kept,
}

/// Memory that nobody uses, by its size: freeing it would wait for the device.
type Kept = Arc<Mutex<Vec<(u64, Address)>>>;

impl Drop for Memory {
    fn drop(&mut self) {
        self.kept.lock().expect("no panic while it is held").push((self.bytes, self.at));
    }
}

/// What entries use to wait for each other, and where they leave their times. It keeps what earlier launches left there: all of
/// it has the number of its launch.
#[derive(Debug)]
struct Shared {
    flags: Memory,
    counts: Memory,
    times: Memory,
    tasks: usize,
    entries: usize,
}

/// Whether the times of blocks are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    On,
    Off,
}

/// A device with a program.
#[derive(Debug)]
pub(crate) struct Launcher {
    device: Arc<dyn Device>,
    machine: Machine,
    /// The kernels of the loaded program, by their numbers.
    kernels: Vec<&'static Kernel>,
    /// How many of them are declared in the program that uses this; the others were met later.
    declared: usize,
    /// How many of them are in the program that is loaded; 0 before the first one is.
    loaded: usize,
    boards: Mapped,
    halt: Address,
    epoch: u32,
    kept: Kept,
    shared: Option<Shared>,
    /// Nanoseconds that the device's clock is ahead of the chip's, once they were compared.
    clock_ahead: Option<i64>,
}

// SAFETY: the boards are written by the device, and read through atomics or after it has ended.
unsafe impl Send for Launcher {}

impl Launcher {
    pub(crate) fn new(device: Arc<dyn Device>, machine: Machine) -> Answer<Self> {
        let boards = device.alloc_mapped(u64::from(device.blocks()) * size_of::<Board>() as u64)?;
        let halt = device.alloc(size_of::<u32>() as u64)?;
        // Kernels that are declared in the program are known; others are added when they are first used.
        let has_body = |kernel: &&'static Kernel| kernel.cuda().is_some();
        let kernels: Vec<_> = registered_kernels().into_iter().filter(has_body).collect();
        let declared = kernels.len();
        Ok(Launcher {
            device,
            machine,
            kernels,
            declared,
            loaded: 0,
            boards,
            halt,
            epoch: 0,
            kept: Kept::default(),
            shared: None,
            clock_ahead: None,
        })
    }

    /// The number of a kernel in the program; loads another program first if it is not in this one. Nothing runs meanwhile.
    pub(crate) fn number_of(&mut self, kernel: &'static Kernel) -> Answer<u16> {
        let found = self.kernels.iter().position(|known| core::ptr::eq(*known, kernel));
        let number = match found {
            Some(number) => number,
            None if kernel.cuda().is_none() => {
                return Err(DeviceError::NoDeviceKernel { kernel: kernel.name() });
            }
            None => {
                self.kernels.push(kernel);
                self.kernels.len() - 1
            }
        };
        Ok(number as u16)
    }

    fn load(&mut self) -> Answer<()> {
        if self.loaded == 0 || self.loaded < self.kernels.len() {
            let source = program(&self.kernels, self.machine, Bounds::from_environment());
            if let Err(error) = self.device.load(&source) {
                // A body that does not compile stays out of the next program.
                self.kernels.truncate(self.loaded.max(self.declared));
                return Err(error);
            }
            self.loaded = self.kernels.len();
        }
        Ok(())
    }

    /// Reserves memory of the device. What it holds is undefined.
    pub(crate) fn reserve(&self, bytes: u64) -> Answer<Memory> {
        // Sizes repeat: powers of two while they are small.
        let bytes = bytes.max(SMALLEST_BYTES);
        let bytes = if bytes <= ROUNDED_BYTES_MAX { bytes.next_power_of_two() } else { bytes };
        let reused = {
            let mut kept = self.kept.lock().expect("no panic while it is held");
            kept.iter().position(|(size, _)| *size == bytes).map(|place| kept.swap_remove(place).1)
        };
        let at = match reused {
            Some(at) => at,
            None => self.device.alloc(bytes).or_else(|_| {
                // What is kept for later may be in the way.
                self.give_back();
                self.device.alloc(bytes)
            })?,
        };
        Ok(Memory { at, bytes, kept: self.kept.clone() })
    }

    /// Reserves memory that is zero.
    fn reserve_zeroed(&self, bytes: usize) -> Answer<Memory> {
        let memory = self.reserve(bytes as u64)?;
        // SAFETY: it is new, and as large.
        unsafe { self.device.copy_in(&vec![0; bytes], memory.at) }?;
        Ok(memory)
    }

    /// Copies lists to the device.
    pub(crate) fn upload(&self, laid: &Laid) -> Answer<Uploaded> {
        let entry_bytes = size_of_val(&laid.entries[..]) as u64;
        let first_bytes = (size_of_val(&laid.first[..]) as u64).next_multiple_of(8);
        let memory = self.reserve(entry_bytes + first_bytes + size_of_val(&laid.far[..]) as u64)?;
        let (first, far) = (memory.at + entry_bytes, memory.at + entry_bytes + first_bytes);
        let mut entries = laid.entries.clone();
        for entry in entries.iter_mut().filter(|entry| entry.far_words != 0) {
            entry.far_words = far + (entry.far_words - 1) * size_of::<u64>() as u64;
        }
        let mut bytes = bytes_of::<Entry>(&entries).to_vec();
        bytes.extend_from_slice(bytes_of(&laid.first));
        bytes.resize((entry_bytes + first_bytes) as usize, 0);
        bytes.extend_from_slice(bytes_of(&laid.far));
        // SAFETY: it is new, and as large.
        unsafe { self.device.copy_in(&bytes, memory.at) }?;
        Ok(Uploaded { memory, first, entries: entries.len(), tasks: laid.entry_of.len() })
    }

    /// Makes room for the flags and times of these lists.
    fn make_room(&mut self, lists: &Uploaded) -> Answer<()> {
        let old = self.shared.as_ref().map_or((0, 0), |shared| (shared.tasks, shared.entries));
        if old.0 >= lists.tasks && old.1 >= lists.entries {
            return Ok(());
        }
        let tasks = lists.tasks.max(old.0).next_power_of_two();
        let entries = lists.entries.max(old.1).next_power_of_two();
        self.shared = Some(Shared {
            flags: self.reserve_zeroed(tasks * size_of::<u32>())?,
            counts: self.reserve_zeroed(tasks * size_of::<u32>())?,
            times: self.reserve_zeroed(entries * size_of::<Times>())?,
            tasks,
            entries,
        });
        Ok(())
    }

    /// Starts the lists. Nothing else runs.
    ///
    /// # Safety
    /// The spaces, and everything that the argument records of the entries name in them, stay until [`finish`](Self::finish)
    /// has returned, and nothing else uses that memory in a way that conflicts.
    pub(crate) unsafe fn start(&mut self, lists: &Uploaded, spaces: Address, timing: Timing) -> Answer<()> {
        self.load()?;
        self.make_room(lists)?;
        let shared = self.shared.as_ref().expect("there is room now");
        self.epoch = self.epoch.checked_add(1).expect("a runtime makes fewer than 2^32 launches");
        // SAFETY: the word is ours, and nothing runs.
        unsafe { self.device.copy_in(bytes_of(&[0u32]), self.halt) }?;
        for block in 0..self.device.blocks() {
            self.failed_word(block).store(0, Ordering::Relaxed);
        }
        let grid = Grid {
            entries: lists.memory.at,
            first: lists.first,
            flags: shared.flags.at,
            counts: shared.counts.at,
            halt: self.halt,
            spaces,
            boards: self.boards.device,
            times: shared.times.at,
            epoch: self.epoch,
            timed: u32::from(timing == Timing::On),
        };
        let blocks = self.device.blocks();
        // SAFETY: the program is loaded, nothing runs, and the addresses are those that `Grid` asks for.
        unsafe { self.device.launch(&grid, blocks) }
    }

    /// Waits for the end of the lists that were started.
    pub(crate) fn finish(&mut self, lists: &Uploaded, timing: Timing) -> Answer<Outcome> {
        self.device.wait().map_err(|error| self.named(error))?;
        let shared = self.shared.as_ref().expect("lists were started");
        let failed: Vec<FailedBlock> =
            (0..self.device.blocks()).filter_map(|block| self.failure_of(block)).collect();
        let mut outcome = Outcome { epoch: self.epoch, failed, times: Vec::new() };
        if timing == Timing::On || !outcome.failed.is_empty() {
            outcome.times = vec![Times::default(); lists.entries];
            // SAFETY: the memory is as large, and nothing runs.
            unsafe { self.device.copy_out(shared.times.at, bytes_of_mut(&mut outcome.times)) }?;
        }
        if !outcome.failed.is_empty() {
            // Tasks of which some blocks did not run left their counts.
            // SAFETY: as above.
            unsafe { self.device.copy_in(bytes_of(&vec![0u32; lists.tasks]), shared.counts.at) }?;
        }
        Ok(outcome)
    }

    /// Nanoseconds that the device's clock is ahead of the chip's.
    pub(crate) fn clock_ahead(&self) -> i64 {
        self.clock_ahead.unwrap_or(0)
    }

    /// Compares the device's clock with that of the chip, once: an empty list is timed by both.
    pub(crate) fn compare_clocks(&mut self, now: impl Fn() -> u64) -> Answer<()> {
        if self.clock_ahead.is_some() {
            return Ok(());
        }
        let mut batch = Batch::new(self.device.blocks());
        batch.push(&BatchTask { predecessors: &[], makes_outputs: false }, &[]);
        let lists = self.upload(&batch.lay())?;
        let mut best = (u64::MAX, 0);
        for _ in 0..COMPARISONS {
            let before = now();
            // SAFETY: the entry has no arguments.
            unsafe { self.start(&lists, 0, Timing::On) }?;
            let outcome = self.finish(&lists, Timing::On)?;
            let (after, times) = (now(), outcome.times[0]);
            let middle = before + (after - before) / 2;
            best = best.min((after - before, times.start as i64 - middle as i64));
        }
        self.clock_ahead = Some(best.1);
        Ok(())
    }

    /// What the device ran when it stopped.
    fn named(&self, error: DeviceError) -> DeviceError {
        match error {
            DeviceError::DeviceLost { reason, .. } => {
                let running = "a kernel accessed memory that is not its own, or did not end".to_string();
                DeviceError::DeviceLost { running, reason }
            }
            other => other,
        }
    }

    fn board(&self, block: u32) -> *mut Board {
        self.boards.host.cast::<Board>().wrapping_add(block as usize)
    }

    fn failed_word(&self, block: u32) -> &AtomicU32 {
        // SAFETY: the boards have one for each block, in memory that lives as long as this.
        unsafe { AtomicU32::from_ptr(&raw mut (*self.board(block)).failed) }
    }

    fn failure_of(&self, block: u32) -> Option<FailedBlock> {
        if self.failed_word(block).load(Ordering::Acquire) == 0 {
            return None;
        }
        // SAFETY: the device has ended, so nobody writes the board.
        let board = unsafe { &*self.board(block) };
        let text = &board.text[..(board.text_len as usize).min(board.text.len())];
        Some(FailedBlock {
            task: board.task,
            index: board.index,
            text: String::from_utf8_lossy(text).into_owned(),
        })
    }

    /// Gives memory back that nobody uses any more. Nothing runs.
    fn give_back(&self) {
        for (_, at) in self.kept.lock().expect("no panic while it is held").drain(..) {
            self.device.free(at);
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.device.wait();
        self.shared = None;
        self.give_back();
        self.device.free(self.halt);
        self.device.free_mapped(self.boards);
    }
}
