//! Reading a JSON object whose arrays may be longer than memory: row by row, with the place of what is wrong.
//!
//! ```text
//! Scanner (bytes) ──▶ Document::field(key, Value) ──▶ Value::read, skip, or read_rows
//!                                                        each row: RowReader::quick, else RowReader::whole
//! ```
//!
//! The version is read first, so that a file of a later version is refused by its number and not by the
//! first field that has changed; where it is the first field, as our writers have it, that costs nothing. Fields
//! that are not known are skipped.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::quick::Quick;
use super::scan::{ReadError, Scanner};
use crate::error::TraceError;

/// An artifact while it is read.
pub(crate) trait Document {
    /// Its path in the run directory.
    const FILE_NAME: &'static str;
    /// Versions that are known, in words.
    const KNOWN: &'static str = "1";
    /// The same in numbers.
    const VERSIONS: RangeInclusive<u64> = 1..=1;
    /// Takes note of the version, before any field.
    fn version(&mut self, _version: u64) {}
    /// Takes the value of the field `key`, or skips it.
    fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError>;
    /// The fields that have to be there.
    fn required(&self) -> &'static [&'static str];
    /// Says what is wrong with the whole, once every field has been read: counts that do not fit the rows.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// How one kind of row is read.
pub(crate) trait RowReader {
    /// What is read.
    type Row;

    /// The row at the start of the text, if its text is just what our writers write. It is the row that `whole` would
    /// return.
    fn quick(&self, _text: &mut Quick<'_>) -> Option<Self::Row> {
        None
    }

    /// The row whose text this is, in any valid JSON form, or what is wrong with it.
    fn whole(&self, text: &[u8]) -> Result<Self::Row, ReadError>;
}

/// The value of a field, to be taken in one of these ways.
pub(crate) struct Value<'a, 's> {
    scanner: &'a mut Scanner<'s>,
}

impl Value<'_, '_> {
    /// As a whole.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, ReadError> {
        self.scanner.peek()?;
        let at = self.scanner.position();
        serde_json::from_slice(self.scanner.value()?).map_err(|error| ReadError::from(error).at_byte(at))
    }

    /// Not at all.
    pub(crate) fn skip(self) -> Result<(), ReadError> {
        self.scanner.skip()
    }

    /// As the array `name`, row by row; `each` may refuse one.
    pub(crate) fn read_rows_with<R: RowReader>(
        self,
        reader: &R,
        name: &'static str,
        mut each: impl FnMut(R::Row) -> Result<(), String>,
    ) -> Result<(), ReadError> {
        let scanner = self.scanner;
        scanner.take(b"[", &format!("an array of {name}"))?;
        if scanner.peek()? == Some(b']') {
            scanner.consume(1);
            return Ok(());
        }
        for index in 0u64.. {
            let in_row = |error: ReadError| error.map(|what| format!("{name} record {index}: {what}"));
            scanner.peek().map_err(in_row)?;
            let ready = scanner.ready();
            let mut text = Quick::new(ready);
            // A row that is read quickly goes straight to `each`: it is not copied together with one that was not.
            let taken = match reader.quick(&mut text) {
                Some(row) => {
                    let bytes = ready.len() - text.left();
                    scanner.consume(bytes);
                    each(row)
                }
                None => each(whole_row(scanner, reader).map_err(in_row)?),
            };
            taken.map_err(|what| in_row(what.into()))?;
            if scanner.take(b",]", "`,` or `]`").map_err(in_row)? == b']' {
                break;
            }
        }
        Ok(())
    }
}

/// A row that is not all in the buffer, or not as expected: its end is found first.
#[cold]
fn whole_row<R: RowReader>(scanner: &mut Scanner<'_>, reader: &R) -> Result<R::Row, ReadError> {
    let at = scanner.position();
    reader.whole(scanner.value()?).map_err(|error| error.at_byte(at))
}

