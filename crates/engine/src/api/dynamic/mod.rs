//! The same engine for programs that are known only at run time: those of other languages, of plugins, of interpreters.
//!
//! [`Orch`](super::orch::Orch) keeps handles inside their scopes with lifetimes, and kernels are statics. Here both are values:
//!
//! ```text
//! DynKernel::new(name, core, params, body) ──▶ .cost(…) .cuda(…) ──▶ .build()? : &'static Kernel
//! o.dynamic(|d| …)  ──▶  d : DynOrch
//!     d.external(buffer)? · d.alloc(dtype, shape)? · d.upload(dtype, shape, bytes)?    : DynTensor
//!     tensor.tile(start, len)? · slice · select · transpose · reshape · broadcast      : DynTensor
//!     let mut s = d.submit(&KERNEL.blocks(4).labelled("x"));    a submission, argument by argument
//!     s.read(&x)? · s.write(&y)? · s.inout(&z)? · s.tensor(&x, access, split)? · s.output(dtype, shape, split)?
//!     s.scalar(value)? · s.param("name", value)? · s.after(&task)? · s.mark(&[0])
//!     let made = s.send()?;    made.task() : DynTask · made.outs() : the tensors that the outputs are
//!     d.begin_scope(Some("layer 3"))? … d.end_scope()? · d.barrier()? · d.read(&x, &mut bytes)? · d.show(&x, |bytes| …)?
//! ```
//!
//! **Handles.** [`DynTensor`] and [`DynTask`] are plain values that can be copied and kept; each carries the scope that made it.
//! Every use is checked: a handle of a scope that has ended, of another run, or of a run that is over is the error
//! `StaleHandle`. Views are checked when they are made, as in Rust.
//!
//! **Scopes** begin and end by separate calls, in the order of a stack. Scopes that are still open when the program returns are
//! ended, and a program that otherwise succeeded gets the error `ScopeNotEnded`.
//!
//! **Kernels.** A body is a closure over [`Args`](super::args::Args): it takes typed arguments, or any argument as it comes with
//! [`Args::next_any`](super::args::Args::next_any): an address with shape and strides, or a scalar. A kernel that is built lives
//! as long as the process: tasks, recordings and captured graphs refer to it without counting. So make kernels once, not once a
//! run; more than [`DYNAMIC_KERNELS_MAX`](crate::limits::DYNAMIC_KERNELS_MAX) are the error `TooManyKernels`.
//!
//! **Buffers** are lent with [`Buffers::lend_strided`](super::buffers::Buffers::lend_strided): an address, a shape, strides, a
//! type and a permission. Nothing is copied.
//!
//! ```
//! use ringlane_engine::api::dynamic::{AnyArg, DynKernel};
//! use ringlane_engine::prelude::*;
//! use ringlane_task::Scalar;
//!
//! let factor = 3.0; // known only at run time
//! let params = vec![<&[f32]>::SPEC, <&mut [f32]>::SPEC];
//! let scale = DynKernel::new("SCALE", CoreType::Aiv, params, move |args| {
//!     let (x, y) = (args.take::<&[f32]>()?, args.take::<&mut [f32]>()?);
//!     y.iter_mut().zip(x).for_each(|(y, x)| *y = factor * x);
//!     Ok(())
//! })
//! .build()?;
//!
//! let mut data = Buffers::new();
//! let x = data.add(&[4], &[1.0f32, 2.0, 3.0, 4.0])?;
//! let values = ringlane_engine::oracle::run(&mut data, |o| {
//!     o.dynamic(|d| {
//!         let x = d.external(x)?;
//!         let mut submission = d.submit(scale);
//!         submission.read(&x)?;
//!         submission.output(DType::Float32, &[4], None)?;
//!         let made = submission.send()?;
//!         let y = made.outs().next().expect("one output");
//!         d.read_values::<f32>(&y.slice(0, 1, 2)?)
//!     })
//! })?;
//! assert_eq!(values, [6.0, 9.0]);
//! # Ok::<(), Error>(())
//! ```

mod any_arg;
mod error;
mod handles;
mod kernel;
mod names;
mod orch;
mod submission;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

pub use any_arg::{AnyArg, RawTensor};
pub use error::DynamicError;
pub use handles::{DynTask, DynTensor};
pub use kernel::{CostValue, CudaText, DynBody, DynCost, DynKernel};
pub use names::static_name;
pub use orch::DynOrch;
pub use submission::{DynSubmitted, Submission};
