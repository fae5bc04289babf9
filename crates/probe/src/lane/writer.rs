//! The writing end of a lane: a pointer that moves through a buffer.

use core::fmt;
use core::ptr::NonNull;
use std::sync::Arc;

use ringlane_task::Overflow;
use zerocopy::{Immutable, IntoBytes};

use super::memory::{Buffer, Filled};
use super::ring::{Consumer, Producer};
use super::{Common, Counts, Rules};
use crate::sync::{Ordering, pause, prefetch};

const CACHE_LINE: usize = 64;
/// How far ahead of the next record memory is asked for: the next exchange of the thread would wait until a record that went to memory
/// that is not at hand is there.
const AHEAD: usize = 2 * CACHE_LINE;

/// Writes the records of one lane. One thread at a time has it; dropping it hands over what it still holds.
pub struct Writer {
    /// Where the next record goes; `cursor ..end` is the room left in `buffer`, empty if there is no buffer.
    cursor: NonNull<u8>,
    end: NonNull<u8>,
    /// Records in `buffer`.
    rows: u32,
    buffer: Option<Buffer>,
    /// Buffers handed over since the collector was last woken.
    handed: u32,
    /// Of everything that left the writer; `total` lacks the records in `buffer`.
    counts: Counts,
    free: Consumer<Buffer>,
    full: Producer<Filled>,
    common: Arc<Common>,
    rules: Rules,
}

// SAFETY: the pointers lead into the buffer that the writer holds, in memory that it keeps alive.
unsafe impl Send for Writer {}

impl Writer {
    pub(super) fn new(
        rules: Rules,
        common: Arc<Common>,
        free: Consumer<Buffer>,
        full: Producer<Filled>,
    ) -> Self {
        let (nowhere, counts) = (NonNull::dangling(), Counts::default());
        let (cursor, end, buffer) = (nowhere, nowhere, None);
        Writer { cursor, end, rows: 0, buffer, handed: 0, counts, free, full, common, rules }
    }

    /// Writes a record of fixed size. If there is no place for it, it is counted as dropped.
    #[inline]
    pub fn push<R: IntoBytes + Immutable>(&mut self, record: &R) {
        if let Some(place) = self.reserve(size_of::<R>()) {
            place.copy_from_slice(record.as_bytes());
        }
    }

    /// Writes a record word by word. One whose last field was stored a moment ago cannot be loaded again in larger parts
    /// without a wait of some 15 ns.
    #[inline]
    pub fn push_words<const N: usize>(&mut self, words: [u64; N]) {
        if let Some(place) = self.reserve(8 * N) {
            for (place, word) in place.chunks_exact_mut(8).zip(words) {
                place.copy_from_slice(&word.to_ne_bytes());
            }
        }
    }

    /// A place of exactly `bytes` for one record, which the caller fills; it holds remains of older records. `None` if
    /// there is no place (it is then counted as dropped) or if the record is larger than a buffer.
    ///
    /// Places follow each other without gaps, the first of a buffer at a multiple of 64.
    #[inline]
    pub fn reserve(&mut self, bytes: usize) -> Option<&mut [u8]> {
        if bytes > self.end.as_ptr() as usize - self.cursor.as_ptr() as usize && !self.turn(bytes) {
            return None;
        }
        self.common.memory.note_write(self.buffer.as_ref());
        let place = self.cursor;
        // SAFETY: at least `bytes` bytes are between the cursor and the end, both in one buffer (or `bytes` is 0).
        self.cursor = unsafe { place.add(bytes) };
        prefetch(self.cursor.as_ptr().wrapping_add(AHEAD));
        self.rows += 1;
        // SAFETY: the bytes are initialised (mapped as zeros, then written only with records, which have no padding),
        // and only the holder of the buffer, which is this writer, touches them while the borrow of `self` lasts.
        Some(unsafe { core::slice::from_raw_parts_mut(place.as_ptr(), bytes) })
    }

