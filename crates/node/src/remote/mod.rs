//! Workers on other hosts: rank 0 schedules, every other rank serves.
//!
//! ```text
//! rank 0                                              rank 1, 2, …
//!   Ranks::greet ◀──────────── Hello ────────────────   serve(transport, service)
//!   Ranks::set_up(rank, …) ─── SetUp ────────────────▶   makes ready for runs that are asked for this, answers
//!   Ranks::send(rank, call) ── Call ─────────────────▶   places the buffers, runs, answers
//!   Ranks::next ◀───────────── Answer ───────────────
//!   Ranks::shutdown ── Shutdown ─▶ ◀── Goodbye ───────
//! ```
//! A worker holds buffers for its scheduler ([`Store`]) under names that the scheduler gives. The way between them is a
//! [`Transport`]: MPI in `ringlane-mpi`, channels between threads in tests. A rank that dies ends the run with
//! [`RemoteError::RankDied`], which names it: ranks are not started again.

mod bridge;
#[cfg(test)]
mod bridge_tests;
mod calls;
mod error;
mod link;
mod peer;
mod ranks;
mod serve;
mod store;
#[cfg(test)]
mod tests;
mod transport;

pub use bridge::{Bridged, bridge};
pub use calls::CallService;
pub use error::RemoteError;
pub(crate) use link::Berth;
pub use link::RankLink;
pub use peer::Peer;
pub use ranks::{Answered, Ranks, Request};
pub use serve::{Offer, RankService, serve};
pub use store::{Buffer, Store};
pub use transport::{LocalRank, Rank, Transport, TransportError};
