//! The data types of Ringlane that all other crates share.
//!
//! ```text
//! ids ─ dtype ─ access ─ view ─ scalar ──▶ blob (arguments on the wire)
//!                                  config (what a caller asks of one run)
//! ```
//!
//! Nothing here runs, starts threads or reads a clock; the crate is `no_std` so that a device can share its layouts.
//! Every layout that crosses a boundary is `repr(C)` with its size asserted at compile time.
//!
//! ```
//! use ringlane_task::{DType, TensorView};
//! let matrix = TensorView::contiguous(DType::Float32, &[64, 64]).unwrap();
//! let tile = matrix.tile(&[16, 0], &[16, 32]).unwrap();
//! assert_eq!(tile.offset_bytes(), 16 * 64 * 4);
//! assert!(!tile.is_contiguous());
//! ```
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

mod access;
#[cfg(feature = "wire")]
mod blob;
mod chip_spec;
mod config;
mod dtype;
mod explain;
mod ids;
pub mod limits;
mod pmu_error;
mod resource;
mod scalar;
#[cfg(feature = "serde")]
mod serial;
pub mod topics;
mod view;
mod view_error;

pub use access::Access;
#[cfg(feature = "wire")]
pub use blob::{
    BlobError, BlobReader, BlobTensor, BufferHandle, MAX_BLOB_BYTES, WireTensor, blob_bytes, write_blob,
};
pub use chip_spec::{ChipSpec, ControlCosts, HostMemory, LinkSpec, Rates, RecordMemory};
pub use config::{CallConfig, ConfigError, DfxFlags, Overflow};
pub use dtype::{DType, Element, UnknownDType};
pub use explain::{Explain, Reader, printable, write_explained, write_reasons};
pub use ids::{BlockIndex, CoreId, KernelId, RingIndex, ScopeId, Seq, SiteId, TaskId, Ticks};
pub use limits::{MAX_SCALARS, MAX_TENSORS, RINGS};
pub use pmu_error::UnknownPmuGroup;
pub use resource::{Capacities, Resource};
pub use scalar::Scalar;
pub use view::{Dim, MAX_RANK, TensorView};
pub use view_error::ViewError;

pub use float8::{F8E4M3, F8E5M2};
pub use half::{bf16, f16};
