//! Kernels: functions over typed views and scalars, with a name, a core type and an optional cost model.

#![forbid(unsafe_code)]

use core::fmt;
use core::time::Duration;

use ringlane_task::{Access, DType, TensorView};

use super::args::Args;
use super::dynamic::{DynBody, DynCost};
pub use super::kernel_result::{KernelError, KernelResult, Outcome};
use super::launch::Launch;
use crate::limits::{SCALARS_MAX, TENSORS_MAX};

/// The kind of core a kernel wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoreType {
    /// A matrix core.
    Aic,
    /// A vector core.
    Aiv,
    /// Whatever is free.
    Any,
}

impl CoreType {
    /// The name used in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            CoreType::Aic => "aic",
            CoreType::Aiv => "aiv",
            CoreType::Any => "any",
        }
    }
}

/// What a kernel's parameter accepts; checked against the argument at submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// How the parameter uses its argument.
    pub kind: ParamKind,
    /// Type of its elements, or of the scalar.
    pub dtype: DType,
    /// The rank it needs; `None` takes any.
    pub rank: Option<u8>,
    /// Whether the elements must be contiguous.
    pub contiguous: bool,
    /// How many arguments it takes.
    pub count: ParamCount,
    /// The same for the quick check: signature bits of a view, which of them count, and the accesses taken.
    signature: (u32, u32),
    /// The same for a whole, contiguous tensor.
    simple: (u32, u32),
    accesses: u8,
}

impl ParamSpec {
    /// What a parameter of this kind accepts.
    pub const fn new(kind: ParamKind, dtype: DType, rank: Option<u8>, contiguous: bool) -> Self {
        let writes = 1 << Access::Output as u8 | 1 << Access::OutputExisting as u8 | 1 << Access::InOut as u8;
        let (accesses, exclusive) = match kind {
            ParamKind::Read => (1 << Access::Input as u8, false),
            ParamKind::Write | ParamKind::Shared => (writes, true),
            // A tensor of any kind is left to the full check.
            ParamKind::Tensor | ParamKind::Scalar | ParamKind::Context => (0, false),
        };
        let signature = TensorView::signature_of(dtype, rank, contiguous, exclusive);
        let simple = TensorView::simple_signature_of(signature);
        ParamSpec { kind, dtype, rank, contiguous, count: ParamCount::One, signature, simple, accesses }
    }

    /// As it is, for any number of arguments.
    pub const fn rest(self) -> Self {
        ParamSpec { count: ParamCount::Rest, ..self }
    }

    /// A tensor of any type and shape, to read or to write. Its data type says nothing.
    pub const TENSOR: ParamSpec = ParamSpec::new(ParamKind::Tensor, DType::UInt8, None, false);

    /// A scalar of this type.
    pub const fn scalar(dtype: DType) -> Self {
        ParamSpec::new(ParamKind::Scalar, dtype, None, false)
    }

    /// Whether a tensor argument of this access is written through the parameter.
    #[inline]
    pub(crate) fn writes(&self, access: Access) -> bool {
        access.writes() || matches!(self.kind.with(access), ParamKind::Write | ParamKind::Shared)
    }

    /// Whether the parameter plainly takes a tensor, by the signature of its view: a quick yes; after a no, the full check decides.
    #[inline]
    pub(crate) fn takes(&self, signature: u32, access: Access) -> bool {
        let (want, mask) = self.signature;
        ((signature ^ want) & mask == 0) & (self.accesses >> access as u8 & 1 == 1)
    }

    /// As `takes`, of a tensor that is whole, contiguous and of at most two dimensions.
    #[inline(always)]
    pub(crate) fn takes_simple(&self, signature: u32, access: Access) -> bool {
        let (want, mask) = self.simple;
        (signature ^ want) & mask == 0 && signature & 0xff <= 2 && self.accesses >> access as u8 & 1 == 1
    }
}

/// How many arguments a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamCount {
    /// One.
    One,
    /// All that are left, which may be none.
    Rest,
}

/// How a parameter uses its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Reads a tensor.
    Read,
    /// Writes a tensor, alone: in a task of several blocks the argument must be split.
    Write,
    /// Writes a tensor that other blocks may write at the same time, through `unsafe` accesses.
    Shared,
    /// Reads or writes a tensor, whatever its type and shape: for what the kernel does not read itself but passes on.
    Tensor,
    /// Takes a scalar.
    Scalar,
    /// Takes no argument: the block's own index.
    Context,
}

