//! Compares the values of a run with the expected ones, and hashes them.

use ringlane_engine::prelude::Element;

/// How far a value may be from the expected one: `absolute + relative · |expected|`.
///
/// ```
/// use ringlane_scenes::Tolerance;
/// let loose = Tolerance { absolute: 0.0, relative: 0.01 };
/// assert!(loose.allows(101.0, 100.0) && !loose.allows(102.0, 100.0) && !loose.allows(f64::NAN, 100.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// The constant part.
    pub absolute: f64,
    /// The part that is proportional to the expected value.
    pub relative: f64,
}

impl Tolerance {
    /// Every value equals the expected one.
    pub const EXACT: Tolerance = Tolerance::absolute(0.0);

    /// A constant tolerance.
    pub const fn absolute(absolute: f64) -> Self {
        Tolerance { absolute, relative: 0.0 }
    }

    /// Whether `got` is close enough to `want`; NaN never is.
    #[inline]
    pub fn allows(&self, got: f64, want: f64) -> bool {
        (got - want).abs() <= self.absolute + self.relative * want.abs()
    }
}

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Golden {
    /// Values compared.
    pub checked: u64,
    /// Values outside the tolerance.
    pub failed: u64,
    /// Values that are NaN.
    pub nan_values: u64,
    /// Expected values that are NaN; nothing equals them.
    pub nan_answers: u64,
    /// The largest error: NaN if a value or an expected value is NaN, infinite if one of two different values is
    /// infinite.
    pub max_abs_error: f64,
    /// The widest tolerance used.
    pub tolerance: Tolerance,
    /// A hash of the output values: equal runs have equal hashes.
    pub output_hash: String,
}

impl Golden {
    /// Whether all values are correct, and there was at least one.
    pub fn passed(&self) -> bool {
        self.failed == 0 && self.checked > 0
    }

    /// Compares one buffer.
    ///
    /// ```
    /// use ringlane_scenes::{Golden, Tolerance};
    /// let golden = Golden::compare(&[1.0f32, 2.0, 3.5], &[1.0, 2.0, 3.0], Tolerance::absolute(0.1));
    /// assert_eq!((golden.checked, golden.failed, golden.max_abs_error), (3, 1, 0.5));
    /// ```
    pub fn compare<T: Value>(got: &[T], want: &[f64], tolerance: Tolerance) -> Golden {
        let mut check = Check::new();
        check.slice(got, want, tolerance);
        check.finish()
    }
}

/// A number that a run's output can hold.
pub trait Value: Element {
    /// Converts to the type of expected values; exact except for large 64-bit integers.
    fn as_f64(self) -> f64;
    /// Its bits, for the hash.
    fn bits(self) -> u64;
}

macro_rules! values {
    ($($ty:ty: $bits:expr;)*) => {$(
        impl Value for $ty {
            #[inline]
            fn as_f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn bits(self) -> u64 {
                let bits: fn($ty) -> u64 = $bits;
                bits(self)
            }
        }
    )*};
}

values! {
    f32: |x| x.to_bits() as u64;
    f64: |x| x.to_bits();
    i32: |x| x as u32 as u64;
    u32: |x| x as u64;
    i64: |x| x as u64;
    u64: |x| x;
}

/// Builds a golden: values are added one by one or by slices, in the order of the output.
///
/// The hash is FNV-1a with 64 bits, one round for each value's bits.
///
/// ```
/// use ringlane_scenes::{Check, Tolerance};
/// let mut check = Check::new();
/// check.value(7i32, 7.0, Tolerance::EXACT);
/// check.slice(&[0.5f32, 0.25], &[0.5, 0.25], Tolerance::absolute(1e-6));
/// assert!(check.finish().passed());
/// ```
#[derive(Clone, Debug)]
pub struct Check {
    golden: Golden,
    hash: u64,
}

impl Default for Check {
    fn default() -> Self {
        Self::new()
    }
}

impl Check {
    /// An empty comparison.
    pub fn new() -> Self {
        Check { golden: Golden::default(), hash: 0xcbf2_9ce4_8422_2325 }
    }

    /// Adds a value to the hash without comparing it: it has been compared in another way.
    #[inline]
    pub fn hash<T: Value>(&mut self, got: T) {
        self.hash = (self.hash ^ got.bits()).wrapping_mul(0x0000_0100_0000_01b3);
    }

    /// Compares one value.
    #[inline]
    pub fn value<T: Value>(&mut self, got: T, want: f64, tolerance: Tolerance) {
        self.hash(got);
        let (got, golden) = (got.as_f64(), &mut self.golden);
        golden.checked += 1;
        golden.failed += !tolerance.allows(got, want) as u64;
        golden.nan_values += got.is_nan() as u64;
        golden.nan_answers += want.is_nan() as u64;
        golden.max_abs_error = larger(golden.max_abs_error, (got - want).abs());
        golden.tolerance.absolute = golden.tolerance.absolute.max(tolerance.absolute);
        golden.tolerance.relative = golden.tolerance.relative.max(tolerance.relative);
    }

    /// Compares a slice; values without a counterpart fail.
    pub fn slice<T: Value>(&mut self, got: &[T], want: &[f64], tolerance: Tolerance) {
        for (&got, &want) in got.iter().zip(want) {
            self.value(got, want, tolerance);
        }
        let alone = got.len().abs_diff(want.len()) as u64;
        self.golden.checked += alone;
        self.golden.failed += alone;
    }

    /// The result.
    pub fn finish(mut self) -> Golden {
        self.golden.output_hash = format!("{:016x}", self.hash);
        self.golden
    }
}

/// The larger of two errors; NaN is larger than everything.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_fails_and_is_reported_as_nan() {
        let golden = Golden::compare(&[f32::NAN, 1.0], &[0.0, 1.0], Tolerance::absolute(1e9));
        assert_eq!((golden.failed, golden.nan_values, golden.nan_answers), (1, 1, 0));
        assert!(golden.max_abs_error.is_nan());
        let golden = Golden::compare(&[0.0f32, 3.0], &[f64::NAN, 1.0], Tolerance::absolute(1e9));
        assert_eq!((golden.failed, golden.nan_values, golden.nan_answers), (1, 0, 1));
        assert!(golden.max_abs_error.is_nan());
    }

    #[test]
    fn an_infinite_value_has_an_infinite_error() {
        let golden = Golden::compare(&[f32::INFINITY, 1.0], &[0.0, 1.0], Tolerance::absolute(1e9));
        assert_eq!((golden.failed, golden.nan_values, golden.max_abs_error), (1, 0, f64::INFINITY));
    }

    #[test]
    fn a_missing_value_fails() {
        assert_eq!(Golden::compare(&[1i32], &[1.0, 2.0], Tolerance::EXACT).failed, 1);
    }

    #[test]
    fn an_empty_comparison_does_not_pass() {
        assert!(!Golden::compare::<f32>(&[], &[], Tolerance::EXACT).passed());
    }

    #[test]
    fn what_is_only_hashed_is_not_counted_as_compared() {
        let mut check = Check::new();
        check.hash(7i32);
        let golden = check.finish();
        assert!(!golden.passed() && golden.output_hash != Check::new().finish().output_hash);
    }

    #[test]
    fn one_bit_changes_the_hash() {
        let hash = |x: f32| Golden::compare(&[x, 2.0], &[1.0, 2.0], Tolerance::absolute(1.0)).output_hash;
        assert_eq!(hash(1.0), hash(1.0));
        assert_ne!(hash(1.0), hash(1.0 + f32::EPSILON));
        assert_ne!(hash(0.0), hash(-0.0));
    }
}
