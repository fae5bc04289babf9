//! Elements of every data type, as numbers that lose nothing.

use std::fmt;

use ringlane_task::{DType, F8E4M3, F8E5M2, Scalar, bf16, f16};
use serde::{Serialize, Serializer};

/// One element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of a type of whole numbers; 0 and 1 for `bool`.
    Integer(i128),
    /// Of a type of at most 32 bits with a point: shown with the digits that such a number needs.
    Single(f32),
    /// Of 64 bits with a point.
    Double(f64),
}

impl Value {
    /// As a floating-point number; large integers are rounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Integer(value) => value as f64,
            Value::Single(value) => value.into(),
            Value::Double(value) => value,
        }
    }

    /// Whether it is neither NaN nor infinite.
    pub fn is_finite(self) -> bool {
        self.as_f64().is_finite()
    }

    /// The value of a scalar argument.
    pub fn of_scalar(scalar: Scalar) -> Self {
        let mut value = Value::Integer(0);
        decode(scalar.dtype(), &scalar.bits().to_le_bytes()[..scalar.dtype().size_bytes()], |found| {
            value = found
        });
        value
    }
}

/// As text: JSON has no NaN, and readers round large integers.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `{:?}` gives the shortest digits that lead back to the number, and an exponent where those are far away.
        match self {
            Value::Integer(value) => f.pad(&value.to_string()),
            Value::Single(value) => f.pad(&format!("{value:?}")),
            Value::Double(value) => f.pad(&format!("{value:?}")),
        }
    }
}

/// Gives each element of some bytes, little-endian and without gaps, to `each`.
#[inline]
pub(super) fn decode(dtype: DType, bytes: &[u8], mut each: impl FnMut(Value)) {
    macro_rules! elements {
        ($ty:ty, $bytes:ident => $value:expr) => {
            for $bytes in bytes.as_chunks::<{ size_of::<$ty>() }>().0 {
                let $bytes = *$bytes;
                each($value)
            }
        };
    }
    macro_rules! integers {
        ($ty:ty) => { elements!($ty, raw => Value::Integer(<$ty>::from_le_bytes(raw).into())) };
    }
    match dtype {
        DType::Bool | DType::UInt8 => integers!(u8),
        DType::Int8 => integers!(i8),
        DType::Int16 => integers!(i16),
        DType::UInt16 => integers!(u16),
        DType::Int32 => integers!(i32),
        DType::UInt32 => integers!(u32),
        DType::Int64 => integers!(i64),
        DType::UInt64 => integers!(u64),
        DType::Float16 => elements!(f16, raw => Value::Single(f16::from_le_bytes(raw).to_f32())),
        DType::BFloat16 => elements!(bf16, raw => Value::Single(bf16::from_le_bytes(raw).to_f32())),
        DType::Float32 => elements!(f32, raw => Value::Single(f32::from_le_bytes(raw))),
        DType::Float64 => elements!(f64, raw => Value::Double(f64::from_le_bytes(raw))),
        DType::Float8E4M3 => elements!(u8, raw => Value::Single(F8E4M3::from_bits(raw[0]).to_f32())),
        DType::Float8E5M2 => elements!(u8, raw => Value::Single(F8E5M2::from_bits(raw[0]).to_f32())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_read_as_what_was_stored() {
        let shown = |scalar: Scalar| Value::of_scalar(scalar).to_string();
        assert_eq!(shown(Scalar::new(true)), "1");
        assert_eq!(shown(Scalar::new(-5i8)), "-5");
        assert_eq!(shown(Scalar::new(u64::MAX)), "18446744073709551615");
        assert_eq!(shown(Scalar::new(i64::MIN)), "-9223372036854775808");
        assert_eq!(shown(Scalar::new(0.1f32)), "0.1");
        assert_eq!(shown(Scalar::new(0.1f64)), "0.1");
        assert_eq!(shown(Scalar::new(f16::from_f32(1.5))), "1.5");
        assert_eq!(shown(Scalar::new(bf16::from_f32(-2.0))), "-2.0");
        assert_eq!(shown(Scalar::new(F8E4M3::from_f32(0.5))), "0.5");
        assert_eq!(shown(Scalar::new(F8E5M2::from_bits(0x7c))), "inf");
        assert_eq!(shown(Scalar::new(f64::NAN)), "NaN");
    }
}
