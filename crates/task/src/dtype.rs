//! Data types of tensors and scalars, and the corresponding Rust types.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use float8::{F8E4M3, F8E5M2};
use half::{bf16, f16};

use crate::explain::Explain;

macro_rules! dtypes {
    ($($variant:ident = $code:literal, $ty:ty, $name:literal;)*) => {
        /// The type of a tensor's elements or of a scalar.
        ///
        /// ```
        /// use ringlane_task::DType;
        /// assert_eq!(DType::BFloat16.size_bytes(), 2);
        /// assert_eq!("float8_e4m3".parse::<DType>().unwrap(), DType::Float8E4M3);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`")] $variant = $code,)*
        }

        impl DType {
            /// All data types, in the order of their codes.
            pub const ALL: &'static [DType] = &[$(DType::$variant,)*];

            /// Bytes of one element.
            pub const fn size_bytes(self) -> usize {
                match self { $(DType::$variant => size_of::<$ty>(),)* }
            }

            /// The name used in every artifact.
            pub const fn as_str(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }
        }

        $(
            // SAFETY: the type is plain data of exactly `DTYPE.size_bytes()` bytes, and all zero bits are a
            // valid value of it.
            unsafe impl Element for $ty {
                const DTYPE: DType = DType::$variant;
            }
            impl sealed::Sealed for $ty {}
        )*
    };
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that can be an element of a tensor.
///
/// # Safety
/// Implementors are plain data without padding, of `DTYPE.size_bytes()` bytes, valid when zeroed. Sealed.
pub unsafe trait Element: sealed::Sealed + Copy + Default + Send + Sync + 'static {
    /// The corresponding data type.
    const DTYPE: DType;
}

dtypes! {
    Bool = 0, bool, "bool";
    Int8 = 1, i8, "int8";
    UInt8 = 2, u8, "uint8";
    Int16 = 3, i16, "int16";
    UInt16 = 4, u16, "uint16";
    Int32 = 5, i32, "int32";
    UInt32 = 6, u32, "uint32";
    Int64 = 7, i64, "int64";
    UInt64 = 8, u64, "uint64";
    Float16 = 9, f16, "float16";
    BFloat16 = 10, bf16, "bfloat16";
    Float32 = 11, f32, "float32";
    Float64 = 12, f64, "float64";
    Float8E4M3 = 13, F8E4M3, "float8_e4m3";
    Float8E5M2 = 14, F8E5M2, "float8_e5m2";
}

impl DType {
    /// The data type with this code, if there is one.
    pub const fn from_code(code: u8) -> Option<DType> {
        if (code as usize) < Self::ALL.len() { Some(Self::ALL[code as usize]) } else { None }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name that is not a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownDType;

crate::explained_error!(UnknownDType);

impl Explain for UnknownDType {
    fn name(&self) -> &'static str {
        "UnknownDType"
    }

    fn summary(&self) -> String {
        "a name is not a data type".to_string()
    }

    fn detail(&self) -> String {
        format!(
            "known types: {}",
            DType::ALL.iter().map(|dtype| dtype.as_str()).collect::<Vec<_>>().join(", ")
        )
    }

    fn hint(&self) -> String {
        "use one of these names".to_string()
    }
}

impl FromStr for DType {
    type Err = UnknownDType;
    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        Self::ALL.iter().copied().find(|d| d.as_str() == name).ok_or(UnknownDType)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_code_converts_back_to_its_type() {
        for (code, &dtype) in DType::ALL.iter().enumerate() {
            assert_eq!(DType::from_code(code as u8), Some(dtype));
            assert_eq!(dtype.as_str().parse(), Ok(dtype));
        }
        assert_eq!(DType::from_code(DType::ALL.len() as u8), None);
        assert_eq!("float128".parse::<DType>(), Err(UnknownDType));
    }
}
