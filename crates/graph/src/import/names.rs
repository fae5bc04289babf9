//! Texts by number: one buffer for all of them, and a table that finds the number of a text.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::limits::NAMES_BYTES_MAX;

/// There is no room for another text.
pub(super) struct NamesFull;

/// Texts in one buffer, numbered in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Texts {
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) -> Result<u32, NamesFull> {
        if self.text.len() + text.len() > NAMES_BYTES_MAX {
            return Err(NamesFull);
        }
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        Ok(self.ends.len() as u32 - 1)
    }

    pub(super) fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }

    pub(super) const fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Texts of which each has one number.
#[derive(Debug, Default)]
pub(super) struct Interner {
    texts: Texts,
    numbers: HashTable<u32>,
    /// With a secret, so that no file can be made to be slow.
    hasher: RandomState,
}

impl Interner {
    /// The number of a text, new if it has none.
    pub(super) fn intern(&mut self, text: &str) -> Result<u32, NamesFull> {
        let Interner { texts, numbers, hasher } = self;
        let hash = hasher.hash_one(text);
        if let Some(&number) = numbers.find(hash, |&number| texts.get(number) == text) {
            return Ok(number);
        }
        let number = texts.push(text)?;
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(texts.get(number)));
        Ok(number)
    }

    pub(super) const fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn get(&self, number: u32) -> &str {
        self.texts.get(number)
    }

    /// The texts without the table.
    pub(super) fn into_texts(self) -> Texts {
        self.texts
    }
}
