//! Runs lists of entries on a device, and says what became of each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ringlane_engine::api::kernel::{Kernel, registered_kernels};

use crate::batch::Batch;
use crate::device::{Address, Answer, Device, Launch, Mapped, bytes_of, bytes_of_mut};
use crate::entry::{Board, Grid, Times};
use crate::error::DeviceError;
use crate::lists::{Lists, Upload};
use crate::nodes::{Nodes, Places};
use crate::policy::Policy;
use crate::pool::{Memory, Pool};
use crate::silence::BlockOf;
use crate::source::{Bounds, Entries, Machine, marked, program};

/// How often the clocks are compared; the narrowest bounds of all comparisons count.
const COMPARISONS: u32 = 5;

/// Whether the first program has all kernels that are declared, as the environment variable `RL_KERNELS` asks for.
fn wants_all_kernels() -> bool {
    std::env::var_os("RL_KERNELS").is_some_and(|value| value == "all")
}

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
    /// For each entry, when it ran; empty if nobody wanted times.
    pub(crate) times: Vec<Times>,
    pub(crate) failed: Vec<FailedBlock>,
    /// For each list, the first entry that did not end; empty if all entries ended.
    progress: Vec<u32>,
}

impl Outcome {
    /// Whether some entries did not end, because a block failed in this launch or in one before it.
    pub(crate) fn is_halted(&self) -> bool {
        !self.progress.is_empty()
    }

    /// Whether an entry ended well.
    pub(crate) fn ended(&self, lists: &Lists, place: (u32, u32)) -> bool {
        self.progress.get(place.0 as usize).is_none_or(|&first| lists.number_of(place) < first)
    }
}

/// What entries use to wait for each other. It keeps what earlier launches left there: all of it has the number of its launch.
#[derive(Debug)]
struct Flags {
    flags: Memory,
    counts: Memory,
    tasks: usize,
}

/// A launch that is to be finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    launch: Launch,
    epoch: u32,
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
    entries: Entries,
    /// Kernels that were used, by their numbers.
    kernels: Vec<&'static Kernel>,
    /// How many of them are in the program that is loaded; none before the first one is.
    loaded: Option<usize>,
    /// Of each block, and then the alarm.
    boards: Mapped,
    halt: Address,
    epoch: u32,
    /// Launches that are not finished.
    in_flight: u32,
    pool: Pool,
    flags: Option<Flags>,
    /// Those of launches that may still run.
    old_flags: Vec<Flags>,
    /// Where the spaces of the last run began, on the device.
    spaces: Option<(Vec<u64>, Memory)>,
    /// What ran when the device stopped.
    pub(crate) suspects: Vec<BlockOf>,
    /// Nanoseconds that the device's clock is ahead of the chip's, once they were compared.
    clock_ahead: Option<i64>,
}

// SAFETY: the boards are written by the device, and read through atomics or after it has ended.
unsafe impl Send for Launcher {}

impl Launcher {
    pub(crate) fn new(device: Arc<dyn Device>, machine: Machine, entries: Entries) -> Answer<Self> {
        let boards = device.alloc_mapped((u64::from(device.blocks()) + 1) * size_of::<Board>() as u64)?;
        let halt = device.alloc(size_of::<u32>() as u64)?;
        // SAFETY: the word is new.
        unsafe { device.copy_in(bytes_of(&[0u32]), halt) }?;
        let pool = Pool::new(device.clone());
        Ok(Launcher {
            device,
            machine,
            entries,
            kernels: Vec::new(),
            loaded: None,
            boards,
            halt,
            epoch: 0,
            in_flight: 0,
            pool,
            flags: None,
            old_flags: Vec::new(),
            spaces: None,
            suspects: Vec::new(),
            clock_ahead: None,
        })
    }

    /// The number of a kernel in the program that the next launch needs.
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

