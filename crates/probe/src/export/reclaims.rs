//! When each task was reclaimed, found from what was reclaimed together.

use ringlane_engine::limits::RINGS;
use ringlane_task::TaskId;

use crate::records::Reclaim;

/// The reclaims of a run. Tasks of a ring are reclaimed in their order, so that each ring's are in the order of their first tasks.
#[derive(Default)]
pub(super) struct Reclaims([OfRing; RINGS]);

#[derive(Default)]
struct OfRing {
    all: Vec<Reclaim>,
    /// Which one the last task was found in: the next one is most often in that too, or in the one after it.
    last: usize,
}

impl Reclaims {
    pub(super) fn add(&mut self, reclaim: Reclaim) {
        if let Some(ring) = self.0.get_mut((reclaim.first >> 32) as usize) {
            ring.all.push(reclaim);
        }
    }

    /// When a task was reclaimed; `None` if the record of it was lost.
    pub(super) fn of(&mut self, task: TaskId) -> Option<u64> {
        let ring = self.0.get_mut((task.0 >> 32) as usize)?;
        let has = |reclaim: &Reclaim| (reclaim.first..reclaim.first + reclaim.count).contains(&task.0);
        if let Some(near) = ring.all[ring.last..].iter().take(2).position(has) {
            ring.last += near;
        } else {
            ring.last = ring.all.partition_point(|reclaim| reclaim.first <= task.0).saturating_sub(1);
        }
        ring.all.get(ring.last).filter(|reclaim| has(reclaim)).map(|reclaim| reclaim.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::RingIndex;

    #[test]
    fn each_task_is_found_in_its_own_ring_in_any_order() {
        let id = |ring, local| TaskId::new(RingIndex(ring), local);
        let mut reclaims = Reclaims::default();
        assert_eq!(reclaims.of(id(0, 0)), None);
        let together = [(0, 0, 3, 10), (1, 0, 2, 11), (0, 3, 1, 12), (0, 6, 2, 13)];
        for (ring, first, count, at) in together {
            reclaims.add(Reclaim { first: id(ring, first).0, count, at });
        }
        let expected = [Some(10), Some(10), Some(10), Some(12), None, None, Some(13), Some(13), None];
        let ring0 = |local: usize, reclaims: &mut Reclaims| reclaims.of(id(0, local as u32));
        for local in (0..9).chain((0..9).rev()).chain([7, 0, 8, 3, 6, 1]) {
            assert_eq!(ring0(local, &mut reclaims), expected[local], "{local}");
        }
        assert_eq!([0, 1, 2].map(|local| reclaims.of(id(1, local))), [Some(11), Some(11), None]);
        assert_eq!(reclaims.of(TaskId(u64::MAX)), None);
    }
}
