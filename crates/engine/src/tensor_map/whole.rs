//! Accesses to whole tensors: everything conflicts, a write covers everything, and no geometry is needed.
//!
//! The last writer and two readers since are stamps in the root; more readers are stamps on a list. A stamp is true as long as
//! its task's slot carries its number; nothing has to be undone when the task is reclaimed. So a list also holds stamps of
//! tasks that are gone: they are dropped when it has grown to three times the length that it had after the last time.

use super::{Hazard, Met, NONE, NewAccess, PART, READ, Root, Stamp, TensorMap, WRITE};
use crate::submit::Follow;

/// Stamps on a tensor's list before any is dropped.
const READERS_MIN: u32 = 16;

/// A reader of a whole tensor, on the tensor's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    stamp: Stamp,
    next: u32,
}

/// The readers of a whole tensor that its root has no room for, newest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readers {
    first: u32,
    /// How many more fit before those that are gone are dropped.
    room: u32,
}

impl Readers {
    pub(super) const NONE: Readers = Readers { first: NONE, room: READERS_MIN };

    pub(super) fn is_some(self) -> bool {
        self.first != NONE
    }
}

impl Root {
    /// Whether the root itself holds every access to its tensor.
    #[inline]
    fn is_alone(&self) -> bool {
        let [a, b, c, d] = self.heads;
        a & b & c & d & self.more.first == NONE
    }
}

impl TensorMap {
    /// Looks up the predecessors of an access to a whole tensor, and inserts it for the task `me`.
    // Always inlined: as for `encode_tensor`.
    #[inline(always)]
    pub(crate) fn file_whole(&mut self, id: u32, hazard: Hazard, me: Stamp, follow: &mut Follow<'_>) {
        let root = &mut self.roots[id];
        follow.add_stamped(root.writer);
        let alone = root.is_alone();
        if hazard == Hazard::Write {
            follow.add_stamped(root.readers[0]);
            follow.add_stamped(root.readers[1]);
            (root.writer, root.readers) = (me, [Stamp::NOBODY; 2]);
            if !alone {
                self.supersede_lists(id, &mut follow.lend());
            }
            return;
        }
        if !alone && root.heads[WRITE] & root.heads[WRITE + PART] != NONE {
            self.follow_writes(id, &mut follow.lend());
        }
        let root = &mut self.roots[id];
        if !follow.is_alive(root.readers[0]) {
            root.readers[0] = me;
        } else if !follow.is_alive(root.readers[1]) {
            root.readers[1] = me;
        } else {
            self.add_reader(id, me, &follow.lend());
        }
    }

    /// Puts a reader on the list of those that the root has no room for.
    fn add_reader(&mut self, id: u32, me: Stamp, follow: &Follow<'_>) {
        if self.roots[id].more.room == 0 {
            self.drop_gone_readers(id, follow);
        }
        let more = &mut self.roots[id].more;
        more.first = self.readers.take(Reader { stamp: me, next: more.first });
        more.room -= 1;
    }

    #[cold]
    fn drop_gone_readers(&mut self, id: u32, follow: &Follow<'_>) {
        let (mut at, mut last, mut left) = (self.roots[id].more.first, NONE, 0);
        while at != NONE {
            let Reader { stamp, next } = self.readers[at];
            if follow.is_alive(stamp) {
                (last, left) = (at, left + 1);
            } else {
                match last {
                    NONE => self.roots[id].more.first = next,
                    last => self.readers[last].next = next,
                }
                self.readers.give(at);
            }
            at = next;
        }
        self.roots[id].more.room = (2 * left).max(READERS_MIN);
    }

    /// Frees a tensor's list of readers, newest first.
    pub(super) fn free_readers(&mut self, id: u32, mut each: impl FnMut(Stamp)) {
        let mut at = core::mem::replace(&mut self.roots[id].more, Readers::NONE).first;
        while at != NONE {
            let Reader { stamp, next } = self.readers[at];
            each(stamp);
            self.readers.give(at);
            at = next;
        }
    }

    /// The length of a tensor's list of readers.
    #[cfg(test)]
    pub(super) fn readers_listed(&self, id: u32) -> usize {
        let next = |&at: &u32| Some(self.readers[at].next).filter(|&next| next != NONE);
        let first = Some(self.roots[id].more.first).filter(|&first| first != NONE);
        core::iter::successors(first, next).count()
    }

    /// A write of the whole tensor meets and covers every access on the lists.
    fn supersede_lists(&mut self, id: u32, follow: &mut Follow<'_>) {
        self.free_readers(id, |stamp| follow.add_stamped(stamp));
        for list in 0..4 {
            let mut at = self.roots[id].heads[list];
            while at != NONE {
                follow.add(self.accesses[at].task);
                let next = self.links[at].next;
                self.unlink(at);
                at = next;
            }
        }
    }

    /// A read of the whole tensor meets every write on the lists.
    #[cold]
    fn follow_writes(&mut self, id: u32, follow: &mut Follow<'_>) {
        let [writes, _, part_writes, _] = self.roots[id].heads;
        for head in [writes, part_writes] {
            let mut at = head;
            while at != NONE {
                follow.add(self.accesses[at].task);
                at = self.links[at].next;
            }
        }
    }

    /// The stamps that conflict with an access; one that writes everything supersedes them.
    pub(super) fn meet_stamps(&mut self, new: &NewAccess<'_>, found: &mut impl FnMut(Met)) {
        const { assert!(WRITE == 0 && READ == 1) };
        let root = &mut self.roots[new.root];
        found(Met::Stamped(root.writer));
        if new.hazard == Hazard::Write {
            root.readers.iter().for_each(|&reader| found(Met::Stamped(reader)));
            let mut at = root.more.first;
            while at != NONE {
                let Reader { stamp, next } = self.readers[at];
                found(Met::Stamped(stamp));
                at = next;
            }
            if new.whole {
                (root.writer, root.readers) = (Stamp::NOBODY, [Stamp::NOBODY; 2]);
                self.free_readers(new.root, |_| {});
            }
        }
    }
}
