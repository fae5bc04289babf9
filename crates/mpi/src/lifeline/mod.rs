//! Lifelines: a connection from every rank to rank 0 that carries nothing but a goodbye.
//!
//! ```text
//! rank 0: Listener::open ── Invitation (through MPI) ──▶ rank k: join
//!         Listener::gather ◀── token, rank ─────────────
//!         Watch ◀═════════════════════════════════▶ Watch      one thread each, asleep in poll
//! ```
//! A line that ends without a goodbye means that the process has ended. mpirun ends the whole job when one rank dies,
//! with SIGTERM to the others; they survive it for a moment, so that the first line to end is that of the rank that
//! died first.

mod invitation;
mod listener;
#[cfg(test)]
mod tests;
mod watch;

pub use invitation::{INVITATION_BYTES, Invitation};
pub use listener::{Listener, Reach, join};
pub use watch::{End, ShutdownRules, Watch};
