//! Linking tiles into their bucket, and taking accesses off their lists.

use super::{NONE, TensorMap};

impl TensorMap {
    /// Puts a tile into its bucket.
    pub(super) fn link_bucket(&mut self, index: u32) {
        let bucket = self.accesses[index].bucket as usize;
        let next = core::mem::replace(&mut self.buckets[bucket], index);
        self.accesses[index].bucket_next = next;
        if next != NONE {
            self.accesses[next].bucket_prev = index;
        }
    }

    /// Takes an access off its lists; it stays its task's.
    #[inline]
    pub(super) fn unlink(&mut self, index: u32) {
        let access = &mut self.accesses[index];
        access.linked = false;
        let (prev, next, root, list, bucket) =
            (access.prev, access.next, access.root, access.list, access.bucket);
        match prev {
            NONE => self.roots[root].heads[list as usize] = next,
            prev => self.accesses[prev].next = next,
        }
        if next != NONE {
            self.accesses[next].prev = prev;
        }
        if bucket != NONE {
            self.unlink_bucket(index);
        }
    }

    fn unlink_bucket(&mut self, index: u32) {
        let access = self.accesses[index];
        match access.bucket_prev {
            NONE => self.buckets[access.bucket as usize] = access.bucket_next,
            prev => self.accesses[prev].bucket_next = access.bucket_next,
        }
        if access.bucket_next != NONE {
            self.accesses[access.bucket_next].bucket_prev = access.bucket_prev;
        }
    }
}
