//! Data types by their codes, and as DLPack has them.

use ringlane::task::DType;

use crate::abi::rl_dltype;
use crate::error::CapiError;

/// The type with this code.
pub fn dtype(code: u32) -> Result<DType, CapiError> {
    let known = DType::ALL.iter().copied().find(|dtype| *dtype as u32 == code);
    known.ok_or(CapiError::BadNumber {
        what: "dtype",
        value: i64::from(code),
        allowed: "RL_BOOL to RL_F8_E5M2",
    })
}

const SIGNED: u8 = 0;
const UNSIGNED: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const BOOL: u8 = 6;
const FLOAT8_E4M3: u8 = 8;
const FLOAT8_E4M3FN: u8 = 10;
const FLOAT8_E5M2: u8 = 12;

/// A type as DLPack has it.
pub fn to_dlpack(dtype: DType) -> rl_dltype {
    let code = match dtype {
        DType::Bool => BOOL,
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => SIGNED,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => UNSIGNED,
        DType::Float16 | DType::Float32 | DType::Float64 => FLOAT,
        DType::BFloat16 => BFLOAT,
        DType::Float8E4M3 => FLOAT8_E4M3FN,
        DType::Float8E5M2 => FLOAT8_E5M2,
    };
    rl_dltype { code, bits: dtype.size_bytes() as u8 * 8, lanes: 1 }
}

/// The type that DLPack means.
pub fn of_dlpack(given: rl_dltype) -> Result<DType, CapiError> {
    let code = if given.code == FLOAT8_E4M3 { FLOAT8_E4M3FN } else { given.code };
    let wanted = rl_dltype { code, ..given };
    let known = DType::ALL.iter().copied().find(|dtype| to_dlpack(*dtype) == wanted);
    known.ok_or(CapiError::BadType { code: given.code, bits: given.bits, lanes: given.lanes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi;

    #[test]
    fn every_type_has_its_code_and_survives_dlpack() {
        for &known in DType::ALL {
            assert_eq!(dtype(known as u32).unwrap(), known);
            assert_eq!(of_dlpack(to_dlpack(known)).unwrap(), known);
        }
        assert_eq!(dtype(abi::RL_F8_E5M2).unwrap(), DType::Float8E5M2);
        assert_eq!(dtype(abi::RL_F32).unwrap(), DType::Float32);
        assert!(dtype(99).is_err() && of_dlpack(rl_dltype { code: 3, bits: 64, lanes: 1 }).is_err());
        assert!(of_dlpack(rl_dltype { code: FLOAT, bits: 32, lanes: 4 }).is_err());
    }
}