    /// Whether the next launch loads another program, because it needs kernels that are not in this one.
    pub(crate) fn needs_another_program(&self) -> bool {
        self.loaded.is_some_and(|loaded| loaded < self.kernels.len())
    }

    /// Loads a program with all kernels that were used. Nothing runs meanwhile.
    pub(crate) fn load(&mut self) -> Answer<()> {
        if self.loaded == Some(self.kernels.len()) {
            return Ok(());
        }
        debug_assert_eq!(self.in_flight, 0);
        if self.loaded.is_none() && wants_all_kernels() {
            let all = registered_kernels().into_iter().filter(|kernel| kernel.cuda().is_some());
            all.for_each(|kernel| drop(self.number_of(kernel)));
        }
        let source = marked(program(&self.kernels, self.machine, Bounds::from_environment(), self.entries));
        if let Err(error) = self.device.load(&source, self.entries) {
            // A body that does not compile stays out of the next program.
            self.kernels.truncate(self.loaded.unwrap_or(0));
            return Err(error);
        }
        self.loaded = Some(self.kernels.len());
        Ok(())
    }

    /// The kernels of the programs so far.
    pub(crate) fn kernels(&self) -> &[&'static Kernel] {
        &self.kernels
    }

    /// Reserves memory of the device. What it holds is undefined.
    pub(crate) fn reserve(&self, bytes: u64) -> Answer<Memory> {
        self.pool.reserve(bytes)
    }

    /// Reserves memory that is zero.
    fn reserve_zeroed(&self, bytes: usize) -> Answer<Memory> {
        let memory = self.reserve(bytes as u64)?;
        // SAFETY: it is new, and as large.
        unsafe { self.device.copy_in(&vec![0; bytes], memory.at) }?;
        Ok(memory)
    }

    /// Copies lists to the device.
    pub(crate) fn upload(&self, batch: &Batch, upload: Upload) -> Answer<Lists> {
        Lists::upload(&*self.device, &self.pool, batch, upload)
    }

    /// Where the spaces of a run begin, on the device. As many as the last time are at the same place. Nothing runs.
    pub(crate) fn spaces(&mut self, bases: Vec<u64>) -> Answer<Address> {
        let (known, memory) = match self.spaces.take() {
            Some((known, memory)) if known.len() == bases.len() => (known == bases, memory),
            _ => (false, self.reserve(size_of_val(&bases[..]) as u64)?),
        };
        if !known {
            // SAFETY: the memory is as large, and nothing runs.
            unsafe { self.device.copy_in(bytes_of(&bases), memory.at) }?;
        }
        let at = memory.at;
        self.spaces = Some((bases, memory));
        Ok(at)
    }

    /// Runs nodes: by the device's graph of them, or one after another. Gives the times of their blocks, in order.
    ///
    /// # Safety
    /// The spaces, and everything that the arguments of the nodes name in them, stay meanwhile, and nothing else uses them.
    pub(crate) unsafe fn run_nodes(
        &mut self,
        nodes: &mut Nodes,
        policy: Policy,
        spaces: Address,
        timing: Timing,
    ) -> Answer<Vec<Times>> {
        self.load()?;
        let alarm = self.boards.device + u64::from(self.device.blocks()) * size_of::<Board>() as u64;
        let (boards, timed) = (self.boards.device, timing == Timing::On);
        nodes.place(
            &*self.device,
            &self.pool,
            Places { spaces, boards, alarm, timed, kernels: self.kernels.len() },
        )?;
        let launch = match policy {
            Policy::CudaGraph => {
                let graph = nodes.graph(&*self.device)?;
                // SAFETY: the program is loaded and the nodes are placed; the caller's promise.
                unsafe { self.device.launch_graph(graph) }?
            }
            // SAFETY: as above.
            Policy::Launches | Policy::Lists => unsafe { self.device.launch_nodes(nodes.placed()) }?,
        };
        self.device.wait_for(launch).map_err(|error| self.named(error, 0))?;
        if self.alarm().swap(0, Ordering::Acquire) != 0 {
            let failed: Vec<_> =
                (0..self.device.blocks()).filter_map(|block| self.failure_of(block)).collect();
            (0..self.device.blocks()).for_each(|block| self.failed_word(block).store(0, Ordering::Relaxed));
            let what = failed.first().map(|block| format!("task {}: {}", block.task, block.text));
            return Err(DeviceError::TaskFailedInGraph { what: what.unwrap_or_default() });
        }
        let (at, blocks) = nodes.times();
        let mut times = vec![Times::default(); if timed { blocks } else { 0 }];
        // SAFETY: the memory is as large, and nothing runs.
        unsafe { self.device.copy_out(at, bytes_of_mut(&mut times)) }?;
        Ok(times)
    }

