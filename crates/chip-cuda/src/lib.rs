//! The cuda chip: tasks on an NVIDIA GPU.
//!
//! ```text
//! engine ──tasks──▶ chip ──batches──▶ batch ──lists of entries──▶ launcher ──▶ device: a GPU, or threads of this machine
//! kernels ──bodies──▶ source ──▶ NVRTC, or the C++ compiler ──────────────────────────▶ device/worker.h runs the lists
//! ```
//! The engine infers the dependencies; the device resolves them: each of its blocks works off a list of entries and waits for the
//! flags of what an entry follows. `docs/cuda.md` describes how to write a body, and what the limits are.

mod alone;
mod bare;
mod batch;
mod cache;
mod chip;
mod clock;
mod device;
mod encode;
mod entry;
pub mod error;
mod expected;
mod externals;
mod gpu;
mod gpu_graph;
mod host_threads;
mod launcher;
mod launches;
mod lists;
mod memory;
mod nodes;
mod nvrtc;
mod peak;
mod pending;
pub mod planted;
mod policy;
mod pool;
mod replay;
pub mod resources;
mod runtime;
mod silence;
pub mod source;

pub use bare::BareDevice;
pub use clock::CudaClock;
pub use runtime::CudaRuntime;
