//! Ringlane across processes: children of the same executable, one mailbox each, and functions to call in them.
//!
//! ```text
//! parent                                       child (the same executable, `worker --mailbox-fd N`)
//!   Child::start(&Launch) ──── exec ─────────▶   serve
//!   Child::call(&CALLABLE, …) ── mailbox ────▶   reads, checks, resolves the digest, runs
//!          ▲ Result ◀─────────── mailbox ─────── done, or an error of three texts
//!   a keeper thread: the child's last words, its death (pidfd), its exit
//! ```
//! This is the lower half of a node: one call to one child. Who calls whom when is not decided here.
// Two files are allowed some: `mailbox/region.rs` maps memory, and `child/spawn.rs` hands a descriptor to a new process.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod call_error;
mod callable;
mod child;
mod error;
mod exit;
pub mod limits;
pub mod mailbox;
mod sync;
mod worker;

pub use call_error::CallError;
pub use callable::{Callable, CallableFn, Digest, Registered, Signature, registered_callables};
pub use child::spawn::inherited;
pub use child::{Child, Launch, Listener, Process};
pub use error::NodeError;
pub use exit::Exit;
pub use inventory;
pub use mailbox::Spin;
pub use ringlane_task as task;
pub use worker::serve;
