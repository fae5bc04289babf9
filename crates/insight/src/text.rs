//! Text of a run as it may be shown: names come from files and can hold anything.

pub use ringlane_task::printable;
