//! A row of an artifact, declared once with [`row!`]: its columns, its writer, its fast reader and its checking reader follow.
//!
//! ```text
//! row! { object|array pub struct … }
//!   ├──▶ the struct itself
//!   ├──▶ ObjectRow: {"task_id":7,"seq":0}      or   ArrayRow: [7,0] below a list of column names
//!   │      write_…   text of a row                     writers
//!   │      quick_…   a row just as it was written      the fast reader; anything else is `None`
//!   └──▶ Row::set, Row::finish                         the checking reader: any order, any white space, errors by column
//! ```
//!
//! A new column is one more line of the declaration. It comes last and is a `[default]` one, so that files from before are
//! still read.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::document::RowReader;
use super::quick::Quick;
use super::scan::{ReadError, without_place};
use crate::text::Text;

/// A row while its columns come in, in any order.
pub(crate) trait Row: Sized {
    /// The columns, in the order in which they are written.
    const COLUMNS: &'static [&'static str];
    /// What has come in so far.
    type Partial: Default;

    /// Takes the value of a column; `false` if the row has no such column, and then the value is not taken.
    fn set<'de, V: NextValue<'de>>(
        partial: &mut Self::Partial,
        column: &str,
        value: &mut V,
    ) -> Result<bool, V::Error>;

    /// The row, or what is wrong with it.
    fn finish(partial: Self::Partial) -> Result<Self, String>;
}

/// All columns of a row are wanted.
pub(crate) const ALL: u64 = u64::MAX;

/// A row that is written as an object.
pub(crate) trait ObjectRow: Row {
    /// Writes all fields; `open` is what precedes the first: a brace, or a comma within another object.
    fn write_fields(&self, text: &mut Text, open: &'static str);

    /// Reads them as they were written. Columns that are not `WANTED`, bit by bit, may have any value in the result. A row
    /// with `[flat]` columns is read whole or not at all.
    fn quick_fields<const WANTED: u64>(text: &mut Quick<'_>, open: &'static str) -> Option<Self>;
}

/// A row that is written as an array.
pub(crate) trait ArrayRow: Row {
    /// The columns that are in every file; the others were added later, or need a higher level.
    const REQUIRED: usize;

    /// Writes the first `columns` values.
    fn write_values(&self, text: &mut Text, columns: usize);

    /// Reads them as they were written, and goes past those after the last column that the row knows.
    fn quick_values(text: &mut Quick<'_>, columns: usize) -> Option<Self>;
}

/// The list of columns, and the start of the array.
pub(crate) fn opening<R: Row>(columns_key: &str, rows_key: &str, columns: usize) -> String {
    let names = R::COLUMNS[..columns].join("\",\"");
    format!(",\n\"{columns_key}\":[\"{names}\"],\n\"{rows_key}\":[\n")
}

/// Which bits of `WANTED` these columns are.
pub(crate) const fn wanted(columns: &[&str], names: &[&str]) -> u64 {
    let (mut bits, mut name) = (0, 0);
    while name < names.len() {
        let mut column = 0;
        while !is_equal(columns[column], names[name]) {
            column += 1;
        }
        bits |= 1 << column;
        name += 1;
    }
    bits
}

const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// Where the value of a column comes from.
pub(crate) trait NextValue<'de> {
    type Error: Error;
    fn next<T: Deserialize<'de>>(&mut self) -> Result<T, Self::Error>;
}

/// Takes the value of a column that has none yet.
pub(crate) fn fill<'de, T: Deserialize<'de>, V: NextValue<'de>>(
    slot: &mut Option<T>,
    column: &'static str,
    value: &mut V,
) -> Result<bool, V::Error> {
    if slot.is_some() {
        return Err(V::Error::duplicate_field(column));
    }
    *slot = Some(value.next()?);
    Ok(true)
}

/// The error of a row without this column.
pub(crate) fn missing(column: &str) -> String {
    format!("missing field `{column}`")
}

/// A column that follows from the others has the value that it must have.
pub(crate) fn follows<T: PartialEq + fmt::Debug>(
    column: &str,
    found: Option<T>,
    expected: T,
) -> Result<(), String> {
    match found {
        Some(found) if found != expected => Err(format!("{column} says {found:?}, not {expected:?}")),
        _ => Ok(()),
    }
}

/// A row that may be borrowed.
impl<R: Row + Clone> Row for Cow<'_, R> {
    const COLUMNS: &'static [&'static str] = R::COLUMNS;
    type Partial = R::Partial;

    fn set<'de, V: NextValue<'de>>(
        partial: &mut R::Partial,
        column: &str,
        value: &mut V,
    ) -> Result<bool, V::Error> {
        R::set(partial, column, value)
    }

    fn finish(partial: R::Partial) -> Result<Self, String> {
        R::finish(partial).map(Cow::Owned)
    }
}

impl<R: ObjectRow + Clone> ObjectRow for Cow<'_, R> {
    #[inline]
    fn write_fields(&self, text: &mut Text, open: &'static str) {
        R::write_fields(self, text, open);
    }

    #[inline]
    fn quick_fields<const WANTED: u64>(text: &mut Quick<'_>, open: &'static str) -> Option<Self> {
        R::quick_fields::<WANTED>(text, open).map(Cow::Owned)
    }
}

