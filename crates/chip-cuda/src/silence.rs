//! A launch that does not end: what runs in it too long, and how it is stopped.
//!
//! ```text
//! wait ──▶ which entry is each list at? ──limit──▶ the same: those whose predecessors ended do not return
//!                                                                   └─ none: the lists wait for each other
//! ```
//! A halted block leaves its list; one inside a body has to be stopped with the device.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::device::{Answer, Device, Launch, bytes_of, bytes_of_mut};
use crate::entry::{Entry, kind};
use crate::error::DeviceError;
use crate::launcher::Launcher;
use crate::lists::Lists;
use crate::planted::{self, Bug};

/// How long a kernel may run, unless `RL_KERNEL_SECONDS` says otherwise.
const KERNEL_SECONDS: u64 = 60;
/// How often the progress of the lists is read in that time.
const LOOKS: u32 = 8;
/// How long blocks that are not inside a body get to leave.
const LEAVE: Duration = Duration::from_millis(500);
/// For so long a wait only asks. Then it lets other threads run, and later it sleeps between two questions.
const EAGER: Duration = Duration::from_millis(2);
const YIELDING: Duration = Duration::from_millis(20);
const NAP: Duration = Duration::from_micros(50);

/// A block of a task: the task's number in its batch, and the block's number in it.
pub(crate) type BlockOf = (u32, u32);

fn limit() -> Duration {
    let given = std::env::var("RL_KERNEL_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(given.filter(|&seconds| seconds > 0).unwrap_or(KERNEL_SECONDS))
}

/// Waits until a launch has ended; false if it has not by then.
fn ends_within(device: &dyn Device, launch: Launch, time: Duration) -> bool {
    let start = Instant::now();
    loop {
        if device.has_ended(launch) {
            return true;
        }
        match start.elapsed() {
            passed if passed > time => return false,
            passed if passed > YIELDING => std::thread::sleep(NAP),
            passed if passed > EAGER => std::thread::yield_now(),
            _ => core::hint::spin_loop(),
        }
    }
}

impl Launcher {
    /// Waits until a launch has ended; stops the device if a kernel in it does not return.
    pub(crate) fn await_launch(&mut self, launch: Launch, lists: &Lists, epoch: u32) -> Answer<()> {
        if planted::planted(Bug::SettledEarly) {
            return Ok(());
        }
        let limit = limit();
        let (mut before, mut since) = (Vec::new(), Instant::now());
        while !ends_within(self.device(), launch, limit / LOOKS) {
            let now = self.progress_of(lists)?;
            if now != before {
                (before, since) = (now, Instant::now());
            }
            if since.elapsed() < limit {
                continue;
            }
            let silent = self.running(lists, &before, epoch)?;
            self.end_by_force(launch, epoch);
            return Err(match silent.is_empty() {
                true => DeviceError::DeviceStalled { tasks: self.unfinished(lists, &before)? },
                false => {
                    self.suspects = silent;
                    DeviceError::KernelSilent { running: String::new(), seconds: limit.as_secs() }
                }
            });
        }
        self.device().wait_for(launch).map_err(|error| self.named(error, epoch))
    }

    /// For each list, the entry that it is at.
    fn progress_of(&self, lists: &Lists) -> Answer<Vec<u32>> {
        let mut progress = vec![0; lists.len()];
        // SAFETY: the memory is as large; the words are written one at a time.
        unsafe { self.device().copy_out(lists.progress_at(), bytes_of_mut(&mut progress)) }?;
        Ok(progress)
    }

    /// Tasks with an entry that no list is past.
    fn unfinished(&self, lists: &Lists, progress: &[u32]) -> Answer<usize> {
        let entries = lists.entries() as u32;
        let left =
            (0..lists.len()).map(|list| lists.number_of((list as u32 + 1, 0)).min(entries) - progress[list]);
        Ok(left.map(|left| left as usize).sum())
    }

    /// The blocks that are inside a body.
    ///
    /// A list that is at an entry either runs it, or has run it and waits for the next one's predecessors. It runs it if
    /// nothing is left that either of them would wait for, and the entry's own flag is not set.
    fn running(&self, lists: &Lists, progress: &[u32], epoch: u32) -> Answer<Vec<BlockOf>> {
        let mut entries = vec![Entry::default(); lists.entries()];
        let mut flags = vec![0u32; lists.tasks()];
        // SAFETY: the memory is as large; nobody writes the entries, and flags are written one at a time.
        unsafe {
            self.device().copy_out(lists.entries_at(), bytes_of_mut(&mut entries))?;
            self.device().copy_out(self.flags_at(), bytes_of_mut(&mut flags))?;
        }
        let ready = |entry: &Entry| entry.flags().all(|flag| flags[flag as usize] == epoch);
        let mut running = Vec::new();
        for (list, &at) in progress.iter().enumerate() {
            let end = lists.number_of((list as u32 + 1, 0));
            if at >= end || !ready(&entries[at as usize]) {
                continue;
            }
            let entry = &entries[at as usize];
            let alone = entry.kind & kind::MANY_BLOCKS == 0;
            let ended = match entry.kind & kind::PUBLISHES != 0 && alone {
                true => flags[entry.flag as usize] == epoch,
                false => at + 1 < end && !ready(&entries[at as usize + 1]),
            };
            if !ended {
                running.push((entry.task, entry.index));
            }
        }
        Ok(running)
    }

    /// Ends what runs: blocks that wait leave at once, and the others with the device. If the device is not stopped, what was
    /// launched after this is halted too, as after a block that failed.
    fn end_by_force(&self, launch: Launch, epoch: u32) {
        self.alarm().store(epoch, Ordering::Release);
        // SAFETY: the word is ours.
        let halted = unsafe { self.device().copy_in(bytes_of(&[1u32]), self.halt()) };
        if halted.is_err() || !ends_within(self.device(), launch, LEAVE) {
            self.device().stop();
        }
    }
}
