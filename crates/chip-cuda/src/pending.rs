//! Tasks that are not on the device yet, and their numbers in the batch that they become.

#![forbid(unsafe_code)]

use ringlane_engine::slot::SlotIndex;

/// Tasks in submission order, each with those that it waits for.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The task, and where its predecessors begin.
    tasks: Vec<(SlotIndex, u32)>,
    predecessors: Vec<SlotIndex>,
}

impl Pending {
    /// Adds a task, or a predecessor to the one that was added last.
    pub(crate) fn add(&mut self, slot: SlotIndex, predecessor: Option<SlotIndex>) {
        if self.tasks.last().is_none_or(|last| last.0 != slot) {
            self.tasks.push((slot, self.predecessors.len() as u32));
        }
        self.predecessors.extend(predecessor);
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.tasks.clear();
        self.predecessors.clear();
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        self.tasks.iter().map(|&(slot, _)| slot)
    }

    /// Each task with its predecessors.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (SlotIndex, &[SlotIndex])> {
        let ends = self.tasks.iter().skip(1).map(|&(_, start)| start).chain([self.predecessors.len() as u32]);
        let tasks = self.tasks.iter().zip(ends);
        tasks.map(|(&(slot, start), end)| (slot, &self.predecessors[start as usize..end as usize]))
    }
}

/// The numbers that tasks have in the batch that is being made.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// For each slot, the batch and the number that its task has in it.
    of_slots: Vec<(u32, u32)>,
    batch: u32,
}

impl Numbers {
    /// Begins a batch: no task has a number in it.
    pub(crate) fn begin(&mut self, slots: usize) {
        self.of_slots.resize(slots, (0, 0));
        self.batch = self.batch.wrapping_add(1);
        if self.batch == 0 {
            self.of_slots.fill((0, 0));
            self.batch = 1;
        }
    }

    pub(crate) fn set(&mut self, slot: SlotIndex, number: u32) {
        self.of_slots[slot.0 as usize] = (self.batch, number);
    }

    /// The number of a task, if it is in the batch.
    pub(crate) fn get(&self, slot: SlotIndex) -> Option<u32> {
        let (batch, number) = self.of_slots[slot.0 as usize];
        (batch == self.batch).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_the_predecessors_that_were_added_with_it_and_its_number_in_this_batch_only() {
        let (a, b, c) = (SlotIndex(4), SlotIndex(2), SlotIndex(7));
        let mut pending = Pending::default();
        pending.add(a, None);
        pending.add(b, Some(a));
        pending.add(c, Some(a));
        pending.add(c, Some(b));
        let tasks: Vec<_> = pending.tasks().map(|(slot, before)| (slot, before.to_vec())).collect();
        assert_eq!(tasks, [(a, vec![]), (b, vec![a]), (c, vec![a, b])]);
        let mut numbers = Numbers::default();
        numbers.begin(8);
        numbers.set(a, 3);
        assert_eq!((numbers.get(a), numbers.get(b)), (Some(3), None));
        numbers.begin(8);
        assert_eq!(numbers.get(a), None);
    }
}
