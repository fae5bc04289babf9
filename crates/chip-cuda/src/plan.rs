//! Which list each block of a set of tasks goes on.
//!
//! A greedy schedule in submission order: a block goes where it could start first, if every block took the same time. A
//! predecessor on the same list costs nothing, because a list is worked off in order; one on another list costs a hop.

#![forbid(unsafe_code)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What passes from the end of a block to the start of one that waits for it on another processor, in units of a block's time.
const HOP: u64 = 1;
/// Predecessors whose lists are tried; beyond that, one list is as good as another.
const TRIED_MAX: usize = 4;

/// Where one block goes, and when it is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) list: u32,
    pub(crate) end: u64,
}

/// Gives out lists.
pub(crate) struct Planner {
    /// When each list is expected to be through.
    free_at: Vec<u64>,
    /// The same, the earliest first; an entry that is out of date is dropped when it comes up.
    earliest: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Planner {
    pub(crate) fn new(lists: u32) -> Self {
        let earliest = (0..lists).map(|list| Reverse((0, list))).collect();
        Planner { free_at: vec![0; lists as usize], earliest }
    }

    /// Places a block that follows others.
    pub(crate) fn place(&mut self, predecessors: impl Iterator<Item = Placed> + Clone) -> Placed {
        let start_on = |list: u32| {
            let ready =
                predecessors.clone().map(|before| before.end + if before.list == list { 0 } else { HOP });
            ready.max().unwrap_or(0).max(self.free_at[list as usize])
        };
        let idle = self.idle_list();
        let mut best = (start_on(idle), idle);
        // The predecessor that ends last first: its list is the only one that saves its hop.
        let mut latest: Vec<Placed> = predecessors.clone().collect();
        latest.sort_unstable_by_key(|before| Reverse(before.end));
        for before in latest.iter().take(TRIED_MAX) {
            let start = start_on(before.list);
            if start <= best.0 && (start, before.list) != best {
                best = (start, before.list);
            }
        }
        let placed = Placed { list: best.1, end: best.0 + 1 };
        self.free_at[placed.list as usize] = placed.end;
        self.earliest.push(Reverse((placed.end, placed.list)));
        placed
    }

    /// The list that is through first.
    fn idle_list(&self) -> u32 {
        self.earliest.peek().map_or(0, |Reverse((_, list))| *list)
    }

    /// Drops what is out of date; called between tasks.
    pub(crate) fn tidy(&mut self) {
        while let Some(&Reverse((end, list))) = self.earliest.peek() {
            if self.free_at[list as usize] == end {
                return;
            }
            self.earliest.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_stays_on_one_list_and_independent_tasks_spread_over_all() {
        let mut planner = Planner::new(4);
        let mut last = planner.place([].into_iter());
        for _ in 0..10 {
            planner.tidy();
            let next = planner.place([last].into_iter());
            assert_eq!(next.list, last.list);
            last = next;
        }
        let mut planner = Planner::new(4);
        let mut lists: Vec<u32> = (0..4)
            .map(|_| {
                planner.tidy();
                planner.place([].into_iter()).list
            })
            .collect();
        lists.sort_unstable();
        assert_eq!(lists, [0, 1, 2, 3]);
    }

    #[test]
    fn the_branches_of_a_fork_go_to_different_lists() {
        let mut planner = Planner::new(3);
        let root = planner.place([].into_iter());
        let mut used = std::collections::BTreeSet::new();
        for _ in 0..6 {
            planner.tidy();
            used.insert(planner.place([root].into_iter()).list);
        }
        assert_eq!(used.len(), 3);
    }
}
