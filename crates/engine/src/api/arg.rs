//! Arguments of a submit: tensors with their access, fresh outputs, scalars.

#![forbid(unsafe_code)]

use core::marker::PhantomData;

use ringlane_task::{Access, DType, Element, Scalar, TensorView, ViewError};

use super::tensor::{Tensor, TensorRef};
use crate::fault::{Error, Fault};

/// No axis: the argument is not split between blocks.
pub(crate) const NO_SPLIT: u8 = u8::MAX;

/// One argument of a submit.
// A program writes it in pieces of 16 bytes, and a submit reads it right after that. Aligned, no piece crosses a cache line, and
// the submit reads each pair of dimensions as it was written. Otherwise an Intel core cannot forward what it has just stored: the
// read waits until all earlier stores are in the cache, among them those to lines that other cores use (docs/investigations).
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Arg<'s> {
    pub(crate) kind: ArgKind,
    pub(crate) scope: PhantomData<&'s ()>,
}

/// What an argument is, without the lifetime that guards it.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum ArgKind {
    /// A tensor that exists.
    // In this order, which the layout keeps, the first two share a word with the variant's number.
    Tensor {
        /// What the task does with it.
        access: Access,
        /// The axis along which blocks share it out, or 255.
        split: u8,
        /// Which one.
        tensor: TensorRef,
        /// Which part of it.
        view: TensorView,
    },
    /// A tensor that the submit makes, from the heap ring of the scope.
    Output {
        /// Its shape.
        view: TensorView,
        /// The axis along which blocks share it out, or 255.
        split: u8,
    },
    /// A typed value.
    Scalar(Scalar),
    /// A typed value that a captured graph knows by this name.
    Param(Scalar, &'static str),
    /// What no task can be given; refused at submit.
    Bad(BadArg),
}

/// Why an argument cannot be given to any task.
#[derive(Clone, Copy, Debug)]
pub enum BadArg {
    /// An output of an impossible shape.
    Shape(ViewError),
    /// To be split between blocks along an axis that it does not have.
    Split {
        /// The axis along which.
        axis: u8,
        /// How many axes it has; a scalar none.
        rank: usize,
    },
}

impl BadArg {
    /// The error of a submit that has it as argument `arg` of a kernel.
    #[cold]
    pub(crate) fn refused(self, kernel: &str, arg: usize) -> Error {
        match self {
            BadArg::Shape(error) => error.into(),
            BadArg::Split { axis, rank } => {
                Fault::BadSplit { kernel: kernel.to_string(), arg, axis, rank }.into()
            }
        }
    }
}

impl<'s> Arg<'s> {
    /// What it is.
    #[inline]
    pub fn kind(&self) -> &ArgKind {
        &self.kind
    }

    #[inline]
    pub(crate) fn tensor(tensor: Tensor<'s>, access: Access) -> Self {
        let kind = ArgKind::Tensor { tensor: tensor.tensor, view: tensor.view, access, split: NO_SPLIT };
        Arg { kind, scope: PhantomData }
    }

    /// Shares the argument out between the blocks of the task: each gets its own part along `axis`. A scalar has no axes; a
    /// submit with one that is split is refused.
    ///
    /// ```
    /// use ringlane_engine::prelude::*;
    /// kernel! { static FILL = aiv fn(y: &mut [f32], block: Block) { y.fill(block.index.0 as f32); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let y = o.submit(FILL.blocks(2), [out(f32, [4]).split(0)])?.out(0);
    /// assert_eq!(o.read::<f32>(y)?, [0.0, 0.0, 1.0, 1.0]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn split(mut self, axis: u8) -> Self {
        match &mut self.kind {
            // The number that means no split is no axis either.
            ArgKind::Tensor { view, .. } | ArgKind::Output { view, .. } if axis == NO_SPLIT => {
                self.kind = ArgKind::Bad(BadArg::Split { axis, rank: view.rank() });
            }
            ArgKind::Tensor { split, .. } | ArgKind::Output { split, .. } => *split = axis,
            ArgKind::Scalar(_) | ArgKind::Param(..) => {
                self.kind = ArgKind::Bad(BadArg::Split { axis, rank: 0 })
            }
            ArgKind::Bad(_) => {}
        }
        self
    }
}

/// A fresh tensor that the task writes: memory comes from the heap ring of the scope.
///
/// ```
/// use ringlane_engine::prelude::*;
/// let _arg = out(f32, [16, 128]);
/// ```
#[inline]
pub fn out<'s>(dtype: DType, shape: impl AsRef<[u32]>) -> Arg<'s> {
    let kind = match TensorView::contiguous(dtype, shape.as_ref()) {
        Ok(view) => ArgKind::Output { view, split: NO_SPLIT },
        Err(error) => ArgKind::Bad(BadArg::Shape(error)),
    };
    Arg { kind, scope: PhantomData }
}

/// A value passed to the kernel, with its type.
///
/// ```
/// use ringlane_engine::prelude::*;
/// let _arg = scalar(0.125f32);
/// ```
#[inline]
pub fn scalar<'s, T: Element>(value: T) -> Arg<'s> {
    Arg { kind: ArgKind::Scalar(Scalar::new(value)), scope: PhantomData }
}

/// As [`scalar`], with a name by which [`Graph::set`](crate::graph::Graph::set) changes the value in a captured graph. In a
/// streamed run it is a plain scalar.
///
/// ```
/// use ringlane_engine::prelude::*;
/// let _arg = param("scale", 0.125f32);
/// ```
#[inline]
pub fn param<'s, T: Element>(name: &'static str, value: T) -> Arg<'s> {
    Arg { kind: ArgKind::Param(Scalar::new(value), name), scope: PhantomData }
}

/// The data types by their Rust names, as values: `out(f32, [4])`.
#[allow(non_upper_case_globals, missing_docs)]
pub mod dtypes {
    use ringlane_task::DType;
    pub const bool: DType = DType::Bool;
    pub const i8: DType = DType::Int8;
    pub const u8: DType = DType::UInt8;
    pub const i16: DType = DType::Int16;
    pub const u16: DType = DType::UInt16;
    pub const i32: DType = DType::Int32;
    pub const u32: DType = DType::UInt32;
    pub const i64: DType = DType::Int64;
    pub const u64: DType = DType::UInt64;
    pub const f16: DType = DType::Float16;
    pub const bf16: DType = DType::BFloat16;
    pub const f32: DType = DType::Float32;
    pub const f64: DType = DType::Float64;
    pub const f8_e4m3: DType = DType::Float8E4M3;
    pub const f8_e5m2: DType = DType::Float8E5M2;
}