/// Rows of objects; of each only the `WANTED` columns are needed.
pub(crate) struct ObjectRows<R, const WANTED: u64 = ALL>(PhantomData<R>);

impl<R, const WANTED: u64> ObjectRows<R, WANTED> {
    pub(crate) const fn new() -> Self {
        ObjectRows(PhantomData)
    }
}

impl<R: ObjectRow, const WANTED: u64> RowReader for ObjectRows<R, WANTED> {
    type Row = R;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<R> {
        let row = R::quick_fields::<WANTED>(text, "{")?;
        text.take(b'}')?;
        Some(row)
    }

    fn whole(&self, text: &[u8]) -> Result<R, ReadError> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let row = json.deserialize_map(ObjectVisitor(PhantomData))?;
        json.end()?;
        Ok(row)
    }
}

/// Reads an object, field by field.
pub(crate) struct ObjectVisitor<R>(pub(crate) PhantomData<R>);

impl<'de, R: Row> Visitor<'de> for ObjectVisitor<R> {
    type Value = R;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {}", R::COLUMNS.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<R, A::Error> {
        let mut partial = R::Partial::default();
        while let Some(column) = map.next_key_seed(Key)? {
            let known = R::set(&mut partial, &column, &mut FieldOf(&mut map));
            if !known.map_err(|error| in_column(&column, &error))? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        R::finish(partial).map_err(A::Error::custom)
    }
}

/// The same error, with the column.
fn in_column<E: Error>(column: &str, error: &E) -> E {
    let what = without_place(error.to_string());
    if what.ends_with(&format!("field `{column}`")) {
        E::custom(what)
    } else {
        E::custom(format_args!("{column}: {what}"))
    }
}

/// The name of a field, borrowed where it has no escapes.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cow<'de, str>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_string()))
    }
}

struct FieldOf<'m, A>(&'m mut A);

impl<'de, A: MapAccess<'de>> NextValue<'de> for FieldOf<'_, A> {
    type Error = A::Error;
    fn next<T: Deserialize<'de>>(&mut self) -> Result<T, A::Error> {
        self.0.next_value()
    }
}

/// Rows of arrays, below the names of their columns.
#[derive(Debug)]
pub(crate) struct ArrayRows<R> {
    /// The columns of the file.
    names: Vec<String>,
    order: ColumnOrder,
    row: PhantomData<R>,
}

/// How the columns of a file are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnOrder {
    /// As the writer has them, perhaps without the last ones or with unknown ones after them.
    Usual,
    Other,
}

impl<R: ArrayRow> ArrayRows<R> {
    /// Rows without a list of their columns: they have all of them, in order.
    pub(crate) fn unnamed() -> Self {
        let names = R::COLUMNS.iter().map(|name| name.to_string()).collect();
        ArrayRows { names, order: ColumnOrder::Usual, row: PhantomData }
    }

    /// Takes the columns of a file, of which the first `required` of the row must be there.
    pub(crate) fn find(names: Vec<String>, required: usize) -> Result<Self, String> {
        let is_missing = |column: &&&str| !names.iter().any(|name| name == **column);
        if let Some(missing) = R::COLUMNS[..required].iter().find(is_missing) {
            return Err(format!("there is no column {missing:?} among {names:?}"));
        }
        let known = names.len().min(R::COLUMNS.len());
        let is_unknown = |name: &String| !R::COLUMNS.contains(&name.as_str());
        let order = match names[..known] == R::COLUMNS[..known] && names[known..].iter().all(is_unknown) {
            true => ColumnOrder::Usual,
            false => ColumnOrder::Other,
        };
        Ok(ArrayRows { names, order, row: PhantomData })
    }
}

impl<R: ArrayRow> RowReader for ArrayRows<R> {
    type Row = R;

    #[inline]
    fn quick(&self, text: &mut Quick<'_>) -> Option<R> {
        match self.order {
            ColumnOrder::Usual => R::quick_values(text, self.names.len()),
            ColumnOrder::Other => None,
        }
    }

    fn whole(&self, text: &[u8]) -> Result<R, ReadError> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let row = json.deserialize_seq(self)?;
        json.end()?;
        Ok(row)
    }
}

impl<'de, R: Row> Visitor<'de> for &ArrayRows<R> {
    type Value = R;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {} values", self.names.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<R, A::Error> {
        let mut partial = R::Partial::default();
        for (place, column) in self.names.iter().enumerate() {
            let mut value = ElementOf { row: &mut row, place, of: self.names.len() };
            let known = R::set(&mut partial, column, &mut value);
            if !known.map_err(|error| in_column(column, &error))? {
                value.next::<IgnoredAny>()?;
            }
        }
        match row.next_element::<IgnoredAny>()? {
            Some(_) => Err(A::Error::invalid_length(self.names.len() + 1, &self)),
            None => R::finish(partial).map_err(A::Error::custom),
        }
    }
}

struct ElementOf<'r, A> {
    row: &'r mut A,
    place: usize,
    of: usize,
}

impl<'de, A: SeqAccess<'de>> NextValue<'de> for ElementOf<'_, A> {
    type Error = A::Error;
    fn next<T: Deserialize<'de>>(&mut self) -> Result<T, A::Error> {
        let value = self.row.next_element()?;
        value.ok_or_else(|| A::Error::invalid_length(self.place, &format!("{} values", self.of).as_str()))
    }
}
