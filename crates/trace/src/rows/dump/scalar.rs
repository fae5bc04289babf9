//! Scalars as JSON: numbers where JSON's own hold them exactly, else strings.

use ringlane_task::{DType, F8E4M3, F8E5M2, Scalar, bf16, f16};
use serde::Serialize;

use crate::text::{Number, Text};

/// The largest integer that readers with only double-precision numbers distinguish from its neighbours.
const EXACT_INTEGER_MAX: u64 = 1 << 53;

/// Writes the bits, as `"0x"` and 16 digits.
pub(super) fn write_bits(text: &mut Text, bits: u64) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut digits = *b"\"0x0000000000000000\"";
    for (place, digit) in digits[3..19].iter_mut().rev().enumerate() {
        *digit = HEX[(bits >> (4 * place)) as usize & 15];
    }
    text.push_bytes(&digits);
}

/// Writes the value.
pub(super) fn write_value(text: &mut Text, scalar: Scalar) -> &mut Text {
    macro_rules! value {
        ($ty:ty) => {
            scalar.get::<$ty>().unwrap_or_default()
        };
    }
    match scalar.dtype() {
        DType::Bool => text.raw(if value!(bool) { "true" } else { "false" }),
        DType::Int8 => text.number(value!(i8)),
        DType::UInt8 => text.number(value!(u8)),
        DType::Int16 => text.number(value!(i16)),
        DType::UInt16 => text.number(value!(u16)),
        DType::Int32 => text.number(value!(i32)),
        DType::UInt32 => text.number(value!(u32)),
        DType::Int64 => integer(text, value!(i64).unsigned_abs(), value!(i64)),
        DType::UInt64 => integer(text, value!(u64), value!(u64)),
        DType::Float16 => float(text, value!(f16).to_f32()),
        DType::BFloat16 => float(text, value!(bf16).to_f32()),
        DType::Float32 => float(text, value!(f32)),
        DType::Float64 => float(text, value!(f64)),
        DType::Float8E4M3 => float(text, value!(F8E4M3).to_f32()),
        DType::Float8E5M2 => float(text, value!(F8E5M2).to_f32()),
    }
}

fn integer(text: &mut Text, size: u64, value: impl Number) -> &mut Text {
    let quote = if size > EXACT_INTEGER_MAX { "\"" } else { "" };
    text.raw(quote).number(value).raw(quote)
}

/// The shortest digits that lead back to the value; `"NaN"`, `"inf"` or `"-inf"` where JSON has no number.
fn float<T: Copy + Into<f64> + Serialize>(text: &mut Text, value: T) -> &mut Text {
    let wide: f64 = value.into();
    if wide.is_finite() && serde_json::to_writer(&mut *text, &value).is_ok() {
        return text;
    }
    text.string(&wide.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(scalar: Scalar) -> String {
        let mut text = Text::default();
        write_value(&mut text, scalar);
        String::from_utf8(text.bytes().to_vec()).unwrap()
    }

    #[test]
    fn a_value_is_a_number_where_json_can_hold_it_and_else_a_string() {
        for (scalar, expected) in [
            (Scalar::new(true), "true"),
            (Scalar::new(-5i8), "-5"),
            (Scalar::new(1i64 << 53), "9007199254740992"),
            (Scalar::new(-(1i64 << 53) - 1), "\"-9007199254740993\""),
            (Scalar::new(i64::MIN), "\"-9223372036854775808\""),
            (Scalar::new(u64::MAX), "\"18446744073709551615\""),
            (Scalar::new(1.0f32), "1.0"),
            (Scalar::new(0.1f32), "0.1"),
            (Scalar::new(0.1f64), "0.1"),
            (Scalar::new(f32::NAN), "\"NaN\""),
            (Scalar::new(f64::NEG_INFINITY), "\"-inf\""),
            (Scalar::new(f16::INFINITY), "\"inf\""),
            (Scalar::new(f16::from_f32(0.5)), "0.5"),
            (Scalar::new(bf16::from_f32(-2.0)), "-2.0"),
            (Scalar::new(F8E4M3::from_f32(1.5)), "1.5"),
            (Scalar::new(F8E5M2::from_f32(0.25)), "0.25"),
        ] {
            assert_eq!(shown(scalar), expected, "{scalar}");
            assert!(serde_json::from_str::<serde_json::Value>(&shown(scalar)).is_ok());
        }
    }

    #[test]
    fn bits_are_eighteen_characters() {
        let mut text = Text::default();
        write_bits(&mut text, Scalar::new(1.0f32).bits());
        write_bits(&mut text, u64::MAX - 15);
        assert_eq!(text.bytes(), b"\"0x000000003f800000\"\"0xfffffffffffffff0\"");
    }
}
