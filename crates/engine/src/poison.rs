//! Poison: the bytes that a failed or skipped task would have written.
//!
//! Poison lives with the memory, byte by byte, so the set of skipped tasks follows from the program alone. A run
//! without failures pays one relaxed load a task.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use ringlane_task::TensorView;

use crate::sync::{AtomicBool, Mutex, Ordering};

/// The poisoned bytes of one run, as disjoint ranges per space.
#[derive(Debug, Default)]
pub struct Poison {
    /// Set under the lock before the failing task is closed; a task that depends on it acquires that close.
    any: AtomicBool,
    ranges: Mutex<BTreeMap<(u32, u64), u64>>,
}

impl Poison {
    /// Whether anything was poisoned in this run.
    #[inline]
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Forgets everything, between runs.
    pub fn clear(&self) {
        if self.any() {
            self.ranges.lock().expect("no panic while poison is locked").clear();
            self.any.store(false, Ordering::Relaxed);
        }
    }

    /// Whether a view touches poisoned bytes.
    #[cold]
    pub fn touches(&self, space: u32, view: &TensorView) -> bool {
        let ranges = self.ranges.lock().expect("no panic while poison is locked");
        let mut found = false;
        view.for_each_run(|start, bytes| {
            let before = ranges.range((space, 0)..(space, start + bytes)).next_back();
            found |= before.is_some_and(|(_, &end)| end > start);
        });
        found
    }

    /// Poisons the bytes of a view.
    #[cold]
    pub fn spread(&self, space: u32, view: &TensorView) {
        let mut ranges = self.ranges.lock().expect("no panic while poison is locked");
        view.for_each_run(|start, bytes| {
            cut(&mut ranges, space, start, start + bytes);
            ranges.insert((space, start), start + bytes);
        });
        self.any.store(true, Ordering::Relaxed);
    }

    /// Clears the bytes of a view: they were overwritten.
    #[cold]
    pub fn heal(&self, space: u32, view: &TensorView) {
        let mut ranges = self.ranges.lock().expect("no panic while poison is locked");
        view.for_each_run(|start, bytes| cut(&mut ranges, space, start, start + bytes));
    }
}

/// Takes `start..end` out of the ranges.
fn cut(ranges: &mut BTreeMap<(u32, u64), u64>, space: u32, start: u64, end: u64) {
    while let Some((&(s, first), &last)) = ranges.range(..(space, end)).next_back() {
        if s != space || last <= start {
            return;
        }
        ranges.remove(&(space, first));
        if last > end {
            ranges.insert((space, end), last);
        }
        if first < start {
            ranges.insert((space, first), start);
            return;
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use ringlane_task::DType;

    #[test]
    fn an_overwrite_heals_exactly_the_bytes_it_covers() {
        let poison = Poison::default();
        let whole = TensorView::contiguous(DType::UInt8, &[10]).unwrap();
        let part = |start, len| whole.slice(0, start, len).unwrap();
        poison.spread(7, &whole);
        poison.heal(7, &part(3, 4));
        assert!(poison.touches(7, &part(0, 3)) && poison.touches(7, &part(6, 2)));
        assert!(!poison.touches(7, &part(3, 4)) && !poison.touches(6, &whole));
        poison.spread(7, &part(5, 1));
        assert!(poison.touches(7, &part(4, 2)) && !poison.touches(7, &part(3, 2)));
    }
}
