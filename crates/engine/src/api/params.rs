//! The types a kernel's parameters can have, and what each asks of its argument.

use ringlane_task::{BlockIndex, DType, Element};

use super::args::{Args, Wants};
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
        let part = args.next_tensor(T::DTYPE, true, Wants::Read)?;
        // SAFETY: the record is a contiguous tensor of `T` (checked) inside its space; the engine orders this
        // task against every writer of these bytes, and no argument of this task that is written overlaps it.
        Ok(unsafe { core::slice::from_raw_parts(part.base.cast(), part.elements()) })
    }
}

impl<'a, T: Element> KernelParam<'a> for &'a mut [T] {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Write, T::DTYPE, None, true);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        let part = args.next_tensor(T::DTYPE, true, Wants::Alone)?;
        // SAFETY: as for `&[T]`; in addition the argument is written, so the engine orders this task against
        // every reader too, each argument is taken once, and blocks get disjoint parts (checked at submit).
        Ok(unsafe { core::slice::from_raw_parts_mut(part.base.cast(), part.elements()) })
    }
}

impl<'a, T: Element, const R: usize> KernelParam<'a> for View<'a, T, R> {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Read, T::DTYPE, Some(R as u8), false);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        let part = args.next_tensor(T::DTYPE, false, Wants::Read)?;
        let dims = part.dims[..part.rank].try_into().map_err(|_| wrong_rank(R, part.rank))?;
        // SAFETY: the view was checked against its tensor; ordering as for `&[T]`.
        Ok(unsafe { View::new(part.base.cast(), dims) })
    }
}

impl<'a, T: Element, const R: usize> KernelParam<'a> for ViewMut<'a, T, R> {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Write, T::DTYPE, Some(R as u8), false);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        let part = args.next_tensor(T::DTYPE, false, Wants::Alone)?;
        let dims = part.dims[..part.rank].try_into().map_err(|_| wrong_rank(R, part.rank))?;
        // SAFETY: the view was checked against its tensor and, being written, shows no element twice; ordering
        // as for `&mut [T]`.
        Ok(unsafe { ViewMut::new(part.base.cast(), dims) })
    }
}

impl<'a, T: Element> KernelParam<'a> for SharedMut<'a, T> {
    const SPEC: ParamSpec = ParamSpec::new(ParamKind::Shared, T::DTYPE, None, true);
    #[inline]
    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        let part = args.next_tensor(T::DTYPE, true, Wants::Shared)?;
        // SAFETY: the record is a contiguous tensor of `T` inside its space, ordered as a write against other
        // tasks; accesses of other blocks are answered for by the kernel's own `unsafe` accesses.
        Ok(unsafe { SharedMut::new(part.base.cast(), part.elements()) })
    }
}

#[cold]
fn wrong_rank(wanted: usize, rank: usize) -> KernelError {
    KernelError::new(format_args!("the kernel takes a view of rank {wanted} here, the argument has {rank}"))
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
