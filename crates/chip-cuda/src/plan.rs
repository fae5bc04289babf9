//! Which list each block of a set of tasks goes on.
//!
//! A greedy schedule in submission order: a block goes where it could start first, if every block took the same time. A
//! predecessor on the same list costs nothing, because a list is worked off in order; one on another list costs a hop.

#![forbid(unsafe_code)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What passes from the end of a block to the start of one that waits for it on another processor, in units of a block's time.
const HOP: u64 = 1;

/// Where one block goes, and when it is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) list: u32,
    pub(crate) end: u64,
}

/// Gives out lists.
#[derive(Debug)]
pub(crate) struct Planner {
    /// When each list is expected to be through.
    free_at: Vec<u64>,
    /// The same, the earliest first; an entry that is out of date is dropped when it comes up.
    earliest: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Planner {
    pub(crate) fn new(lists: u32) -> Self {
        let mut planner = Planner { free_at: vec![0; lists as usize], earliest: BinaryHeap::new() };
        planner.clear();
        planner
    }

    /// Forgets what was placed.
    pub(crate) fn clear(&mut self) {
        self.free_at.fill(0);
        self.earliest.clear();
        self.earliest.extend((0..self.free_at.len() as u32).map(|list| Reverse((0, list))));
    }

    /// Places a block that follows others, which are few.
    pub(crate) fn place(&mut self, predecessors: &[Placed]) -> Placed {
        let idle = self.idle_list();
        let start_on = |list: u32| {
            let ready =
                predecessors.iter().map(|before| before.end + if before.list == list { 0 } else { HOP });
            ready.max().unwrap_or(0).max(self.free_at[list as usize])
        };
        let mut best = (start_on(idle), idle);
        for before in predecessors {
            let start = start_on(before.list);
            // At the same time rather there: no flag is needed.
            if start <= best.0 {
                best = (start, before.list);
            }
        }
        let placed = Placed { list: best.1, end: best.0 + 1 };
        self.free_at[placed.list as usize] = placed.end;
        self.earliest.push(Reverse((placed.end, placed.list)));
        placed
    }

    /// The list that is through first.
    fn idle_list(&mut self) -> u32 {
        while let Some(&Reverse((end, list))) = self.earliest.peek() {
            if self.free_at[list as usize] == end {
                return list;
            }
            self.earliest.pop();
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_stays_on_one_list_and_independent_tasks_spread_over_all() {
        let mut planner = Planner::new(4);
        let mut last = planner.place(&[]);
        for _ in 0..10 {
            let next = planner.place(&[last]);
            assert_eq!(next.list, last.list);
            last = next;
        }
        let mut planner = Planner::new(4);
        let mut lists: Vec<u32> = (0..4).map(|_| planner.place(&[]).list).collect();
        lists.sort_unstable();
        assert_eq!(lists, [0, 1, 2, 3]);
    }

    #[test]
    fn the_branches_of_a_fork_go_to_different_lists() {
        let mut planner = Planner::new(3);
        let root = planner.place(&[]);
        let lists: std::collections::BTreeSet<u32> = (0..6).map(|_| planner.place(&[root]).list).collect();
        assert_eq!(lists.len(), 3);
    }
}
