//! The lists of a batch in the memory of the device.
//!
//! ```text
//! entries of all lists │ where each list begins │ arguments that are not in entries │ how far each list got
//! ```

use crate::batch::Batch;
use crate::device::{Address, Answer, Device, bytes_of};
use crate::entry::{Entry, Times};
use crate::pool::{Memory, Pool, Staging};

/// What begins after the entries begins at a multiple of this.
const ALIGNMENT: usize = 16;

/// How a batch is copied to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upload {
    /// Now: it is launched more than once.
    Now,
    /// With its launch, which follows.
    WithLaunch,
}

/// Lists that are on the device, or on their way there.
#[derive(Debug)]
pub(crate) struct Lists {
    memory: Memory,
    /// What the device copies from.
    _staging: Option<Staging>,
    /// Where the times of the entries go, if somebody wants them.
    times: Option<Memory>,
    /// Where each list begins among all entries, and the end.
    first: Vec<u32>,
    /// Bytes from the beginning of the memory.
    first_at: usize,
    progress_at: usize,
    tasks: usize,
}

impl Lists {
    /// Copies a batch to the device.
    pub(crate) fn upload(device: &dyn Device, pool: &Pool, batch: &Batch, upload: Upload) -> Answer<Self> {
        let first = batch.first();
        let entries = *first.last().expect("the end") as usize;
        let first_at = entries * size_of::<Entry>();
        let far_at = (first_at + size_of_val(&first[..])).next_multiple_of(ALIGNMENT);
        let progress_at = far_at + size_of_val(batch.far());
        let whole = progress_at + size_of_val(&first[..]);
        let memory = pool.reserve(whole as u64)?;
        let fill = |bytes: &mut [u8]| {
            fill_entries(batch, memory.at + far_at as u64, &mut bytes[..first_at]);
            bytes[first_at..first_at + size_of_val(&first[..])].copy_from_slice(bytes_of(&first));
            bytes[far_at..progress_at].copy_from_slice(bytes_of(batch.far()));
            bytes[progress_at..whole].copy_from_slice(bytes_of(&first));
        };
        let staging = match upload {
            Upload::Now => {
                let mut bytes = vec![0; whole];
                fill(&mut bytes);
                // SAFETY: the memory is new, and as large.
                unsafe { device.copy_in(&bytes, memory.at) }?;
                None
            }
            Upload::WithLaunch => {
                let mut staging = pool.reserve_staging(whole as u64)?;
                let bytes = &mut staging.bytes()[..whole];
                fill(bytes);
                // SAFETY: the memory is new, and as large; the bytes stay with the lists, and nobody changes them.
                unsafe { device.copy_in_before_launch(bytes, memory.at) }?;
                Some(staging)
            }
        };
        let tasks = batch.tasks();
        Ok(Lists { memory, _staging: staging, times: None, first, first_at, progress_at, tasks })
    }

    /// Makes room for the times of the entries.
    pub(crate) fn want_times(&mut self, pool: &Pool) -> Answer<()> {
        if self.times.is_none() {
            self.times = Some(pool.reserve((self.entries() * size_of::<Times>()) as u64)?);
        }
        Ok(())
    }

    pub(crate) fn entries(&self) -> usize {
        *self.first.last().expect("the end") as usize
    }

    pub(crate) fn tasks(&self) -> usize {
        self.tasks
    }

    /// Number of lists.
    pub(crate) fn len(&self) -> usize {
        self.first.len() - 1
    }

    pub(crate) fn entries_at(&self) -> Address {
        self.memory.at
    }

    pub(crate) fn first_at(&self) -> Address {
        self.memory.at + self.first_at as u64
    }

    pub(crate) fn progress_at(&self) -> Address {
        self.memory.at + self.progress_at as u64
    }

    /// 0 if nobody wants times.
    pub(crate) fn times_at(&self) -> Address {
        self.times.as_ref().map_or(0, |times| times.at)
    }

    /// The number among all entries of the one at this place of a list.
    pub(crate) fn number_of(&self, (list, at): (u32, u32)) -> u32 {
        self.first[list as usize] + at
    }
}

/// Writes the entries of all lists; arguments that are not in them are at `far`.
fn fill_entries(batch: &Batch, far: Address, mut bytes: &mut [u8]) {
    for list in batch.lists() {
        let (own, rest) = bytes.split_at_mut(size_of_val(list));
        bytes = rest;
        own.copy_from_slice(bytes_of(list));
        if batch.far().is_empty() {
            continue;
        }
        for (entry, bytes) in list.iter().zip(own.chunks_mut(size_of::<Entry>())) {
            if entry.far_words != 0 {
                let far_words = far + (entry.far_words - 1) * size_of::<u64>() as u64;
                bytes.copy_from_slice(bytes_of(&[Entry { far_words, ..*entry }]));
            }
        }
    }
}
