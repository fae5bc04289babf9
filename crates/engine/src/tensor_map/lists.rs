//! Linking accesses into their root's list and, for tiles, into their bucket; and taking them off.

use super::{NONE, TensorMap};

impl TensorMap {
    #[inline]
    pub(super) fn link(&mut self, index: u32) {
        let access = self.accesses[index];
        let head = &mut self.roots[access.root as usize].heads[access.list as usize];
        let next = core::mem::replace(head, index);
        self.accesses[index].next = next;
        if next != NONE {
            self.accesses[next].prev = index;
        }
        if access.bucket != NONE {
            let next = core::mem::replace(&mut self.buckets[access.bucket as usize], index);
            self.accesses[index].bucket_next = next;
            if next != NONE {
                self.accesses[next].bucket_prev = index;
            }
        }
    }

    #[inline]
    pub(super) fn unlink(&mut self, index: u32) {
        let access = self.accesses[index];
        self.accesses[index].linked = false;
        match access.prev {
            NONE => self.roots[access.root as usize].heads[access.list as usize] = access.next,
            prev => self.accesses[prev].next = access.next,
        }
        if access.next != NONE {
            self.accesses[access.next].prev = access.prev;
        }
        if access.bucket == NONE {
            return;
        }
        match access.bucket_prev {
            NONE => self.buckets[access.bucket as usize] = access.bucket_next,
            prev => self.accesses[prev].bucket_next = access.bucket_next,
        }
        if access.bucket_next != NONE {
            self.accesses[access.bucket_next].bucket_prev = access.bucket_prev;
        }
    }
}
