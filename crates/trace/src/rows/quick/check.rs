//! For tests: a row that is read quickly is the one that is read as a whole, and a file is the same however it is cut.

use std::fmt::Debug;

use proptest::prelude::*;

use super::Quick;
use crate::rows::document::{Document, RowReader, read_scanned};
use crate::rows::scan::{ReadError, Scanner};

/// Whether the row at the start of a text is read quickly. If so, it has to be what `whole` makes of it.
pub(crate) fn is_quick<R: RowReader>(reader: &R, text: &[u8]) -> bool
where
    R::Row: PartialEq + Debug,
{
    let mut quick = Quick::new(text);
    let Some(row) = reader.quick(&mut quick) else { return false };
    let bytes = text.len() - quick.left();
    let whole = reader.whole(&text[..bytes]).map_err(|error| error.to_string());
    assert_eq!(whole, Ok(row), "{}", String::from_utf8_lossy(&text[..bytes]));
    true
}

/// One of these texts with a few bytes changed, most of them to bytes that mean something.
pub(crate) fn changed(texts: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&b"{}[],:\"\\/ 019.e-+n"[..])];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), byte, 0..3u8), 0..4);
    (prop::sample::select(texts), changes).prop_map(|(mut text, changes)| {
        for (place, byte, how) in changes {
            let place = place.index(text.len());
            match how {
                0 => text[place] = byte,
                1 => text.insert(place, byte),
                _ => drop(text.remove(place)),
            }
        }
        text
    })
}

/// Reads a document through a buffer of this size.
pub(crate) fn read_through<D: Document>(
    text: &[u8],
    buffer_bytes: usize,
    document: D,
) -> Result<D, ReadError> {
    read_scanned(document, || Ok(Scanner::with_sizes(text, buffer_bytes, 1 << 20)))
}
