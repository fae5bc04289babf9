//! A record as it is written: all columns that one of a tensor or of a scalar can have.

use ringlane_task::{DType, Scalar, TaskId};
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};

use super::{DumpData, DumpRecord, DumpTensor, Role, Stage, Truncated, scalar};
use crate::rows::deps::TensorIndex;
use crate::rows::field::Field;
use crate::rows::quick::Quick;
use crate::rows::{Sizes, ViewRow};
use crate::text::Text;

names! {
    /// What a record is of.
    Kind {
        /// A tensor.
        Tensor = "tensor",
        /// A scalar.
        Scalar = "scalar",
    }
}

row! { object
    /// A record, column by column.
    pub struct RecordRow {
        /// The task.
        task_id: TaskId,
        /// Which of its arguments.
        arg_index: u32,
        /// What it is of.
        kind: Kind,
        /// What the argument is to the task.
        role: Role,
        /// When it was captured.
        stage: Stage,
        /// Type of the elements, or of the scalar.
        dtype: DType,
        /// Lengths of the dimensions; a scalar has none.
        shape: Sizes,
        /// As in a view.
        strides: Option<Sizes> [absent],
        /// As in a view.
        offset: Option<u64> [absent],
        /// The tensor that the argument is a part of.
        tensor: Option<TensorIndex> [absent],
        /// The bytes of that tensor from the first that is touched to the last.
        byte_range: Option<[u64; 2]> [absent],
        /// Whether the elements are contiguous.
        is_contiguous: Option<bool> [absent],
        /// Whether bytes at the end are missing.
        truncated: Option<bool> [absent],
        /// The bits of a scalar.
        scalar_value: Option<Bits> [absent],
        /// A scalar for people.
        value: Option<Shown> [absent],
        /// Where its bytes begin in the file of bytes.
        bin_offset: u64,
        /// How many they are.
        bin_size: u64,
        /// The checksum of these bytes.
        crc32: Option<u32> [absent],
    }
}

/// The bits of a scalar: `"0x"` and 16 digits.
pub struct Bits(u64);

impl Field for Bits {
    fn write(&self, text: &mut Text) {
        scalar::write_bits(text, self.0);
    }

    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        bits_of(text.string()?)
    }
}

fn bits_of(text: &str) -> Option<Bits> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 16)?;
    let bits = u64::from_str_radix(digits, 16).ok()?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(Bits(bits))
}

impl<'de> Deserialize<'de> for Bits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        bits_of(&text).ok_or_else(|| D::Error::custom(format_args!("{text:?} is not 0x and 16 digits")))
    }
}

/// A scalar for people; nothing reads it back.
pub struct Shown(Option<Scalar>);

impl Field for Shown {
    fn write(&self, text: &mut Text) {
        if let Some(value) = self.0 {
            scalar::write_value(text, value);
        }
    }

    fn quick(_: &mut Quick<'_>) -> Option<Self> {
        None
    }
}

impl<'de> Deserialize<'de> for Shown {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Shown(None))
    }
}

impl From<&DumpRecord> for RecordRow {
    fn from(record: &DumpRecord) -> Self {
        let DumpRecord { task_id, arg_index, role, stage, data } = *record;
        let mut row = RecordRow {
            task_id,
            arg_index,
            kind: Kind::Scalar,
            role,
            stage,
            dtype: DType::Bool,
            shape: Sizes::default(),
            strides: None,
            offset: None,
            tensor: None,
            byte_range: None,
            is_contiguous: None,
            truncated: None,
            scalar_value: None,
            value: None,
            bin_offset: 0,
            bin_size: 0,
            crc32: None,
        };
        match data {
            DumpData::Tensor(tensor) => row.set_tensor(&tensor),
            DumpData::Scalar(scalar) => {
                row.dtype = scalar.dtype();
                (row.scalar_value, row.value) = (Some(Bits(scalar.bits())), Some(Shown(Some(scalar))));
            }
        }
        row
    }
}

impl RecordRow {
    fn set_tensor(&mut self, tensor: &DumpTensor) {
        let view = &tensor.view;
        let range = view.byte_range().filter(|_| tensor.tensor.is_some());
        self.kind = Kind::Tensor;
        (self.dtype, self.shape) = (view.dtype, view.shape);
        (self.strides, self.offset) = (Some(view.strides), Some(view.offset));
        self.tensor = tensor.tensor.filter(|_| range.is_some());
        self.byte_range = range.map(|range| [range.start, range.end]);
        self.is_contiguous = Some(view.is_contiguous());
        self.truncated = Some(tensor.truncated == Truncated::Yes);
        (self.bin_offset, self.bin_size, self.crc32) = (tensor.bin_offset, tensor.bin_size, tensor.crc32);
    }

    /// The view, which touches the bytes that the record says.
    fn view(&self) -> Result<ViewRow, String> {
        let (strides, offset) = (self.strides.unwrap_or_default(), self.offset.unwrap_or_default());
        let view = ViewRow { dtype: self.dtype, shape: self.shape, strides, offset }.checked()?;
        match self.byte_range {
            Some([start, end]) if view.byte_range() != Some(start..end) => {
                Err(format!("byte_range [{start},{end}] is not that of the view"))
            }
            _ => Ok(view),
        }
    }

    fn scalar(&self) -> Result<Scalar, String> {
        if self.bin_size != 0 || !self.shape.as_slice().is_empty() {
            return Err("a scalar has a payload or a shape".to_string());
        }
        let Some(Bits(bits)) = self.scalar_value else {
            return Err("a scalar without scalar_value".to_string());
        };
        let dtype = self.dtype;
        Scalar::from_bits(bits, dtype).ok_or_else(|| format!("scalar_value {bits:#018x} is not a {dtype}"))
    }
}

impl TryFrom<RecordRow> for DumpRecord {
    type Error = String;
    fn try_from(row: RecordRow) -> Result<Self, String> {
        let data = match row.kind {
            Kind::Tensor => DumpData::Tensor(DumpTensor {
                tensor: row.tensor,
                view: row.view()?,
                truncated: if row.truncated == Some(true) { Truncated::Yes } else { Truncated::No },
                bin_offset: row.bin_offset,
                bin_size: row.bin_size,
                crc32: row.crc32,
            }),
            Kind::Scalar => DumpData::Scalar(row.scalar()?),
        };
        let RecordRow { task_id, arg_index, role, stage, .. } = row;
        Ok(DumpRecord { task_id, arg_index, role, stage, data })
    }
}
