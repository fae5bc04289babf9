//! The clock of a run, as the recorder needs it.

/// The clock of a run.
pub trait Clock: Send + Sync {
    /// Ticks since a moment that stays the same.
    fn now(&self) -> u64;
}
