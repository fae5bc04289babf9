//! One argument in two runs.

use ringlane_task::DType;
use ringlane_trace::dump::{DumpData, DumpRecord, DumpTensor, Payloads, Role, Stage};
use serde::Serialize;

use super::PIECE_BYTES;
use super::catalog::place_in;
use super::value::{Value, decode};
use crate::InsightError;

/// How far two floating-point elements may be apart and still agree.
///
/// `|a − b| ≤ t + t · max(|a|, |b|)`: absolute near zero, relative away from it. NaN agrees with NaN, an infinity with
/// itself; whole numbers agree if they are equal.
///
/// ```
/// use ringlane_insight::dump::{Tolerance, Value};
/// let tolerance = Tolerance::new(1e-3).unwrap();
/// assert!(tolerance.agree(Value::Single(1000.0), Value::Single(1001.0)));
/// assert!(!tolerance.agree(Value::Single(0.0), Value::Single(0.002)));
/// assert!(tolerance.agree(Value::Double(f64::NAN), Value::Double(f64::NAN)));
/// assert!(!tolerance.agree(Value::Integer(1000), Value::Integer(1001)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance(f64);

impl Tolerance {
    /// A tolerance; `None` unless it is a number of at least 0.
    pub fn new(tolerance: f64) -> Option<Self> {
        (tolerance >= 0.0 && tolerance.is_finite()).then_some(Tolerance(tolerance))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Whether two elements agree.
    pub fn agree(self, a: Value, b: Value) -> bool {
        if let (Value::Integer(a), Value::Integer(b)) = (a, b) {
            return a == b;
        }
        let (a, b) = (a.as_f64(), b.as_f64());
        match a.is_finite() && b.is_finite() {
            true => (a - b).abs() <= self.0 + self.0 * a.abs().max(b.abs()),
            false => a == b || (a.is_nan() && b.is_nan()),
        }
    }
}

/// The element that is furthest off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// Its place, outermost dimension first.
    pub at: Vec<u64>,
    /// In the one run.
    pub a: Value,
    /// In the other.
    pub b: Value,
    /// How far the two are apart: infinite, which JSON shows as `null`, where only one of them is a finite number.
    pub difference: f64,
}

fn difference(a: Value, b: Value) -> f64 {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.abs_diff(b) as f64,
        (a, b) if a.is_finite() && b.is_finite() => (a.as_f64() - b.as_f64()).abs(),
        _ => f64::INFINITY,
    }
}

/// An argument that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArgumentDiff {
    /// Which argument.
    pub arg: u32,
    /// What it is to its task.
    pub role: Role,
    /// When it was captured.
    pub stage: Stage,
    /// The type of its elements.
    pub dtype: DType,
    /// Lengths of its dimensions; none for a scalar.
    pub shape: Vec<u64>,
    /// Elements that were compared: fewer than there are, if one of the two is cut short.
    pub compared: u64,
    /// How many of them differ.
    pub differing: u64,
    /// The place of the first that does, outermost dimension first.
    pub first: Vec<u64>,
    /// The one that is furthest off.
    pub worst: Worst,
}

/// Elements that were compared, and what was found.
#[derive(Default)]
struct Found {
    compared: u64,
    differing: u64,
    first: u64,
    /// The place of the one that is furthest off, both values, and how far they are apart.
    worst: Option<(u64, Value, Value, f64)>,
}

impl Found {
    #[inline]
    fn add(&mut self, a: Value, b: Value, tolerance: Tolerance) {
        let element = self.compared;
        self.compared += 1;
        if tolerance.agree(a, b) {
            return;
        }
        if self.differing == 0 {
            self.first = element;
        }
        self.differing += 1;
        let here = difference(a, b);
        if self.worst.is_none_or(|(.., worst)| here > worst) {
            self.worst = Some((element, a, b, here));
        }
    }

    fn finish(self, record: &DumpRecord, dtype: DType, shape: Vec<u64>) -> (u64, Option<ArgumentDiff>) {
        let diff = self.worst.map(|(element, a, b, difference)| ArgumentDiff {
            arg: record.arg_index,
            role: record.role,
            stage: record.stage,
            dtype,
            compared: self.compared,
            differing: self.differing,
            first: place_in(&shape, self.first),
            worst: Worst { at: place_in(&shape, element), a, b, difference },
            shape,
        });
        (self.compared, diff)
    }
}

/// Compares one argument in two runs, of the same type and shape: how many elements were compared, and what differs.
pub(super) fn compare(
    (a, a_bytes): (&DumpRecord, &Payloads),
    (b, b_bytes): (&DumpRecord, &Payloads),
    tolerance: Tolerance,
) -> Result<(u64, Option<ArgumentDiff>), InsightError> {
    let mut found = Found::default();
    match (&a.data, &b.data) {
        (DumpData::Tensor(left), DumpData::Tensor(right)) => {
            compare_tensors((left, a_bytes), (right, b_bytes), tolerance, &mut found)?;
            Ok(found.finish(a, left.view.dtype, left.view.shape().collect()))
        }
        (DumpData::Scalar(left), DumpData::Scalar(right)) => {
            found.add(Value::of_scalar(*left), Value::of_scalar(*right), tolerance);
            Ok(found.finish(a, left.dtype(), Vec::new()))
        }
        // The caller pairs only records of one kind.
        _ => Ok((0, None)),
    }
}

fn compare_tensors(
    (a, a_bytes): (&DumpTensor, &Payloads),
    (b, b_bytes): (&DumpTensor, &Payloads),
    tolerance: Tolerance,
    found: &mut Found,
) -> Result<(), InsightError> {
    let dtype = a.view.dtype;
    // As far as both go.
    let both = a.bin_size.min(b.bin_size);
    let mut right = vec![0; PIECE_BYTES];
    let (mut done, mut left_values) = (0u64, Vec::new());
    let mut left = vec![0; PIECE_BYTES];
    b_bytes.check(b)?;
    b_bytes.verify(b, &mut right)?;
    a_bytes.for_each_piece(a, &mut left, |piece| {
        let bytes = (piece.len() as u64).min(both.saturating_sub(done)) as usize;
        let bytes = bytes / dtype.size_bytes() * dtype.size_bytes();
        b_bytes.read(b, done, &mut right[..bytes])?;
        done += bytes as u64;
        if piece[..bytes] == right[..bytes] {
            found.compared += (bytes / dtype.size_bytes()) as u64;
            return Ok::<(), InsightError>(());
        }
        left_values.clear();
        decode(dtype, &piece[..bytes], |value| left_values.push(value));
        let mut left = left_values.iter();
        decode(dtype, &right[..bytes], |value| {
            if let Some(left) = left.next() {
                found.add(*left, value, tolerance);
            }
        });
        Ok(())
    })
}