/// The file of an artifact, given the run directory or the file itself.
pub(crate) fn locate(path: &Path, name: &str) -> PathBuf {
    if path.is_dir() { path.join(name) } else { path.to_path_buf() }
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> Result<File, TraceError> {
    File::open(path).map_err(|source| TraceError::CannotRead { path: path.to_path_buf(), source })
}

/// Reads a whole artifact, given the run directory or the file itself, into an empty document.
pub(crate) fn read_document<D: Document>(path: &Path, document: D) -> Result<D, TraceError> {
    let path = &locate(path, D::FILE_NAME);
    read_scanned(document, || Ok(Scanner::new(File::open(path)?))).map_err(|error| error.of_file(path))
}

/// The same from any text; `scan` begins with it, and may have to begin again.
pub(crate) fn read_scanned<'s, D: Document>(
    mut document: D,
    mut scan: impl FnMut() -> Result<Scanner<'s>, ReadError>,
) -> Result<D, ReadError> {
    let mut scanner = scan()?;
    let (version, place) = find_version(&mut scanner)?;
    if !D::VERSIONS.contains(&version) {
        return Err(ReadError::UnknownVersion { version, known: D::KNOWN });
    }
    document.version(version);
    let seen = match place {
        VersionPlace::First => vec!["version".to_string()],
        VersionPlace::Later => {
            scanner = scan()?;
            Vec::new()
        }
    };
    read_fields(&mut scanner, seen, &mut document)?;
    document.check()?;
    Ok(document)
}

/// Where the version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionPlace {
    /// Before all other fields: reading goes on after it.
    First,
    /// After others: reading begins again.
    Later,
}

/// The version, wherever it is; reading stops there.
fn find_version(scanner: &mut Scanner<'_>) -> Result<(u64, VersionPlace), ReadError> {
    let mut place = VersionPlace::First;
    let mut fields = Fields::begin();
    while let Some(key) = fields.next(scanner)? {
        if key == "version" {
            return Ok((Value { scanner }.read()?, place));
        }
        scanner.skip()?;
        place = VersionPlace::Later;
    }
    Err("it has no version".into())
}

/// Reads all fields but those that have been `seen`, up to the end of the file.
fn read_fields(
    scanner: &mut Scanner<'_>,
    mut seen: Vec<String>,
    document: &mut impl Document,
) -> Result<(), ReadError> {
    let mut fields = if seen.is_empty() { Fields::begin() } else { Fields::within() };
    while let Some(key) = fields.next(scanner)? {
        if seen.contains(&key) {
            return Err(format!("duplicate field `{key}`").into());
        }
        document.field(&key, Value { scanner })?;
        seen.push(key);
    }
    scanner.finish()?;
    let missing = document.required().iter().find(|name| !seen.iter().any(|seen| seen == *name));
    missing.map_or(Ok(()), |name| Err(format!("missing field `{name}`").into()))
}

/// What comes next of an object's fields.
enum Fields {
    Brace,
    FirstKey,
    Comma,
}

impl Fields {
    /// Before the object.
    const fn begin() -> Self {
        Fields::Brace
    }

    /// After one of its fields.
    const fn within() -> Self {
        Fields::Comma
    }

    /// The name of the next field, up to its value; `None` after the last.
    fn next(&mut self, scanner: &mut Scanner<'_>) -> Result<Option<String>, ReadError> {
        if matches!(self, Fields::Brace) {
            scanner.take(b"{", "an object")?;
            *self = Fields::FirstKey;
        }
        match self {
            Fields::FirstKey if scanner.peek()? == Some(b'}') => scanner.consume(1),
            Fields::Comma if scanner.take(b",}", "`,` or `}`")? == b'}' => {}
            _ => {
                *self = Fields::Comma;
                return scanner.key().map(Some);
            }
        }
        Ok(None)
    }
}

/// The counts of one kind of row, if they add up.
pub(crate) fn counts_of(total: u64, collected: u64, dropped: u64) -> Result<super::RowCounts, String> {
    if collected.checked_add(dropped) == Some(total) {
        return Ok(super::RowCounts { collected, dropped });
    }
    Err(format!("{collected} collected and {dropped} dropped are not {total} in total"))
}

/// How many rows a file says it has, and how many it has.
#[derive(Default)]
pub(crate) struct Counted {
    total: u64,
    pub(crate) counts: super::RowCounts,
    /// Rows that were read.
    pub(crate) rows: u64,
}

impl Counted {
    /// Takes one of the counts; any other field is skipped.
    pub(crate) fn field(&mut self, key: &str, value: Value<'_, '_>) -> Result<(), ReadError> {
        match key {
            "total" => self.total = value.read()?,
            "collected" => self.counts.collected = value.read()?,
            "dropped" => self.counts.dropped = value.read()?,
            _ => value.skip()?,
        }
        Ok(())
    }

    /// Says how the counts do not fit the rows of the array `name`.
    pub(crate) fn check(&self, name: &str) -> Result<(), String> {
        let (collected, rows) = (self.counts.collected, self.rows);
        counts_of(self.total, collected, self.counts.dropped)?;
        if rows != collected {
            return Err(format!("{name} has {rows} rows, collected says {collected}"));
        }
        Ok(())
    }
}
