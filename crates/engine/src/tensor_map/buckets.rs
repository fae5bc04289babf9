//! The table of cells: which accesses are filed in a cell, for the cells of all tensors.
//!
//! A hash table of lists. Each access keeps its own links and the hash of its cell; reads and writes of a cell are apart.

use super::reach::Reach;
use super::{Links, NONE, TensorMap};

/// The most buckets that are made at first; more are made as they are needed.
const BUCKETS_MAX: usize = 1 << 17;

/// More filed accesses than this have heads that are not in the first cache.
const LARGE: usize = 1 << 11;

/// The lists.
#[derive(Debug)]
pub(super) struct Buckets {
    /// Two of each bucket: of writes, of reads.
    heads: Vec<Head>,
    filed: usize,
}

/// Of one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Its first access. Others of the list may be of other cells.
    pub(super) first: u32,
    /// Of all its accesses.
    pub(super) reach: Reach,
}

const EMPTY: Head = Head { first: NONE, reach: Reach::ALL };

impl Buckets {
    /// Buckets for about this many accesses.
    pub(super) fn new(accesses: usize) -> Self {
        Buckets { heads: vec![EMPTY; 2 * accesses.next_power_of_two().clamp(64, BUCKETS_MAX)], filed: 0 }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.heads.fill(EMPTY);
        self.filed = 0;
    }

    /// A list of a tensor's cell.
    #[inline]
    pub(super) fn head(&self, root: u32, cell: u32, list: usize) -> &Head {
        &self.heads[self.at(hash(root, cell), list)]
    }

    /// Whether the heads take more memory than the first cache has.
    #[inline]
    pub(super) fn is_large(&self) -> bool {
        self.filed > LARGE
    }

    #[inline]
    fn at(&self, hash: u32, list: usize) -> usize {
        (hash as usize & (self.heads.len() / 2 - 1)) * 2 + list
    }
}

/// The hash of a tensor's cell: cells whose names follow each other stay neighbours.
#[inline]
fn hash(root: u32, cell: u32) -> u32 {
    root.wrapping_mul(0x85eb_ca6b).wrapping_add(cell)
}

impl TensorMap {
    /// Puts an access into a cell.
    #[inline]
    pub(super) fn link_bucket(&mut self, index: u32, cell: u32, reach: Reach) {
        let links = &mut self.links[index];
        (links.home, links.reach) = (hash(self.accesses[index].root, cell), reach);
        self.push_to_bucket(index);
        self.buckets.filed += 1;
        if self.buckets.filed > self.buckets.heads.len() {
            self.grow_buckets();
        }
    }

    #[inline]
    fn push_to_bucket(&mut self, index: u32) {
        let (access, links) = (&mut self.accesses[index], &mut self.links[index]);
        let at = self.buckets.at(links.home, access.kind());
        let head = &mut self.buckets.heads[at];
        let next = core::mem::replace(&mut head.first, index);
        head.reach = if next == NONE { links.reach } else { head.reach.union(links.reach) };
        (links.bucket_prev, access.bucket_next) = (NONE, next);
        if next != NONE {
            self.links[next].bucket_prev = index;
        }
    }

    /// Takes an access out of its cell.
    #[inline]
    pub(super) fn unlink_bucket(&mut self, index: u32) {
        let (next, Links { home, bucket_prev, .. }) = (self.accesses[index].bucket_next, self.links[index]);
        match bucket_prev {
            NONE => {
                let at = self.buckets.at(home, self.accesses[index].kind());
                self.buckets.heads[at].first = next;
            }
            prev => self.accesses[prev].bucket_next = next,
        }
        if next != NONE {
            self.links[next].bucket_prev = bucket_prev;
        }
        self.buckets.filed -= 1;
    }

    /// Makes twice as many buckets.
    #[cold]
    fn grow_buckets(&mut self) {
        let doubled = vec![EMPTY; 2 * self.buckets.heads.len()];
        for head in core::mem::replace(&mut self.buckets.heads, doubled) {
            let mut at = head.first;
            while at != NONE {
                let next = self.accesses[at].bucket_next;
                self.push_to_bucket(at);
                at = next;
            }
        }
    }
}
