//! Text that comes again and again. A program has few kernels and few shapes, and most of a row's text follows from them:
//! it is made once and copied.

use crate::text::Text;

/// Texts that are remembered: a power of two.
const PLACES: usize = 128;

/// The texts of a few keys: of those that fall on the same place, the last one's. Memory does not grow with the rows.
pub(super) struct Memo<K, V> {
    places: Vec<(Option<K>, V)>,
}

impl<K, V: Default> Default for Memo<K, V> {
    fn default() -> Self {
        Memo { places: (0..PLACES).map(|_| (None, V::default())).collect() }
    }
}

impl<K, V> Memo<K, V> {
    /// The value of the key that `is_it` knows, made if it is not remembered. `hash` is any number that is likely to
    /// differ from key to key.
    #[inline]
    pub(super) fn get<E>(
        &mut self,
        hash: u64,
        is_it: impl FnOnce(&K) -> bool,
        make: impl FnOnce() -> Result<(K, V), E>,
    ) -> Result<&V, E> {
        // The high bits of a product are its best ones.
        let place = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % PLACES;
        let (known, value) = &mut self.places[place];
        if !known.as_ref().is_some_and(is_it) {
            let (new_key, new_value) = make()?;
            (*known, *value) = (Some(new_key), new_value);
        }
        Ok(value)
    }
}

/// The text around a number.
#[derive(Default)]
pub(super) struct Around {
    pub(super) before: Box<[u8]>,
    pub(super) after: Box<[u8]>,
}

/// The bytes of a text.
pub(super) fn bytes_of(write: impl FnOnce(&mut Text)) -> Box<[u8]> {
    let mut text = Text::default();
    write(&mut text);
    text.bytes().into()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn keys_that_fall_on_one_place_take_turns_and_keep_their_own_values() {
        let (mut memo, mut made) = (Memo::default(), 0);
        let mut look = |key: u32| {
            let make = || {
                made += 1;
                Ok::<_, Infallible>((key, key.to_string()))
            };
            let Ok(text) = memo.get(7, |&known| known == key, make);
            assert_eq!(*text, key.to_string());
        };
        [1, 1, 2, 2, 1].into_iter().for_each(&mut look);
        assert_eq!(made, 3);
    }

    #[test]
    fn what_cannot_be_made_leaves_what_was_there() {
        let mut memo = Memo::<u32, String>::default();
        assert_eq!(memo.get(7, |_| false, || Ok::<_, ()>((1, "one".to_string()))), Ok(&"one".to_string()));
        assert_eq!(memo.get(7, |_| false, || Err(())), Err(()));
        assert_eq!(memo.get(7, |&known| known == 1, || Err(())), Ok(&"one".to_string()));
    }
}
