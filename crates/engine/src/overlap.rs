//! Do two views of one tensor share a byte, and does one cover the other?
//!
//! A view touches the bytes `offset + Σ iₖ·strideₖ + [0, width)`. Contiguous inner dimensions are folded into
//! `width`, so a tile of a row-major matrix is rows of one width. Two views meet if and only if
//! `Σ iₖ·aₖ − Σ jₖ·bₖ` can reach a certain interval: a search over bounded integers, largest stride first,
//! in which equal strides share one variable and each step is cut to what the smaller strides can still reach.
//! For tiles with equal strides that leaves one or two candidates a dimension, so the answer is exact. Dimensions that
//! continue each other (14 steps of 72 beside 12 steps of 6: the same rows as 168 steps of 6) leave more; there the
//! search is made again with each such pair as one dimension. Where strides differ, what they have in common decides
//! first: sums of multiples of 4 and of 6 are even. The search has a budget, and past it the answer is the safe one,
//! `Possible`.
//!
//! ```
//! use ringlane_engine::overlap::{Region, Relation, relation};
//! use ringlane_task::{DType, TensorView};
//! let m = TensorView::contiguous(DType::Float32, &[8, 8]).unwrap();
//! let (left, right) = (m.tile(&[0, 0], &[8, 4]).unwrap(), m.tile(&[0, 4], &[8, 4]).unwrap());
//! assert_eq!(relation(&Region::of(&left), &Region::of(&right)), Relation::Disjoint);
//! assert_eq!(relation(&Region::of(&m), &Region::of(&right)), Relation::Covered);
//! ```

#![forbid(unsafe_code)]

use ringlane_task::{Dim, MAX_RANK, TensorView};

/// Steps of the search before it answers `Possible`.
const SEARCH_BUDGET: u32 = 256;
/// Steps of the search where `Possible` means that a submit is refused; some hundred microseconds at most.
const TASK_SEARCH_BUDGET: u32 = 1 << 16;

/// How an older view relates to a newer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They share no byte.
    Disjoint,
    /// They share some bytes.
    Partial,
    /// The newer view contains every byte of the older one.
    Covered,
    /// The strides are too irregular to decide; treated as sharing.
    Possible,
}

/// The bytes a view touches, borrowed from wherever the view is kept.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    /// First byte.
    pub offset: u64,
    /// Bytes of one element.
    pub element: u32,
    /// The dimensions.
    pub dims: &'a [Dim],
}

impl<'a> Region<'a> {
    /// The region of a view.
    #[inline]
    pub fn of(view: &'a TensorView) -> Self {
        Region::at(view.offset_bytes(), view)
    }

    /// The region of a view whose first byte is at `offset`.
    #[inline]
    pub fn at(offset: u64, view: &'a TensorView) -> Self {
        Region { offset, element: view.dtype().size_bytes() as u32, dims: view.dims() }
    }

    /// One past the last byte touched.
    pub fn end(&self) -> u64 {
        let last: u64 = self.dims.iter().map(|d| (d.len as u64 - 1) * d.stride as u64).sum();
        self.offset + (last + 1) * self.element as u64
    }
}

/// A region as rows: byte strides, largest first, over runs of `width` bytes.
struct Rows {
    offset: i64,
    width: i64,
    dims: [(i64, i64); MAX_RANK],
    rank: usize,
}

impl Rows {
    fn of(region: &Region<'_>) -> Rows {
        let mut rows = Rows {
            offset: region.offset as i64,
            width: region.element as i64,
            dims: [(0, 1); MAX_RANK],
            rank: 0,
        };
        for dim in region.dims.iter().filter(|d| d.len > 1 && d.stride > 0) {
            rows.dims[rows.rank] = (dim.stride as i64 * region.element as i64, dim.len as i64);
            rows.rank += 1;
        }
        rows.dims[..rows.rank].sort_unstable_by_key(|&(stride, _)| core::cmp::Reverse(stride));
        while rows.rank > 0 && rows.dims[rows.rank - 1].0 <= rows.width {
            // Runs that touch or overlap are one longer run.
            let (stride, len) = rows.dims[rows.rank - 1];
            rows.width += stride * (len - 1);
            rows.rank -= 1;
        }
        rows
    }

    fn dims(&self) -> &[(i64, i64)] {
        &self.dims[..self.rank]
    }

    /// The same rows, with dimensions that continue each other as one.
    fn merged(&self) -> Rows {
        let mut rows = Rows { dims: [(0, 1); MAX_RANK], rank: 0, ..*self };
        for &(stride, len) in self.dims() {
            let outer = rows.rank.checked_sub(1).map(|last| rows.dims[last]);
            match outer {
                Some((outer_stride, outer_len)) if outer_stride == stride * len => {
                    rows.dims[rows.rank - 1] = (stride, len * outer_len);
                }
                _ => {
                    rows.dims[rows.rank] = (stride, len);
                    rows.rank += 1;
                }
            }
        }
        rows
    }
}

