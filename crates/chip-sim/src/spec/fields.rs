//! The tables of a chip file, with the line of each entry.
//!
//! A table is opened with the names of its allowed fields, so that a misspelt field is reported as unknown, not as
//! missing. The parser keeps the position of each value; serde would lose its path.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{FileLocation, SpecError};
use super::limits::TEXT_CHARS;
use super::nearest;
use super::quantity::Quantity;

/// A text with its file name.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// The whole text.
    pub text: &'a str,
    /// The file name, as given.
    pub origin: &'a str,
}

impl Document<'_> {
    /// The location of a field at these bytes.
    pub fn place(&self, at: &Range<usize>, field: String) -> Box<FileLocation> {
        let before = self.text.as_bytes().iter().take(at.start);
        let line = 1 + before.filter(|&&byte| byte == b'\n').count();
        Box::new(FileLocation { origin: self.origin.to_string(), line, field })
    }

    /// The text at these bytes, on one line and shortened if it is long.
    fn quoted(&self, at: Range<usize>) -> String {
        let value = self.text.get(at).unwrap_or_default();
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let mut short: String = value.chars().map(visible).take(80).collect();
        if value.chars().nth(80).is_some() {
            short.push('…');
        }
        short
    }
}

/// A table whose fields are all known.
pub struct Section<'a> {
    document: Document<'a>,
    table: &'a DeTable<'a>,
    at: Range<usize>,
    path: String,
}

/// The expected value of a field.
struct Wanted<'a> {
    allowed: &'a str,
    example: &'a str,
}

