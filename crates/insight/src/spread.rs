//! How values are spread: exact, from all of them.

use ringlane_task::Ticks;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Count, sum, and some of the values in order.
///
/// ```
/// use ringlane_insight::Spread;
/// use ringlane_task::Ticks;
/// let spread = Spread::of(vec![Ticks(4), Ticks(1), Ticks(9), Ticks(2)]);
/// assert_eq!((spread.count, spread.total, spread.p50, spread.max), (4, 16, Ticks(2), Ticks(9)));
/// assert_eq!(spread.mean(), 4.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many values there are.
    pub count: u64,
    /// What they add up to.
    pub total: u128,
    /// The smallest.
    pub min: Ticks,
    /// Half of them are not above it.
    pub p50: Ticks,
    /// Of 100 of them 95 are not above it.
    pub p95: Ticks,
    /// The largest.
    pub max: Ticks,
}

impl Spread {
    /// The spread of these values; all zero for none.
    pub fn of(mut values: Vec<Ticks>) -> Self {
        values.sort_unstable();
        Spread::of_sorted(&values)
    }

    /// The same of values that are sorted.
    pub fn of_sorted(values: &[Ticks]) -> Self {
        Spread {
            count: values.len() as u64,
            total: values.iter().map(|value| u128::from(value.0)).sum(),
            min: rank(values, 0),
            p50: rank(values, 50),
            p95: rank(values, 95),
            max: rank(values, 100),
        }
    }

    /// The mean; 0 of none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total as f64 / self.count as f64 }
    }
}

/// All fields, and the mean.
impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Spread", 7)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("total", &self.total)?;
        fields.serialize_field("mean", &self.mean())?;
        fields.serialize_field("min", &self.min)?;
        fields.serialize_field("p50", &self.p50)?;
        fields.serialize_field("p95", &self.p95)?;
        fields.serialize_field("max", &self.max)?;
        fields.end()
    }
}

/// The nearest-rank percentile of sorted values: the smallest that `percent` of a hundred are not above; 0 of none.
pub fn rank(sorted: &[Ticks], percent: usize) -> Ticks {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_values_that_are_there() {
        let spread = Spread::of((1..=100).map(Ticks).collect());
        assert_eq!(
            (spread.min, spread.p50, spread.p95, spread.max),
            (Ticks(1), Ticks(50), Ticks(95), Ticks(100))
        );
        let one = Spread::of(vec![Ticks(7)]);
        assert_eq!((one.p50, one.p95, one.max, one.mean()), (Ticks(7), Ticks(7), Ticks(7), 7.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
