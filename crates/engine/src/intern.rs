//! Small numbers for things that live for the whole program: kernels and source sites.
//!
//! The submitter gives out the numbers in the order of first use; any thread can look one up.

#![forbid(unsafe_code)]

use std::collections::HashMap;

use crate::fault::Result;
use crate::sync::{AtomicRef, AtomicU32, Ordering, Reserved};

/// Entries of the submitter's direct-mapped cache.
const CACHE: usize = 64;

/// Number → thing, readable by any thread.
#[derive(Debug)]
pub struct Names<T: 'static> {
    things: Reserved<AtomicRef<T>>,
    count: AtomicU32,
}

impl<T: Sync> Names<T> {
    /// Room for `capacity` things.
    pub fn new(capacity: usize) -> Result<Self> {
        Ok(Names { things: Reserved::new(capacity, "names")?, count: AtomicU32::new(0) })
    }

    /// How many there are. Exact for the thread that gives out the numbers, and once that is over.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Takes over the numbers of another table.
    pub fn copy_from(&self, other: &Self) {
        for (thing, from) in self.things.iter().zip(&other.things[..other.count() as usize]) {
            from.get().into_iter().for_each(|named| thing.set(named));
        }
        self.count.store(other.count(), Ordering::Relaxed);
    }

    /// Starts over; the things themselves can no longer be looked up.
    pub fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// The thing with this number.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&'static T> {
        self.things.get(id as usize)?.get()
    }
}

/// Thing → number; the submitter's side.
#[derive(Debug)]
pub struct Interner {
    cache: [(usize, u32); CACHE],
    all: HashMap<usize, u32>,
}

impl Default for Interner {
    /// Nothing interned yet.
    fn default() -> Self {
        Interner { cache: [(0, 0); CACHE], all: HashMap::new() }
    }
}

impl Interner {
    /// Starts over.
    pub fn reset(&mut self) {
        *self = Interner::default();
    }

    /// The number of a thing; `None` if there are too many.
    #[inline]
    pub fn id<T: Sync>(&mut self, names: &Names<T>, thing: &'static T) -> Option<u32> {
        let address = core::ptr::from_ref(thing).addr();
        let (key, id) = self.cache[Self::line(address)];
        if key == address { Some(id) } else { self.id_slow(names, thing) }
    }

    fn line(address: usize) -> usize {
        (address >> 3 ^ address >> 9) % CACHE
    }

    #[cold]
    fn id_slow<T: Sync>(&mut self, names: &Names<T>, thing: &'static T) -> Option<u32> {
        let address = core::ptr::from_ref(thing).addr();
        let next = self.all.len() as u32;
        let id = *self.all.entry(address).or_insert(next);
        names.things.get(id as usize)?.set(thing);
        names.count.fetch_max(id + 1, Ordering::Relaxed);
        self.cache[Self::line(address)] = (address, id);
        Some(id)
    }
}
