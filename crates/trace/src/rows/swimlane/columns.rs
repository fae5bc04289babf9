//! Rows of the swimlane are arrays; their columns are found by name, so that columns can be added.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

use super::Phase;
use crate::rows::quick::Quick;

/// The most columns that a kind of row has.
const COLUMNS_MAX: usize = 11;

/// Where the wanted columns stand in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// For each column of the file, which of the wanted it is.
    wanted: Vec<Option<usize>>,
    names: &'static [&'static str],
}

impl Columns {
    /// Finds each of `names` among the columns of the file.
    pub(super) fn find(columns: &[String], names: &'static [&'static str]) -> Result<Self, String> {
        if let Some(missing) = names.iter().find(|name| !columns.iter().any(|column| column == *name)) {
            return Err(format!("there is no column {missing:?} among {columns:?}"));
        }
        let wanted = columns.iter().map(|column| names.iter().position(|name| name == column)).collect();
        Ok(Columns { wanted, names })
    }

    /// Whether the columns of the file are just these, in this order.
    pub(super) fn are(&self, names: &[&str]) -> bool {
        self.names == names && self.wanted.iter().copied().eq((0..names.len()).map(Some))
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
enum Value {
    Null,
    Number(u64),
    Phase(Phase),
}

/// The wanted values of a row, in the order in which they were wanted.
pub(super) struct Values {
    values: [Value; COLUMNS_MAX],
    names: &'static [&'static str],
}

impl Values {
    pub(super) const fn has(&self, column: usize) -> bool {
        column < self.names.len()
    }

    pub(super) fn number(&self, column: usize) -> Result<u64, String> {
        match self.values[column] {
            Value::Number(value) => Ok(value),
            _ => Err(format!("{} is not a number", self.names[column])),
        }
    }

    pub(super) fn small<T: TryFrom<u64>>(&self, column: usize) -> Result<T, String> {
        let value = self.number(column)?;
        T::try_from(value).map_err(|_| format!("{} {value} is too large", self.names[column]))
    }

    pub(super) fn number_or_null(&self, column: usize) -> Result<Option<u64>, String> {
        match self.values[column] {
            Value::Null => Ok(None),
            _ => self.number(column).map(Some),
        }
    }

    pub(super) fn phase(&self, column: usize) -> Result<Phase, String> {
        match self.values[column] {
            Value::Phase(phase) => Ok(phase),
            _ => Err(format!("{} is not a phase", self.names[column])),
        }
    }
}

impl Columns {
    /// A row of numbers, phases and `null` at the start of the text, in the simplest form (see [`Quick`]).
    #[inline]
    pub(super) fn quick(&self, text: &mut Quick<'_>) -> Option<Values> {
        let mut values = Values { values: [Value::Null; COLUMNS_MAX], names: self.names };
        text.take(b'[')?;
        for (index, wanted) in self.wanted.iter().enumerate() {
            if index > 0 {
                text.take(b',')?;
                text.space();
            }
            let value = quick_value(text)?;
            if let Some(at) = *wanted {
                values.values[at] = value;
            }
        }
        text.take(b']')?;
        Some(values)
    }

    /// The row whose text this is, or what is wrong with it.
    pub(super) fn whole(&self, text: &[u8]) -> Result<Values, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_slice(text);
        let values = self.deserialize(&mut json)?;
        json.end()?;
        Ok(values)
    }
}

#[inline]
fn quick_value(text: &mut Quick<'_>) -> Option<Value> {
    match text.peek()? {
        b'"' => Phase::from_name(text.string()?).map(Value::Phase),
        b'n' => text.text("null").map(|()| Value::Null),
        _ => text.number().map(Value::Number),
    }
}

impl<'de> DeserializeSeed<'de> for &Columns {
    type Value = Values;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Values, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for &Columns {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {} values", self.wanted.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<Values, A::Error> {
        let mut values = Values { values: [Value::Null; COLUMNS_MAX], names: self.names };
        for (index, wanted) in self.wanted.iter().enumerate() {
            let there = match wanted {
                Some(at) => row.next_element_seed(OneValue)?.map(|value| values.values[*at] = value),
                None => row.next_element::<IgnoredAny>()?.map(|_| ()),
            };
            there.ok_or_else(|| A::Error::invalid_length(index, &self))?;
        }
        match row.next_element::<IgnoredAny>()? {
            Some(_) => Err(A::Error::invalid_length(self.wanted.len() + 1, &self)),
            None => Ok(values),
        }
    }
}

struct OneValue;

impl<'de> DeserializeSeed<'de> for OneValue {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for OneValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number that is not negative, null or the name of a phase")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Value, E> {
        Phase::from_name(name).map(Value::Phase).ok_or_else(|| E::custom(format!("unknown phase {name:?}")))
    }
}
