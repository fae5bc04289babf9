//! One submit, argument by argument: each is checked and stored when it is given, and copied once.

#![forbid(unsafe_code)]

use core::marker::PhantomData;
use core::time::Duration;

use ringlane_task::{Access, DType, Element, Scalar};

use super::error::DynamicError;
use super::handles::{DynTask, DynTensor, Stamp};
use super::names::static_name;
use super::orch::DynOrch;
use crate::api::arg::{Arg, ArgKind, BadArg, NO_SPLIT, out};
use crate::api::backend::{Call, Site};
use crate::api::launch::Launch;
use crate::api::tensor::TensorRef;
use crate::fault::{Fault, Result};

/// A task that is being submitted. Nothing happens before [`send`](Self::send), and nothing if it is dropped.
pub struct Submission<'d, 'o, 'l> {
    o: &'d mut DynOrch<'o>,
    launch: Launch<'l>,
    site: Site,
}

impl<'d, 'o, 'l> Submission<'d, 'o, 'l> {
    #[inline]
    pub(super) fn new(o: &'d mut DynOrch<'o>, launch: Launch<'l>, site: Site) -> Self {
        o.args.clear();
        o.after.clear();
        o.marked.clear();
        Submission { o, launch, site }
    }

    /// The next argument: a tensor that is read.
    #[inline]
    pub fn read(&mut self, tensor: &DynTensor) -> Result<()> {
        self.tensor(tensor, Access::Input, None)
    }

    /// The next argument: a tensor that is overwritten without being read.
    #[inline]
    pub fn write(&mut self, tensor: &DynTensor) -> Result<()> {
        self.tensor(tensor, Access::OutputExisting, None)
    }

    /// The next argument: a tensor that is read and written.
    #[inline]
    pub fn inout(&mut self, tensor: &DynTensor) -> Result<()> {
        self.tensor(tensor, Access::InOut, None)
    }

    /// The next argument: a tensor that exists, to be read, overwritten, or both; of which each block gets its own part along
    /// an axis, if one is given.
    #[inline]
    pub fn tensor(&mut self, tensor: &DynTensor, access: Access, split: Option<u8>) -> Result<()> {
        if matches!(access, Access::Output | Access::NoDep) {
            return Err(bad_access(access).at(self.site));
        }
        self.push_tensor(tensor, access, split)
    }

    /// The next argument: a tensor with any access.
    #[inline]
    pub(in crate::api) fn push_tensor(
        &mut self,
        tensor: &DynTensor,
        access: Access,
        split: Option<u8>,
    ) -> Result<()> {
        self.o.check(tensor).map_err(|error| error.at(self.site))?;
        let kind = ArgKind::Tensor {
            tensor: tensor.tensor,
            view: tensor.view,
            access,
            split: split.unwrap_or(NO_SPLIT),
        };
        self.o.args.push(Arg { kind, scope: PhantomData });
        match split {
            Some(NO_SPLIT) => self.refuse_split(tensor.view.rank()),
            _ => Ok(()),
        }
    }

    /// The number that means no split is no axis.
    #[cold]
    fn refuse_split(&mut self, rank: usize) -> Result<()> {
        let (arg, kernel) = (self.o.args.len() - 1, self.launch.first_name());
        Err(BadArg::Split { axis: NO_SPLIT, rank }.refused(kernel, arg).at(self.site))
    }

    /// The next argument: a tensor that the task makes, which is one of [`DynSubmitted::outs`].
    #[inline]
    pub fn output(&mut self, dtype: DType, shape: &[u32], split: Option<u8>) -> Result<()> {
        let arg = out(dtype, shape);
        if let ArgKind::Bad(bad) = arg.kind {
            return Err(bad.refused(self.launch.first_name(), self.o.args.len()).at(self.site));
        }
        self.o.args.push(split.map_or(arg, |axis| arg.split(axis)));
        Ok(())
    }

    /// The next argument: a value.
    #[inline]
    pub fn value<T: Element>(&mut self, value: T) -> Result<()> {
        self.scalar(Scalar::new(value))
    }

    /// The next argument: a typed value.
    #[inline]
    pub fn scalar(&mut self, value: Scalar) -> Result<()> {
        self.o.args.push(Arg { kind: ArgKind::Scalar(value), scope: PhantomData });
        Ok(())
    }

    /// The next argument: a typed value that a captured graph knows by this name.
    pub fn param(&mut self, name: &str, value: Scalar) -> Result<()> {
        let name = static_name(name).map_err(|error| error.at(self.site))?;
        self.o.args.push(Arg { kind: ArgKind::Param(value, name), scope: PhantomData });
        Ok(())
    }

    /// The task also follows this one.
    #[inline]
    pub fn after(&mut self, task: &DynTask) -> Result<()> {
        self.o.open.check("a task", task.stamp).map_err(|error| error.at(self.site))?;
        self.o.after.push(task.task);
        Ok(())
    }

    /// Marks arguments, by index, to be captured where arguments are captured.
    pub fn mark(&mut self, args: &[u16]) {
        self.o.marked.extend_from_slice(args);
    }

    /// The task takes this long on a modelled chip; see [`Launch::taking`].
    pub fn taking(&mut self, duration: Duration) {
        self.launch = self.launch.taking(duration);
    }

    /// Number of arguments given so far.
    pub fn len(&self) -> usize {
        self.o.args.len()
    }

    /// Whether there are none so far.
    pub fn is_empty(&self) -> bool {
        self.o.args.is_empty()
    }

    /// Submits the task. Its arguments are checked against the kernel's parameters, as in Rust.
    #[inline]
    pub fn send(self) -> Result<DynSubmitted<'d>> {
        let DynOrch { backend, open, args, after, marked, outs } = self.o;
        if outs.len() < args.len() {
            outs.resize(args.len(), TensorRef::default());
        }
        if !marked.is_empty() {
            backend.mark(marked);
        }
        let call = Call { launch: &self.launch, args, after, site: self.site };
        let task = backend.submit(&call, outs).map_err(|error| error.at(self.site))?;
        Ok(DynSubmitted { task, stamp: open.innermost(), args, outs })
    }
}

#[cold]
fn bad_access(access: Access) -> crate::Error {
    Fault::Dynamic(DynamicError::BadAccess { access }).into()
}

/// A submitted task, and the tensors that it makes.
pub struct DynSubmitted<'d> {
    task: crate::api::tensor::TaskHandle,
    stamp: Stamp,
    args: &'d [Arg<'static>],
    outs: &'d [TensorRef],
}

impl DynSubmitted<'_> {
    /// The task, for explicit edges.
    #[inline]
    pub fn task(&self) -> DynTask {
        DynTask { stamp: self.stamp, task: self.task }
    }

    /// The tensors that its outputs are, in order.
    #[inline]
    pub fn outs(&self) -> impl Iterator<Item = DynTensor> + '_ {
        let views = self.args.iter().filter_map(|arg| match arg.kind {
            ArgKind::Output { view, .. } => Some(view),
            _ => None,
        });
        views.zip(self.outs).map(|(view, &tensor)| DynTensor { stamp: self.stamp, tensor, view })
    }
}
