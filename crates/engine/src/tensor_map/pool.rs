//! A pool of records named by index, reused last in, first out.

use core::ops::{Index, IndexMut};

use super::NONE;

/// The pool. Indices are given out by `take` and come back by `give`; records are never removed while the pool is in
/// use, so an index once given out stays in bounds until `clear`.
#[derive(Debug)]
pub(super) struct Pool<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Pool<T> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Pool { items: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    /// Forgets everything. No index given out before may be used again.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }

    /// The record at an index that may be anything.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.items.get(index as usize)
    }

    /// As `get`, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.items.get_mut(index as usize)
    }

    #[inline]
    pub(super) fn take(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self[index] = item;
                index
            }
            None => self.grow(item),
        }
    }

    /// As `take`; the record that was there before can be read first.
    pub(super) fn take_with(&mut self, make: impl FnOnce(Option<&T>) -> T) -> u32 {
        let before = self.free.last().map(|&index| &self[index]);
        let item = make(before);
        self.take(item)
    }

    #[inline]
    fn grow(&mut self, item: T) -> u32 {
        debug_assert!((self.items.len() as u32) < NONE);
        self.items.push(item);
        self.items.len() as u32 - 1
    }

    #[inline]
    pub(super) fn give(&mut self, index: u32) {
        self.free.push(index);
    }
}

impl<T> Index<u32> for Pool<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        debug_assert!((index as usize) < self.items.len());
        // SAFETY: the tensor map indexes with what `take` gave it since the last `clear` (see the type).
        unsafe { self.items.get_unchecked(index as usize) }
    }
}

impl<T> IndexMut<u32> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        debug_assert!((index as usize) < self.items.len());
        // SAFETY: as above.
        unsafe { self.items.get_unchecked_mut(index as usize) }
    }
}

/// More about the records of a pool, at the same indices, where most uses of a record do not need it.
#[derive(Debug)]
pub(super) struct Beside<T>(Vec<T>);

impl<T> Beside<T> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Beside(Vec::with_capacity(capacity))
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// For the record that the pool has just given this index.
    #[inline]
    pub(super) fn set(&mut self, index: u32, item: T) {
        match self.0.get_mut(index as usize) {
            Some(place) => *place = item,
            None => self.0.push(item),
        }
    }
}

impl<T> Index<u32> for Beside<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.0[index as usize]
    }
}

impl<T> IndexMut<u32> for Beside<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.0[index as usize]
    }
}
