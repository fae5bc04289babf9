//! A pool of records named by index, reused last in, first out.

use core::ops::{Index, IndexMut};

use super::NONE;

#[derive(Debug)]
pub(super) struct Pool<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Pool<T> {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Pool { items: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }

    #[inline]
    pub(super) fn take(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.items[index as usize] = item;
                index
            }
            None => {
                debug_assert!((self.items.len() as u32) < NONE);
                self.items.push(item);
                self.items.len() as u32 - 1
            }
        }
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
        &self.items[index as usize]
    }
}

impl<T> IndexMut<u32> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
