//! Which parts of a node's memory are in use. Knows offsets only, not the memory.

use std::collections::BTreeMap;

/// Pieces are whole pages, so that what is given back can be given back to the kernel.
pub(crate) const PAGE: u64 = 4096;

/// The free ranges of a memory, by their first byte; no two of them touch.
#[derive(Debug)]
pub(crate) struct Pieces {
    free: BTreeMap<u64, u64>,
}

impl Pieces {
    /// All free, from `start` to `end`.
    pub(crate) fn new(start: u64, end: u64) -> Self {
        Pieces { free: BTreeMap::from([(start, end - start)]) }
    }

    /// Takes the first range that is large enough.
    pub(crate) fn take(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE)?;
        let (&start, &len) = self.free.iter().find(|&(_, &len)| len >= bytes)?;
        self.free.remove(&start);
        if len > bytes {
            self.free.insert(start + bytes, len - bytes);
        }
        Some(start)
    }

    /// Gives back what was taken with this size.
    pub(crate) fn give_back(&mut self, start: u64, bytes: u64) {
        let mut range = (start, bytes.max(1).next_multiple_of(PAGE));
        if let Some((&before, &len)) = self.free.range(..start).next_back()
            && before + len == start
        {
            self.free.remove(&before);
            range = (before, len + range.1);
        }
        let end = range.0 + range.1;
        if let Some(len) = self.free.remove(&end) {
            range.1 += len;
        }
        self.free.insert(range.0, range.1);
    }

    #[cfg(test)]
    /// The largest piece that can be had now.
    pub(crate) fn largest(&self) -> u64 {
        self.free.values().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_given_back_in_any_order_is_one_range_again() {
        let mut pieces = Pieces::new(PAGE, 101 * PAGE);
        let taken: Vec<u64> = [1, PAGE, PAGE + 1, 0].map(|bytes| pieces.take(bytes).unwrap()).to_vec();
        assert_eq!(taken, [PAGE, 2 * PAGE, 3 * PAGE, 5 * PAGE]);
        for (start, bytes) in [(3 * PAGE, PAGE + 1), (PAGE, 1), (5 * PAGE, 0), (2 * PAGE, PAGE)] {
            pieces.give_back(start, bytes);
        }
        assert_eq!(pieces.free, BTreeMap::from([(PAGE, 100 * PAGE)]));
        assert_eq!((pieces.take(101 * PAGE), pieces.take(u64::MAX)), (None, None));
    }

    proptest! {
        #[test]
        fn pieces_never_overlap(sizes in prop::collection::vec((0..20 * PAGE, any::<bool>()), 1..60)) {
            let mut pieces = Pieces::new(0, 200 * PAGE);
            let mut held: Vec<(u64, u64)> = Vec::new();
            for (bytes, gives) in sizes {
                if gives && !held.is_empty() {
                    let (start, bytes) = held.swap_remove(bytes as usize % held.len());
                    pieces.give_back(start, bytes);
                } else if let Some(start) = pieces.take(bytes) {
                    let end = start + bytes.max(1);
                    prop_assert!(held.iter().all(|&(s, b)| end <= s || s + b.max(1) <= start));
                    prop_assert!(end <= 200 * PAGE);
                    held.push((start, bytes));
                }
            }
            held.into_iter().for_each(|(start, bytes)| pieces.give_back(start, bytes));
            prop_assert_eq!(pieces.largest(), 200 * PAGE);
        }
    }
}
