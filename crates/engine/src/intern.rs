//! Small numbers for things that live for the whole program: kernels and source sites.
//!
//! The submitter gives out the numbers in the order of first use; any thread can look one up.

use std::collections::HashMap;

use crate::fault::Result;
use crate::sync::{AtomicU32, AtomicUsize, Ordering, Reserved, Zeroed};

/// Entries of the submitter's direct-mapped cache.
const CACHE: usize = 64;

#[derive(Debug)]
struct Address(AtomicUsize);

// SAFETY: zero bits are "no address".
unsafe impl Zeroed for Address {
    fn zero() -> Self {
        Address(AtomicUsize::new(0))
    }
}

/// Number → thing, readable by any thread.
#[derive(Debug)]
pub struct Names<T: 'static> {
    addresses: Reserved<Address>,
    count: AtomicU32,
    kind: core::marker::PhantomData<&'static T>,
}

impl<T: Sync> Names<T> {
    /// Room for `capacity` things.
    pub fn new(capacity: usize) -> Result<Self> {
        Ok(Names {
            addresses: Reserved::new(capacity, "names")?,
            count: AtomicU32::new(0),
            kind: core::marker::PhantomData,
        })
    }

    /// How many there are. Exact for the thread that gives out the numbers, and once that is over.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Starts over; the things themselves are looked up no more.
    pub fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// The thing with this number.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&'static T> {
        let address = self.addresses.get(id as usize)?.0.load(Ordering::Relaxed);
        // SAFETY: addresses are stored only by `Interner::id`, from a `&'static T`; a holder of a number got it
        // from a publication after that store.
        unsafe { (address as *const T).as_ref() }
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
        let address = core::ptr::from_ref(thing) as usize;
        let (key, id) = self.cache[Self::line(address)];
        if key == address { Some(id) } else { self.id_slow(names, address) }
    }

    fn line(address: usize) -> usize {
        (address >> 3 ^ address >> 9) % CACHE
    }

    #[cold]
    fn id_slow<T: Sync>(&mut self, names: &Names<T>, address: usize) -> Option<u32> {
        let next = self.all.len() as u32;
        let id = *self.all.entry(address).or_insert(next);
        if id as usize >= names.addresses.len() {
            return None;
        }
        names.addresses[id as usize].0.store(address, Ordering::Relaxed);
        names.count.fetch_max(id + 1, Ordering::Relaxed);
        self.cache[Self::line(address)] = (address, id);
        Some(id)
    }
}
