//! A bounded queue between one producer and one consumer that never has to ask whether there is room.
//!
//! It carries tokens of which there are only as many as the queue has places. So a push always finds an empty place,
//! and need not even check how far the consumer is:
//!
//! Let there be `n` tokens and `n` places. When the producer fills the place of position `p + n`, it has held `n + 1`
//! tokens since it filled position `p` (those of `p ..= p + n`), so one of them twice. That one was taken out at a
//! position of `p` or later, and came back to the producer through the opposite queue, whose release and acquire
//! thus put the consumer's `take` of position `p` before this `put`. The two queues of a lane vouch for each other.

use std::sync::Arc;

use crate::sync::{AtomicU32, Ordering, Padded, Passage};

/// What both halves share.
#[derive(Debug)]
struct Ring<T> {
    places: Box<[Passage<T>]>,
    /// How many tokens were ever pushed, modulo 2^32. Written by the producer alone, with a release that pairs with
    /// the acquire in [`Consumer::pop`].
    pushed: Padded<AtomicU32>,
}

impl<T> Ring<T> {
    /// The place of a position. The number of places is a power of two, so that positions may wrap.
    #[inline]
    fn place(&self, position: u32) -> &Passage<T> {
        &self.places[position as usize & (self.places.len() - 1)]
    }
}

/// The half that pushes.
#[derive(Debug)]
pub(crate) struct Producer<T> {
    ring: Arc<Ring<T>>,
    pushed: u32,
}

/// The half that pops.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    ring: Arc<Ring<T>>,
    popped: u32,
    /// How many were pushed when the consumer last checked.
    seen: u32,
}

/// A queue for tokens of which there are no more than `tokens`.
pub(crate) fn ring<T: Send>(tokens: u32) -> (Producer<T>, Consumer<T>) {
    let places = (0..tokens.next_power_of_two()).map(|_| Passage::new()).collect();
    let ring = Arc::new(Ring { places, pushed: Padded(AtomicU32::new(0)) });
    (Producer { ring: ring.clone(), pushed: 0 }, Consumer { ring, popped: 0, seen: 0 })
}

impl<T: Send> Producer<T> {
    /// Passes a token on.
    #[inline]
    pub(crate) fn push(&mut self, token: T) {
        // SAFETY: this is the only producer; the place is empty, its last token was taken, and that happened before
        // now, as the module says.
        unsafe { self.ring.place(self.pushed).put(token) };
        self.pushed = self.pushed.wrapping_add(1);
        // Release: the token, and all writes to what it refers to, are seen by the acquire in `pop`.
        self.ring.pushed.store(self.pushed, Ordering::Release);
    }
}

impl<T: Send> Consumer<T> {
    /// Takes the oldest token, if there is one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.popped == self.seen {
            // Acquire: pairs with the release in `push`.
            self.seen = self.ring.pushed.load(Ordering::Acquire);
            if self.popped == self.seen {
                return None;
            }
        }
        // SAFETY: this is the only consumer; the token of this position was put in before the count that was seen
        // with an acquire, and has not been taken.
        let token = unsafe { self.ring.place(self.popped).take() };
        self.popped = self.popped.wrapping_add(1);
        Some(token)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_out_in_the_order_they_went_in_also_past_the_wrap_of_positions() {
        let (mut producer, mut consumer) = ring::<u32>(3);
        (producer.pushed, consumer.popped, consumer.seen) = (u32::MAX - 3, u32::MAX - 3, u32::MAX - 3);
        assert_eq!(consumer.ring.places.len(), 4);
        producer.ring.pushed.store(u32::MAX - 3, Ordering::Relaxed);
        for i in 0..10 {
            producer.push(2 * i);
            producer.push(2 * i + 1);
            assert_eq!(
                (consumer.pop(), consumer.pop(), consumer.pop()),
                (Some(2 * i), Some(2 * i + 1), None)
            );
        }
    }
}
