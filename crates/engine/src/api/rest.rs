//! A parameter that takes any number of arguments.

#![forbid(unsafe_code)]

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::args::Args;
use super::kernel::{KernelError, ParamSpec};
use super::params::KernelParam;

/// All arguments that are left, each a `P`: the last parameter of a kernel that takes a variable number of them.
///
/// `P` is any other parameter type: `Rest<&[f32]>` and `Rest<View<f32, 2>>` are tensors to read, `Rest<&mut [f32]>` tensors
/// to write, `Rest<f32>` scalars. It is an iterator that gives them in order; there may be none. Each argument is checked at
/// submit as one of type `P` would be. A task takes at most [`TENSORS_MAX`](crate::limits::TENSORS_MAX) tensors, and a kernel
/// with a `Rest` cannot be part of a mixed task.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! { static SUM = aiv fn(total: &mut [f32], parts: Rest<&[f32]>) {
///     parts.for_each(|part| total.iter_mut().zip(part).for_each(|(t, p)| *t += p));
/// } }
/// let mut data = Buffers::new();
/// let x = data.add(&[3, 2], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let total = ringlane_engine::oracle::run(&mut data, |o| {
///     let x = o.external(x)?;
///     let mut args = vec![out(f32, [2])];
///     for row in 0..3 {
///         args.push(x.select(0, row)?.read());
///     }
///     let sum = o.submit_slice(&[], &SUM, &args)?;
///     o.read::<f32>(sum.out(0))
/// })?;
/// assert_eq!(total, [9.0, 12.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct Rest<'a, P> {
    args: Args<'a>,
    left: usize,
    each: PhantomData<fn() -> P>,
}

impl<'a, P: KernelParam<'a>> KernelParam<'a> for Rest<'a, P> {
    const SPEC: ParamSpec = P::SPEC.rest();

    fn take(args: &mut Args<'a>) -> Result<Self, KernelError> {
        let args = args.take_rest();
        let left = args.count();
        Ok(Rest { args, left, each: PhantomData })
    }
}

impl<'a, P: KernelParam<'a>> Iterator for Rest<'a, P> {
    type Item = P;

    #[inline]
    fn next(&mut self) -> Option<P> {
        self.left = self.left.checked_sub(1)?;
        // A kernel whose parameters were declared as something else fails with what is wrong.
        Some(self.args.take::<P>().unwrap_or_else(|error| panic!("{error}")))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, P: KernelParam<'a>> ExactSizeIterator for Rest<'a, P> {}
impl<'a, P: KernelParam<'a>> FusedIterator for Rest<'a, P> {}

impl<P> fmt::Debug for Rest<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rest({} arguments)", self.left)
    }
}
