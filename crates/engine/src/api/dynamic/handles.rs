//! Handles without lifetimes: each carries a stamp of the scope that made it, which is compared with the open scopes.
//!
//! A stamp is a number that no two scopes of the process share, and the scope's depth: the check is one comparison.

#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use ringlane_task::{DType, TensorView};

use super::error::DynamicError;
use crate::api::tensor::{TaskHandle, TensorRef};
use crate::fault::{Error, Fault, Result};
use crate::limits::SCOPE_DEPTH_MAX;

const DEPTH_BITS: u32 = SCOPE_DEPTH_MAX.trailing_zeros();
const _: () = assert!(SCOPE_DEPTH_MAX.is_power_of_two());

/// Identifies a scope: its number among all of the process, and below it its depth. 0 is of no scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(super) struct Stamp(u64);

impl Stamp {
    fn depth(self) -> usize {
        self.0 as usize & (SCOPE_DEPTH_MAX - 1)
    }

    fn scope(self) -> u64 {
        self.0 >> DEPTH_BITS
    }
}

/// The scopes that a program has open, the outermost first.
#[derive(Debug)]
pub(super) struct OpenScopes {
    stamps: [Stamp; SCOPE_DEPTH_MAX],
    pub(super) count: usize,
}

impl OpenScopes {
    pub(super) fn new() -> Self {
        OpenScopes { stamps: [Stamp::default(); SCOPE_DEPTH_MAX], count: 0 }
    }

    /// Takes note of a scope that was opened; the engine opens no more than there is room for.
    pub(super) fn push(&mut self) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let scope = NEXT.fetch_add(1, Ordering::Relaxed);
        self.stamps[self.count] = Stamp(scope << DEPTH_BITS | self.count as u64);
        self.count += 1;
    }

    pub(super) fn pop(&mut self) {
        self.count -= 1;
        self.stamps[self.count] = Stamp::default();
    }

    /// The stamp of what is made now.
    #[inline]
    pub(super) fn innermost(&self) -> Stamp {
        self.stamps[self.count - 1]
    }

    /// Refuses what was made in a scope that is not open.
    #[inline]
    pub(super) fn check(&self, what: &'static str, stamp: Stamp) -> Result<()> {
        // A stamp of 0 equals an empty place.
        if self.stamps[stamp.depth()] == stamp && stamp != Stamp::default() {
            Ok(())
        } else {
            Err(self.stale(what, stamp))
        }
    }

    #[cold]
    fn stale(&self, what: &'static str, stamp: Stamp) -> Error {
        let depth = stamp.depth();
        let current = Some(self.stamps[depth].scope()).filter(|_| depth < self.count);
        Fault::Dynamic(DynamicError::StaleHandle { what, scope: stamp.scope(), depth, current }).into()
    }
}

/// A tensor, or a view of one, of a program that is known only at run time. See [the module](super).
///
/// The default belongs to no run: every use of it is a `StaleHandle`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DynTensor {
    pub(super) stamp: Stamp,
    pub(super) tensor: TensorRef,
    pub(super) view: TensorView,
}

impl DynTensor {
    /// The window of `len[i]` elements from `start[i]` along each dimension.
    pub fn tile(&self, start: &[u32], len: &[u32]) -> Result<Self> {
        Ok(DynTensor { view: self.view.tile(start, len)?, ..*self })
    }

    /// The window of `len` elements from `start` along one dimension.
    pub fn slice(&self, axis: usize, start: u32, len: u32) -> Result<Self> {
        Ok(DynTensor { view: self.view.slice(axis, start, len)?, ..*self })
    }

    /// The elements at one index of a dimension, which is dropped.
    pub fn select(&self, axis: usize, index: u32) -> Result<Self> {
        Ok(DynTensor { view: self.view.select(axis, index)?, ..*self })
    }

    /// The same elements with two dimensions exchanged.
    pub fn transpose(&self, a: usize, b: usize) -> Result<Self> {
        Ok(DynTensor { view: self.view.transpose(a, b)?, ..*self })
    }

    /// The same elements under another shape; only for contiguous views.
    pub fn reshape(&self, shape: &[u32]) -> Result<Self> {
        Ok(DynTensor { view: self.view.reshape(shape)?, ..*self })
    }

    /// The view repeated `len` times along a new leading dimension; only for reads.
    pub fn broadcast(&self, len: u32) -> Result<Self> {
        Ok(DynTensor { view: self.view.broadcast(len)?, ..*self })
    }

    /// Which of its tensor's elements it shows.
    pub fn view(&self) -> &TensorView {
        &self.view
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.view.dtype()
    }

    /// The lengths of the dimensions.
    pub fn shape(&self) -> Vec<u32> {
        self.view.shape()
    }
}

impl Default for DynTensor {
    fn default() -> Self {
        let view = TensorView::contiguous(DType::UInt8, &[1]).expect("one byte is a view");
        DynTensor { stamp: Stamp::default(), tensor: TensorRef::default(), view }
    }
}

/// A submitted task of a program that is known only at run time, for explicit edges.
///
/// The default belongs to no run: every use of it is a `StaleHandle`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct DynTask {
    pub(super) stamp: Stamp,
    pub(super) task: TaskHandle,
}

const _: () = assert!(size_of::<DynTensor>() == 96 && size_of::<DynTask>() == 16);
