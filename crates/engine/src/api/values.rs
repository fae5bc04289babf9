//! Values of tensors on their way to and from the orchestration: typed there, bytes to a backend.
//!
//! A tensor of type `T` holds valid `T`s at all times: it begins as zeros or as values of a `[T]`, and kernels write it as
//! `T`s (each argument is checked against the parameter that takes it).

use core::panic::Location;

use ringlane_task::Element;

use super::backend::{Contents, Reading, Site};
use super::buffers::checked_view;
use super::orch::Orch;
use super::tensor::Tensor;
use crate::fault::{Error, Fault, Result};

impl<'s, 'p: 's> Orch<'s, 'p> {
    /// Makes a tensor of values that the orchestration has, for what it learns or computes while the run goes on. It is
    /// a task without a kernel, as [`alloc`](Self::alloc), and lives as long as this scope. The values are copied before
    /// the call returns (a copy over the link on a chip whose memory the host does not see).
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SUM = any fn(x: &[u32], y: &mut [u32]) { y[0] = x.iter().sum(); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let table: Vec<u32> = (0..4).collect();
    /// let x = o.upload(&table, [2, 2])?;
    /// drop(table); // it was copied
    /// let sum = o.submit(&SUM, [x.read(), out(u32, [1])])?;
    /// assert_eq!(o.read::<u32>(sum.out(0))?, [6]);
    /// assert_eq!(o.upload(&[1u32; 3], [2, 2]).unwrap_err().name(), "BufferLength");
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn upload<T: Element>(&mut self, values: &[T], shape: impl AsRef<[u32]>) -> Result<Tensor<'s>> {
        let site = Location::caller();
        let view = checked_view::<T>(shape.as_ref(), values.len()).map_err(|error| error.at(site))?;
        let made = self.backend.alloc(view, Contents::Host(bytes_of(values)), site);
        let tensor = made.map_err(|error| error.at(site))?;
        Ok(Tensor::new(tensor, view))
    }

    /// Waits for the writers of a tensor submitted so far and copies its values out, so that the code can decide.
    /// Gives the producer's error if it failed or was skipped.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let made = o.submit(&SET, [out(u32, [1]), scalar(5u32)])?.out(0);
    /// if o.read::<u32>(made)?[0] > 3 {
    ///     o.submit(&SET, [made.write(), scalar(0u32)])?; // submitted because of what was computed
    /// }
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn read<T: Element>(&mut self, tensor: Tensor<'s>) -> Result<Vec<T>> {
        let site = Location::caller();
        check_type::<T>(&tensor, site)?;
        let (elements, bytes) = (tensor.view.elements() as usize, tensor.view.bytes());
        let mut values = Vec::<T>::new();
        let refused = |_| Error::from(Fault::OutOfMemory { what: "values that are read", bytes }).at(site);
        values.try_reserve_exact(elements).map_err(refused)?;
        let (target, mut filled) = (values.as_mut_ptr().cast::<u8>(), 0);
        let sink = &mut |piece: &[u8]| {
            assert!(piece.len() <= bytes as usize - filled, "a backend hands over no more than the view");
            // SAFETY: there is room for the view's bytes, and those before this piece are filled.
            unsafe { core::ptr::copy_nonoverlapping(piece.as_ptr(), target.add(filled), piece.len()) };
            filled += piece.len();
        };
        let read = self.backend.read(tensor.tensor, &tensor.view, Reading::Copy, sink);
        read.map_err(|error| error.at(site))?;
        assert_eq!(filled as u64, bytes, "a backend hands over the whole view");
        // SAFETY: all of them were filled, with valid `T`s in logical order.
        unsafe { values.set_len(elements) };
        Ok(values)
    }

    /// Waits for the writers of a tensor submitted so far and shows its values where they are, without a copy. The tensor
    /// must be contiguous, and the host must see the chip's memory: where it does not, the error is `NotMapped`.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let made = o.submit(&SET, [out(u32, [4]), scalar(5u32)])?.out(0);
    /// assert_eq!(o.with_slice(made, |values: &[u32]| values.iter().sum::<u32>())?, 20);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn with_slice<T: Element, R>(&mut self, tensor: Tensor<'s>, f: impl FnOnce(&[T]) -> R) -> Result<R> {
        let site = Location::caller();
        check_type::<T>(&tensor, site)?;
        let (elements, mut f, mut answer) = (tensor.view.elements() as usize, Some(f), None);
        let sink = &mut |bytes: &[u8]| {
            assert_eq!(bytes.len(), elements * size_of::<T>(), "a backend shows the whole view");
            assert!(bytes.as_ptr().cast::<T>().is_aligned(), "tensors are aligned for their type");
            // SAFETY: `elements` valid `T`s, aligned, which nobody writes while they are shown.
            let values = unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), elements) };
            answer = f.take().map(|f| f(values));
        };
        self.backend
            .read(tensor.tensor, &tensor.view, Reading::InPlace, sink)
            .map_err(|error| error.at(site))?;
        Ok(answer.expect("a backend that does not fail shows the values once"))
    }
}

/// The bytes of values.
pub(crate) fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: the bytes of a slice; an `Element` has no padding.
    unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of values, to be overwritten with those of others of the type.
pub(crate) fn bytes_of_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: the bytes of a slice; an `Element` has no padding, and a backend writes valid ones.
    unsafe { core::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// Refuses to read a tensor as another type than its own.
fn check_type<T: Element>(tensor: &Tensor<'_>, site: Site) -> Result<()> {
    if tensor.dtype() == T::DTYPE {
        return Ok(());
    }
    Err(Error::from(Fault::ReadDType { tensor: tensor.dtype(), asked: T::DTYPE }).at(site))
}
