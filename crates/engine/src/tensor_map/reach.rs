//! How far the parts of a cell reach, in one word beside the head of its list: a lookup passes over a cell whose parts are all
//! beside it without reading them, which would cost a cache miss each.
//!
//! A reach is a box along the axes, counted from the cell's own first corner in sixteenths of the three cells that a part may
//! span, rounded outwards. It takes in every part that has come to the list since this was last empty, also those of other
//! cells that share it, so that it holds what is there and perhaps more.

use core::ops::BitOr;

use super::axes::AXES_MAX;

/// The largest step from a cell's corner.
const LAST_STEP: u32 = 15;
const STEP_BITS: u32 = 4;
/// The axis that a lane of the word is about; the first four are of far ends, the others of near ends.
const LANES: u32 = 2 * AXES_MAX as u32;
/// The highest bit of each byte.
const TOP: u64 = 0x8080_8080_8080_8080;

/// A box. Of each axis it has the far end, and `LAST_STEP` less the near end: the larger both are, the larger is the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach(u32);

/// What a reach must have to meet a box: of each axis the box's near end, and `LAST_STEP` less its far end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe(u32);

impl Reach {
    /// Everything.
    pub(super) const ALL: Reach = Reach(u32::MAX);

    /// The box from `near` to `far` along each of these axes, and all along others.
    #[inline]
    pub(super) fn of(axes: impl Iterator<Item = (u32, u32)>) -> Reach {
        axes.enumerate().fold(Reach::ALL, |reach, (axis, (near, far))| {
            let axis = axis as u32;
            Reach(reach.0 & !lane(axis, !far) & !lane(axis + LANES / 2, near))
        })
    }

    /// The smallest box that holds both.
    #[inline]
    pub(super) fn union(self, other: Reach) -> Reach {
        let larger = |axis: u32| {
            let mask = lane(axis, LAST_STEP);
            (self.0 & mask).max(other.0 & mask)
        };
        Reach((0..LANES).fold(0, |both, axis| both | larger(axis)))
    }

    /// Whether a part of this box could meet what the probe is of.
    #[inline]
    pub(super) fn meets(self, probe: Probe) -> bool {
        ((bytes(self.0) | TOP) - bytes(probe.0)) & TOP == TOP
    }
}

impl Probe {
    /// For the box from `near` to `far` along this axis, and everything along others. Those of several axes are joined by `|`.
    #[inline]
    pub(super) fn along(axis: usize, (near, far): (u32, u32)) -> Probe {
        let axis = axis as u32;
        let (near, far) = (near.min(LAST_STEP), far.min(LAST_STEP));
        Probe(lane(axis, near) | lane(axis + LANES / 2, LAST_STEP - far))
    }
}

impl BitOr for Probe {
    type Output = Probe;

    #[inline]
    fn bitor(self, other: Probe) -> Probe {
        Probe(self.0 | other.0)
    }
}

/// How many bits to shift a distance of up to `length` coordinates to get steps.
#[inline]
pub(super) fn shift_for(length: u64) -> u8 {
    (u64::BITS - (length - 1).leading_zeros()).saturating_sub(STEP_BITS) as u8
}

#[inline]
fn lane(at: u32, steps: u32) -> u32 {
    (steps & LAST_STEP) << (at * STEP_BITS)
}

/// The eight lanes, each in a byte.
#[inline]
fn bytes(lanes: u32) -> u64 {
    let wide = lanes as u64;
    let wide = (wide | wide << 16) & 0x0000_ffff_0000_ffff;
    let wide = (wide | wide << 8) & 0x00ff_00ff_00ff_00ff;
    (wide | wide << 4) & 0x0f0f_0f0f_0f0f_0f0f
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Ends = Vec<(u32, u32)>;

    fn boxes() -> impl Strategy<Value = Ends> {
        prop::collection::vec(
            (0..=LAST_STEP, 0..=LAST_STEP).prop_map(|(a, b)| (a.min(b), a.max(b))),
            AXES_MAX,
        )
    }

    fn meet(a: &Ends, b: &Ends) -> bool {
        a.iter().zip(b).all(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
    }

    fn hull(a: &Ends, b: &Ends) -> Ends {
        a.iter().zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect()
    }

    proptest! {
        #[test]
        fn a_reach_is_its_box(a in boxes(), b in boxes(), rank in 1..=AXES_MAX) {
            let (a, b) = (&a[..rank].to_vec(), &b[..rank].to_vec());
            let reach = |of: &Ends| Reach::of(of.iter().copied());
            let probe = b.iter().enumerate().map(|(axis, ends)| Probe::along(axis, *ends));
            prop_assert_eq!(reach(a).meets(probe.fold(Probe::default(), Probe::bitor)), meet(a, b));
            prop_assert_eq!(reach(a).union(reach(b)), reach(&hull(a, b)));
        }

        #[test]
        fn every_distance_is_a_step(length in 1u64..1 << 33) {
            let last = |length: u64| (length - 1) >> shift_for(length);
            prop_assert!(last(length) <= LAST_STEP as u64);
            prop_assert!(length <= 16 || last(length) > LAST_STEP as u64 / 2);
        }
    }
}
