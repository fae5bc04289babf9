//! The lists of a tensor's accesses: putting accesses on them, and taking them off.

use super::{Access, Bounds, Filed, Links, NONE, Owned, Reach, TensorMap};
use crate::slot::SlotIndex;

impl TensorMap {
    /// Puts a new access on a list of its tensor.
    #[inline]
    pub(super) fn link(
        &mut self,
        root: u32,
        list: usize,
        owned: &mut Owned,
        (task, at): (SlotIndex, u32),
        whole: bool,
    ) -> u32 {
        let head = &mut self.roots[root].heads[list];
        let next = *head;
        let index = self.accesses.take(Access {
            bounds: Bounds::EMPTY,
            root,
            bucket_next: NONE,
            task,
            at,
            list: list as u8,
            filed: Filed::List,
            whole,
            linked: true,
        });
        let next_of_task = owned.first_access;
        self.links.set(
            index,
            Links { next_of_task, prev: NONE, next, home: NONE, bucket_prev: NONE, reach: Reach::ALL },
        );
        *head = index;
        owned.first_access = index;
        if next != NONE {
            self.links[next].prev = index;
        }
        index
    }

    /// Takes an access off its lists; it stays its task's.
    #[inline]
    pub(super) fn unlink(&mut self, index: u32) {
        let access = &mut self.accesses[index];
        access.linked = false;
        let (root, list, filed) = (access.root, access.list, access.filed);
        let Links { prev, next, .. } = self.links[index];
        match prev {
            NONE => self.roots[root].heads[list as usize] = next,
            prev => self.links[prev].next = next,
        }
        if next != NONE {
            self.links[next].prev = prev;
        }
        if filed != Filed::List {
            self.take_out_part(index);
        }
    }
}
