//! Ringlane across hosts: frames through MPI, and lifelines that tell which rank died.
//!
//! ```text
//!          mpirun -n 4
//!   ┌─────────┬─────────┬─────────┐
//! rank 0 ◀─▶ rank 1 … rank 2 … rank 3        MPI: frames, see `ringlane_node::remote`
//!   └────◀────┴────◀────┴────◀────┘          lifelines: a socket each; its end is the end of a process
//! ```
//! MPI does not say which rank died: mpirun ends all of them, and a message to one that is gone may wait for ever. So each rank
//! holds a connection to rank 0 ([`lifeline`]). The kernel closes it whatever way the process ends, and rank 0 knows at once.
//!
//! `Mpi` is behind the feature `mpi`, which needs an MPI to build against (Debian: `libopenmpi-dev`, `libclang1-14`,
//! `libclang-common-14-dev`).
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod last_words;
pub mod lifeline;
pub mod limits;
#[cfg(feature = "mpi")]
mod raw;
#[cfg(feature = "mpi")]
mod world;

pub use last_words::stay_until_heard;
#[cfg(feature = "mpi")]
pub use world::Mpi;
