//! Reading a JSON object whose arrays may be longer than memory: row by row, with the place of what is wrong.
//!
//! ```text
//! Scanner (bytes) ──▶ Document::field(key, Value) ──▶ Value::read, skip, or read_rows
//!                                                        each row: RowReader::quick, else RowReader::whole
//! ```
//!
//! The version is looked for first, so that a file of a later version is refused by its number and not by the
//! first field that has changed; where it is the first field, as our writers have it, that costs nothing. Fields
//! that are not known are skipped.

use std::fs::File;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::quick::Quick;
use super::scan::{ReadError, Scanner};
use crate::error::TraceError;

/// An artifact while it is read.
pub(crate) trait Document {
    /// Where it stands in the run directory.
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

    /// The row at the start of the text, if it stands there just as our writers write it. A row that is read so is the one
    /// that `whole` would give.
    fn quick(&self, _text: &mut Quick<'_>) -> Option<Self::Row> {
        None
    }

    /// The row whose text this is, whatever it looks like, or what is wrong with it.
    fn whole(&self, text: &[u8]) -> Result<Self::Row, ReadError>;
}

/// Rows that `serde` reads.
pub(crate) struct SerdeRows<R>(PhantomData<R>);

impl<R: DeserializeOwned> RowReader for SerdeRows<R> {
    type Row = R;
    fn whole(&self, text: &[u8]) -> Result<R, ReadError> {
        Ok(serde_json::from_slice(text)?)
    }
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
    pub(crate) fn read_rows<R: DeserializeOwned>(
        self,
        name: &'static str,
        each: impl FnMut(R) -> Result<(), String>,
    ) -> Result<(), ReadError> {
        self.read_rows_with(&SerdeRows(PhantomData), name, each)
    }

    /// The same, where the rows have a reader of their own.
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
            let row = next_row(scanner, reader).map_err(in_row)?;
            each(row).map_err(|what| in_row(what.into()))?;
            if scanner.take(b",]", "`,` or `]`").map_err(in_row)? == b']' {
                break;
            }
        }
        Ok(())
    }
}

/// Reads quickly what is ready; a row that is not all there, or not as expected, is found and read as a whole.
#[inline]
fn next_row<R: RowReader>(scanner: &mut Scanner<'_>, reader: &R) -> Result<R::Row, ReadError> {
    scanner.peek()?;
    let ready = scanner.ready();
    let mut text = Quick::new(ready);
    if let Some(row) = reader.quick(&mut text) {
        let bytes = ready.len() - text.left();
        scanner.consume(bytes);
        return Ok(row);
    }
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

/// Where the version stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VersionPlace {
    /// Before all other fields: reading goes on after it.
    First,
    /// After others: reading begins again.
    Later,
}

/// The version, wherever it stands; reading stops there.
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

/// A kernel as the files give it; `tensor_dump.json` does not say the kind of core.
#[derive(Deserialize)]
pub(crate) struct RawKernel {
    func_id: u32,
    name: String,
    #[serde(default)]
    core_type: String,
    #[serde(default)]
    pub(crate) lane: u8,
}

impl From<RawKernel> for super::KernelRow {
    fn from(raw: RawKernel) -> Self {
        let func_id = ringlane_task::KernelId(raw.func_id);
        super::KernelRow { func_id, name: raw.name, core_type: raw.core_type }
    }
}

/// The one of `all` that has the name that stands here; `what` they are is told if none has.
pub(crate) fn named<'de, D: Deserializer<'de>, T: Copy>(
    from: D,
    what: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<T, D::Error> {
    let name = <std::borrow::Cow<'de, str>>::deserialize(from)?;
    let known = all.iter().copied().find(|one| name_of(*one) == name);
    known.ok_or_else(|| <D::Error as serde::de::Error>::custom(format!("unknown {what} {name:?}")))
}

/// A view as the files give it.
pub(crate) fn view_of(
    dtype: &str,
    shape: &[u32],
    strides: &[u32],
    offset: u64,
) -> Result<super::ViewRow, String> {
    let dtype = dtype.parse().map_err(|_| format!("unknown dtype {dtype:?}"))?;
    if shape.len() != strides.len() {
        return Err(format!("{} lengths and {} strides", shape.len(), strides.len()));
    }
    let dims: Vec<_> =
        shape.iter().zip(strides).map(|(&len, &stride)| ringlane_task::Dim { len, stride }).collect();
    super::ViewRow::new(dtype, offset, &dims).ok_or_else(|| format!("{} dimensions", shape.len()))
}
