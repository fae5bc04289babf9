//! Kernels that are made at run time.

#![forbid(unsafe_code)]

use core::time::Duration;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::DynamicError;
use super::names::static_name;
use crate::api::args::Args;
use crate::api::kernel::{CoreType, Cost, CudaBody, Kernel, KernelResult, ParamCount, ParamKind, ParamSpec};
use crate::fault::{Fault, Result};
use crate::limits::{DYNAMIC_KERNELS_MAX, SCALARS_MAX, TENSORS_MAX};

/// The body of a kernel that is made at run time.
pub type DynBody = dyn for<'a> Fn(&mut Args<'a>) -> KernelResult + Send + Sync;

/// The cost model of a kernel that is made at run time.
pub type DynCost = dyn for<'a> Fn(&Args<'a>) -> CostValue + Send + Sync;

/// What one block takes on a modelled chip, as a cost model of the kernel computes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CostValue {
    /// Ticks of the chip's counter.
    Ticks(u64),
    /// A time, whatever the chip's counter.
    Time(Duration),
    /// Work against the chip's rates.
    Roofline {
        /// Floating-point operations.
        flops: f64,
        /// Bytes moved.
        bytes: f64,
    },
}

/// A body for GPUs in CUDA C++; see [`CudaBody`].
#[derive(Clone, Debug, Default)]
pub struct CudaText {
    /// The statements.
    pub source: String,
    /// The names of the kernel's parameters in it, in order.
    pub params: Vec<String>,
    /// The file that errors of the compiler name.
    pub file: String,
    /// Its line there.
    pub line: u32,
}

/// A kernel that is being made. See [the module](super).
pub struct DynKernel {
    name: String,
    core: CoreType,
    params: Vec<ParamSpec>,
    body: Box<DynBody>,
    cost: Option<Box<DynCost>>,
    cuda: Option<CudaText>,
}

impl DynKernel {
    /// A kernel with these parameters and this body, which several threads may run at the same time.
    pub fn new(
        name: impl Into<String>,
        core: CoreType,
        params: Vec<ParamSpec>,
        body: impl for<'a> Fn(&mut Args<'a>) -> KernelResult + Send + Sync + 'static,
    ) -> Self {
        DynKernel { name: name.into(), core, params, body: Box::new(body), cost: None, cuda: None }
    }

    /// The same with a cost model for modelled chips.
    #[must_use]
    pub fn cost(mut self, cost: impl for<'a> Fn(&Args<'a>) -> CostValue + Send + Sync + 'static) -> Self {
        self.cost = Some(Box::new(cost));
        self
    }

    /// The same with a body for GPUs.
    #[must_use]
    pub fn cuda(mut self, cuda: CudaText) -> Self {
        self.cuda = Some(cuda);
        self
    }

    /// Makes the kernel. It lives as long as the process.
    pub fn build(self) -> Result<&'static Kernel> {
        self.check()?;
        let name = static_name(&self.name)?;
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let more = |made| (made < DYNAMIC_KERNELS_MAX).then_some(made + 1);
        if MADE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            let error = DynamicError::TooManyKernels { what: "kernels", limit: DYNAMIC_KERNELS_MAX };
            return Err(Fault::Dynamic(error).into());
        }
        let kernel = Kernel::from_closure(name, self.core, self.params.leak(), Box::leak(self.body));
        let kernel = match self.cost {
            Some(cost) => kernel.with_cost(Cost::Computed(Box::leak(cost))),
            None => kernel,
        };
        let kernel = match self.cuda {
            Some(cuda) => kernel.with_cuda(leaked(cuda)),
            None => kernel,
        };
        Ok(Box::leak(Box::new(kernel)))
    }

    fn check(&self) -> Result<()> {
        let takes = |spec: &&ParamSpec| spec.kind != ParamKind::Context;
        let scalars = self.params.iter().filter(|spec| spec.kind == ParamKind::Scalar).count();
        let tensors = self.params.iter().filter(takes).count() - scalars;
        let last = self.params.iter().rposition(|spec| takes(&spec));
        let rest = self.params.iter().position(|spec| spec.count == ParamCount::Rest);
        let named = self.cuda.as_ref().map_or(self.params.len(), |cuda| cuda.params.len());
        let detail = if self.name.is_empty() {
            "the name is empty".to_string()
        } else if tensors > TENSORS_MAX || scalars > SCALARS_MAX {
            format!("{tensors} tensors and {scalars} scalars; at most {TENSORS_MAX} and {SCALARS_MAX}")
        } else if rest.is_some() && rest != last {
            format!(
                "parameter {} takes a variable number of arguments, and is not the last",
                rest.unwrap_or(0)
            )
        } else if named != self.params.len() {
            format!("{} parameters, but {named} names in its CUDA source", self.params.len())
        } else {
            return Ok(());
        };
        Err(Fault::Dynamic(DynamicError::BadKernel { kernel: self.name.clone(), detail }).into())
    }
}

fn leaked(cuda: CudaText) -> CudaBody {
    let params: Vec<&'static str> = cuda.params.into_iter().map(|name| &*name.leak()).collect();
    CudaBody { source: cuda.source.leak(), params: params.leak(), file: cuda.file.leak(), line: cuda.line }
}

impl core::fmt::Debug for DynKernel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "DynKernel({}, {})", self.name, self.core.as_str())
    }
}
