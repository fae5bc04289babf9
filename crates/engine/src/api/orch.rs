//! The orchestrator's face: what the user's function gets to submit with.
//!
//! `'s` is the current scope and `'p` the one around it. `Orch` is invariant in `'s` while tensors are
//! covariant, so handles from outside work inside and nothing made inside can leave:
//!
//! ```compile_fail
//! use ringlane_engine::prelude::*;
//! fn escape<'s>(o: &mut Orch<'s, '_>) -> Result<Tensor<'s>> {
//!     o.scope(|o| o.alloc(f32, [4]))            // the handle's scope ends here
//! }
//! ```
//! ```compile_fail,E0521
//! use ringlane_engine::prelude::*;
//! fn capture<'s>(o: &mut Orch<'s, '_>) -> Result<()> {
//!     let mut kept = None;
//!     o.scope(|o| { kept = Some(o.alloc(f32, [4])?); Ok(()) })
//! }
//! ```
//! ```compile_fail,E0501
//! use ringlane_engine::prelude::*;
//! fn outer_inside<'s>(o: &mut Orch<'s, '_>) -> Result<()> {
//!     o.scope(|_inner| { o.alloc(f32, [4])?; Ok(()) })
//! }
//! ```
//! ```compile_fail,E0521
//! use ringlane_engine::prelude::*;
//! fn used_after<'s>(o: &mut Orch<'s, '_>) -> Result<()> {
//!     let mut tasks = vec![];
//!     o.scope(|o| { tasks.push(o.barrier()?); Ok(()) })?;
//!     drop(tasks);
//!     Ok(())
//! }
//! ```
//! ```
//! use ringlane_engine::prelude::*;
//! fn outer_handles_work_inside<'s>(o: &mut Orch<'s, '_>) -> Result<()> {
//!     let outside = o.alloc(f32, [4])?;
//!     o.scope(|o| o.read::<f32>(outside).map(drop))
//! }
//! ```

#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::panic::Location;

use ringlane_task::{DType, TensorView};

use super::arg::{Arg, ArgKind};
use super::backend::{Backend, Call, Contents, Inference, Site};
use super::buffers::BufferId;
use super::launch::Launch;
use super::submitted::{Submitted, SubmittedSlice};
use super::tensor::{Task, TaskHandle, Tensor, TensorRef};
use crate::fault::{Error, Result};
use crate::limits::LABEL_BYTES_MAX;

/// Submits tasks, opens scopes, reads values: the user's side of a run.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! { static DOUBLE = aiv fn(x: &[f32], y: &mut [f32]) {
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x);
/// } }
/// let mut data = Buffers::new();
/// let x = data.add(&[2], &[1.0f32, 2.0])?;
/// let values = ringlane_engine::oracle::run(&mut data, |o| {
///     let x = o.external(x)?;
///     let doubled = o.submit(&DOUBLE, [x.read(), out(f32, [2])])?;
///     o.read::<f32>(doubled.out(0))
/// })?;
/// assert_eq!(values, [2.0, 4.0]);
/// # Ok::<(), ringlane_engine::Error>(())
/// ```
pub struct Orch<'s, 'p: 's> {
    // A mutable borrow of what lives for `'s`: invariant in `'s`.
    pub(super) backend: &'s mut (dyn Backend + 's),
    /// Carries the bound `'p: 's`.
    outer: PhantomData<&'p ()>,
}

/// Ends a scope when it is dropped: also when the scope's code panics.
struct ScopeGuard<'b>(&'b mut (dyn Backend + 'b));

impl ScopeGuard<'_> {
    fn end(self) -> Result<()> {
        ManuallyDrop::new(self).0.exit_scope()
    }
}

impl Drop for ScopeGuard<'_> {
    fn drop(&mut self) {
        // Reached only while unwinding; an error of the exit is superseded by that.
        let _ = self.0.exit_scope();
    }
}

