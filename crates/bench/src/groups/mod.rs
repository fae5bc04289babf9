//! The benchmarks, one file each.

pub mod alloc;
pub mod cuda;
pub mod dfx;
pub mod mailbox;
pub mod memory;
pub mod overlap;
pub mod replay;
pub mod scaling;
pub mod sim;
pub mod submit;
pub mod what_if;
pub mod workloads;
