//! The clock of a run, as the recorder needs it.

/// Tells the time of a run.
pub trait Clock: Send + Sync {
    /// Ticks since a moment that stays the same.
    fn now(&self) -> u64;
}
