//! Ringlane across processes: workers that are children of the same executable, a node that schedules calls over them.
//!
//! ```text
//! Worker ─▶ Node: the engine, whose cores are workers
//!             │ Child::send ── mailbox ──▶ Service: reads, checks, resolves the digest, runs the callable
//!             │                              └─ Call::on_chip ─▶ WorkerBackend: a chip, brought by the facade
//!             │                              └─ Call::on_node ─▶ WorkerBackend: workers of its own, recursively
//!             ▲ answer ◀───── mailbox, and the node's bell
//!             └ a supervisor thread for each: the child's captured output, its death (pidfd), its exit
//! ```
//! Tensors are in the node's memory, which all processes below it see as it is.
// Some files are allowed some: `mailbox/region.rs` and `memory/mapping.rs` map memory, `child/spawn.rs` hands descriptors to a
// new process, `callable/call.rs`, `memory/mod.rs` and `memory/dense.rs` make slices of shared memory, `remote/bridge.rs` copies
// tensors, and `runtime` is a chip of the engine.
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod call_error;
mod callable;
mod child;
mod chip_worker;
mod clock;
mod error;
mod exit;
pub mod frame;
pub mod limits;
pub mod mailbox;
mod memory;
pub mod remote;
mod runtime;
mod service;
mod sync;
mod worker;
mod worker_backend;

pub use call_error::CallError;
pub use callable::build_id::note_plugin;
pub use callable::{
    Call, Callable, CallableFn, Digest, Registered, Signature, Tensors, WorkerKind, registered_callables,
};
pub use child::spawn::inherited;
pub use child::{Child, ChildLaunch, Process, ProcessObserver};
pub use chip_worker::ChipWorker;
pub use clock::{NODE_CLOCK_HZ, NodeClock, now_ns};
pub use error::NodeError;
pub use exit::Exit;
pub use inventory;
pub use mailbox::{CallTimes, ChipTimes, HasRunDir, Spin};
pub use memory::{Memories, SharedBuffers};
pub use ringlane_engine as engine;
pub use ringlane_task as task;
pub use runtime::{
    CallRecord, CallStatus, ClockOffset, Journal, Node, NodeOptions, NodeOrch, On, WorkerInfo, WorkerRecord,
    WorkerSpec,
};
pub use service::{Inherited, Service};
pub use worker::{Finished, RunHandle, Worker};
pub use worker_backend::{ChipProgram, NoBackend, NodeProgram, RunOutcome, Title, WorkerBackend};
