//! What a user's program touches: kernels, tensors, arguments, the orchestrator's face, external buffers.
//!
//! Everything here is safe to use wrongly: a wrong count, type, rank, tile or handle is an error at submit
//! or does not compile. The engine proper is called through [`backend::Backend`].

pub mod annotations;
pub mod arg;
pub mod args;
pub mod backend;
pub mod block_view;
pub mod buffers;
pub mod dynamic;
pub mod kernel;
pub mod kernel_result;
pub mod launch;
pub mod orch;
pub mod params;
pub mod rest;
pub mod submitted;
pub mod tensor;
pub mod values;
pub mod views;
pub mod vouched;
