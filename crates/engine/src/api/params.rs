//! The types a kernel's parameters can have, and what each asks of its argument.

#![forbid(unsafe_code)]

use ringlane_task::{BlockIndex, DType, Element};

use super::args::Args;
use super::kernel::{KernelError, ParamKind, ParamSpec};
use super::views::{SharedMut, View, ViewMut};

/// A type that can be a parameter of a kernel.
///
/// Implemented for `&[T]`, `&mut [T]`, [`View`], [`ViewMut`], [`SharedMut`], every scalar type and [`Block`].
pub trait KernelParam<'a>: Sized {
    /// What the argument must be; checked at submit.
    const SPEC: ParamSpec;
    /// Takes the next argument.
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError>;
}

/// A kernel's own place among the blocks of its task; takes no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// This block's index, from 0.
    pub index: BlockIndex,
    /// Number of blocks.
    pub count: u32,
}

impl<'a> KernelParam<'a> for Block {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Context, DType::UInt32, None, false);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        Ok(Block { index: args.block(), count: args.block_count() })
    }
}

impl<'a, T: Element> KernelParam<'a> for &'a [T] {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Read, T::DTYPE, None, true);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        args.next_slice()
    }
}

impl<'a, T: Element> KernelParam<'a> for &'a mut [T] {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Write, T::DTYPE, None, true);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        args.next_slice_mut()
    }
}

impl<'a, T: Element, const R: usize> KernelParam<'a> for View<'a, T, R> {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Read, T::DTYPE, Some(R as u8), false);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        args.next_view()
    }
}

impl<'a, T: Element, const R: usize> KernelParam<'a> for ViewMut<'a, T, R> {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Write, T::DTYPE, Some(R as u8), false);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        args.next_view_mut()
    }
}

impl<'a, T: Element> KernelParam<'a> for SharedMut<'a, T> {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Shared, T::DTYPE, None, true);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        args.next_shared()
    }
}

macro_rules! scalar_params {
    ($($ty:ty),*) => {$(
        impl<'a> KernelParam<'a> for $ty {
            const SPEC: ParamSpec = ParamSpec::new(ParamKind::Scalar, <$ty as Element>::DTYPE, None, false);
            #[inline]
            fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
                let bits = args.next_scalar(<$ty as Element>::DTYPE)?;
                let scalar = ringlane_task::Scalar::from_bits(bits, <$ty as Element>::DTYPE);
                Ok(scalar.and_then(|s| s.get()).unwrap_or_default())
            }
        }
    )*};
}

scalar_params!(
    bool,
    i8,
    u8,
    i16,
    u16,
    i32,
    u32,
    i64,
    u64,
    f32,
    f64,
    ringlane_task::f16,
    ringlane_task::bf16,
    ringlane_task::F8E4M3,
    ringlane_task::F8E5M2
);