impl<'s, 'p: 's> Orch<'s, 'p> {
    /// Runs an orchestration on a backend.
    pub(crate) fn on<R>(backend: &mut dyn Backend, f: impl for<'r> FnOnce(&mut Orch<'r, 'p>) -> R) -> R {
        f(&mut Orch { backend: &mut *backend, outer: PhantomData })
    }

    /// Submits a task. Its dependencies follow from the tensors it touches.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let made = o.submit(&SET, [out(u32, [4]), scalar(7u32)])?;
    /// o.submit(&SET, [made.out(0).slice(0, 0, 2)?.write(), scalar(1u32)])?; // waits for the first
    /// assert_eq!(o.read::<u32>(made.out(0))?, [1, 1, 7, 7]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[inline]
    pub fn submit<'l, const N: usize>(
        &mut self,
        launch: impl Into<Launch<'l>>,
        args: [Arg<'s>; N],
    ) -> Result<Submitted<'s, N>> {
        self.submit_array(&launch.into(), &args, &[], Location::caller())
    }

    /// Submits a task that also follows the given ones.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let first = o.submit(&SET, [out(u32, [1]), scalar(1u32)])?.task();
    /// o.submit_after(&[first], &SET, [out(u32, [1]), scalar(2u32)])?; // skipped if the first fails
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn submit_after<'l, const N: usize>(
        &mut self,
        after: &[Task<'s>],
        launch: impl Into<Launch<'l>>,
        args: [Arg<'s>; N],
    ) -> Result<Submitted<'s, N>> {
        let after: Vec<TaskHandle> = after.iter().map(|t| t.task).collect();
        self.submit_array(&launch.into(), &args, &after, Location::caller())
    }

    #[inline]
    fn submit_array<const N: usize>(
        &mut self,
        launch: &Launch<'_>,
        args: &[Arg<'s>; N],
        after: &[TaskHandle],
        site: Site,
    ) -> Result<Submitted<'s, N>> {
        let mut refs = [TensorRef::default(); N];
        let call = Call { launch, args, after, site };
        let task = self.backend.submit(&call, &mut refs).map_err(|error| error.at(site))?;
        let mut submitted = Submitted { task, outs: [const { MaybeUninit::uninit() }; N], made: 0 };
        for arg in args {
            if let ArgKind::Output { view, .. } = arg.kind {
                submitted.outs[submitted.made].write(Tensor::new(refs[submitted.made], view));
                submitted.made += 1;
            }
        }
        Ok(submitted)
    }

    /// Submits a task whose number of arguments is known only at run time.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let args = vec![out(u32, [2]), scalar(3u32)];
    /// let made = o.submit_slice(&[], &SET, &args)?;
    /// assert_eq!(o.read::<u32>(made.out(0))?, [3, 3]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn submit_slice<'l>(
        &mut self,
        after: &[Task<'s>],
        launch: impl Into<Launch<'l>>,
        args: &[Arg<'s>],
    ) -> Result<SubmittedSlice<'s>> {
        let after: Vec<TaskHandle> = after.iter().map(|t| t.task).collect();
        let mut refs = vec![TensorRef::default(); args.len()];
        let site = Location::caller();
        let call = Call { launch: &launch.into(), args, after: &after, site };
        let task = self.backend.submit(&call, &mut refs).map_err(|error| error.at(site))?;
        let views = args.iter().filter_map(|arg| match arg.kind {
            ArgKind::Output { view, .. } => Some(view),
            _ => None,
        });
        Ok(SubmittedSlice { task, outs: views.zip(refs).map(|(view, t)| Tensor::new(t, view)).collect() })
    }

    /// Marks arguments of the next submit, by index, to be captured where arguments are captured (`--dump-tensor`); costs
    /// nothing where they are not. Returns the orchestrator, so that the call can precede the submit that it is about.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// o.dump(&[0]).submit(&SET, [out(u32, [2]), scalar(3u32)])?; // captures what SET wrote
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    pub fn dump(&mut self, args: &[u16]) -> &mut Self {
        self.backend.mark(args);
        self
    }

    /// Makes a tensor, all zero, that lives as long as this scope.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let x = o.alloc(f32, [2, 2])?;
    /// assert_eq!(o.read::<f32>(x)?, [0.0; 4]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn alloc(&mut self, dtype: DType, shape: impl AsRef<[u32]>) -> Result<Tensor<'s>> {
        let site = Location::caller();
        let view =
            TensorView::contiguous(dtype, shape.as_ref()).map_err(|error| Error::from(error).at(site))?;
        let made = self.backend.alloc(view, Contents::Zeros, site);
        let tensor = made.map_err(|error| error.at(site))?;
        Ok(Tensor::new(tensor, view))
    }

    /// A task that runs no kernel: it follows everything submitted so far in this scope, and everything
    /// submitted later in this scope follows it.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// o.submit(&SET, [out(u32, [1]), scalar(1u32)])?;
    /// o.barrier()?;
    /// o.submit(&SET, [out(u32, [1]), scalar(2u32)])?; // begins when the first is done
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn barrier(&mut self) -> Result<Task<'s>> {
        self.backend.barrier(Location::caller()).map(Task::new)
    }

    /// Runs `f` in a scope of its own: what it makes may be reclaimed once it has ended and its tasks are done.
    ///
    /// Scopes at depths 0, 1 and 2 have a ring each; those at depth 3 and deeper share the last one, which is reclaimed
    /// oldest first. There the first task of an open scope (an `alloc` is one) keeps everything submitted after it, in
    /// ended inner scopes too. A recursion stays bounded if its scopes submit only after their inner scopes have ended,
    /// and get their tensors from outside; `docs/programming.md` has an example. At most 64 scopes can be open.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// let result = o.alloc(u32, [1])?;
    /// for i in 0..3u32 {
    ///     o.scope(|o| o.submit(&SET, [result.write(), scalar(i)]).map(drop))?;
    /// }
    /// assert_eq!(o.read::<u32>(result)?, [2]);
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[inline]
    pub fn scope<R>(&mut self, f: impl for<'c> FnOnce(&mut Orch<'c, 's>) -> Result<R>) -> Result<R> {
        self.scope_with(Inference::Inherit, Location::caller(), f)
    }

    /// As [`scope`](Self::scope), with a label that is shown beside its source line: in `scope_stats.json`, on the page, in
    /// Perfetto and in deadlock errors. It is copied, and cut after [`LABEL_BYTES_MAX`] bytes.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// for layer in 0..3u32 {
    ///     o.scope_named(&format!("layer {layer}"), |o| {
    ///         o.submit(&SET, [out(u32, [4]), scalar(layer)]).map(drop)
    ///     })?;
    /// }
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn scope_named<R>(
        &mut self,
        label: &str,
        f: impl for<'c> FnOnce(&mut Orch<'c, 's>) -> Result<R>,
    ) -> Result<R> {
        self.scope_with(Inference::Inherit, Location::caller(), |o| {
            o.backend.label_scope(&label[..label.floor_char_boundary(LABEL_BYTES_MAX)]);
            f(o)
        })
    }

    #[inline]
    pub(super) fn scope_with<R>(
        &mut self,
        inference: Inference,
        site: Site,
        f: impl for<'c> FnOnce(&mut Orch<'c, 's>) -> Result<R>,
    ) -> Result<R> {
        self.backend.enter_scope(site, inference)?;
        let guard = ScopeGuard(&mut *self.backend);
        let result = f(&mut Orch { backend: &mut *guard.0, outer: PhantomData });
        // The runtime's own verdict on the scope outranks an error that the scope's code made of it.
        guard.end()?;
        result
    }

    /// Says that the code between two submits takes `ticks` ticks of a modelled chip's counter. Elsewhere it takes the time
    /// it takes.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// o.advance_time(50); // a table lookup on the chip's control processor
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    pub fn advance_time(&mut self, ticks: u64) {
        self.backend.advance_time(ticks);
    }

    /// The tensor of an external buffer.
    ///
    /// ```
    /// # use ringlane_engine::prelude::*;
    /// let mut data = Buffers::new();
    /// let x = data.add(&[2], &[1.0f32, 2.0])?;
    /// let values = ringlane_engine::oracle::run(&mut data, |o| { let x = o.external(x)?; o.read::<f32>(x) })?;
    /// assert_eq!(values, [1.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn external(&mut self, buffer: BufferId) -> Result<Tensor<'s>> {
        let site = Location::caller();
        let (tensor, view) = self.backend.external(buffer).map_err(|error| error.at(site))?;
        Ok(Tensor::new(tensor, view))
    }
}