    /// Makes room for the flags of these lists.
    fn make_room(&mut self, lists: &Lists) -> Answer<()> {
        let old = self.flags.as_ref().map_or(0, |flags| flags.tasks);
        if old >= lists.tasks() {
            return Ok(());
        }
        let tasks = lists.tasks().next_power_of_two();
        let bytes = tasks * size_of::<u32>();
        let flags = Flags { flags: self.reserve_zeroed(bytes)?, counts: self.reserve_zeroed(bytes)?, tasks };
        // What runs uses the old ones.
        self.old_flags.extend(self.flags.replace(flags));
        Ok(())
    }

    /// Starts the lists, after those that were started before.
    ///
    /// # Safety
    /// The spaces, and everything that the argument records of the entries name in them, stay until [`finish`](Self::finish)
    /// has returned for them, and nothing else uses that memory in a way that conflicts.
    pub(crate) unsafe fn start(
        &mut self,
        lists: &mut Lists,
        spaces: Address,
        timing: Timing,
    ) -> Answer<Started> {
        self.load()?;
        self.make_room(lists)?;
        if timing == Timing::On {
            lists.want_times(&self.pool)?;
        }
        let flags = self.flags.as_ref().expect("there is room now");
        self.epoch = self.epoch.checked_add(1).expect("a runtime makes fewer than 2^32 launches");
        let grid = Grid {
            entries: lists.entries_at(),
            first: lists.first_at(),
            flags: flags.flags.at,
            counts: flags.counts.at,
            halt: self.halt,
            progress: lists.progress_at(),
            spaces,
            boards: self.boards.device,
            times: if timing == Timing::On { lists.times_at() } else { 0 },
            alarm: self.boards.device + u64::from(self.device.blocks()) * size_of::<Board>() as u64,
            epoch: u64::from(self.epoch),
        };
        // SAFETY: the program is loaded, and the addresses are those that `Grid` asks for.
        let launch = unsafe { self.device.launch(&grid, self.device.blocks()) }?;
        self.in_flight += 1;
        Ok(Started { launch, epoch: self.epoch })
    }

    /// Whether a launch has ended, so that [`finish`](Self::finish) does not wait.
    pub(crate) fn has_ended(&self, started: Started) -> bool {
        self.device.has_ended(started.launch)
    }

    /// Waits for the end of the lists that were started first.
    pub(crate) fn finish(&mut self, lists: &Lists, started: Started, timing: Timing) -> Answer<Outcome> {
        self.in_flight -= 1;
        if let Err(error) = self.await_launch(started.launch, lists, started.epoch) {
            if self.in_flight == 0 {
                // A device that was lost refuses it, and everything after it.
                let _ = self.forget_failures();
            }
            return Err(error);
        }
        if self.in_flight == 0 {
            self.old_flags.clear();
        }
        let mut outcome = Outcome::default();
        let failed = self.alarm().load(Ordering::Acquire);
        if failed != 0 && failed <= started.epoch {
            // A launch that follows is halted too, and says what did not run in it.
            self.device.wait().map_err(|error| self.named(error, started.epoch))?;
            outcome.failed = (0..self.device.blocks()).filter_map(|block| self.failure_of(block)).collect();
            outcome.progress = vec![0; lists.len()];
            // SAFETY: the memory is as large, and nothing runs.
            unsafe { self.device.copy_out(lists.progress_at(), bytes_of_mut(&mut outcome.progress)) }?;
            self.forget_failures()?;
        }
        if timing == Timing::On {
            outcome.times = vec![Times::default(); lists.entries()];
            // SAFETY: the memory is as large, and the launch has ended.
            unsafe { self.device.copy_out(lists.times_at(), bytes_of_mut(&mut outcome.times)) }?;
        }
        Ok(outcome)
    }

