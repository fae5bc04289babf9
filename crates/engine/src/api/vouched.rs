//! What a program vouches for itself: accesses that the engine does not order.
//!
//! Everything else that a program can say keeps its tasks from racing. These leave it to the program, and so does
//! [`SharedMut`](super::views::SharedMut) among the blocks of one task.

use core::marker::PhantomData;
use core::panic::Location;

use ringlane_task::Access;

use super::arg::{Arg, ArgKind};
use super::backend::{Backend, Inference};
use super::dynamic::{DynOrch, DynTensor, Submission};
use super::orch::Orch;
use super::tensor::Tensor;
use crate::fault::Result;

impl<'s, 'p: 's> Orch<'s, 'p> {
    /// As [`scope`](Self::scope), without dependency inference inside: only explicit edges order its tasks.
    ///
    /// # Safety
    /// The caller vouches that the tasks inside do not race with each other or with tasks before them.
    #[track_caller]
    pub unsafe fn manual_scope<R>(
        &mut self,
        f: impl for<'c> FnOnce(&mut Orch<'c, 's>) -> Result<R>,
    ) -> Result<R> {
        self.scope_with(Inference::Off, Location::caller(), f)
    }

    /// The runtime itself, without lifetimes that guard handles: for a program that was recorded, and whose handles are known
    /// only at run time. A stale handle is an error, as everywhere.
    ///
    /// # Safety
    /// Every view that the caller passes is inside its tensor, no task races with another, and the caller ends each scope
    /// that it begins, and no other.
    pub unsafe fn backend(&mut self) -> &mut (dyn Backend + 's) {
        &mut *self.backend
    }
}

impl DynOrch<'_> {
    /// As [`begin_scope`](Self::begin_scope), without dependency inference inside: only explicit edges order its tasks.
    ///
    /// # Safety
    /// The caller vouches that the tasks inside do not race with each other or with tasks before them.
    #[track_caller]
    pub unsafe fn begin_manual_scope(&mut self, label: Option<&str>) -> Result<()> {
        self.begin(label, Inference::Off, Location::caller())
    }
}

impl Submission<'_, '_, '_> {
    /// The next argument: a tensor that the dependency inference does not follow.
    ///
    /// # Safety
    /// As for [`Tensor::no_dep`].
    pub unsafe fn no_dep(&mut self, tensor: &DynTensor) -> Result<()> {
        self.push_tensor(tensor, Access::NoDep, None)
    }
}

impl Arg<'_> {
    /// An argument of any kind.
    ///
    /// # Safety
    /// The view of a tensor is inside the tensor, and the tensor was made in a scope that is open; the access is as for
    /// [`no_dep`](Tensor::no_dep) if it is `no_dep`.
    #[inline]
    pub const unsafe fn from_kind(kind: ArgKind) -> Self {
        Arg { kind, scope: PhantomData }
    }
}

impl<'s> Tensor<'s> {
    /// As an argument that the dependency inference does not follow.
    ///
    /// # Safety
    /// The caller vouches that no task accesses these bytes at the same time in a way that races with this
    /// one, and that ordering, where it matters, comes from explicit edges.
    #[inline]
    pub unsafe fn no_dep(self) -> Arg<'s> {
        Arg::tensor(self, Access::NoDep)
    }
}
