//! A captured argument in a few numbers.

use ringlane_trace::dump::{DumpData, DumpRecord, Payloads};
use serde::Serialize;

use super::PIECE_BYTES;
use super::value::{Value, decode};
use crate::InsightError;

/// What the elements of an argument are like; NaN and infinities are counted, and play no part in the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// How many elements were kept.
    pub elements: u64,
    /// How many are NaN.
    pub nan: u64,
    /// How many are infinite.
    pub infinite: u64,
    /// The smallest finite one.
    pub min: Option<Value>,
    /// The largest finite one.
    pub max: Option<Value>,
    /// The mean of the finite ones; `None` without any, or if their sum is too large.
    pub mean: Option<f64>,
    /// The first ones.
    pub first: Vec<Value>,
    /// The place of the first that is NaN or infinite, and what it is.
    #[serde(skip)]
    pub first_bad: Option<(u64, Value)>,
}

impl Stats {
    /// How many are NaN or infinite.
    pub fn bad(&self) -> u64 {
        self.nan + self.infinite
    }
}

/// Adds up elements as they come.
#[derive(Default)]
struct Sums {
    stats: Stats,
    keep: usize,
    integers: i128,
    /// A sum, and what its additions lost (Neumaier).
    sum: f64,
    lost: f64,
}

impl Sums {
    #[inline]
    fn add(&mut self, value: Value) {
        let stats = &mut self.stats;
        let at = stats.elements;
        stats.elements += 1;
        if stats.first.len() < self.keep {
            stats.first.push(value);
        }
        let number = value.as_f64();
        if !number.is_finite() {
            stats.first_bad.get_or_insert((at, value));
            *(if number.is_nan() { &mut stats.nan } else { &mut stats.infinite }) += 1;
            return;
        }
        if stats.min.is_none_or(|min| is_less(value, min)) {
            stats.min = Some(value);
        }
        if stats.max.is_none_or(|max| is_less(max, value)) {
            stats.max = Some(value);
        }
        match value {
            Value::Integer(value) => self.integers += value,
            _ => {
                let sum = self.sum + number;
                self.lost += match self.sum.abs() >= number.abs() {
                    true => (self.sum - sum) + number,
                    false => (number - sum) + self.sum,
                };
                self.sum = sum;
            }
        }
    }

    fn finish(mut self) -> Stats {
        let finite = self.stats.elements - self.stats.bad();
        let sum = self.integers as f64 + (self.sum + self.lost);
        self.stats.mean = Some(sum / finite as f64).filter(|mean| finite > 0 && mean.is_finite());
        self.stats
    }
}

/// Integers are compared as they are: two of 64 bits may be the same floating-point number.
fn is_less(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a < b,
        _ => a.as_f64() < b.as_f64(),
    }
}

/// Reads an argument once and sums it up, keeping its first `keep` elements.
pub fn stats(record: &DumpRecord, payloads: &Payloads, keep: usize) -> Result<Stats, InsightError> {
    let mut sums = Sums { keep, ..Sums::default() };
    match &record.data {
        DumpData::Scalar(scalar) => sums.add(Value::of_scalar(*scalar)),
        DumpData::Tensor(tensor) => {
            let mut buffer = vec![0; PIECE_BYTES];
            payloads.for_each_piece(tensor, &mut buffer, |piece| {
                decode(tensor.view.dtype, piece, |value| sums.add(value));
                Ok::<(), InsightError>(())
            })?;
        }
    }
    Ok(sums.finish())
}
