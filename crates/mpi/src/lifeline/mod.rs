//! Lifelines: a connection from every rank to rank 0, over which nothing is said but goodbye.
//!
//! ```text
//! rank 0: Gate::open ── Invitation (through MPI) ──▶ rank k: join
//!         Gate::gather ◀── token, rank ─────────────
//!         Watch ◀═════════════════════════════════▶ Watch      one thread each, asleep in poll
//! ```
//! A line that ends without a goodbye is a process that has ended. mpirun ends the whole job when one rank dies, with SIGTERM to
//! the others; they outlive it for a moment, so that the first line to end is that of the rank that died by itself.

mod gate;
mod invitation;
#[cfg(test)]
mod tests;
mod watch;

pub use gate::{Gate, Reach, join};
pub use invitation::{INVITATION_BYTES, Invitation};
pub use watch::{End, Manners, Watch};