/// How `old` relates to `new`.
pub fn relation(new: &Region<'_>, old: &Region<'_>) -> Relation {
    relation_within(new, old, SEARCH_BUDGET)
}

/// As [`relation`], for two arguments of one task, where an answer may take more time.
pub(crate) fn relation_within_a_task(new: &Region<'_>, old: &Region<'_>) -> Relation {
    relation_within(new, old, TASK_SEARCH_BUDGET)
}

fn relation_within(new: &Region<'_>, old: &Region<'_>, budget: u32) -> Relation {
    if new.offset >= old.end() || old.offset >= new.end() {
        return Relation::Disjoint;
    }
    let (new, old) = (Rows::of(new), Rows::of(old));
    if covers(&new, &old) {
        return Relation::Covered;
    }
    match meet(&new, &old, budget).or_else(|| meet(&new.merged(), &old.merged(), budget)) {
        Some(true) => Relation::Partial,
        Some(false) => Relation::Disjoint,
        None => Relation::Possible,
    }
}

/// Whether every byte of `old` is one of `new`: found by writing the distance between them as whole steps of
/// `new`'s strides. A `false` may be a view that is covered in a less regular way.
fn covers(new: &Rows, old: &Rows) -> bool {
    let mut distance = old.offset - new.offset;
    if distance < 0 {
        return false;
    }
    let mut inner = old.dims().iter().peekable();
    for &(stride, len) in new.dims() {
        let mut needed = 1;
        if let Some(&&(old_stride, old_len)) = inner.peek() {
            if old_stride > stride {
                return false;
            }
            if old_stride == stride {
                needed = old_len;
                inner.next();
            }
        }
        let steps = (distance / stride).min(len - needed);
        if steps < 0 {
            return false;
        }
        distance -= steps * stride;
    }
    let rest: i64 = inner.map(|&(stride, len)| stride * (len - 1)).sum();
    distance + rest + old.width <= new.width
}

/// A variable of the search: `stride · x` with `x` in `low..=high`.
#[derive(Clone, Copy, Default)]
struct Term {
    stride: i64,
    low: i64,
    high: i64,
}

/// Whether the two share a byte; `None` if the budget ran out.
fn meet(a: &Rows, b: &Rows, mut budget: u32) -> Option<bool> {
    let mut terms = [Term::default(); 2 * MAX_RANK];
    let mut count = 0;
    let (mut i, mut j) = (0, 0);
    let (ad, bd) = (a.dims(), b.dims());
    while i < ad.len() || j < bd.len() {
        let (sa, sb) = (ad.get(i).map_or(0, |d| d.0), bd.get(j).map_or(0, |d| d.0));
        let stride = sa.max(sb);
        let mut term = Term { stride, low: 0, high: 0 };
        if sa == stride {
            term.high = ad[i].1 - 1;
            i += 1;
        }
        if sb == stride {
            term.low = 1 - bd[j].1;
            j += 1;
        }
        terms[count] = term;
        count += 1;
    }
    let distance = b.offset - a.offset;
    let (low, high) = (distance - a.width + 1, distance + b.width - 1);
    let strides_differ = count > ad.len().max(bd.len());
    if strides_differ && !has_common_step(&terms[..count], low, high) {
        return Some(false);
    }
    reach(&terms[..count], low, high, &mut budget)
}

