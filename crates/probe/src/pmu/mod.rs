//! The processor's own counters, read by the thread whose work they count.
//!
//! A [`Group`] is a few counters that run together; [`Counters`] are the group of one thread, read with one system call.
//! They count the thread's own code and not the kernel's, which needs no right beyond the usual. They are never
//! time-shared with other counters: a value is a count and not an estimate, and where that is not possible it is refused.
//!
//! Many virtual machines have no counters at all. Then [`PmuUnavailable`] says so in one line, and the caller
//! goes on with the time-stamp counter and calls it group 0.
//!
//! The system call is made here, with a structure of its first published size, instead of through a library: there is
//! one way to open a counter here, and one to read a group.

mod counters;
mod error;
mod group;

pub use counters::{COUNTERS_MAX, Counters};
pub use error::PmuUnavailable;
pub use group::Group;
