//! Stretches of time that may overlap, on as few lanes as it takes to keep them apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ringlane_task::Ticks;

/// Gives each stretch the first lane that is free when it starts: for each lane the places of its stretches, in the order
/// of time. Stretches are given by their start and end, in the order of their starts.
pub(super) fn lanes(stretches: impl IntoIterator<Item = (Ticks, Ticks)>) -> Vec<Vec<usize>> {
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    // Lanes in use, the one that is free next on top; and those that are free, the first one on top.
    let mut busy = BinaryHeap::new();
    let mut free = BinaryHeap::new();
    for (place, (start, end)) in stretches.into_iter().enumerate() {
        while let Some(&Reverse((ends, lane))) = busy.peek()
            && ends <= start
        {
            busy.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or(lanes.len(), |Reverse(lane)| lane);
        match lanes.get_mut(lane) {
            Some(own) => own.push(place),
            None => lanes.push(vec![place]),
        }
        busy.push(Reverse((end, lane)));
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes_of(stretches: &[(u64, u64)]) -> Vec<Vec<usize>> {
        lanes(stretches.iter().map(|&(start, end)| (Ticks(start), Ticks(end))))
    }

    #[test]
    fn a_stretch_is_on_the_first_lane_that_is_free() {
        assert_eq!(lanes_of(&[]), Vec::<Vec<usize>>::new());
        assert_eq!(
            lanes_of(&[(0, 4), (4, 6), (6, 6), (6, 9)]),
            [[0, 1, 2, 3]],
            "touching is not overlapping"
        );
        let stretches = [(0, 9), (1, 3), (2, 4), (3, 5), (5, 6), (9, 10)];
        assert_eq!(lanes_of(&stretches), [vec![0, 5], vec![1, 3, 4], vec![2]]);
    }

    #[test]
    fn very_many_that_all_overlap_have_a_lane_each() {
        let stretches: Vec<_> = (0..200_000).map(|start| (start, 1_000_000)).collect();
        let lanes = lanes_of(&stretches);
        assert_eq!(lanes.len(), stretches.len());
        assert!(lanes.iter().enumerate().all(|(lane, places)| *places == [lane]));
    }
}
