//! Reading a JSON object whose arrays may be longer than memory: row by row, with the place of what is wrong.
//!
//! The version is looked for first, so that a file of a later version is refused by its number and not by the
//! first field that has changed. Fields that are not known are skipped.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::error::TraceError;

/// Bytes read at once.
const BUFFER_BYTES: usize = 64 * 1024;

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
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, value: Value<'_, A>) -> Result<(), A::Error>;
    /// The fields that have to be there.
    fn required(&self) -> &'static [&'static str];
    /// Says what is wrong with the whole, once every field has been read: counts that do not fit the rows.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The value of a field, to be taken in one of these ways.
pub(crate) struct Value<'a, A> {
    fields: &'a mut A,
    place: &'a Place,
}

impl<'de, A: MapAccess<'de>> Value<'_, A> {
    /// As a whole.
    pub(crate) fn read<T: Deserialize<'de>>(self) -> Result<T, A::Error> {
        self.fields.next_value()
    }

    /// Not at all.
    pub(crate) fn skip(self) -> Result<(), A::Error> {
        skip(self.fields)
    }

    /// As the array `name`, row by row; `each` may refuse one.
    pub(crate) fn read_rows<R: Deserialize<'de>>(
        self,
        name: &'static str,
        each: impl FnMut(R) -> Result<(), String>,
    ) -> Result<(), A::Error> {
        self.read_rows_with(PhantomData, name, each)
    }

    /// The same, where it takes a `seed` to read a row.
    pub(crate) fn read_rows_with<S: DeserializeSeed<'de> + Copy>(
        self,
        seed: S,
        name: &'static str,
        each: impl FnMut(S::Value) -> Result<(), String>,
    ) -> Result<(), A::Error> {
        self.fields.next_value_seed(Rows { name, place: self.place, seed, each })
    }
}

/// Which row is being read, for the message if it is damaged.
#[derive(Default)]
struct Place(Cell<Option<(&'static str, u64)>>);

impl Place {
    fn describe(&self) -> String {
        self.0.get().map_or(String::new(), |(section, row)| format!("{section} record {row}: "))
    }
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
pub(crate) fn read_document<D: Document>(path: &Path, mut document: D) -> Result<D, TraceError> {
    let path = &locate(path, D::FILE_NAME);
    let mut file = open(path)?;
    let place = Place::default();
    let version = read_version(&file, path)?;
    if !D::VERSIONS.contains(&version) {
        return Err(TraceError::UnknownVersion { path: path.to_path_buf(), version, known: D::KNOWN });
    }
    document.version(version);
    file.rewind().map_err(|source| TraceError::CannotRead { path: path.to_path_buf(), source })?;
    let mut json = json_of(&file);
    let object = Object { document: &mut document, place: &place };
    let read = object.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| failure(path, &place.describe(), error))?;
    match document.check() {
        Ok(()) => Ok(document),
        Err(what) => Err(TraceError::Damaged { path: path.to_path_buf(), what }),
    }
}

fn json_of(file: &File) -> serde_json::Deserializer<serde_json::de::IoRead<BufReader<&File>>> {
    serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, file))
}

fn failure(path: &Path, place: &str, error: serde_json::Error) -> TraceError {
    let path = path.to_path_buf();
    if error.is_io() {
        return TraceError::CannotRead { path, source: error.into() };
    }
    TraceError::Damaged { path, what: format!("{place}{error}") }
}

/// The version, wherever it stands; reading stops there.
fn read_version(file: &File, path: &Path) -> Result<u64, TraceError> {
    let found = Cell::new(None);
    let searched = VersionSearch(&found).deserialize(&mut json_of(file));
    match (found.get(), searched) {
        (Some(version), _) => Ok(version),
        (None, Err(error)) => Err(failure(path, "", error)),
        (None, Ok(())) => {
            Err(TraceError::Damaged { path: path.to_path_buf(), what: "it has no version".to_string() })
        }
    }
}

struct VersionSearch<'a>(&'a Cell<Option<u64>>);

impl<'de> DeserializeSeed<'de> for VersionSearch<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for VersionSearch<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a version")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(key) = fields.next_key::<String>()? {
            if key == "version" {
                self.0.set(Some(fields.next_value()?));
                // Ends the search; whoever asked looks at what was found.
                return Err(A::Error::custom("found"));
            }
            skip(&mut fields)?;
        }
        Ok(())
    }
}

struct Object<'a, D> {
    document: &'a mut D,
    place: &'a Place,
}

impl<'de, D: Document> DeserializeSeed<'de> for Object<'_, D> {
    type Value = ();
    fn deserialize<T: Deserializer<'de>>(self, from: T) -> Result<(), T::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, D: Document> Visitor<'de> for Object<'_, D> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut seen: Vec<String> = Vec::new();
        while let Some(key) = fields.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("duplicate field `{key}`")));
            }
            self.document.field(&key, Value { fields: &mut fields, place: self.place })?;
            seen.push(key);
        }
        let missing = self.document.required().iter().find(|name| !seen.iter().any(|seen| seen == *name));
        missing.map_or(Ok(()), |name| Err(A::Error::missing_field(name)))
    }
}

/// Skips the value of a field.
fn skip<'de, A: MapAccess<'de>>(fields: &mut A) -> Result<(), A::Error> {
    fields.next_value::<serde::de::IgnoredAny>().map(|_| ())
}

/// An array, handed on element by element. `seed` reads one of them; `each` may refuse it.
struct Rows<'a, S, F> {
    name: &'static str,
    place: &'a Place,
    seed: S,
    each: F,
}

impl<'de, S, F> DeserializeSeed<'de> for Rows<'_, S, F>
where
    S: DeserializeSeed<'de> + Copy,
    F: FnMut(S::Value) -> Result<(), String>,
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, S, F> Visitor<'de> for Rows<'_, S, F>
where
    S: DeserializeSeed<'de> + Copy,
    F: FnMut(S::Value) -> Result<(), String>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {}", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<(), A::Error> {
        for index in 0.. {
            self.place.0.set(Some((self.name, index)));
            let Some(row) = rows.next_element_seed(self.seed)? else { break };
            (self.each)(row).map_err(A::Error::custom)?;
        }
        self.place.0.set(None);
        Ok(())
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
    let name = String::deserialize(from)?;
    let known = all.iter().copied().find(|one| name_of(*one) == name);
    known.ok_or_else(|| D::Error::custom(format!("unknown {what} {name:?}")))
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
