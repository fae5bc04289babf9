//! Captured arguments for other programs: as text, or as NumPy reads them.
//!
//! NumPy has no bfloat16 and no float8. Such elements are written as float32, which holds every one of them exactly.

use std::io::{self, Write};

use ringlane_task::DType;
use ringlane_trace::TraceError;
use ringlane_trace::dump::{DumpData, DumpRecord, Payloads, Truncated};

use super::PIECE_BYTES;
use super::catalog::Captured;
use super::value::{Value, decode};
use crate::InsightError;

/// Why an export ended: the captured bytes, or where they were to go.
enum Stopped {
    Read(InsightError),
    Write(io::Error),
}

impl From<TraceError> for Stopped {
    fn from(error: TraceError) -> Self {
        Stopped::Read(error.into())
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Write(error)
    }
}

/// Separates the two kinds of failure: reading fails the whole export, writing is for the caller to handle.
fn split_failure(result: Result<(), Stopped>) -> Result<io::Result<()>, InsightError> {
    match result {
        Ok(()) => Ok(Ok(())),
        Err(Stopped::Write(error)) => Ok(Err(error)),
        Err(Stopped::Read(error)) => Err(error),
    }
}

/// The type of an argument's elements.
fn dtype_of(record: &DumpRecord) -> DType {
    match &record.data {
        DumpData::Tensor(tensor) => tensor.view.dtype,
        DumpData::Scalar(scalar) => scalar.dtype(),
    }
}

/// The shape of what was kept: of a tensor that is cut short, its first elements in a row.
fn kept_shape(record: &DumpRecord) -> Vec<u64> {
    match &record.data {
        DumpData::Scalar(_) => Vec::new(),
        DumpData::Tensor(tensor) => match tensor.truncated {
            Truncated::No => tensor.view.shape().collect(),
            Truncated::Yes => vec![tensor.bin_size / tensor.view.dtype.size_bytes() as u64],
        },
    }
}

/// Gives the bytes of an argument's elements to `each`.
fn for_each_piece(
    record: &DumpRecord,
    payloads: &Payloads,
    mut each: impl FnMut(&[u8]) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    match &record.data {
        DumpData::Scalar(scalar) => each(&scalar.bits().to_le_bytes()[..scalar.dtype().size_bytes()]),
        DumpData::Tensor(tensor) => payloads.for_each_piece(tensor, &mut vec![0; PIECE_BYTES], each),
    }
}

/// Writes an argument as a file of NumPy's; `numpy.load` reads it. A scalar is an array without dimensions.
///
/// The outer error is about what was captured, the inner one about where it is written.
pub fn write_npy(
    captured: &Captured<'_>,
    payloads: &Payloads,
    out: &mut impl Write,
) -> Result<io::Result<()>, InsightError> {
    let (record, dtype) = (captured.record, dtype_of(captured.record));
    let mut write = || {
        out.write_all(&npy_header(dtype, &kept_shape(record)))?;
        for_each_piece(record, payloads, |piece| {
            match is_widened(dtype) {
                false => out.write_all(piece)?,
                true => out.write_all(&widened(dtype, piece))?,
            }
            Ok(())
        })
    };
    split_failure(write())
}

/// Types that NumPy does not have.
const fn is_widened(dtype: DType) -> bool {
    matches!(dtype, DType::BFloat16 | DType::Float8E4M3 | DType::Float8E5M2)
}

fn widened(dtype: DType, piece: &[u8]) -> Vec<u8> {
    let mut wide = Vec::with_capacity(piece.len() * 4);
    decode(dtype, piece, |value| wide.extend((value.as_f64() as f32).to_le_bytes()));
    wide
}

/// The type as NumPy names it.
const fn npy_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "|b1",
        DType::Int8 => "|i1",
        DType::UInt8 => "|u1",
        DType::Int16 => "<i2",
        DType::UInt16 => "<u2",
        DType::Int32 => "<i4",
        DType::UInt32 => "<u4",
        DType::Int64 => "<i8",
        DType::UInt64 => "<u8",
        DType::Float16 => "<f2",
        DType::Float64 => "<f8",
        DType::Float32 | DType::BFloat16 | DType::Float8E4M3 | DType::Float8E5M2 => "<f4",
    }
}

/// Magic, version 1.0, length, and a Python dictionary, padded so that the elements begin at a multiple of 64.
fn npy_header(dtype: DType, shape: &[u64]) -> Vec<u8> {
    const BEFORE: usize = 10;
    let lengths: String = shape.iter().map(|len| format!("{len},")).collect();
    let mut text =
        format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({lengths}), }}", npy_type(dtype));
    while !(BEFORE + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    // At most eight dimensions of ten digits: far below the 65,535 that two bytes can hold.
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), text.as_bytes()].concat()
}

/// Writes an argument as text: what it is after `#`, then a line for each run of its last dimension. `numpy.loadtxt` reads
/// it.
///
/// The outer error is about what was captured, the inner one about where it is written.
pub fn write_txt(
    captured: &Captured<'_>,
    payloads: &Payloads,
    out: &mut impl Write,
) -> Result<io::Result<()>, InsightError> {
    let (record, dtype) = (captured.record, dtype_of(captured.record));
    let kernel: String = captured.kernel.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let wide = kept_shape(record).last().copied().unwrap_or(1);
    let mut write = || {
        writeln!(
            out,
            "# task {} seq {} {kernel} arg {} {} {} {dtype} {:?}",
            captured.task_name(),
            captured.seq(),
            record.arg_index,
            record.role,
            record.stage,
            captured.shape()
        )?;
        let mut at = 0;
        for_each_piece(record, payloads, |piece| {
            let mut text = String::with_capacity(piece.len() * 4);
            decode(dtype, piece, |value: Value| {
                at += 1;
                text += &value.to_string();
                text.push(if at % wide == 0 { '\n' } else { ' ' });
            });
            Ok(out.write_all(text.as_bytes())?)
        })
    };
    split_failure(write())
}
