//! Ringlane across hosts: frames through MPI, and lifelines that show which rank died.
//!
//! ```text
//!          mpirun -n 4
//!   ┌─────────┬─────────┬─────────┐
//! rank 0 ◀─▶ rank 1 … rank 2 … rank 3        MPI: frames, see `ringlane_node::remote`
//!   └────◀────┴────◀────┴────◀────┘          lifelines: a socket each; its end is the end of a process
//! ```
//! MPI does not report which rank died: mpirun ends all of them, and a message to a dead rank may wait forever. So
//! each rank keeps a connection to rank 0 ([`lifeline`]). The kernel closes it however the process ends, and rank 0
//! notices at once.
//!
//! `Mpi` requires the feature `mpi`, which needs an MPI installation to build (Debian: `libopenmpi-dev`,
//! `libclang1-14`, `libclang-common-14-dev`).
#![deny(unsafe_code)]
#![deny(missing_docs)]

pub mod lifeline;
pub mod limits;
#[cfg(feature = "mpi")]
mod raw;
mod stderr;
#[cfg(feature = "mpi")]
mod world;

pub use stderr::wait_until_stderr_is_read;
#[cfg(feature = "mpi")]
pub use world::Mpi;
