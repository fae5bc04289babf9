//! Going through time once: changes at instants, sorted, and the stretches between them in which nothing changes.

use ringlane_task::Ticks;

/// What changes, by how much, when. Counts are the caller's: `at` numbers them.
#[derive(Clone, Debug)]
pub(crate) struct Sweep<const N: usize> {
    changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    when: u64,
    count: u8,
    by: i32,
}

/// A stretch of time in which no count changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch<const N: usize> {
    pub(crate) start: Ticks,
    pub(crate) end: Ticks,
    pub(crate) counts: [i64; N],
}

impl<const N: usize> Stretch<N> {
    /// How long it is.
    pub(crate) fn ticks(&self) -> u64 {
        self.end.0 - self.start.0
    }
}

impl<const N: usize> Sweep<N> {
    pub(crate) fn with_capacity(changes: usize) -> Self {
        Sweep { changes: Vec::with_capacity(changes) }
    }

    /// One count is higher by `by` from `start` until `end`; nothing if that is no time at all.
    pub(crate) fn during(&mut self, count: usize, by: i32, start: Ticks, end: Ticks) {
        debug_assert!(count < N);
        if start < end {
            self.changes.push(Change { when: start.0, count: count as u8, by });
            self.changes.push(Change { when: end.0, count: count as u8, by: -by });
        }
    }

    /// The stretches from 0 until `end`, in order; together they are all of that time.
    pub(crate) fn stretches(mut self, end: Ticks, mut each: impl FnMut(&Stretch<N>)) {
        self.changes.sort_unstable();
        let mut now = Stretch { start: Ticks(0), end: Ticks(0), counts: [0; N] };
        let mut changes = self.changes.iter().peekable();
        loop {
            while let Some(change) = changes.next_if(|change| change.when <= now.start.0) {
                now.counts[usize::from(change.count)] += i64::from(change.by);
            }
            if now.start >= end {
                return;
            }
            now.end = Ticks(changes.peek().map_or(end.0, |change| change.when.min(end.0)));
            each(&now);
            now.start = now.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_tile_the_time_and_counts_hold_in_each() {
        let mut sweep = Sweep::<2>::with_capacity(0);
        sweep.during(0, 1, Ticks(2), Ticks(6));
        sweep.during(0, 1, Ticks(4), Ticks(20));
        sweep.during(1, 3, Ticks(0), Ticks(4));
        sweep.during(1, 1, Ticks(5), Ticks(5));
        let mut found = Vec::new();
        sweep.stretches(Ticks(10), |stretch| found.push((stretch.start.0, stretch.end.0, stretch.counts)));
        assert_eq!(found, [(0, 2, [0, 3]), (2, 4, [1, 3]), (4, 6, [2, 0]), (6, 10, [1, 0])]);
    }

    #[test]
    fn no_time_has_no_stretch() {
        Sweep::<1>::with_capacity(0).stretches(Ticks(0), |_| panic!("there is none"));
        let mut whole = Vec::new();
        Sweep::<1>::with_capacity(0).stretches(Ticks(7), |stretch| whole.push(stretch.ticks()));
        assert_eq!(whole, [7]);
    }
}