impl<'a> Section<'a> {
    /// The top-level table.
    pub fn whole(
        document: Document<'a>,
        table: &'a Spanned<DeTable<'a>>,
        known: &'static [&'static str],
    ) -> Result<Self, SpecError> {
        let whole = Section { document, table: table.get_ref(), at: 0..0, path: String::new() };
        whole.refuse_unknown(known)
    }

    /// A table within this one.
    pub fn section(&self, name: &str, known: &'static [&'static str]) -> Result<Section<'a>, SpecError> {
        self.table_at(name, known, &format!("[{}]", self.field(name)))
    }

    fn table_at(
        &self,
        name: &str,
        known: &'static [&'static str],
        example: &str,
    ) -> Result<Section<'a>, SpecError> {
        let value = self.value(name, example)?;
        let DeValue::Table(table) = value.get_ref() else {
            let allowed = format!("a table with {}", known.join(", "));
            return Err(self.unfit(name, value, &Wanted { allowed: &allowed, example }));
        };
        let (document, at, path) = (self.document, value.span(), self.field(name));
        Section { document, table, at, path }.refuse_unknown(known)
    }

    /// An integer.
    pub fn count(&self, name: &str, range: &RangeInclusive<u64>) -> Result<u32, SpecError> {
        let allowed = format!("whole numbers from {} to {}", range.start(), range.end());
        let example = format!("{name} = {}", range.end());
        let value = self.value(name, &example)?;
        // TOML allows underscores between digits.
        let number = value.get_ref().as_integer().filter(|integer| integer.radix() == 10);
        let number = number.and_then(|integer| integer.as_str().replace('_', "").parse::<u64>().ok());
        let fit =
            number.filter(|number| range.contains(number)).and_then(|number| u32::try_from(number).ok());
        fit.ok_or_else(|| self.unfit(name, value, &Wanted { allowed: &allowed, example: &example }))
    }

    /// One of several words.
    pub fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, SpecError> {
        let names: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let example = format!("{name} = {}", names.first().map_or("", String::as_str));
        let value = self.value(name, &example)?;
        let found = value.get_ref().as_str().and_then(|given| words.iter().find(|(word, _)| *word == given));
        let wanted = Wanted { allowed: &names.join(", "), example: &example };
        found.map(|(_, meaning)| *meaning).ok_or_else(|| self.unfit(name, value, &wanted))
    }

    /// A nonempty line of text that `accept` allows.
    pub fn text(
        &self,
        name: &str,
        allowed: &str,
        example: &str,
        accept: impl Fn(&str) -> bool,
    ) -> Result<&'a str, SpecError> {
        let value = self.value(name, example)?;
        let is_fit =
            |text: &&str| !text.trim().is_empty() && !text.contains(char::is_control) && accept(text);
        value.get_ref().as_str().filter(is_fit).ok_or_else(|| {
            let wanted = Wanted { allowed, example };
            self.unfit(name, value, &wanted)
        })
    }

    /// A number with a unit.
    pub fn quantity(
        &self,
        name: &str,
        kind: &Quantity,
        range: &RangeInclusive<u64>,
        accept: impl Fn(u64) -> Result<(), String>,
    ) -> Result<u64, SpecError> {
        let example = format!("{name} = {:?}", kind.example);
        let value = self.value(name, &example)?;
        let read = value.get_ref().as_str().and_then(|text| kind.read(text));
        let allowed = match read.filter(|read| range.contains(read)).map(|read| (read, accept(read))) {
            Some((read, Ok(()))) => return Ok(read),
            Some((_, Err(allowed))) => allowed,
            None => in_range(kind, range),
        };
        Err(self.unfit(name, value, &Wanted { allowed: &allowed, example: &example }))
    }

    /// `{ time = "100 ns", source = "…" }`.
    pub fn sourced(
        &self,
        name: &str,
        kind: &Quantity,
        range: &RangeInclusive<u64>,
    ) -> Result<u64, SpecError> {
        let example = format!("{name} = {{ {} = {:?}, source = \"assumed\" }}", kind.key, kind.example);
        let entry = self.table_at(name, keys_of(kind), &example)?;
        let value = entry.quantity(kind.key, kind, range, |_| Ok(()))?;
        entry.source()?;
        Ok(value)
    }

    /// `{ count = 4, source = "…" }`.
    pub fn sourced_count(&self, name: &str, range: &RangeInclusive<u64>) -> Result<u32, SpecError> {
        let example = format!("{name} = {{ count = {}, source = \"assumed\" }}", range.start());
        let entry = self.table_at(name, &["count", "source"], &example)?;
        let count = entry.count("count", range)?;
        entry.source()?;
        Ok(count)
    }

    fn source(&self) -> Result<(), SpecError> {
        let allowed = format!("where the number comes from, in 1 to {TEXT_CHARS} characters on one line");
        let is_short = |text: &str| text.chars().count() <= TEXT_CHARS;
        self.text("source", &allowed, "source = \"assumed\"", is_short).map(|_| ())
    }

    fn value(&self, name: &str, example: &str) -> Result<&'a Spanned<DeValue<'a>>, SpecError> {
        self.table.get(name).ok_or_else(|| SpecError::MissingField {
            place: self.document.place(&self.at, self.field(name)),
            example: example.to_string(),
        })
    }

    fn unfit(&self, name: &str, value: &Spanned<DeValue<'_>>, wanted: &Wanted<'_>) -> SpecError {
        SpecError::BadValue {
            place: self.document.place(&value.span(), self.field(name)),
            value: self.document.quoted(value.span()),
            allowed: wanted.allowed.to_string(),
            example: wanted.example.to_string(),
        }
    }

    /// Returns the table, or an error for its first unknown field.
    fn refuse_unknown(self, known: &'static [&'static str]) -> Result<Self, SpecError> {
        let unknown =
            self.table.iter().map(|(key, _)| key).filter(|key| !known.contains(&key.get_ref().as_ref()));
        let Some(key) = unknown.min_by_key(|key| key.span().start) else { return Ok(self) };
        Err(SpecError::UnknownField {
            place: self.document.place(&key.span(), self.field(&self.document.quoted(key.span()))),
            known,
            similar: nearest(key.get_ref(), known),
        })
    }

    fn field(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }
}

fn keys_of(kind: &Quantity) -> &'static [&'static str] {
    match kind.key {
        "time" => &["time", "source"],
        "size" => &["size", "source"],
        _ => &["rate", "source"],
    }
}

fn in_range(kind: &Quantity, range: &RangeInclusive<u64>) -> String {
    let (least, most) = (kind.show(*range.start()), kind.show(*range.end()));
    format!("{} from {least} to {most}, a number and its unit: {}", kind.what, kind.unit_names())
}
