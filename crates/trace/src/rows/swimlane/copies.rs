//! Copies between host and device, of chips whose memories are apart. There are few of them (inputs, outputs, reads), so they
//! stand before the rows and are read whole.

use ringlane_task::Ticks;
use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

use crate::text::Text;

names! {
    /// Which way a copy went.
    CopyDirection {
        /// From the host to the device.
        HostToDevice = "h2d",
        /// From the device to the host.
        DeviceToHost = "d2h",
    }
}

/// One copy over the link between host and device (every level).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyRow {
    /// Which way.
    pub direction: CopyDirection,
    /// What was copied: `buffer 0`, …
    pub what: String,
    /// How much of it.
    pub bytes: u64,
    /// From when.
    pub start: Ticks,
    /// Until when.
    pub end: Ticks,
}

const COLUMNS: [&str; 5] = ["direction", "what", "bytes", "start", "end"];

/// Writes the columns and all rows.
pub(super) fn write(head: &mut Text, copies: &[CopyRow]) {
    head.raw(",\n\"copy_columns\":").list(COLUMNS, |text, column| {
        text.string(column);
    });
    head.raw(",\n\"copies\":").list(copies, |text, row| {
        text.raw("[").string(row.direction.as_str()).raw(",").string(&row.what).raw(",").number(row.bytes);
        text.raw(",").number(row.start.0).raw(",").number(row.end.0).raw("]");
    });
}

/// Where each of the columns stands.
pub(super) struct CopyColumns([usize; COLUMNS.len()]);

impl CopyColumns {
    pub(super) fn find(names: &[String]) -> Result<Self, String> {
        let mut places = [0; COLUMNS.len()];
        for (place, wanted) in places.iter_mut().zip(COLUMNS) {
            let found = names.iter().position(|name| name == wanted);
            *place = found.ok_or_else(|| format!("there is no column {wanted:?} among {names:?}"))?;
        }
        Ok(CopyColumns(places))
    }

    /// Makes the rows of their values.
    pub(super) fn rows(&self, rows: &[Vec<Value>]) -> Result<Vec<CopyRow>, String> {
        let row = |(number, row): (usize, &Vec<Value>)| {
            self.row(row).map_err(|error| format!("copies: row {number}: {error}"))
        };
        rows.iter().enumerate().map(row).collect()
    }

    fn row(&self, row: &[Value]) -> Result<CopyRow, serde_json::Error> {
        let [direction, what, bytes, start, end] = self.0;
        Ok(CopyRow {
            direction: value(row, direction)?,
            what: value(row, what)?,
            bytes: value(row, bytes)?,
            start: Ticks(value(row, start)?),
            end: Ticks(value(row, end)?),
        })
    }
}

fn value<T: DeserializeOwned>(row: &[Value], place: usize) -> Result<T, serde_json::Error> {
    let value = row
        .get(place)
        .ok_or_else(|| serde_json::Error::invalid_length(row.len(), &"a value for each column"))?;
    serde_json::from_value(value.clone())
}
