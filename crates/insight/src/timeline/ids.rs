//! From a task's name to its position.

use std::collections::HashMap;

use ringlane_task::{RINGS, TaskId};

use super::TaskIndex;

/// No task has this position.
const NONE: u32 = u32::MAX;

/// How much longer than the list of tasks a ring's table may be; numbers beyond it are looked up by hashing.
const SLACK: usize = 1024;

/// Positions by name. A ring numbers its tasks 0, 1, 2, …, so a table for each ring holds nearly all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskIds {
    rings: [Vec<u32>; RINGS],
    others: HashMap<TaskId, u32>,
}

impl TaskIds {
    /// Names in the order of their positions; `Err` names one that appears twice.
    pub(super) fn new(tasks: impl ExactSizeIterator<Item = TaskId>) -> Result<Self, TaskId> {
        let limit = tasks.len() + SLACK;
        let mut ids = TaskIds::default();
        for (task, position) in tasks.zip(0..) {
            let place = match ids.rings.get_mut(ring_of(task)) {
                Some(ring) if (task.local() as usize) < limit => {
                    let local = task.local() as usize;
                    if ring.len() <= local {
                        ring.resize(local + 1, NONE);
                    }
                    &mut ring[local]
                }
                _ => ids.others.entry(task).or_insert(NONE),
            };
            if *place != NONE {
                return Err(task);
            }
            *place = position;
        }
        Ok(ids)
    }

    /// The position of a task.
    pub(super) fn find(&self, task: TaskId) -> Option<TaskIndex> {
        let in_ring = self.rings.get(ring_of(task)).and_then(|ring| ring.get(task.local() as usize));
        let position = in_ring.copied().filter(|&position| position != NONE);
        position.or_else(|| self.others.get(&task).copied()).map(TaskIndex)
    }
}

/// The whole upper half of a name: a file may hold rings that do not exist.
fn ring_of(task: TaskId) -> usize {
    (task.0 >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_position_and_no_other_does() {
        let names = [0, 1 << 32, 1, (3 << 32) + 7, (9 << 32) + 1, (1 << 32) + 4_000_000].map(TaskId);
        let ids = TaskIds::new(names.into_iter()).unwrap();
        for (name, position) in names.into_iter().zip(0..) {
            assert_eq!(ids.find(name), Some(TaskIndex(position)));
        }
        for name in [2, (1 << 32) + 1, (3 << 32) + 6, u64::MAX] {
            assert_eq!(ids.find(TaskId(name)), None);
        }
        assert_eq!(TaskIds::new([TaskId(5), TaskId(5)].into_iter()).unwrap_err(), TaskId(5));
        let far = TaskId(u64::MAX);
        assert_eq!(TaskIds::new([far, far].into_iter()).unwrap_err(), far);
    }
}
