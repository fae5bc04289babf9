//! A table on its way to Python: a dict of NumPy arrays, one for each column.

use std::collections::HashMap;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use ringlane::trace::rows::Numbers;

/// What a number that is absent becomes.
const ABSENT: i64 = -1;

/// The columns of a table, by name.
#[derive(Default)]
pub struct Columns(Vec<(String, Column)>);

enum Column {
    Numbers(Vec<i64>),
    /// Each text once, and which of them each row has.
    Texts(Vec<String>, Vec<u32>),
    /// A list for each row.
    Lists(Vec<Vec<i64>>),
}

/// A number as a column has it: what does not fit or is absent is -1.
pub fn number(value: Option<u64>) -> i64 {
    value.and_then(|value| i64::try_from(value).ok()).unwrap_or(ABSENT)
}

impl Columns {
    /// Every column of these rows, which are numbers or the codes of names.
    pub fn of<R: Numbers>(rows: &[R]) -> Self {
        let column = |at| Column::Numbers(rows.iter().map(|row| number(row.number(at))).collect());
        Columns(R::NAMES.iter().zip(0..).map(|(name, at)| (name.to_string(), column(at))).collect())
    }

    /// Adds a column of numbers, or replaces it.
    pub fn numbers(&mut self, name: &str, values: impl Iterator<Item = Option<u64>>) -> &mut Self {
        self.set(name, Column::Numbers(values.map(number).collect()))
    }

    /// Adds a column of texts, or replaces it. An absent text is an empty one.
    pub fn texts<T: AsRef<str>>(&mut self, name: &str, values: impl Iterator<Item = T>) -> &mut Self {
        let (mut places, mut texts) = (HashMap::<String, u32>::new(), Vec::new());
        let place = |text: T| match places.get(text.as_ref()) {
            Some(place) => *place,
            None => {
                let place = texts.len() as u32;
                texts.push(text.as_ref().to_string());
                places.insert(text.as_ref().to_string(), place);
                place
            }
        };
        let rows = values.map(place).collect();
        self.set(name, Column::Texts(texts, rows))
    }

    /// Adds a column of lists, or replaces it.
    pub fn lists(&mut self, name: &str, values: impl Iterator<Item = Vec<u64>>) -> &mut Self {
        let list = |values: Vec<u64>| values.into_iter().map(|value| number(Some(value))).collect();
        self.set(name, Column::Lists(values.map(list).collect()))
    }

    fn set(&mut self, name: &str, column: Column) -> &mut Self {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = column,
            None => self.0.push((name.to_string(), column)),
        }
        self
    }

    /// The dict.
    pub fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let (dict, numpy) = (PyDict::new(py), py.import("numpy")?);
        for (name, column) in self.0 {
            match column {
                Column::Numbers(values) => dict.set_item(name, PyArray1::from_vec(py, values))?,
                Column::Texts(texts, rows) => {
                    let texts = if rows.is_empty() { vec![String::new()] } else { texts };
                    let of_type = PyDict::new(py);
                    of_type.set_item("dtype", "str")?;
                    let texts = numpy.call_method("array", (texts,), Some(&of_type))?;
                    dict.set_item(name, texts.get_item(PyArray1::from_vec(py, rows))?)?;
                }
                Column::Lists(lists) => {
                    let column = numpy.call_method1("empty", (lists.len(), "object"))?;
                    for (at, list) in lists.into_iter().enumerate() {
                        column.set_item(at, PyList::new(py, list)?)?;
                    }
                    dict.set_item(name, column)?;
                }
            }
        }
        Ok(dict)
    }
}
