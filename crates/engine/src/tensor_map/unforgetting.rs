//! A map that forgets nothing but what later writes cover: for deriving the dependencies of a whole program.
//!
//! Its tasks are never reclaimed, so an access that a write covers is freed at once, and a tensor when it is said to be gone.

use super::{NONE, Root, Superseded, TensorMap};
use crate::api::buffers::Permission;

/// Accesses that there is room for at first.
const ACCESSES: u32 = 1 << 12;

impl TensorMap {
    /// A map that forgets nothing but what later writes cover, and grows with what it has to remember.
    pub fn unforgetting() -> Self {
        TensorMap { capacity: u64::MAX, superseded: Superseded::Freed, ..TensorMap::new(ACCESSES) }
    }

    /// A tensor of a map that forgets nothing, with offsets counted from its own start.
    pub fn new_root(&mut self) -> u32 {
        self.roots.take(Root::new(self.first_tag, 0, 0, Permission::ReadWrite, NONE))
    }

    /// Frees a tensor of a map that forgets nothing, and reports each access that goes with it, by its record's place.
    pub fn forget_root(&mut self, id: u32, mut gone: impl FnMut(u32)) {
        for list in 0..self.roots[id].heads.len() {
            let mut index = self.roots[id].heads[list];
            while index != NONE {
                let next = self.links[index].next;
                gone(self.accesses[index].at);
                self.unlink(index);
                self.accesses.give(index);
                index = next;
            }
        }
        if self.roots[id].parts != NONE {
            self.parts.give(self.roots[id].parts);
        }
        self.roots.give(id);
    }
}