    /// Asks for the next 128 bytes or more, where records are rare: until the next one, others have used the caches.
    #[inline]
    pub fn prefetch(&self) {
        let line = self.cursor.as_ptr();
        (0..3).for_each(|ahead| prefetch(line.wrapping_add(ahead * CACHE_LINE)));
    }

    /// The last `bytes` of the record written last, for a record that is filled little by little.
    #[inline]
    pub fn last(&mut self, bytes: usize) -> &mut [u8] {
        let bytes = bytes.min(self.used());
        // SAFETY: `bytes` is at most what the cursor has passed in the buffer, which this writer holds.
        let place = unsafe { self.cursor.sub(bytes) };
        // SAFETY: as for `reserve`.
        unsafe { core::slice::from_raw_parts_mut(place.as_ptr(), bytes) }
    }

    /// The size of the largest record.
    pub fn record_bytes_max(&self) -> usize {
        self.common.memory.buffer_bytes() as usize
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        let total = self.counts.total + u64::from(self.rows);
        Counts { total, bytes: self.counts.bytes + self.used() as u64, ..self.counts }
    }

    /// Makes room for a record of `bytes` in another buffer. If there is none, the record is counted as dropped.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, bytes: usize) -> bool {
        if bytes <= self.record_bytes_max() {
            self.hand_over();
            if self.buffer.is_some() || self.take_empty() {
                return true;
            }
        }
        self.counts.total += 1;
        self.counts.dropped += 1;
        false
    }

    /// Hands the buffer over, or empties it here if records are no longer kept.
    fn hand_over(&mut self) {
        let (rows, used) = (core::mem::take(&mut self.rows), self.used());
        self.counts.total += u64::from(rows);
        match self.buffer.take() {
            Some(buffer) if !self.is_halted() => {
                self.counts.bytes += used as u64;
                (self.cursor, self.end) = (NonNull::dangling(), NonNull::dangling());
                self.full.push(Filled { buffer, used: used as u32, rows });
                self.handed += 1;
                if self.handed >= self.common.part() {
                    self.handed = 0;
                    self.rules.waker.wake();
                }
            }
            kept => {
                self.counts.dropped += u64::from(rows);
                kept.into_iter().for_each(|buffer| self.begin(buffer));
            }
        }
        self.common.counts.set(self.counts);
    }

    /// Gets an empty buffer: at once, or after a wait if that is the policy.
    fn take_empty(&mut self) -> bool {
        let buffer = self.free.pop().or_else(|| match self.rules.overflow {
            Overflow::Block => self.wait(),
            Overflow::Drop => None,
        });
        buffer.map(|buffer| self.begin(buffer)).is_some()
    }

    /// Waits for an empty buffer, unless the lane is halted. The time is counted.
    fn wait(&mut self) -> Option<Buffer> {
        let begun = self.rules.clock.now();
        self.rules.waker.wake();
        let mut rounds = 0..u32::MAX;
        let buffer = loop {
            if let Some(buffer) = self.free.pop() {
                break Some(buffer);
            }
            if self.is_halted() {
                break None;
            }
            pause(rounds.next().unwrap_or(u32::MAX));
        };
        self.counts.waited_ticks += self.rules.clock.now().saturating_sub(begun);
        buffer
    }

    /// Starts at the beginning of a buffer.
    fn begin(&mut self, buffer: Buffer) {
        self.cursor = self.common.memory.start(&buffer);
        // SAFETY: a buffer has `record_bytes_max` bytes, all in one mapping.
        self.end = unsafe { self.cursor.add(self.record_bytes_max()) };
        self.buffer = Some(buffer);
    }

    /// Bytes of records in the buffer.
    fn used(&self) -> usize {
        let start = self.buffer.as_ref().map(|buffer| self.common.memory.start(buffer));
        start.map_or(0, |start| self.cursor.as_ptr() as usize - start.as_ptr() as usize)
    }

    fn is_halted(&self) -> bool {
        self.common.halted.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    /// Hands over the last buffer, however full.
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("buffer", &self.buffer).field("counts", &self.counts()).finish()
    }
}