impl ParamKind {
    /// What it comes to with an argument of this access.
    pub(crate) fn with(self, access: Access) -> Self {
        match self {
            ParamKind::Tensor if access.writes() => ParamKind::Write,
            ParamKind::Tensor => ParamKind::Read,
            kind => kind,
        }
    }
}

/// What a block of a kernel costs on a modelled chip: a function of its arguments, both tensors ([`Args::tensors`]) and scalars
/// ([`Args::scalar`]).
///
/// ```
/// use core::time::Duration;
/// use ringlane_engine::prelude::*;
/// kernel! {
///     /// Adds up the first `rows` rows, at 250 ns each.
///     static SUM = aiv fn(x: View<f32, 2>, total: &mut [f32], rows: u32) {
///         total[0] = (0..rows as usize).map(|i| x.row(&[i]).iter().sum::<f32>()).sum();
///     } cost Cost::Time(|args| Duration::from_nanos(250) * args.scalar::<u32>(0).unwrap_or(1))
/// }
/// # assert!(SUM.cost().is_some());
/// ```
#[derive(Clone, Copy)]
pub enum Cost {
    /// Ticks of the chip's counter.
    Ticks(fn(&Args<'_>) -> u64),
    /// A time, whatever the chip's counter.
    Time(fn(&Args<'_>) -> Duration),
    /// Work against the chip's rates.
    Roofline {
        /// Floating-point operations.
        flops: fn(&Args<'_>) -> f64,
        /// Bytes moved.
        bytes: fn(&Args<'_>) -> f64,
    },
    /// Any of these, computed at run time.
    Computed(&'static DynCost),
}

/// The body of a kernel in CUDA C++, which all threads of a GPU's block run. `docs/cuda.md` describes what it can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaBody {
    /// The statements.
    pub source: &'static str,
    /// The names of the kernel's parameters in it, in order.
    pub params: &'static [&'static str],
    /// The file of the declaration.
    pub file: &'static str,
    /// Its line there.
    pub line: u32,
}

/// A function that tasks run.
///
/// Made by the macro [`kernel!`](crate::kernel), or plainly:
///
/// ```
/// use ringlane_engine::prelude::*;
/// const PARAMS: &[ParamSpec] = &[<&[f32]>::SPEC, <&mut [f32]>::SPEC, <f32>::SPEC];
/// static SCALE: Kernel = Kernel::new("SCALE", CoreType::Aiv, PARAMS, |args| {
///     let (x, y, a) = (args.take::<&[f32]>()?, args.take::<&mut [f32]>()?, args.take::<f32>()?);
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x);
///     Ok(())
/// });
/// assert_eq!(SCALE.name(), "SCALE");
/// ```
pub struct Kernel {
    name: &'static str,
    core: CoreType,
    params: &'static [ParamSpec],
    arity: usize,
    /// What the arguments beyond `arity` are, if there may be more.
    more: Option<MoreArgs>,
    body: Body,
    cost: Option<Cost>,
    cuda: Option<CudaBody>,
    takes_anything: bool,
}

/// What a kernel runs.
#[derive(Clone, Copy)]
enum Body {
    /// A function.
    Function(for<'a> fn(&mut Args<'a>) -> KernelResult),
    /// A closure that was made at run time.
    Closure(&'static DynBody),
}

/// Arguments beyond those that every submit of a kernel gives.
#[derive(Clone, Copy)]
pub(crate) struct MoreArgs {
    /// The number of arguments before them.
    pub(crate) at: usize,
    /// What each of them must be.
    pub(crate) spec: ParamSpec,
}

impl Kernel {
    /// A kernel from a function over [`Args`]. A [`Rest`](crate::api::rest::Rest) parameter must be the last that takes
    /// arguments.
    pub const fn new(
        name: &'static str,
        core: CoreType,
        params: &'static [ParamSpec],
        call: for<'a> fn(&mut Args<'a>) -> KernelResult,
    ) -> Self {
        Kernel::with_body(name, core, params, Body::Function(call))
    }

    /// A kernel from a closure.
    pub(crate) const fn from_closure(
        name: &'static str,
        core: CoreType,
        params: &'static [ParamSpec],
        body: &'static DynBody,
    ) -> Self {
        Kernel::with_body(name, core, params, Body::Closure(body))
    }

    const fn with_body(name: &'static str, core: CoreType, params: &'static [ParamSpec], body: Body) -> Self {
        let (mut arity, mut more, mut i) = (0, None, 0);
        while i < params.len() {
            let takes = !matches!(params[i].kind, ParamKind::Context);
            assert!(!takes || more.is_none(), "`Rest` is the last parameter that takes arguments");
            if let ParamCount::Rest = params[i].count {
                more = Some(MoreArgs { at: arity, spec: params[i] });
            } else {
                arity += takes as usize;
            }
            i += 1;
        }
        Kernel { name, core, params, arity, more, body, cost: None, cuda: None, takes_anything: false }
    }

    /// A kernel that does nothing and takes any arguments, also in a mixed task: it replaces one of a recorded program
    /// whose times are replayed.
    ///
    /// ```
    /// use ringlane_engine::prelude::*;
    /// static QK: Kernel = Kernel::stand_in("QK", CoreType::Aic);
    /// # ringlane_engine::oracle::run(&mut Buffers::new(), |o| {
    /// o.submit(&QK, [out(f32, [16, 128]), scalar(0.125f32)])?;
    /// # Ok(()) })?; Ok::<(), Error>(())
    /// ```
    pub const fn stand_in(name: &'static str, core: CoreType) -> Self {
        Kernel { takes_anything: true, ..Kernel::new(name, core, &[], |_| Ok(())) }
    }

    /// Whether it takes any arguments and does nothing with them.
    #[inline]
    pub const fn is_stand_in(&self) -> bool {
        self.takes_anything
    }

    /// The same kernel with a cost model for modelled chips.
    pub const fn with_cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// The same kernel with a body for GPUs, in CUDA C++.
    pub const fn with_cuda(mut self, body: CudaBody) -> Self {
        self.cuda = Some(body);
        self
    }

    /// The same kernel, which takes any number of tensors before its parameters. It cannot be part of a mixed task.
    pub const fn with_many_tensors(mut self) -> Self {
        self.more = Some(MoreArgs { at: 0, spec: ParamSpec::TENSOR });
        self
    }

    /// Whether it takes a variable number of arguments.
    #[inline]
    pub const fn is_variadic(&self) -> bool {
        self.more.is_some()
    }

    /// What the arguments beyond `arity` are, if there may be more.
    #[inline]
    pub(crate) const fn more(&self) -> Option<&MoreArgs> {
        self.more.as_ref()
    }

    /// The kernel's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The kind of core it wants.
    pub const fn core(&self) -> CoreType {
        self.core
    }

    /// Its parameters.
    pub const fn params(&self) -> &'static [ParamSpec] {
        self.params
    }

    /// Its cost model.
    pub const fn cost(&self) -> Option<&Cost> {
        self.cost.as_ref()
    }

    /// Its body for GPUs.
    pub const fn cuda(&self) -> Option<&CudaBody> {
        self.cuda.as_ref()
    }

    /// How many arguments a submit must give; of a variadic kernel, at least.
    #[inline]
    pub const fn arity(&self) -> usize {
        self.arity
    }

    /// The most arguments that a submit can give; its [`arity`](Self::arity), unless the kernel is variadic.
    pub const fn args_max(&self) -> usize {
        if self.is_variadic() { TENSORS_MAX + SCALARS_MAX } else { self.arity }
    }

    #[inline]
    pub(crate) fn call(&self, args: &mut Args<'_>) -> KernelResult {
        match self.body {
            Body::Function(call) => call(args),
            Body::Closure(body) => body(args),
        }
    }

    /// This kernel, run `count` times with block index `0..count`.
    pub fn blocks(&'static self, count: u32) -> Launch<'static> {
        Launch::from(self).blocks(count)
    }

    /// This kernel on the AIC core of a cluster, with up to two others on its AIV cores.
    pub fn mixed(&'static self, aiv: &[&'static Kernel]) -> Launch<'static> {
        Launch::mixed(Some(self), aiv)
    }

    /// This kernel as a task with a name; see [`Launch::labelled`].
    pub fn labelled<'a>(&'static self, label: &'a str) -> Launch<'a> {
        Launch::from(self).labelled(label)
    }

    /// This kernel as a task that takes this long on a modelled chip; see [`Launch::taking`].
    pub fn taking(&'static self, duration: Duration) -> Launch<'static> {
        Launch::from(self).taking(duration)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({}, {})", self.name, self.core.as_str())
    }
}

/// A kernel that was declared with [`kernel!`](crate::kernel) anywhere in the program.
pub struct Registered(pub &'static Kernel);

inventory::collect!(Registered);

/// Every kernel declared with [`kernel!`](crate::kernel), by name.
pub fn registered_kernels() -> Vec<&'static Kernel> {
    let mut all: Vec<_> = inventory::iter::<Registered>.into_iter().map(|r| r.0).collect();
    all.sort_by_key(|k| k.name);
    all
}

/// Declares a kernel: a static [`Kernel`](crate::api::kernel::Kernel) whose parameters and body are a function.
///
/// Parameters: `&[T]` and `&mut [T]` (contiguous), `View<T, R>` and `ViewMut<T, R>` (strided, rank `R`),
/// `SharedMut<T>`, a scalar type, `Block` (its own index), or as the last one `Rest<P>`: any number of arguments of one of
/// these types. The body returns nothing or a `Result`. A cost model for modelled chips follows `cost`, a body for GPUs in
/// CUDA C++ follows `cuda`.
///
/// ```
/// use ringlane_engine::prelude::*;
/// kernel! {
///     /// y = a·x + y
///     pub static AXPY = aiv fn(x: &[f32], y: &mut [f32], a: f32) {
///         y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
///     }
/// }
/// assert_eq!(AXPY.arity(), 3);
/// ```
#[macro_export]
macro_rules! kernel {
    ($(#[$meta:meta])* $vis:vis static $name:ident = $core:ident fn($($arg:ident : $ty:ty),* $(,)?)
     $(-> $ret:ty)? $body:block $(cuda $cuda:literal)? $(cuda include_str!($file:literal))? $(cost $cost:expr)?) => {
        $(#[$meta])*
        $vis static $name: $crate::api::kernel::Kernel = {
            fn body($($arg: $ty),*) $(-> $ret)? $body
            fn call(args: &mut $crate::api::args::Args<'_>) -> $crate::api::kernel::KernelResult {
                $(let $arg = args.take::<$ty>()?;)*
                let _ = &args;
                $crate::api::kernel::Outcome::outcome(body($($arg),*))
            }
            const PARAMS: &[$crate::api::kernel::ParamSpec] =
                &[$(<$ty as $crate::api::params::KernelParam<'_>>::SPEC),*];
            #[allow(dead_code)]
            const NAMES: &[&str] = &[$(stringify!($arg)),*];
            $crate::api::kernel::Kernel::new(stringify!($name), $crate::kernel!(@core $core), PARAMS, call)
                $(.with_cost($cost))?
                $(.with_cuda($crate::kernel!(@cuda $cuda, NAMES)))?
                $(.with_cuda($crate::kernel!(@cuda include_str!($file), NAMES)))?
        };
        $crate::inventory::submit! { $crate::api::kernel::Registered(&$name) }
    };
    (@cuda $source:expr, $params:ident) => {
        $crate::api::kernel::CudaBody { source: $source, params: $params, file: file!(), line: line!() }
    };
    (@core aic) => { $crate::api::kernel::CoreType::Aic };
    (@core aiv) => { $crate::api::kernel::CoreType::Aiv };
    (@core any) => { $crate::api::kernel::CoreType::Any };
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::prelude::*;

    kernel! {
        static DOUBLE = aiv fn(x: &[f32], y: &mut [f32]) {
            y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x);
        } cuda "rl_each(i, y.len()) y[i] = 2.0f * x[i];" cost Cost::Ticks(|_| 1)
    }
    kernel! { static NOTHING = any fn(_x: &mut [u8]) {} cuda "" }

    #[test]
    fn a_kernel_keeps_its_body_for_gpus_with_the_names_of_its_parameters() {
        let body = DOUBLE.cuda().unwrap();
        assert_eq!((body.params, body.file), (&["x", "y"][..], file!()));
        assert!(body.source.contains("rl_each") && body.line > 0 && DOUBLE.cost().is_some());
        assert_eq!(NOTHING.cuda().unwrap().params, ["_x"]);
    }
}
