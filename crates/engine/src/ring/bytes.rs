//! A ring of bytes: heap and argument memory. Pieces are contiguous, handed out in order, freed oldest first.
//!
//! The ring wraps at a *soft* size that starts small and doubles only when full, so that a run touches little memory
//! however large the capacity. Because the soft size can grow while old pieces still lie in the middle, the live
//! bytes are a short queue of *runs*, each contiguous:
//!
//! ```text
//!   0            soft                capacity
//!   │▓▓▓▓░░░░░▓▓▓▓│                   │       live: [▓▓▓▓ at 9..13], then [▓▓▓▓ at 0..4]
//! ```

use std::collections::VecDeque;

use crate::limits::SOFT_RING_BYTES;

/// The most runs kept at once; one more is answered as if the ring were full.
const RUNS_MAX: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    end: u64,
}

/// Where pieces of a byte range are, oldest first. Knows offsets only, not the memory.
///
/// ```
/// use ringlane_engine::ring::bytes::ByteRing;
/// let mut ring = ByteRing::new(1 << 21);
/// let first = ring.allocate(1000).unwrap();
/// let position = ring.position();          // everything handed out so far
/// ring.free_to(position);
/// assert_eq!((first, ring.used()), (0, 0));
/// ```
#[derive(Debug)]
pub struct ByteRing {
    capacity: u64,
    soft: u64,
    runs: VecDeque<Run>,
    /// Where the room after the newest run ended when it was last looked at; freeing can only move it on.
    bound: u64,
    /// Bytes ever handed out and ever freed: positions in the order of allocation.
    allocated: u64,
    freed: u64,
}

impl ByteRing {
    /// A ring of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        let soft = capacity.min(SOFT_RING_BYTES);
        ByteRing { capacity, soft, runs: VecDeque::with_capacity(RUNS_MAX), bound: 0, allocated: 0, freed: 0 }
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.allocated - self.freed
    }

    /// All bytes the ring may ever use.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The position after the newest piece, for `free_to`.
    pub fn position(&self) -> u64 {
        self.allocated
    }

    /// Hands out `bytes` contiguous bytes below the soft size, or `None` if they do not fit there now.
    #[inline]
    pub fn allocate_soft(&mut self, bytes: u64) -> Option<u64> {
        let offset = match self.runs.back_mut() {
            Some(newest) if newest.end + bytes <= self.bound => {
                newest.end += bytes;
                newest.end - bytes
            }
            _ => self.place(bytes)?,
        };
        self.allocated += bytes;
        Some(offset)
    }

    /// Hands out `bytes` contiguous bytes and gives their offset, letting the soft size grow up to the capacity;
    /// `None` if they do not fit now.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        loop {
            if let Some(offset) = self.allocate_soft(bytes) {
                return Some(offset);
            }
            if self.soft == self.capacity {
                return None;
            }
            self.soft = (self.soft * 2).min(self.capacity);
        }
    }

    /// Finds room below the soft size: after the newest run, else in the largest gap.
    fn place(&mut self, bytes: u64) -> Option<u64> {
        if let Some(newest) = self.runs.back().copied() {
            self.bound = self.room_from(newest.end);
            if newest.end + bytes <= self.bound {
                self.runs.back_mut().expect("seen above").end += bytes;
                return Some(newest.end);
            }
        }
        if self.runs.len() == RUNS_MAX {
            return None;
        }
        let free = |&start: &u64| !self.runs.iter().any(|r| r.start <= start && start < r.end);
        let starts = core::iter::once(0).chain(self.runs.iter().map(|r| r.end)).filter(free);
        let start = starts.max_by_key(|&start| self.room_from(start) - start)?;
        if start + bytes > self.room_from(start) {
            return None;
        }
        self.bound = self.room_from(start);
        self.runs.push_back(Run { start, end: start + bytes });
        Some(start)
    }

    /// Where the room that begins at `from` ends.
    fn room_from(&self, from: u64) -> u64 {
        self.runs
            .iter()
            .filter(|r| r.start >= from && r.end > r.start)
            .map(|r| r.start)
            .min()
            .unwrap_or(self.soft)
    }

    /// Frees everything handed out before `position`.
    pub fn free_to(&mut self, position: u64) {
        debug_assert!((self.freed..=self.allocated).contains(&position));
        let mut bytes = position - self.freed;
        self.freed = position;
        while let Some(oldest) = self.runs.front_mut() {
            let here = bytes.min(oldest.end - oldest.start);
            oldest.start += here;
            bytes -= here;
            if oldest.start < oldest.end {
                return;
            }
            self.runs.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Pieces never overlap, never leave the ring, and a ring that answers `None` is really near full.
        #[test]
        fn pieces_are_disjoint_in_bounds_and_refused_only_when_near_full(
            capacity in 18u32..24, steps in prop::collection::vec((1u64..300_000, 0usize..4), 1..200),
        ) {
            let capacity = 1u64 << capacity;
            let mut ring = ByteRing::new(capacity);
            let mut live: VecDeque<(u64, u64, u64)> = VecDeque::new();
            let largest = steps.iter().map(|s| s.0).max().unwrap();
            for (bytes, frees) in steps {
                match ring.allocate(bytes) {
                    Some(at) => {
                        prop_assert!(at + bytes <= capacity);
                        for &(start, end, _) in &live {
                            prop_assert!(at + bytes <= start || end <= at);
                        }
                        live.push_back((at, at + bytes, ring.position()));
                    }
                    None => prop_assert!(ring.used() + (RUNS_MAX as u64 + 1) * largest > capacity),
                }
                for _ in 0..frees {
                    if let Some((_, _, position)) = live.pop_front() {
                        ring.free_to(position);
                    }
                }
                prop_assert_eq!(ring.used(), live.iter().map(|p| p.1 - p.0).sum::<u64>());
            }
        }
    }

    #[test]
    fn a_ring_that_is_drained_as_it_fills_stays_at_its_soft_size() {
        let mut ring = ByteRing::new(1 << 28);
        let mut highest = 0;
        for _ in 0..100_000 {
            let at = ring.allocate(4096).unwrap();
            highest = highest.max(at + 4096);
            ring.free_to(ring.position());
        }
        assert!(highest <= SOFT_RING_BYTES);
    }
}