    /// Once no launch is left that a failure halts: the next one begins as if there had been none.
    fn forget_failures(&mut self) -> Answer<()> {
        for block in 0..self.device.blocks() {
            self.failed_word(block).store(0, Ordering::Relaxed);
        }
        if self.in_flight > 0 {
            return Ok(());
        }
        self.alarm().store(0, Ordering::Relaxed);
        let flags = self.flags.as_ref().expect("lists were started");
        // SAFETY: the words are ours, and nothing runs. Tasks of which some blocks did not run left their counts.
        unsafe {
            self.device.copy_in(bytes_of(&[0u32]), self.halt)?;
            self.device.copy_in(bytes_of(&vec![0u32; flags.tasks]), flags.counts.at)
        }
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
        batch.push_empty(&[]);
        let mut lists = self.upload(&batch, Upload::Now)?;
        let (mut least, mut most) = (i64::MIN, i64::MAX);
        for _ in 0..COMPARISONS {
            let before = now();
            // SAFETY: the entry has no arguments.
            let started = unsafe { self.start(&mut lists, 0, Timing::On) }?;
            let outcome = self.finish(&lists, started, Timing::On)?;
            let (after, times) = (now(), outcome.times[0]);
            // The entry began after the launch did, and ended before that was over.
            most = most.min(times.start as i64 - before as i64);
            least = least.max(times.end as i64 - after as i64);
        }
        self.clock_ahead = Some(least.midpoint(most));
        Ok(())
    }

    /// Notes what the device ran when it stopped, as far as its blocks said so.
    pub(crate) fn named(&mut self, error: DeviceError, epoch: u32) -> DeviceError {
        if let DeviceError::DeviceLost { .. } = error {
            // SAFETY: the device has stopped, so nobody writes the boards; they are memory of the host.
            let boards = (0..self.device.blocks()).map(|block| unsafe { *self.board(block) });
            let ours = boards.filter(|board| epoch != 0 && board.epoch == epoch);
            self.suspects = ours.map(|board| (board.task, board.index)).collect();
        }
        error
    }

    /// The blocks that a stopped device ran, as far as that is known; the caller knows their tasks.
    pub(crate) fn take_suspects(&mut self) -> Vec<BlockOf> {
        core::mem::take(&mut self.suspects)
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.device
    }

    pub(crate) fn halt(&self) -> Address {
        self.halt
    }

    /// Where the flags of tasks are. Lists were started.
    pub(crate) fn flags_at(&self) -> Address {
        self.flags.as_ref().map_or(0, |flags| flags.flags.at)
    }

    fn board(&self, block: u32) -> *mut Board {
        self.boards.host.cast::<Board>().wrapping_add(block as usize)
    }

    /// The epoch of the launch in which a block failed, or 0.
    pub(crate) fn alarm(&self) -> &AtomicU32 {
        self.failed_word(self.device.blocks())
    }

    /// The first word of a board: whether the block failed.
    fn failed_word(&self, block: u32) -> &AtomicU32 {
        // SAFETY: there is a board for each block, and one for the alarm, in memory that lives as long as this.
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
}

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.device.wait();
        (self.flags, self.spaces) = (None, None);
        self.old_flags.clear();
        self.device.free(self.halt);
        self.device.free_mapped(self.boards);
    }
}
