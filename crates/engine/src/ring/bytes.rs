//! A ring of bytes: heap and argument memory. Pieces are contiguous, handed out in order, freed oldest first.
//!
//! The ring wraps at a *soft* size that starts small and doubles only when full, so that a run touches little memory
//! however large the capacity. Because the soft size can grow while old pieces are still in the middle, the live
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
    /// The run that grows, and where the room after it ended when last checked (freeing can only move that on).
    newest: Run,
    bound: u64,
    /// The runs before it, oldest first.
    older: VecDeque<Run>,
    /// Bytes ever handed out and ever freed: positions in the order of allocation.
    allocated: u64,
    freed: u64,
    /// The largest piece ever handed out.
    largest: u64,
    /// The highest end of the pieces before those of the newest run, those of earlier users of the memory included.
    touched: u64,
}

impl ByteRing {
    /// A ring of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        let soft = capacity.min(SOFT_RING_BYTES);
        let newest = Run { start: 0, end: 0 };
        let older = VecDeque::with_capacity(RUNS_MAX);
        ByteRing {
            capacity,
            soft,
            newest,
            bound: soft,
            older,
            allocated: 0,
            freed: 0,
            largest: 0,
            touched: 0,
        }
    }

    /// The same for memory whose bytes before `touched` were handed out before.
    pub fn touched_to(self, touched: u64) -> Self {
        ByteRing { touched, ..self }
    }

    /// All bytes from here on were never handed out: they are zero, and no page of them exists yet.
    pub fn end_of_touched(&self) -> u64 {
        self.touched.max(self.newest.end)
    }

    /// Where, from the start of the newest piece on, bytes begin that were never handed out before.
    pub fn untouched_from(&self, newest_piece: u64) -> u64 {
        self.touched.max(newest_piece)
    }

    /// Bytes in use.
    #[inline]
    pub fn used(&self) -> u64 {
        self.allocated - self.freed
    }

    /// All bytes the ring may ever use.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes it keeps to until they are full; then it grows.
    #[inline]
    pub fn soft(&self) -> u64 {
        self.soft
    }

    /// The largest piece ever handed out.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// The position after the newest piece, for `free_to`.
    pub fn position(&self) -> u64 {
        self.allocated
    }

    /// Where the next piece begins, if `bytes` bytes are free there for sure.
    #[inline]
    pub fn room_for(&self, bytes: u64) -> Option<u64> {
        (self.newest.end + bytes <= self.bound).then_some(self.newest.end)
    }

    /// Hands out `bytes` contiguous bytes below the soft size, or `None` if they do not fit there now.
    #[inline]
    pub fn allocate_soft(&mut self, bytes: u64) -> Option<u64> {
        if self.newest.end + bytes > self.bound && !self.find_room(bytes) {
            return None;
        }
        Some(self.take(bytes))
    }

    /// Hands out `bytes` bytes of those that [`room_for`](Self::room_for) found free.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: u64) -> u64 {
        debug_assert!(self.newest.end + bytes <= self.bound);
        let offset = self.newest.end;
        self.newest.end += bytes;
        self.allocated += bytes;
        self.largest = self.largest.max(bytes);
        offset
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

    /// Finds room below the soft size: after the newest run, else a new run in the largest gap.
    #[cold]
    fn find_room(&mut self, bytes: u64) -> bool {
        self.touched = self.end_of_touched();
        if self.used() == 0 {
            // Nothing is alive: start over.
            (self.newest, self.bound) = (Run { start: 0, end: 0 }, self.soft);
            return bytes <= self.soft;
        }
        self.bound = self.room_from(self.newest.end);
        if self.newest.end + bytes <= self.bound {
            return true;
        }
        let taken = |r: &Run, at: u64| r.start <= at && at < r.end;
        let free = |&at: &u64| !taken(&self.newest, at) && !self.older.iter().any(|r| taken(r, at));
        let starts = core::iter::once(0).chain(self.older.iter().map(|r| r.end)).filter(free);
        let Some(start) = starts.max_by_key(|&at| self.room_from(at) - at) else { return false };
        if start + bytes > self.room_from(start) || self.older.len() == RUNS_MAX {
            return false;
        }
        self.bound = self.room_from(start);
        let full = core::mem::replace(&mut self.newest, Run { start, end: start });
        if full.start < full.end {
            self.older.push_back(full);
        }
        true
    }

    /// Where the room that begins at `from` ends.
    fn room_from(&self, from: u64) -> u64 {
        let live = self.older.iter().chain([&self.newest]).filter(|r| r.start >= from && r.end > r.start);
        live.map(|r| r.start).min().unwrap_or(self.soft)
    }

    /// Frees everything handed out before `position`.
    pub fn free_to(&mut self, position: u64) {
        debug_assert!((self.freed..=self.allocated).contains(&position));
        let mut bytes = position - self.freed;
        self.freed = position;
        while let Some(oldest) = self.older.front_mut() {
            let here = bytes.min(oldest.end - oldest.start);
            oldest.start += here;
            bytes -= here;
            if oldest.start < oldest.end {
                return;
            }
            self.older.pop_front();
        }
        self.newest.start += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Pieces never overlap, never leave the ring, and a ring that answers `None` is really near full. Bytes that count as
        /// untouched were in no earlier piece.
        #[test]
        fn pieces_are_disjoint_in_bounds_and_refused_only_when_near_full(
            capacity in 18u32..24, steps in prop::collection::vec((1u64..300_000, 0usize..4), 1..200),
        ) {
            let capacity = 1u64 << capacity;
            let mut touched = 1 << 10;
            let mut ring = ByteRing::new(capacity).touched_to(touched);
            let mut live: VecDeque<(u64, u64, u64)> = VecDeque::new();
            let largest = steps.iter().map(|s| s.0).max().unwrap();
            for (bytes, frees) in steps {
                match ring.allocate(bytes) {
                    Some(at) => {
                        prop_assert!(at + bytes <= capacity);
                        for &(start, end, _) in &live {
                            prop_assert!(at + bytes <= start || end <= at);
                        }
                        prop_assert_eq!(ring.untouched_from(at), touched.max(at));
                        touched = touched.max(at + bytes);
                        prop_assert_eq!(ring.end_of_touched(), touched);
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
