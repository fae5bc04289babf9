//! Rings: bounded memory that is handed out in order and comes back oldest first.

pub mod bytes;
pub(crate) mod slots;
