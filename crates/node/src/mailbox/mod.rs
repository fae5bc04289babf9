//! A mailbox: memory that a parent and one child share, through which one call at a time goes.
//!
//! ```text
//! parent                                     child
//!   write_request ── Idle ▶ Ready ──▶ ring     waits for Ready
//!   waits for Done or Failed                   read_request (a copy, all of it checked) ── Ready ▶ Accepted
//!                                              runs it ── Accepted ▶ Running ▶ Done
//!   read_error, if it failed ◀────── ring ──   or write_error ── … ▶ Failed
//!   Done ▶ Idle
//! ```
//! Neither side trusts the other. What is read is copied, the copy is checked, and what cannot be is
//! [`CorruptMailbox`](crate::NodeError::CorruptMailbox) with the field and its value.

mod answer;
mod bell;
mod door;
mod layout;
#[cfg(all(loom, test))]
mod loom_tests;
mod region;
mod request;
mod state;

pub use answer::{CallTimes, ChipTimes, HasRunDir};
pub(crate) use bell::Bell;
pub use door::Spin;
pub(crate) use door::{Line, Meaning, Patience, Pause, Side, Waited};
pub use layout::{DIGEST_BYTES, MAGIC, MAILBOX_BYTES, VERSION};
pub use region::Region;
pub use request::{Received, Request, Scratch};
pub use state::State;

impl Region {
    /// The state of the call.
    pub fn state(&self) -> Result<State, crate::NodeError> {
        self.layout().door.poll()
    }
}
