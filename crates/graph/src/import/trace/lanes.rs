//! Slices by lane and time: which is around a time, which starts next, and what time each has to itself.

/// A slice: the task of its number runs on a lane from `start` to `end`, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub start: i64,
    pub end: i64,
    pub lane: u32,
}

/// Slices in the order of lanes and, on each, of starts; of those that start together the longer one comes first, so that
/// what is around others comes before them.
pub(super) struct Lanes {
    order: Vec<u32>,
    /// The slice that is around each, if there is one: by place, a place.
    around: Vec<u32>,
    /// Where the slices of each lane begin in the order.
    first: Vec<u32>,
}

/// No slice is around.
const NONE: u32 = u32::MAX;

impl Lanes {
    pub(super) fn new(slices: &[Slice]) -> Self {
        let mut order: Vec<u32> = (0..slices.len() as u32).collect();
        order.sort_by_key(|&number| {
            let Slice { start, end, lane } = slices[number as usize];
            (lane, start, std::cmp::Reverse(end))
        });
        let count = slices.iter().map(|slice| slice.lane + 1).max().unwrap_or(0);
        let lane_at = |place: u32| slices[order[place as usize] as usize].lane;
        let first =
            (0..=count).map(|lane| partition(0, order.len() as u32, |at| lane_at(at) < lane)).collect();
        let around = around(slices, &order);
        Lanes { order, around, first }
    }

    /// The time that each slice, by its number, has without those inside it.
    pub(super) fn own_times(&self, slices: &[Slice]) -> Vec<u64> {
        let mut own: Vec<u64> = slices.iter().map(|slice| slice.end.abs_diff(slice.start)).collect();
        for (place, &number) in self.order.iter().enumerate() {
            let outer = self.around[place];
            if outer == NONE {
                continue;
            }
            let (outer, inner) = (self.order[outer as usize], slices[number as usize]);
            // A slice that outlasts the one around it takes only what they share.
            let shared = inner.end.min(slices[outer as usize].end).abs_diff(inner.start);
            own[outer as usize] = own[outer as usize].saturating_sub(shared);
        }
        own
    }

    /// Slices that follow each other on a lane, but for those inside others.
    pub(super) fn consecutive(&self) -> impl Iterator<Item = (u32, u32)> {
        self.first.windows(2).flat_map(|bounds| {
            let outer = |place: &u32| self.around[*place as usize] == NONE;
            let places = (bounds[0]..bounds[1]).filter(outer);
            let next = (bounds[0]..bounds[1]).filter(outer).skip(1);
            places.zip(next).map(|(pred, succ)| (self.order[pred as usize], self.order[succ as usize]))
        })
    }

    /// The innermost slice of a lane around a time. Where one ends as another starts, it is the one that starts. Of those that
    /// take no time, it is the last one of the file before the number `before`.
    pub(super) fn around(&self, slices: &[Slice], lane: u32, time: i64, before: u32) -> Option<u32> {
        let (begin, end) = self.places_of(lane)?;
        let slice_at = |place: u32| slices[self.order[place as usize] as usize];
        let after = partition(begin, end, |place| slice_at(place).start <= time);
        // A slice without time is around nothing: of those that start at this very time, the last one before the arrow is meant.
        let at_once = partition(begin, after, |place| slice_at(place).start < time);
        let known = (at_once..after).filter(|&place| self.order[place as usize] < before);
        if known.clone().any(|place| slice_at(place).end == time) {
            return known.map(|place| self.order[place as usize]).max();
        }
        let mut place = after.checked_sub(1).filter(|&place| place >= begin)?;
        let mut ending = None;
        loop {
            let slice = slice_at(place);
            if time < slice.end {
                return Some(self.order[place as usize]);
            }
            if time == slice.end && ending.is_none() {
                ending = Some(self.order[place as usize]);
            }
            match self.around[place as usize] {
                NONE => return ending,
                outer => place = outer,
            }
        }
    }

    /// The first slice of a lane that starts at a time or after it.
    pub(super) fn next(&self, slices: &[Slice], lane: u32, time: i64) -> Option<u32> {
        let (begin, end) = self.places_of(lane)?;
        let next = partition(begin, end, |place| slices[self.order[place as usize] as usize].start < time);
        (next < end).then(|| self.order[next as usize])
    }

    fn places_of(&self, lane: u32) -> Option<(u32, u32)> {
        Some((*self.first.get(lane as usize)?, *self.first.get(lane as usize + 1)?))
    }
}

/// The slice around each, by place.
fn around(slices: &[Slice], order: &[u32]) -> Vec<u32> {
    let mut around = vec![NONE; order.len()];
    let mut open: Vec<u32> = Vec::new();
    for (place, &number) in (0..).zip(order) {
        let slice = slices[number as usize];
        while let Some(&outer) = open.last() {
            let Slice { end, lane, .. } = slices[order[outer as usize] as usize];
            if lane == slice.lane && slice.start < end {
                around[place as usize] = outer;
                break;
            }
            open.pop();
        }
        open.push(place);
    }
    around
}

/// The first place in `from..to` for which it does not hold; it holds for those before it.
fn partition(from: u32, to: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut from, mut to) = (from, to);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) { from = middle + 1 } else { to = middle }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(spans: &[(i64, i64, u32)]) -> Vec<Slice> {
        spans.iter().map(|&(start, end, lane)| Slice { start, end, lane }).collect()
    }

    #[test]
    fn of_slices_without_time_the_last_before_the_arrow_is_meant() {
        let slices = slices(&[(5, 5, 0), (5, 5, 0), (5, 5, 0), (5, 9, 0)]);
        let lanes = Lanes::new(&slices);
        assert_eq!([1, 2, 3].map(|before| lanes.around(&slices, 0, 5, before)), [Some(0), Some(1), Some(2)]);
        assert_eq!(lanes.around(&slices, 0, 6, 4), Some(3));
        assert_eq!(lanes.own_times(&slices), [0, 0, 0, 4]);
    }

    #[test]
    fn an_outer_slice_has_the_time_that_inner_ones_leave() {
        // 0 is around 1 and 2; 2 is around 3; 4 is on another lane; 5 follows 0.
        let slices =
            slices(&[(0, 100, 0), (10, 20, 0), (30, 60, 0), (30, 40, 0), (0, 100, 1), (100, 110, 0)]);
        let lanes = Lanes::new(&slices);
        assert_eq!(lanes.own_times(&slices), [60, 10, 20, 10, 100, 10]);
        assert_eq!(lanes.consecutive().collect::<Vec<_>>(), [(0, 5)]);
        let around = |time| lanes.around(&slices, 0, time, 9);
        assert_eq!([around(5), around(35), around(50), around(60)], [Some(0), Some(3), Some(2), Some(0)]);
        assert_eq!([around(100), around(110), around(111), around(-1)], [Some(5), Some(5), None, None]);
        let next = |time| lanes.next(&slices, 0, time);
        assert_eq!([next(-5), next(11), next(100), next(101)], [Some(0), Some(2), Some(5), None]);
        assert_eq!(lanes.around(&slices, 7, 0, 9), None);
    }
}