/// Whether a multiple of what all strides have in common is in `low..=high`: no sum of the terms is anything else. Every fourth
/// element and every sixth share none if one begins at an even place and the other at an odd one.
fn has_common_step(terms: &[Term], low: i64, high: i64) -> bool {
    let step = terms.iter().fold(0, |step, term| greatest_common_divisor(step, term.stride));
    step == 0 || high.div_euclid(step) * step >= low
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether some choice of the terms sums into `low..=high`.
fn reach(terms: &[Term], low: i64, high: i64, budget: &mut u32) -> Option<bool> {
    let Some((term, rest)) = terms.split_first() else { return Some(low <= 0 && 0 <= high) };
    *budget = budget.checked_sub(1)?;
    let rest_low: i64 = rest.iter().map(|t| t.stride * t.low).sum();
    let rest_high: i64 = rest.iter().map(|t| t.stride * t.high).sum();
    let first = ceil_div(low - rest_high, term.stride).max(term.low);
    let last = (high - rest_low).div_euclid(term.stride).min(term.high);
    for x in first..=last {
        if reach(rest, low - term.stride * x, high - term.stride * x, budget)? {
            return Some(true);
        }
    }
    Some(false)
}

fn ceil_div(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ringlane_task::DType;
    use std::collections::HashSet;

    fn bytes(view: &TensorView) -> HashSet<u64> {
        let mut set = HashSet::new();
        view.for_each_run(|start, len| set.extend(start..start + len));
        set
    }

    fn views() -> impl Strategy<Value = TensorView> {
        let dims = prop::collection::vec((1u32..5, 0u32..9), 0..4);
        let dtype = prop::sample::select(vec![DType::UInt8, DType::Float16, DType::Float32]);
        (dtype, 0u64..20, dims).prop_map(|(dtype, offset, dims)| {
            let dims: Vec<Dim> = dims.into_iter().map(|(len, stride)| Dim { len, stride }).collect();
            TensorView::from_parts(dtype, offset * dtype.size_bytes() as u64, &dims, u64::MAX).unwrap()
        })
    }

    fn tiles() -> impl Strategy<Value = TensorView> {
        (0u32..12, 0u32..12, 1u32..12, 1u32..12, any::<bool>()).prop_map(|(r, c, h, w, turn)| {
            let m = TensorView::contiguous(DType::Float32, &[12, 12]).unwrap();
            let tile = m.tile(&[r, c], &[h.min(12 - r), w.min(12 - c)]).unwrap();
            if turn { tile.transpose(0, 1).unwrap() } else { tile }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_two_views_that_share_a_byte_are_found(a in views(), b in views()) {
            let (set_a, set_b) = (bytes(&a), bytes(&b));
            let shares = !set_a.is_disjoint(&set_b);
            match relation(&Region::of(&a), &Region::of(&b)) {
                Relation::Disjoint => prop_assert!(!shares),
                Relation::Partial => prop_assert!(shares),
                Relation::Covered => prop_assert!(set_b.is_subset(&set_a)),
                Relation::Possible => {}
            }
        }

        #[test]
        fn tiles_of_one_matrix_are_decided_exactly(a in tiles(), b in tiles()) {
            let (set_a, set_b) = (bytes(&a), bytes(&b));
            let expected = if set_a.is_disjoint(&set_b) {
                Relation::Disjoint
            } else if set_b.is_subset(&set_a) {
                Relation::Covered
            } else {
                Relation::Partial
            };
            prop_assert_eq!(relation(&Region::of(&a), &Region::of(&b)), expected);
        }

        #[test]
        fn columns_of_rows_that_continue_each_other_are_decided_exactly(
            lens in prop::collection::vec(2u32..16, 1..5), width in 2u32..8, a in 0u32..8, b in 0u32..8,
        ) {
            // A tensor of `lens` rows of `width` elements: a view of one column has a dimension for each of `lens`.
            let shape: Vec<u32> = lens.iter().copied().chain([width]).collect();
            let tensor = TensorView::contiguous(DType::Float32, &shape).unwrap();
            let (a, b) = (a % width, b % width);
            let column = |at| tensor.slice(lens.len(), at, 1).unwrap();
            let expected = if a == b { Relation::Covered } else { Relation::Disjoint };
            prop_assert_eq!(relation(&Region::of(&column(a)), &Region::of(&column(b))), expected);
        }

        #[test]
        fn strided_views_out_of_step_with_each_other_are_disjoint(
            step in 2u32..7, times in (2u32..9, 2u32..9), a in 0u64..7, b in 0u64..7, at in 0u64..500,
        ) {
            let (step_bytes, a, b) = (u64::from(step), a % u64::from(step), b % u64::from(step));
            let view = |offset: u64, times: u32| {
                let dims = [Dim { len: 2000, stride: step * times }];
                TensorView::from_parts(DType::UInt8, offset, &dims, u64::MAX).unwrap()
            };
            let (first, second) = (view(a, times.0), view(at * step_bytes + b, times.1));
            if a != b {
                prop_assert_eq!(relation(&Region::of(&first), &Region::of(&second)), Relation::Disjoint);
            }
        }

        #[test]
        fn equal_strides_are_decided_exactly(
            dims in prop::collection::vec((1u32..5, 1u32..5, 1u32..7), 1..4), a in 0u64..40, b in 0u64..40,
        ) {
            let view = |offset, pick: fn(&(u32, u32, u32)) -> u32| {
                let dims: Vec<Dim> = dims.iter().map(|d| Dim { len: pick(d), stride: d.2 }).collect();
                TensorView::from_parts(DType::UInt8, offset, &dims, u64::MAX).unwrap()
            };
            let (a, b) = (view(a, |d| d.0), view(b, |d| d.1));
            let answer = relation(&Region::of(&a), &Region::of(&b));
            prop_assert_ne!(answer, Relation::Possible);
            prop_assert_eq!(answer == Relation::Disjoint, bytes(&a).is_disjoint(&bytes(&b)));
        }
    }
}
