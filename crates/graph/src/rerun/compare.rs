//! An output against what was captured, bit for bit.

use ringlane_insight::dump::place_in;
use ringlane_task::{Access, DType, Scalar};

use super::captured::CapturedArg;

/// The first element that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its indices, outermost first.
    pub at: Vec<u64>,
    /// What was captured.
    pub captured: Scalar,
    /// What the kernel makes now.
    pub now: Scalar,
}

/// An output against what was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputComparison {
    /// Which argument.
    pub arg: usize,
    /// What the task does with it.
    pub access: Access,
    /// Type of its elements.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Number of its elements.
    pub elements: u64,
    /// Elements whose bits differ.
    pub differing: u64,
    /// Elements that the kernel does not write: what was there before the task was not captured, so they are not compared.
    pub unwritten: u64,
    /// The first that differs.
    pub first: Option<Difference>,
}

impl OutputComparison {
    /// Compares the bytes of an output. `again` is what it had after another call, before which every byte had been the one
    /// given; before the first, every byte had been 0.
    pub(super) fn of(arg: usize, given: &CapturedArg, now: &[u8], again: Option<(Vec<u8>, u8)>) -> Self {
        let CapturedArg::Tensor { view, access, after: Some(captured), .. } = given else {
            unreachable!("an output is a tensor that was captured");
        };
        let (dtype, size) = (view.dtype(), view.dtype().size_bytes());
        let shape: Vec<u64> = view.shape().into_iter().map(u64::from).collect();
        let elements = captured.chunks_exact(size).zip(now.chunks_exact(size));
        let is_unwritten = |index: usize, element: &[u8]| match &again {
            Some((again, fill)) => {
                let fill = if dtype == DType::Bool { fill & 1 } else { *fill };
                let again = &again[index * size..(index + 1) * size];
                element.iter().all(|&byte| byte == 0) && again.iter().all(|&byte| byte == fill)
            }
            None => false,
        };
        let (mut differing, mut unwritten, mut first) = (0, 0, None);
        for (index, (captured, now)) in elements.enumerate() {
            if captured == now {
                continue;
            }
            if is_unwritten(index, now) {
                unwritten += 1;
                continue;
            }
            differing += 1;
            first = first.or_else(|| {
                let (captured, now) = (scalar(dtype, captured)?, scalar(dtype, now)?);
                Some(Difference { at: place_in(&shape, index as u64), captured, now })
            });
        }
        let elements = view.elements();
        OutputComparison { arg, access: *access, dtype, shape, elements, differing, unwritten, first }
    }
}

fn scalar(dtype: DType, bytes: &[u8]) -> Option<Scalar> {
    let mut bits = [0; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    // A byte that is no `bool` is shown as what it is.
    let bits = u64::from_le_bytes(bits);
    Scalar::from_bits(bits, dtype).or_else(|| Scalar::from_bits(bits, DType::UInt8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::TensorView;

    fn output(access: Access, captured: [i16; 4]) -> CapturedArg {
        let view = TensorView::contiguous(DType::Int16, &[2, 2]).unwrap();
        let after = Some(bytes(captured));
        CapturedArg::Tensor { tensor: 0, view, access, split: None, before: None, after }
    }

    fn bytes(values: [i16; 4]) -> Vec<u8> {
        values.map(i16::to_le_bytes).concat()
    }

    #[test]
    fn the_first_element_that_differs_is_found_with_its_place_and_both_values() {
        let given = output(Access::Output, [1, 2, 3, 4]);
        let same = OutputComparison::of(2, &given, &bytes([1, 2, 3, 4]), None);
        assert_eq!((same.differing, same.first, same.elements), (0, None, 4));
        let other = OutputComparison::of(2, &given, &bytes([1, 2, -3, 5]), None);
        let first = Difference { at: vec![1, 0], captured: Scalar::new(3i16), now: Scalar::new(-3i16) };
        assert_eq!((other.differing, other.first), (2, Some(first)));
    }

    #[test]
    fn what_a_kernel_leaves_alone_is_not_compared_and_is_counted() {
        let given = output(Access::OutputExisting, [1, 9, 8, 0]);
        // It writes the first and the last, which is zero.
        let (now, again) = (bytes([1, 0, 0, 0]), bytes([1, -1, -1, 0]));
        let found = OutputComparison::of(0, &given, &now, Some((again, 0xff)));
        assert_eq!((found.differing, found.unwritten), (0, 2));
        // It writes zero where nine was captured.
        let again = bytes([1, 0, -1, 0]);
        let found = OutputComparison::of(0, &given, &now, Some((again, 0xff)));
        assert_eq!((found.differing, found.unwritten), (1, 1));
    }
}
