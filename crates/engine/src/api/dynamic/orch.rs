//! The orchestrator's face for programs that are known only at run time.

#![forbid(unsafe_code)]

use core::panic::Location;

use ringlane_task::{DType, Element, TensorView};

use super::error::DynamicError;
use super::handles::{DynTask, DynTensor, OpenScopes};
use super::submission::Submission;
use crate::api::arg::Arg;
use crate::api::backend::{Backend, Contents, Inference, Reading, Site};
use crate::api::buffers::BufferId;
use crate::api::launch::Launch;
use crate::api::orch::Orch;
use crate::api::tensor::{TaskHandle, Tensor, TensorRef};
use crate::fault::{Error, Fault, Result};
use crate::limits::LABEL_BYTES_MAX;

/// What a program that is known only at run time submits with. See [the module](super).
pub struct DynOrch<'o> {
    pub(super) backend: &'o mut (dyn Backend + 'o),
    pub(super) open: OpenScopes,
    // Of the submission that is being made: kept, so that no submit allocates.
    pub(super) args: Vec<Arg<'static>>,
    pub(super) after: Vec<TaskHandle>,
    pub(super) marked: Vec<u16>,
    pub(super) outs: Vec<TensorRef>,
}

impl<'s, 'p: 's> Orch<'s, 'p> {
    /// Runs a program whose handles and scopes are values. The scope that is open here is its root.
    pub fn dynamic<R>(&mut self, f: impl FnOnce(&mut DynOrch<'_>) -> Result<R>) -> Result<R> {
        self.dynamic_on(&[], |o, _| f(o))
    }

    /// The same with tensors of this scope, as values.
    pub fn dynamic_on<R>(
        &mut self,
        tensors: &[Tensor<'s>],
        f: impl FnOnce(&mut DynOrch<'_>, Vec<DynTensor>) -> Result<R>,
    ) -> Result<R> {
        let mut open = OpenScopes::new();
        open.push();
        let (args, after, marked, outs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut o = DynOrch { backend: &mut *self.backend, open, args, after, marked, outs };
        let tensors = tensors.iter().map(|given| o.made(given.tensor, given.view)).collect();
        let result = f(&mut o, tensors);
        let left = o.open.count - 1;
        o.end_all()?;
        let not_ended = || Err(Fault::Dynamic(DynamicError::ScopeNotEnded { open: left }).into());
        if result.is_ok() && left > 0 { not_ended() } else { result }
    }
}

impl<'o> DynOrch<'o> {
    /// The tensor of an external buffer.
    #[track_caller]
    pub fn external(&mut self, buffer: BufferId) -> Result<DynTensor> {
        let site = Location::caller();
        let (tensor, view) = self.backend.external(buffer).map_err(|error| error.at(site))?;
        Ok(self.made(tensor, view))
    }

    /// Makes a tensor, all zero, that lives as long as the innermost scope.
    #[track_caller]
    pub fn alloc(&mut self, dtype: DType, shape: &[u32]) -> Result<DynTensor> {
        let site = Location::caller();
        let view = TensorView::contiguous(dtype, shape).map_err(|error| Error::from(error).at(site))?;
        self.make(view, Contents::Zeros, site)
    }

    /// Makes a tensor of values, given by their bytes, which are copied before the call returns. Those of `bool` must be 0 or 1.
    #[track_caller]
    pub fn upload(&mut self, dtype: DType, shape: &[u32], bytes: &[u8]) -> Result<DynTensor> {
        let site = Location::caller();
        let view = TensorView::contiguous(dtype, shape).map_err(|error| Error::from(error).at(site))?;
        byte_count("the tensor", &view, bytes.len()).map_err(|error| error.at(site))?;
        if dtype == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
            return Err(Error::from(Fault::Dynamic(DynamicError::BadBool)).at(site));
        }
        self.make(view, Contents::Host(bytes), site)
    }

    fn make(&mut self, view: TensorView, contents: Contents<'_>, site: Site) -> Result<DynTensor> {
        let tensor = self.backend.alloc(view, contents, site).map_err(|error| error.at(site))?;
        Ok(self.made(tensor, view))
    }

    fn made(&self, tensor: TensorRef, view: TensorView) -> DynTensor {
        DynTensor { stamp: self.open.innermost(), tensor, view }
    }

    /// Begins a scope; what is made in it may be reclaimed once it has ended and its tasks are done. A label longer than
    /// [`LABEL_BYTES_MAX`] bytes is cut.
    #[track_caller]
    pub fn begin_scope(&mut self, label: Option<&str>) -> Result<()> {
        self.begin(label, Inference::Inherit, Location::caller())
    }

    pub(in crate::api) fn begin(
        &mut self,
        label: Option<&str>,
        inference: Inference,
        site: Site,
    ) -> Result<()> {
        self.backend.enter_scope(site, inference)?;
        self.open.push();
        if let Some(label) = label {
            self.backend.label_scope(&label[..label.floor_char_boundary(LABEL_BYTES_MAX)]);
        }
        Ok(())
    }

    /// Ends the innermost scope: handles that were made in it are stale from now on.
    pub fn end_scope(&mut self) -> Result<()> {
        if self.open.count == 1 {
            return Err(Fault::Dynamic(DynamicError::NoOpenScope).into());
        }
        self.open.pop();
        self.backend.exit_scope()
    }

    /// Number of scopes that the program has begun and not ended.
    pub fn open_scopes(&self) -> usize {
        self.open.count - 1
    }

    /// Ends the scopes that the program left open; the first error of one counts.
    fn end_all(&mut self) -> Result<()> {
        let mut first = Ok(());
        while self.open_scopes() > 0 {
            first = first.and(self.end_scope());
        }
        first
    }

    /// A task that runs no kernel: it follows everything submitted so far in this scope, and everything submitted later in
    /// this scope follows it.
    #[track_caller]
    pub fn barrier(&mut self) -> Result<DynTask> {
        let task = self.backend.barrier(Location::caller())?;
        Ok(DynTask { stamp: self.open.innermost(), task })
    }

    /// Starts to submit a task. Nothing happens before [`Submission::send`].
    #[track_caller]
    #[inline]
    pub fn submit<'d, 'l>(&'d mut self, launch: impl Into<Launch<'l>>) -> Submission<'d, 'o, 'l> {
        Submission::new(self, launch.into(), Location::caller())
    }

    /// Refuses a handle that is stale.
    #[inline]
    pub fn check(&self, tensor: &DynTensor) -> Result<()> {
        self.open.check("a tensor", tensor.stamp)
    }

    /// Waits for the writers of a tensor submitted so far and copies its bytes out, its elements one after another.
    #[track_caller]
    pub fn read(&mut self, tensor: &DynTensor, into: &mut [u8]) -> Result<()> {
        let site = Location::caller();
        self.check(tensor).map_err(|error| error.at(site))?;
        byte_count("what is read", &tensor.view, into.len()).map_err(|error| error.at(site))?;
        let mut rest = into;
        let sink = &mut |piece: &[u8]| {
            let (now, later) = core::mem::take(&mut rest).split_at_mut(piece.len());
            now.copy_from_slice(piece);
            rest = later;
        };
        self.backend.read(tensor.tensor, &tensor.view, Reading::Copy, sink).map_err(|error| error.at(site))
    }

    /// As [`read`](Self::read), into a vector of the tensor's type.
    #[track_caller]
    pub fn read_values<T: Element>(&mut self, tensor: &DynTensor) -> Result<Vec<T>> {
        let site = Location::caller();
        self.check(tensor).map_err(|error| error.at(site))?;
        if tensor.dtype() != T::DTYPE {
            return Err(Error::from(Fault::ReadDType { tensor: tensor.dtype(), asked: T::DTYPE }).at(site));
        }
        let mut values = vec![T::default(); tensor.view.elements() as usize];
        self.read(tensor, crate::api::values::bytes_of_mut(&mut values))?;
        Ok(values)
    }

    /// Waits for the writers of a tensor submitted so far and shows its bytes where they are, without a copy. The tensor must
    /// be contiguous, and the host must see the chip's memory.
    #[track_caller]
    pub fn show<R>(&mut self, tensor: &DynTensor, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let site = Location::caller();
        self.check(tensor).map_err(|error| error.at(site))?;
        let (mut f, mut answer) = (Some(f), None);
        let sink = &mut |bytes: &[u8]| answer = f.take().map(|f| f(bytes));
        let shown = self.backend.read(tensor.tensor, &tensor.view, Reading::InPlace, sink);
        shown.map_err(|error| error.at(site))?;
        Ok(answer.expect("a backend that does not fail shows the values once"))
    }

    /// The program's own work takes `ticks` ticks of a modelled chip's counter.
    pub fn advance_time(&mut self, ticks: u64) {
        self.backend.advance_time(ticks);
    }
}

impl Drop for DynOrch<'_> {
    fn drop(&mut self) {
        // Scopes are open here only while unwinding; an error of their end is superseded by that.
        let _ = self.end_all();
    }
}

fn byte_count(what: &'static str, view: &TensorView, given: usize) -> Result<()> {
    let (needed, given) = (view.bytes(), given as u64);
    let wrong = || Fault::Dynamic(DynamicError::ByteCount { what, needed, given }).into();
    if needed == given { Ok(()) } else { Err(wrong()) }
}
