//! Numbers of the runs that are going on in the process.
//!
//! A handle of one run must not pass for one of another. Its lifetime ends with its run, so only runs that go on at the same
//! time can meet each other's handles, and a number is free again when its run has ended: 16 bits are enough for every handle
//! to carry one, and equality proves the run.

#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fault::{Fault, Result};
use crate::limits::RUNS_MAX;

/// Identifies a run among those that are going on in the process. 0, the default, belongs to no run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunNumber(pub(crate) u16);

/// A run that is going on; its number is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct LiveRun(RunNumber);

impl LiveRun {
    /// A run with the lowest number that is free.
    pub(crate) fn begin() -> Result<Self> {
        numbers().take().map(LiveRun).ok_or_else(|| Fault::TooManyRuns { limit: RUNS_MAX }.into())
    }

    #[inline]
    pub(crate) fn number(&self) -> RunNumber {
        self.0
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        numbers().give(self.0);
    }
}

/// Which numbers are taken: of number `n` at index `n - 1`.
struct Numbers(Vec<bool>);

impl Numbers {
    fn take(&mut self) -> Option<RunNumber> {
        let free = self.0.iter().position(|taken| !taken).unwrap_or(self.0.len());
        if free == RUNS_MAX {
            return None;
        }
        self.0.resize(self.0.len().max(free + 1), false);
        self.0[free] = true;
        Some(RunNumber(free as u16 + 1))
    }

    fn give(&mut self, number: RunNumber) {
        self.0[number.0 as usize - 1] = false;
    }
}

fn numbers() -> MutexGuard<'static, Numbers> {
    static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers(Vec::new()));
    // Nothing panics between two changes that belong together.
    NUMBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_live_runs_have_the_same_number_and_a_free_one_is_used_again() {
        let mut numbers = Numbers(Vec::new());
        let taken: Vec<RunNumber> = std::iter::from_fn(|| numbers.take()).collect();
        assert!(taken.iter().zip(1..=RUNS_MAX).all(|(number, n)| number.0 as usize == n));
        assert_eq!(taken.len(), RUNS_MAX);
        numbers.give(taken[6]);
        assert_eq!((numbers.take(), numbers.take()), (Some(taken[6]), None));
    }

    #[test]
    fn a_run_has_a_number_until_it_is_dropped() {
        let (first, second) = (LiveRun::begin().unwrap(), LiveRun::begin().unwrap());
        assert!(first.number() != second.number() && first.number() != RunNumber::default());
    }
}
