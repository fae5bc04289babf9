//! What the submitter's thread did when, taken apart: its launches, copies, submits, and the rest.

use ringlane_trace::swimlane::{CopyRow, LaunchRow, Swimlane};

/// The time of the submitter's thread.
pub(super) struct HostTime {
    /// The times in which it launched batches, waited for them, or completed their tasks.
    batches: Busy,
    /// These, and those in which it copied.
    busy: Busy,
}

impl HostTime {
    /// That of a recording. If nothing was submitted between a launch and the wait for its end, all of it is a wait.
    pub(super) fn of(recorded: &Swimlane, is_submitting: impl Fn(u64, u64) -> bool) -> Self {
        let launches = launches(recorded).iter().flat_map(|row| {
            let [start, end, wait, settled] = [row.start, row.end, row.wait, row.settled].map(|at| at.0);
            if is_submitting(end, wait) { [(start, end), (wait, settled)] } else { [(start, settled); 2] }
        });
        let launches: Vec<_> = launches.collect();
        let copies = copies(recorded).iter().map(|copy| (copy.start.0, copy.end.0));
        let all = launches.iter().copied().chain(copies).collect();
        HostTime { batches: Busy::from_intervals(launches), busy: Busy::from_intervals(all) }
    }

    /// Ticks that are its own, of those between two times.
    pub(super) fn rest(&self, start: u64, end: u64) -> u64 {
        self.busy.rest(start, end)
    }

    /// The same, before the first batch of that time, and after it; all of them after it if there is none.
    pub(super) fn own(&self, start: u64, end: u64) -> (u64, u64) {
        let first = self.batches.first_after(start).map_or(start, |at| at.clamp(start, end.max(start)));
        let first = if first == end { start } else { first };
        (self.rest(start, first), self.rest(first, end))
    }
}

/// Intervals that do not overlap, in order.
pub(super) struct Busy(Vec<(u64, u64)>);

impl Busy {
    /// The times in which the thread waited for batches, or completed their tasks.
    pub(super) fn settling(recorded: &Swimlane) -> Self {
        Busy::from_intervals(launches(recorded).iter().map(|row| (row.wait.0, row.settled.0)).collect())
    }

    fn from_intervals(mut all: Vec<(u64, u64)>) -> Self {
        all.sort_unstable();
        let mut apart: Vec<(u64, u64)> = Vec::with_capacity(all.len());
        for (start, end) in all {
            match apart.last_mut().filter(|last| start <= last.1) {
                Some(last) => last.1 = last.1.max(end),
                None => apart.push((start, end)),
            }
        }
        Busy(apart)
    }

    /// When the first interval begins that ends after this time.
    fn first_after(&self, at: u64) -> Option<u64> {
        self.0.get(self.0.partition_point(|interval| interval.1 <= at)).map(|interval| interval.0)
    }

    /// Ticks from `start` to `end` that are in none of the intervals.
    pub(super) fn rest(&self, start: u64, end: u64) -> u64 {
        let first = self.0.partition_point(|interval| interval.1 <= start);
        let inside = self.0[first..].iter().take_while(|interval| interval.0 < end);
        let busy: u64 = inside.map(|interval| interval.1.min(end) - interval.0.max(start)).sum();
        end.saturating_sub(start).saturating_sub(busy)
    }
}

pub(super) fn copies(recorded: &Swimlane) -> &[CopyRow] {
    recorded.head.copies.as_deref().unwrap_or_default()
}

pub(super) fn launches(recorded: &Swimlane) -> &[LaunchRow] {
    recorded.head.launches.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_an_interval_is_what_no_busy_one_covers() {
        let busy = Busy::from_intervals(vec![(50, 60), (10, 20), (15, 30), (58, 59)]);
        assert_eq!(busy.rest(0, 100), 70);
        assert_eq!(busy.rest(12, 55), 20);
        assert_eq!(busy.rest(52, 58), 0);
        assert_eq!(busy.rest(60, 90), 30);
    }
}
