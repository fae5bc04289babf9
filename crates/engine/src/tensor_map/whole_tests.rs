//! Accesses to whole tensors against a model that remembers every task.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::live_runs::RunNumber;
use crate::orchestrator::Meta;
use crate::slot::Slot;
use crate::submit::Follow;
use crate::sync::Zeroed;

/// Slots of the tasks; more than are ever alive at once.
const SLOTS: u32 = 256;

/// One whole tensor, and the tasks that access it.
struct Tasks {
    map: TensorMap,
    metas: Box<[Meta]>,
    slots: Vec<Slot>,
    /// Marks of tasks, oldest first, and what each does.
    alive: Vec<(u32, bool)>,
}

impl Tasks {
    fn new() -> Self {
        let mut map = TensorMap::new(SLOTS);
        map.reset(RunNumber::default(), SLOTS, [(0, Permission::ReadWrite)].into_iter());
        let slots = (0..SLOTS).map(|_| Slot::zero()).collect();
        Tasks { map, metas: Meta::reserve(SLOTS as usize), slots, alive: Vec::new() }
    }

    /// Files the access of a task; gives the slots that it follows.
    fn file(&mut self, mark: u32, hazard: Hazard) -> BTreeSet<u32> {
        let me = Stamp { slot: SlotIndex(mark % SLOTS), number: mark };
        let mut predecessors = Vec::new();
        let mut follow = Follow::new(&mut self.metas, &mut predecessors, &self.slots, mark);
        self.map.file_whole(0, hazard, me, &mut follow);
        self.metas[me.slot.0 as usize].stamp = mark;
        predecessors.iter().map(|p| p.slot.0).collect()
    }

    fn reclaim(&mut self, mark: u32) {
        self.metas[(mark % SLOTS) as usize].stamp = 0;
        self.alive.retain(|&(of, _)| of != mark);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A read follows the last writer, a write also the readers since: those of them that are not reclaimed.
    #[test]
    fn a_whole_tensor_knows_its_writer_and_all_readers_since_and_forgets_who_is_gone(
        steps in prop::collection::vec((prop::bool::weighted(0.03), 0u32..3), 1..1500), keep in 1usize..200,
    ) {
        let mut tasks = Tasks::new();
        for (mark, (writes, reclaims)) in (1u32..).zip(steps) {
            let hazard = if writes { Hazard::Write } else { Hazard::Read };
            let last = tasks.alive.iter().rposition(|&(_, writes)| writes);
            let since = last.map_or(&tasks.alive[..], |last| &tasks.alive[last..]);
            let conflicts = since.iter().filter(|&&(_, wrote)| wrote || writes);
            let expected: BTreeSet<u32> = conflicts.map(|&(mark, _)| mark % SLOTS).collect();
            // A writer that is reclaimed hides the readers before it, which it followed.
            let found = tasks.file(mark, hazard);
            prop_assert_eq!(found, expected, "task {}", mark);
            if writes {
                tasks.alive.clear();
            }
            tasks.alive.push((mark, writes));
            let gone = tasks.alive.len().saturating_sub(keep).min(reclaims as usize + 1);
            let oldest: Vec<u32> = tasks.alive.iter().take(gone).map(|&(mark, _)| mark).collect();
            oldest.into_iter().for_each(|mark| tasks.reclaim(mark));
            prop_assert!(tasks.map.readers_listed(0) <= 3 * tasks.alive.len() + 32);
        }
    }
}
