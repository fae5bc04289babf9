//! A set of tasks as lists of entries, ready to be copied to the device.

#![forbid(unsafe_code)]

use ringlane_engine::placed::EncodedBlock;

use crate::entry::{Entry, INLINE_WORDS, PREDECESSORS, kind};
use crate::plan::{Placed, Planner};

/// The kernel of an entry that runs none.
pub(crate) const NOTHING: u16 = u16::MAX;

/// Lists of entries. Tasks are added in submission order; their numbers count from 0.
pub(crate) struct Batch {
    lists: Vec<Vec<Entry>>,
    planner: Planner,
    /// Each task's blocks: the first of `placed`, and the number.
    tasks: Vec<(u32, u32)>,
    placed: Vec<Placed>,
    /// Words that are not in entries.
    far: Vec<u64>,
}

/// What a task is, besides its blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchTask<'a> {
    /// Earlier tasks of the batch that it follows, without repetition.
    pub(crate) predecessors: &'a [u32],
    /// Whether the device zeroes what it makes.
    pub(crate) makes_outputs: bool,
}

/// Memory that is initialized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Initialized<'a> {
    pub(crate) space: u32,
    /// The first byte in the space.
    pub(crate) start: u64,
    pub(crate) bytes: u64,
    /// What it then holds; zeros without it.
    pub(crate) contents: Option<&'a [u8]>,
}

/// Lists as the device reads them: all entries, and where each list begins.
pub(crate) struct Laid {
    pub(crate) entries: Vec<Entry>,
    pub(crate) first: Vec<u32>,
    /// Arguments that are not in entries; `far_words` of entries counts words of it, plus one.
    pub(crate) far: Vec<u64>,
    /// For each task, the entry of each of its blocks.
    pub(crate) entry_of: Vec<Vec<u32>>,
}

impl Batch {
    pub(crate) fn new(lists: u32) -> Self {
        Batch {
            lists: vec![Vec::new(); lists as usize],
            planner: Planner::new(lists),
            tasks: Vec::new(),
            placed: Vec::new(),
            far: Vec::new(),
        }
    }

    /// Adds a task with these blocks, each with the number of its kernel in the program; without blocks, it only orders others.
    pub(crate) fn push(&mut self, task: &BatchTask<'_>, blocks: &[(u16, EncodedBlock<'_>)]) {
        let (number, first) = (self.tasks.len() as u32, self.placed.len() as u32);
        let count = blocks.len().max(1);
        for index in 0..count {
            self.planner.tidy();
            let before = || {
                task.predecessors.iter().flat_map(|&before| {
                    let (first, count) = self.tasks[before as usize];
                    self.placed[first as usize..(first + count) as usize].iter().copied()
                })
            };
            // A wide task: the end of its predecessors counts, not each of their blocks.
            let latest: Vec<Placed> = latest_of(before());
            let placed = self.planner.place(latest.into_iter());
            let awaited = self.awaited(task, placed.list);
            let mut entry = self.waiting(&awaited, placed.list);
            entry.task = number;
            entry.flag = number;
            entry.kernel = NOTHING;
            entry.last = count as u32;
            entry.kind = if count > 1 { kind::MANY_BLOCKS } else { 0 };
            if let Some((kernel, block)) = blocks.get(index) {
                entry.kernel = *kernel;
                entry.kind |= if task.makes_outputs { kind::MAKES_OUTPUTS } else { 0 };
                (entry.block, entry.blocks) = (block.block, block.blocks);
                self.set_words(&mut entry, block.words);
            }
            // Differs from the number in its kernel in a mixed task.
            entry.index = index as u32;
            self.lists[placed.list as usize].push(entry);
            self.placed.push(placed);
        }
        self.tasks.push((first, count as u32));
    }

    /// Adds a task that initializes memory; gives its number.
    pub(crate) fn push_init(&mut self, predecessors: &[u32], init: &Initialized<'_>) -> u32 {
        let number = self.tasks.len() as u32;
        self.push(&BatchTask { predecessors, makes_outputs: false }, &[]);
        let list = self.placed.last().expect("just placed").list as usize;
        let far = init.contents.map_or(0, |contents| {
            let first = self.far.len() as u64 + 1;
            let words = contents.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            });
            self.far.extend(words);
            first
        });
        let entry = self.lists[list].last_mut().expect("just placed");
        entry.kind |= kind::INITIALIZES;
        entry.far_words = far;
        entry.near_words[..3].copy_from_slice(&[u64::from(init.space), init.start, init.bytes]);
        number
    }

    /// The flags that an entry on this list waits for: those of predecessors with a block on another list.
    fn awaited(&self, task: &BatchTask<'_>, list: u32) -> Vec<u32> {
        let elsewhere = |before: &&u32| {
            let (first, count) = self.tasks[**before as usize];
            self.placed[first as usize..(first + count) as usize].iter().any(|placed| placed.list != list)
        };
        task.predecessors.iter().filter(elsewhere).copied().collect()
    }

    /// An entry that waits for these flags; those that it has no room for are waited for by entries before it.
    fn waiting(&mut self, awaited: &[u32], list: u32) -> Entry {
        let mut chunks = awaited.chunks(PREDECESSORS);
        let own = chunks.next_back().unwrap_or_default();
        for some in chunks {
            let mut wait = waiting_for(some);
            wait.kind = kind::ONLY_WAITS;
            self.lists[list as usize].push(wait);
        }
        waiting_for(own)
    }

    fn set_words(&mut self, entry: &mut Entry, words: &[u64]) {
        entry.words = words.len() as u32;
        if words.len() <= INLINE_WORDS {
            entry.near_words[..words.len()].copy_from_slice(words);
        } else {
            entry.far_words = self.far.len() as u64 + 1;
            self.far.extend_from_slice(words);
        }
    }

    /// One after another, as the device reads them.
    pub(crate) fn lay(self) -> Laid {
        let mut entry_of: Vec<Vec<u32>> =
            self.tasks.iter().map(|(_, count)| vec![0; *count as usize]).collect();
        let (mut entries, mut first) = (Vec::new(), Vec::with_capacity(self.lists.len() + 1));
        for list in self.lists {
            first.push(entries.len() as u32);
            for entry in list {
                if entry.kind & kind::ONLY_WAITS == 0 {
                    entry_of[entry.task as usize][entry.index as usize] = entries.len() as u32;
                }
                entries.push(entry);
            }
        }
        first.push(entries.len() as u32);
        Laid { entries, first, far: self.far, entry_of }
    }
}

fn waiting_for(awaited: &[u32]) -> Entry {
    let mut entry = Entry { predecessors: awaited.len() as u8, ..Entry::default() };
    entry.before[..awaited.len()].copy_from_slice(awaited);
    entry
}

/// The latest block of each list, of at most a few lists: all that a place depends on.
fn latest_of(placed: impl Iterator<Item = Placed>) -> Vec<Placed> {
    const LISTS_MAX: usize = 8;
    let mut latest: Vec<Placed> = Vec::new();
    for one in placed {
        if let Some(known) = latest.iter_mut().find(|known| known.list == one.list) {
            known.end = known.end.max(one.end);
        } else if latest.len() < LISTS_MAX {
            latest.push(one);
        } else if let Some(least) =
            latest.iter_mut().min_by_key(|known| known.end).filter(|l| l.end < one.end)
        {
            *least = one;
        }
    }
    latest
}
