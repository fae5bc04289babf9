//! Accesses to whole tensors: everything conflicts, a write covers everything, and no geometry is needed.
//!
//! The last writer and two readers since are stamps in the root. A stamp is true as long as its task's slot carries
//! its number; nothing has to be undone when the task is reclaimed. More readers than two go on the list.

use super::{Access, Hazard, Met, NONE, NewAccess, Owned, PART, READ, Stamp, TensorMap, WRITE};
use crate::submit::Follow;

impl TensorMap {
    /// Looks up the predecessors of an access to a whole tensor, and inserts it for the task `me`.
    // Always inlined: as for `encode_tensor`.
    #[inline(always)]
    pub(crate) fn file_whole(
        &mut self,
        id: u32,
        hazard: Hazard,
        me: Stamp,
        at: u32,
        owned: &mut Owned,
        follow: &mut Follow<'_>,
    ) {
        let root = &mut self.roots[id];
        follow.add_stamped(root.writer);
        let listed = root.heads != [NONE; 4];
        if hazard == Hazard::Write {
            follow.add_stamped(root.readers[0]);
            follow.add_stamped(root.readers[1]);
            (root.writer, root.readers) = (me, [Stamp::NOBODY; 2]);
            if listed {
                self.supersede_lists(id, follow);
            }
            return;
        }
        let room = if !follow.is_alive(root.readers[0]) {
            Some(&mut root.readers[0])
        } else if !follow.is_alive(root.readers[1]) {
            Some(&mut root.readers[1])
        } else {
            None
        };
        let stamped = match room {
            Some(reader) => {
                *reader = me;
                true
            }
            None => false,
        };
        if listed && root.heads[WRITE] & root.heads[WRITE + PART] != NONE {
            self.follow_writes(id, follow);
        }
        if !stamped {
            self.link(id, READ, owned, (me.slot, at), true);
        }
    }

    /// A write of the whole tensor meets and covers every access on the lists.
    #[cold]
    fn supersede_lists(&mut self, id: u32, follow: &mut Follow<'_>) {
        for list in 0..4 {
            let mut at = self.roots[id].heads[list];
            while at != NONE {
                let Access { task, next, .. } = self.accesses[at];
                follow.add(task);
                self.unlink(at);
                at = next;
            }
        }
    }

    /// A read of the whole tensor meets every write on the lists.
    fn follow_writes(&mut self, id: u32, follow: &mut Follow<'_>) {
        let [writes, _, part_writes, _] = self.roots[id].heads;
        for head in [writes, part_writes] {
            let mut at = head;
            while at != NONE {
                follow.add(self.accesses[at].task);
                at = self.accesses[at].next;
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
            if new.whole {
                (root.writer, root.readers) = (Stamp::NOBODY, [Stamp::NOBODY; 2]);
            }
        }
    }
}
