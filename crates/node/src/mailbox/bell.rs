//! A doorbell: a counter to sleep on, with a bit that says that one side does.
//!
//! ```text
//! sleeper                                     ringer
//!   seen = bell |= ASLEEP                       (writes what is new)
//!   is there something new? no                  old = bell += ONE_RING
//!   sleep while bell == seen                    old & ASLEEP? wake
//! ```
//! Both sides change one word, so one of them comes first. If the ringer does, the sleeper's poll comes after what is new
//! and sees it. If the sleeper does, the ringer sees the bit and wakes; and a sleeper that is not yet asleep by then finds
//! that the word has changed. A side that polls the mailbox without sleeping costs the other side no system call.

use std::time::Duration;

use crate::sync::{FutexWord, Ordering};

const ASLEEP: u32 = 1;
const ONE_RING: u32 = 2;

/// A doorbell in a mailbox.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(transparent))]
pub(crate) struct Bell(FutexWord);

impl Bell {
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Bell(FutexWord::new())
    }

    /// Says that there is something new. The release pairs with the acquire in [`Bell::announce`].
    pub(crate) fn ring(&self) {
        if self.0.word().fetch_add(ONE_RING, Ordering::AcqRel) & ASLEEP != 0 {
            self.0.wake();
        }
    }

    /// The same, whatever the word says: for news that must not depend on what the other process wrote there.
    pub(crate) fn ring_loudly(&self) {
        self.0.word().fetch_add(ONE_RING, Ordering::AcqRel);
        self.0.wake();
    }

    /// Says that this side is about to sleep, and gives what the word is now. The acquire pairs with the release in
    /// [`Bell::ring`]: what was new at an earlier ring is seen after this.
    pub(crate) fn announce(&self) -> u32 {
        self.0.word().fetch_or(ASLEEP, Ordering::AcqRel) | ASLEEP
    }

    /// Sleeps until the next ring after [`Bell::announce`] gave `seen`, and no longer than this.
    pub(crate) fn sleep(&self, seen: u32, at_most: Duration) {
        self.0.sleep(seen, at_most);
    }

    /// This side is awake again. A ring that comes before this wakes nobody, which is harmless: this side polls anyway.
    pub(crate) fn leave(&self) {
        self.0.word().fetch_and(!ASLEEP, Ordering::AcqRel);
    }
}
