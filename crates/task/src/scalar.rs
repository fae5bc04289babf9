//! Typed scalar arguments, stored as 64 bits.

use core::fmt;

use crate::dtype::{DType, Element};

/// A scalar argument: its bits, zero-extended, and its type.
///
/// ```
/// use ringlane_task::{DType, Scalar};
/// let s = Scalar::new(1.0f32);
/// assert_eq!((s.bits(), s.dtype()), (0x3f80_0000, DType::Float32));
/// assert_eq!(s.get::<f32>(), Some(1.0));
/// assert_eq!(s.get::<i32>(), None);
/// assert_eq!(s.to_string(), "1.0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    bits: u64,
    dtype: DType,
}

impl Scalar {
    /// Stores a value.
    pub fn new<T: Element>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 8) };
        let mut bytes = [0u8; 8];
        // SAFETY: `Element` types are plain data without padding, at most eight bytes long.
        let source = unsafe { core::slice::from_raw_parts((&raw const value).cast::<u8>(), size_of::<T>()) };
        bytes[..source.len()].copy_from_slice(source);
        Scalar { bits: u64::from_le_bytes(bytes), dtype: T::DTYPE }
    }

    /// Restores a scalar from its bits; `None` if they are not a value of the type.
    pub fn from_bits(bits: u64, dtype: DType) -> Option<Self> {
        let used = dtype.size_bytes() as u32 * 8;
        let fits = used == 64 || bits >> used == 0;
        let valid = dtype != DType::Bool || bits <= 1;
        (fits && valid).then_some(Scalar { bits, dtype })
    }

    /// The bits, zero-extended.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// The type of the scalar.
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// The value, if `T` is its type.
    pub fn get<T: Element>(self) -> Option<T> {
        if T::DTYPE != self.dtype {
            return None;
        }
        let bytes = self.bits.to_le_bytes();
        // SAFETY: the bits were stored from a `T` (or checked by `from_bits`), little-endian, low bytes first.
        Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        macro_rules! show {
            ($($variant:ident: $ty:ty),*) => {
                match self.dtype {
                    $(DType::$variant => write!(f, "{:?}", self.get::<$ty>().unwrap_or_default()),)*
                }
            };
        }
        show!(Bool: bool, Int8: i8, UInt8: u8, Int16: i16, UInt16: u16, Int32: i32, UInt32: u32, Int64: i64,
              UInt64: u64, Float16: half::f16, BFloat16: half::bf16, Float32: f32, Float64: f64,
              Float8E4M3: float8::F8E4M3, Float8E5M2: float8::F8E5M2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_not_a_value_of_the_type_are_refused() {
        assert_eq!(Scalar::from_bits(2, DType::Bool), None);
        assert_eq!(Scalar::from_bits(0x100, DType::UInt8), None);
        assert_eq!(Scalar::from_bits(u64::MAX, DType::Int64), Some(Scalar::new(-1i64)));
    }
}
