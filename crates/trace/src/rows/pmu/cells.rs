//! The values of a CSV file.

use std::borrow::Cow;

use ringlane_task::{CoreId, KernelId, TaskId};

use super::{COUNTERS, PmuRow, is_counter};
use crate::rows::quick::Quick;
use crate::rows::row::Row;
use crate::text::Text;

/// Where the columns of a row are among those of the file.
pub(crate) struct Cells {
    pub(super) columns: Vec<String>,
    /// For each column of the row; the counters have theirs in `counters`.
    places: Vec<usize>,
    pub(super) counters: Vec<usize>,
    pub(super) is_usual: bool,
}

impl Cells {
    /// Finds the columns of a row among those of the file.
    pub(super) fn find(columns: Vec<String>) -> Result<Self, String> {
        let place = |name: &&str| match *name {
            COUNTERS => Ok(0),
            name => {
                columns.iter().position(|column| column == name).ok_or(format!("there is no column {name:?}"))
            }
        };
        let places = PmuRow::COLUMNS.iter().map(place).collect::<Result<_, _>>()?;
        let counters: Vec<usize> = (0..columns.len()).filter(|&at| is_counter(&columns[at])).collect();
        let names: Vec<&str> = counters.iter().map(|&at| columns[at].as_str()).collect();
        let is_usual = columns == super::columns(&names);
        Ok(Cells { columns, places, counters, is_usual })
    }

    /// The field of a row's column.
    fn field<'f>(&self, fields: &'f [Cow<'_, str>], column: usize) -> (&str, &'f str) {
        let place = self.places[column];
        (&self.columns[place], &fields[place])
    }
}

/// A value of a CSV file.
pub(crate) trait CellField: Sized {
    /// Writes it after a comma.
    fn write_cell(&self, text: &mut Text);
    /// Reads it, if it is written without quotes.
    fn quick_cell(text: &mut Quick<'_>, cells: &Cells) -> Option<Self>;
    /// Reads it from any field, or says what is wrong.
    fn read_cell(cells: &Cells, fields: &[Cow<'_, str>], column: usize) -> Result<Self, String>;
}

fn number<T: TryFrom<u64>>(name: &str, text: &str) -> Result<T, String> {
    let value: u64 = text.parse().map_err(|_| format!("{name} {text:?} is not a number"))?;
    T::try_from(value).map_err(|_| format!("{name} {value} is too large"))
}

macro_rules! cells {
    ($($type:ident($inner:ty): $from:expr, $to:expr;)*) => {$(
        impl CellField for $type {
            #[inline]
            fn write_cell(&self, text: &mut Text) {
                let number: $inner = $from(*self);
                text.raw(",").number(number);
            }

            #[inline]
            fn quick_cell(text: &mut Quick<'_>, _: &Cells) -> Option<Self> {
                text.take(b',')?;
                text.small().map($to)
            }

            fn read_cell(cells: &Cells, fields: &[Cow<'_, str>], column: usize) -> Result<Self, String> {
                let (name, text) = cells.field(fields, column);
                number(name, text).map($to)
            }
        }
    )*};
}
cells! {
    u32(u32): |number| number, |number| number;
    u64(u64): |number| number, |number| number;
    CoreId(u32): |id: CoreId| id.0, CoreId;
    TaskId(u64): |id: TaskId| id.0, TaskId;
    KernelId(u32): |id: KernelId| id.0, KernelId;
}

impl CellField for Cow<'_, str> {
    fn write_cell(&self, text: &mut Text) {
        text.raw(",").csv_field(self);
    }

    #[inline]
    fn quick_cell(text: &mut Quick<'_>, _: &Cells) -> Option<Self> {
        text.take(b',')?;
        text.until_comma().map(|text| Cow::Owned(text.to_string()))
    }

    fn read_cell(cells: &Cells, fields: &[Cow<'_, str>], column: usize) -> Result<Self, String> {
        Ok(Cow::Owned(cells.field(fields, column).1.to_string()))
    }
}

/// A column for each.
impl CellField for Cow<'_, [u64]> {
    fn write_cell(&self, text: &mut Text) {
        self.iter().for_each(|value| value.write_cell(text));
    }

    #[inline]
    fn quick_cell(text: &mut Quick<'_>, cells: &Cells) -> Option<Self> {
        cells.counters.iter().map(|_| u64::quick_cell(text, cells)).collect()
    }

    fn read_cell(cells: &Cells, fields: &[Cow<'_, str>], _: usize) -> Result<Self, String> {
        cells.counters.iter().map(|&at| number(&cells.columns[at], &fields[at])).collect()
    }
}
