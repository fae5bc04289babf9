//! Which list each block of a set of tasks goes on, and which tasks are such a set: the rules of a chip whose processors run
//! lists of blocks. They are here because models of such a chip use them, too.
//!
//! A greedy schedule in submission order: a block goes where it could start first, if every block took the same time. A
//! predecessor on the same list costs nothing, because a list runs in order; one on another list costs a hop.
//!
//! ```
//! use ringlane_engine::lists::Planner;
//! let mut planner = Planner::new(2);
//! planner.begin([]);
//! let first = planner.place();
//! planner.begin([]);
//! let other = planner.place();
//! planner.begin([first]);
//! assert_eq!((first.list, other.list, planner.place().list), (0, 1, 0));
//! ```

#![forbid(unsafe_code)]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tasks of a batch that is launched while nothing runs, at least: few, so that the device begins soon.
const FIRST_BATCH_TASKS: usize = 128;
/// Tasks of a batch that is launched while another one runs, at least: enough that the launch costs little for each.
const BATCH_TASKS: usize = 1024;
/// Batches on the device: one runs, and the next one begins as soon as it ends.
pub const BATCHES_MAX: usize = 2;
/// What passes from the end of a block to the start of one that waits for it on another processor, in units of a block's time.
const HOP: u64 = 1;
/// Predecessors that decide where a block goes, at most: those that are expected to end last.
const DECIDING_MAX: usize = 8;

/// Whether tasks that were submitted are worth a launch, while this number of batches is on the device.
///
/// ```
/// use ringlane_engine::lists::is_worth_a_launch;
/// assert!(is_worth_a_launch(128, 0) && is_worth_a_launch(1024, 1));
/// assert!(!is_worth_a_launch(127, 0) && !is_worth_a_launch(1023, 1) && !is_worth_a_launch(5000, 2));
/// ```
#[inline]
pub fn is_worth_a_launch(tasks: usize, running: usize) -> bool {
    running < BATCHES_MAX && tasks >= if running == 0 { FIRST_BATCH_TASKS } else { BATCH_TASKS }
}

/// Where one block goes, and when it is expected to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The list.
    pub list: u32,
    /// The expected end, in units of a block's time.
    pub end: u64,
}

/// Gives out lists.
#[derive(Debug)]
pub struct Planner {
    /// When each list is expected to be through.
    free_at: Vec<u64>,
    /// The same, the earliest first; an entry that is out of date is dropped when it comes up.
    earliest: BinaryHeap<Reverse<(u64, u32)>>,
    /// The blocks that decide where those of the current task go.
    deciding: Vec<Placed>,
}

impl Planner {
    /// All lists are empty.
    pub fn new(lists: u32) -> Self {
        let mut planner =
            Planner { free_at: vec![0; lists as usize], earliest: BinaryHeap::new(), deciding: Vec::new() };
        planner.clear();
        planner
    }

    /// Forgets what was placed.
    pub fn clear(&mut self) {
        self.free_at.fill(0);
        self.earliest.clear();
        self.earliest.extend((0..self.free_at.len() as u32).map(|list| Reverse((0, list))));
    }

    /// Begins a task that follows these blocks, in any order.
    pub fn begin(&mut self, predecessors: impl IntoIterator<Item = Placed>) {
        self.deciding.clear();
        predecessors.into_iter().for_each(|one| note_latest(&mut self.deciding, one));
        self.deciding.sort_unstable_by_key(|one| one.list);
    }

    /// Places the next block of the task that was begun. A task without blocks takes a place as well.
    #[inline]
    pub fn place(&mut self) -> Placed {
        let idle = self.idle_list();
        let start_on = |list: u32| {
            let ready =
                self.deciding.iter().map(|before| before.end + if before.list == list { 0 } else { HOP });
            ready.max().unwrap_or(0).max(self.free_at[list as usize])
        };
        let mut best = (start_on(idle), idle);
        for before in &self.deciding {
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

/// Adds a block to the few that decide where a task goes: the latest one of each list.
fn note_latest(deciding: &mut Vec<Placed>, one: Placed) {
    if let Some(known) = deciding.iter_mut().find(|known| known.list == one.list) {
        known.end = known.end.max(one.end);
    } else if deciding.len() < DECIDING_MAX {
        deciding.push(one);
    } else {
        // Of those with the same end, the one on the last list: which ones stay does not depend on their order.
        let rank = |one: &Placed| (one.end, one.list);
        let least = deciding.iter_mut().min_by_key(|known| rank(known));
        least.filter(|least| rank(least) < rank(&one)).into_iter().for_each(|least| *least = one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(planner: &mut Planner, predecessors: &[Placed]) -> Placed {
        planner.begin(predecessors.iter().copied());
        planner.place()
    }

    #[test]
    fn a_chain_stays_on_one_list_and_independent_tasks_spread_over_all() {
        let mut planner = Planner::new(4);
        let mut last = place(&mut planner, &[]);
        for _ in 0..10 {
            let next = place(&mut planner, &[last]);
            assert_eq!(next.list, last.list);
            last = next;
        }
        let mut planner = Planner::new(4);
        let mut lists: Vec<u32> = (0..4).map(|_| place(&mut planner, &[]).list).collect();
        lists.sort_unstable();
        assert_eq!(lists, [0, 1, 2, 3]);
    }

    #[test]
    fn the_order_of_predecessors_does_not_matter() {
        let forwards = |planner: &mut Planner| (0..12).map(|_| place(planner, &[])).collect::<Vec<_>>();
        let next = |order: fn(&mut [Placed])| {
            let mut planner = Planner::new(12);
            let mut before = forwards(&mut planner);
            order(&mut before);
            (0..6).map(|_| place(&mut planner, &before).list).collect::<Vec<_>>()
        };
        assert_eq!(next(|_| ()), next(|before| before.reverse()));
        assert_eq!(next(|_| ()), next(|before| before.rotate_left(5)));
    }

    #[test]
    fn the_branches_of_a_fork_go_to_different_lists() {
        let mut planner = Planner::new(3);
        let root = place(&mut planner, &[]);
        let lists: std::collections::BTreeSet<u32> =
            (0..6).map(|_| place(&mut planner, &[root]).list).collect();
        assert_eq!(lists.len(), 3);
    }
}
