//! Copies between host and device, of chips whose memories are apart. A chip tells of a bounded number of them, so they stand
//! before the rows and are read whole.

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

#[cfg(test)]
mod tests {
    use super::super::{Swimlane, SwimlaneDropped, SwimlaneLevel, SwimlaneMeta, SwimlaneWriter};
    use super::*;
    use crate::test_dir::TestDir;
    use ringlane_task::Explain;

    fn copies() -> Vec<CopyRow> {
        let copy = |direction, what: &str, start, end| CopyRow {
            direction,
            what: what.to_string(),
            bytes: 4096,
            start: Ticks(start),
            end: Ticks(end),
        };
        vec![
            copy(CopyDirection::HostToDevice, "buffer 0", 0, 260),
            copy(CopyDirection::DeviceToHost, "a \"read\"", 300, 301),
        ]
    }

    fn written(level: SwimlaneLevel, copies: Option<&[CopyRow]>, dropped: u64) -> String {
        let mut text = Vec::new();
        let writer = SwimlaneWriter::with_copies(&mut text, level, &SwimlaneMeta::default(), copies);
        writer.finish(&SwimlaneDropped { copies: dropped, ..SwimlaneDropped::default() }).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn read(text: &str) -> Result<Swimlane, String> {
        let dir = TestDir::new();
        let path = dir.join(super::super::FILE_NAME);
        std::fs::write(&path, text).unwrap();
        Swimlane::read(&path).map_err(|error| error.detail())
    }

    #[test]
    fn copies_are_read_back_at_every_level_and_are_not_missed_where_there_are_none() {
        for level in [SwimlaneLevel::Blocks, SwimlaneLevel::Tasks, SwimlaneLevel::Phases] {
            let text = written(level, Some(&copies()), 3);
            let head = read(&text).unwrap().head;
            assert_eq!((head.copies, head.counts.copies.total()), (Some(copies()), 5));
            assert_eq!(read(&written(level, Some(&[]), 0)).unwrap().head.copies, Some(Vec::new()));
            let without = written(level, None, 0);
            assert!(!without.contains("cop") && read(&without).unwrap().head.copies.is_none());
        }
    }

    #[test]
    fn copies_that_are_damaged_are_refused_with_what_is_wrong() {
        let text = written(SwimlaneLevel::Blocks, Some(&copies()), 0);
        let broken = [
            ("\"direction\"", "\"way\"", "there is no column \"direction\""),
            ("\"h2d\"", "\"up\"", "copies: row 0: unknown variant `up`"),
            (",300,301]", ",300]", "copies: row 1: invalid length 4"),
            (",300,301]", ",300,-1]", "copies: row 1: invalid value"),
            ("\"copy_columns\"", "\"columns\"", "copy_columns stands after copies"),
            (
                "\"total\":2,\"collected\":2",
                "\"total\":3,\"collected\":3",
                "copies has 2 rows, collected says 3",
            ),
        ];
        for (from, to, expected) in broken {
            assert!(text.contains(from), "{from}");
            let told = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
        let moved = text.replace("\"direction\",\"what\"", "\"what\",\"direction\"");
        let moved = moved.replace("\"h2d\",\"buffer 0\"", "\"buffer 0\",\"h2d\"");
        let moved = moved.replace("\"d2h\",\"a \\\"read\\\"\"", "\"a \\\"read\\\"\",\"d2h\"");
        assert_eq!(read(&moved).unwrap().head.copies, Some(copies()));
    }
}
