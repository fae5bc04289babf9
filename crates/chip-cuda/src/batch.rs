//! A set of tasks as lists of entries, ready to be copied to the device.

#![forbid(unsafe_code)]

use ringlane_engine::lists::{Placed, Planner};
use ringlane_engine::placed::EncodedBlock;

use crate::entry::{Entry, kind};

/// The kernel of an entry that runs none.
pub(crate) const NOTHING: u16 = u16::MAX;

/// Lists of entries. Tasks are added in submission order; their numbers count from 0. Used again, it needs no new memory.
#[derive(Debug)]
pub(crate) struct Batch {
    lists: Vec<Vec<Entry>>,
    planner: Planner,
    /// Each task's blocks: the first of `places`, and the number.
    tasks: Vec<(u32, u32)>,
    places: Vec<Place>,
    /// Words that are not in entries; `far_words` of entries counts words of it, plus one.
    far: Vec<u64>,
    /// The flags that the task that is added waits for.
    awaited: Vec<u32>,
}

/// Where a block is.
#[derive(Clone, Copy, Debug)]
struct Place {
    placed: Placed,
    /// Its place on its list.
    at: u32,
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

impl Batch {
    pub(crate) fn new(lists: u32) -> Self {
        Batch {
            lists: vec![Vec::new(); lists as usize],
            planner: Planner::new(lists),
            tasks: Vec::new(),
            places: Vec::new(),
            far: Vec::new(),
            awaited: Vec::new(),
        }
    }

    /// Takes all tasks out.
    pub(crate) fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.planner.clear();
        self.tasks.clear();
        self.places.clear();
        self.far.clear();
    }

    /// Adds a task that runs no kernel and only orders others.
    pub(crate) fn push_empty(&mut self, predecessors: &[u32]) {
        let task = BatchTask { predecessors, makes_outputs: false };
        self.begin(&task);
        let entry = Entry { kernel: NOTHING, ..Entry::default() };
        self.push_block(&task, (0, 1), entry, &[]);
    }

    /// Adds a task of one block of the kernel with this number in the program.
    pub(crate) fn push_one(&mut self, task: &BatchTask<'_>, kernel: u16, block: &EncodedBlock<'_>) {
        self.begin(task);
        self.push_encoded(task, (0, 1), kernel, block);
    }

    /// Adds a task with these blocks, each with the number of its kernel in the program.
    pub(crate) fn push(&mut self, task: &BatchTask<'_>, blocks: &[(u16, EncodedBlock<'_>)]) {
        if blocks.is_empty() {
            return self.push_empty(task.predecessors);
        }
        self.begin(task);
        for (index, (kernel, block)) in (0u32..).zip(blocks) {
            self.push_encoded(task, (index, blocks.len() as u32), *kernel, block);
        }
    }

    /// Adds a task that initializes memory; gives its number.
    pub(crate) fn push_init(&mut self, predecessors: &[u32], init: &Initialized<'_>) -> u32 {
        let number = self.tasks.len() as u32;
        self.push_empty(predecessors);
        let far = init.contents.map_or(0, |contents| {
            // At an even word, so that the device copies 16 bytes at a time.
            self.far.resize(self.far.len().next_multiple_of(2), 0);
            let first = self.far.len() as u64 + 1;
            self.far.extend(words_of(contents));
            first
        });
        let place = *self.places.last().expect("just placed");
        let entry = &mut self.lists[place.placed.list as usize][place.at as usize];
        entry.kind |= kind::INITIALIZES;
        entry.far_words = far;
        entry.payload[..3].copy_from_slice(&[u64::from(init.space), init.start, init.bytes]);
        number
    }

    /// Begins a task.
    fn begin(&mut self, task: &BatchTask<'_>) {
        let places = task.predecessors.iter().flat_map(|&before| {
            let (first, count) = self.tasks[before as usize];
            &self.places[first as usize..(first + count) as usize]
        });
        self.planner.begin(places.map(|place| place.placed));
        self.tasks.push((self.places.len() as u32, 0));
    }

    fn push_encoded(
        &mut self,
        task: &BatchTask<'_>,
        (index, count): (u32, u32),
        kernel: u16,
        block: &EncodedBlock<'_>,
    ) {
        let makes = if task.makes_outputs { kind::MAKES_OUTPUTS } else { 0 };
        let entry =
            Entry { kernel, kind: makes, block: block.block, blocks: block.blocks, ..Entry::default() };
        self.push_block(task, (index, count), entry, block.words);
    }

    /// Places one of the blocks of the task that was begun.
    fn push_block(
        &mut self,
        task: &BatchTask<'_>,
        (index, count): (u32, u32),
        mut entry: Entry,
        words: &[u64],
    ) {
        let number = self.tasks.len() as u32 - 1;
        let placed = self.planner.place();
        let list = placed.list as usize;
        entry.task = number;
        entry.flag = number;
        entry.index = index;
        entry.last = count;
        entry.kind |= if count > 1 { kind::MANY_BLOCKS } else { 0 };
        entry.words = words.len() as u32;
        self.find_awaited(task, placed.list);
        // What initializes memory has three words, which come later.
        let mut own_words = words.len().max(3);
        if Entry::has_room(own_words, self.awaited.len()) {
            entry.payload[..words.len()].copy_from_slice(words);
        } else {
            own_words = 0;
            entry.far_words = self.far.len() as u64 + 1;
            self.far.extend_from_slice(words);
        }
        // Flags that it has no room for are waited for by entries before it.
        let own = self.awaited.len().min(Entry::flags_max(own_words));
        let (own, others) = self.awaited.split_at(own);
        entry.wait_for(own);
        for some in others.chunks(Entry::flags_max(0)) {
            let mut wait = Entry { kind: kind::ONLY_WAITS, ..Entry::default() };
            wait.wait_for(some);
            self.lists[list].push(wait);
        }
        self.places.push(Place { placed, at: self.lists[list].len() as u32 });
        self.lists[list].push(entry);
        self.tasks[number as usize].1 += 1;
    }

    /// Finds the flags that an entry on this list waits for, those of predecessors with a block on another list, and has them
    /// published.
    fn find_awaited(&mut self, task: &BatchTask<'_>, list: u32) {
        self.awaited.clear();
        for &before in task.predecessors {
            let (first, count) = self.tasks[before as usize];
            let places = &self.places[first as usize..(first + count) as usize];
            if places.iter().any(|place| place.placed.list != list) {
                self.awaited.push(before);
                for place in places {
                    self.lists[place.placed.list as usize][place.at as usize].kind |= kind::PUBLISHES;
                }
            }
        }
    }

    /// Number of tasks.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The lists, one after another.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &[Entry]> {
        self.lists.iter().map(Vec::as_slice)
    }

    /// Where each list begins among all entries, and the end.
    pub(crate) fn first(&self) -> Vec<u32> {
        let mut first = Vec::with_capacity(self.lists.len() + 1);
        let mut at = 0;
        for list in &self.lists {
            first.push(at);
            at += list.len() as u32;
        }
        first.push(at);
        first
    }

    /// Arguments that are not in entries.
    pub(crate) fn far(&self) -> &[u64] {
        &self.far
    }

    /// The list of each block of a task, and its place on it.
    pub(crate) fn places_of(&self, task: u32) -> impl ExactSizeIterator<Item = (u32, u32)> + Clone {
        let (first, count) = self.tasks[task as usize];
        let places = &self.places[first as usize..(first + count) as usize];
        places.iter().map(|place| (place.placed.list, place.at))
    }
}

/// Bytes as words; the last one is filled up with zeros.
pub(crate) fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}
