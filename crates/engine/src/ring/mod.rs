//! Rings: bounded memory that is handed out in order and comes back oldest first.

#![forbid(unsafe_code)]

pub mod bytes;
pub(crate) mod slots;
