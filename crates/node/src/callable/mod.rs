//! Functions that a parent calls in a child, by digest.
//!
//! Both are the same executable, so both have the same table. The digest covers the build: a child of another build
//! does not have the callable, whatever its name, and says so.

pub(crate) mod build_id;
mod call;
mod digest;
mod signature;

use std::sync::OnceLock;

use ringlane_engine::prelude::{CoreType, DType, Kernel, KernelError, ParamSpec};

pub use call::Call;
pub(crate) use call::located;
pub use digest::Digest;
pub(crate) use signature::TICKET;
pub use signature::{Signature, Tensors};

use crate::call_error::CallError;
use crate::error::NodeError;

/// What a callable is: a function over a call, whose configuration and arguments are checked.
pub type CallableFn = fn(&mut Call<'_>) -> Result<(), CallError>;

/// The kind of worker that a callable runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerKind {
    /// One for plain functions.
    Function,
    /// One that has a chip.
    Chip,
    /// One that has workers of its own.
    Node,
}

impl WorkerKind {
    /// All of them.
    pub const ALL: [WorkerKind; 3] = [WorkerKind::Function, WorkerKind::Chip, WorkerKind::Node];

    /// The name used in artifacts and on the command line.
    ///
    /// ```
    /// assert_eq!(ringlane_node::WorkerKind::Chip.as_str(), "chip");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            WorkerKind::Function => "function",
            WorkerKind::Chip => "chip",
            WorkerKind::Node => "node",
        }
    }
}

/// A function that can be called in a child. Made by [`callable!`](crate::callable!).
#[derive(Debug)]
pub struct Callable {
    module: &'static str,
    name: &'static str,
    kind: WorkerKind,
    signature: Signature,
    run: CallableFn,
    /// The kernel that represents it in a node's graph.
    kernel: Kernel,
    digest: OnceLock<Digest>,
}

impl Callable {
    /// A callable of a module (its path begins with the crate's name), with a name that is unique there. `params` are the
    /// [`Signature::params`] of the signature.
    #[doc(hidden)]
    pub const fn new(
        module: &'static str,
        name: &'static str,
        kind: WorkerKind,
        signature: Signature,
        params: &'static [ParamSpec],
        run: CallableFn,
    ) -> Self {
        let kernel = Kernel::new(name, CoreType::Any, params, |_| {
            Err(KernelError::new("a callable runs in a worker of a node, and on no chip"))
        });
        let kernel = match signature.tensors {
            Tensors::Exactly(_) => kernel,
            Tensors::AtLeast(_) => kernel.with_many_tensors(),
        };
        Callable { module, name, kind, signature, run, kernel, digest: OnceLock::new() }
    }

    /// The kind of worker that it runs in.
    pub const fn kind(&self) -> WorkerKind {
        self.kind
    }

    pub(crate) fn kernel(&'static self) -> &'static Kernel {
        &self.kernel
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What it takes.
    pub const fn signature(&self) -> Signature {
        self.signature
    }

    /// What identifies it: crate and module, name, signature, and build of the executable.
    pub fn digest(&self) -> Result<Digest, NodeError> {
        if let Some(digest) = self.digest.get() {
            return Ok(*digest);
        }
        let digest = Digest::of(&[
            self.module.as_bytes(),
            self.name.as_bytes(),
            self.kind.as_str().as_bytes(),
            &self.signature.bytes(),
            build_id::get()?,
        ]);
        Ok(*self.digest.get_or_init(|| digest))
    }

    /// Runs it here. A panic is an error like any other.
    pub(crate) fn run(&self, call: &mut Call<'_>) -> Result<(), CallError> {
        ringlane_engine::note_panics();
        let run = std::panic::AssertUnwindSafe(|| (self.run)(call));
        std::panic::catch_unwind(run).unwrap_or_else(|payload| {
            let detail = ringlane_engine::describe_panic(&*payload);
            let error = CallError::new("CallablePanicked", detail, format!("fix {}", self.name));
            ringlane_engine::drop_panic(payload);
            Err(error)
        })
    }
}

/// What identifies the build of this executable; two ranks that understand each other have the same.
pub(crate) fn this_build() -> Result<Digest, NodeError> {
    Ok(Digest::of(&[build_id::get()?]))
}

/// A callable that was declared with [`callable!`](crate::callable!) anywhere in the program.
pub struct Registered(pub &'static Callable);

inventory::collect!(Registered);

/// Every callable of the program, by name.
pub fn registered_callables() -> Vec<&'static Callable> {
    let mut all: Vec<_> = inventory::iter::<Registered>.into_iter().map(|registered| registered.0).collect();
    all.sort_by_key(|callable| (callable.name, callable.module));
    all
}

/// The callables of the program by their digests.
#[derive(Debug)]
pub(crate) struct Table(Vec<(Digest, &'static Callable)>);

impl Table {
    pub(crate) fn new() -> Result<Self, NodeError> {
        let all = registered_callables().into_iter().map(|callable| Ok((callable.digest()?, callable)));
        let mut all: Vec<_> = all.collect::<Result<_, NodeError>>()?;
        all.sort_by_key(|(digest, _)| *digest);
        Ok(Table(all))
    }

    pub(crate) fn resolve(&self, digest: Digest) -> Result<&'static Callable, NodeError> {
        let place = self.0.binary_search_by_key(&digest, |(digest, _)| *digest);
        place.map(|place| self.0[place].1).map_err(|_| {
            let known = registered_callables().iter().map(|callable| callable.name).collect();
            NodeError::UnknownCallable { digest, known }
        })
    }

    /// The callable, if it takes this many tensors and such scalars.
    pub(crate) fn resolve_for(
        &self,
        digest: Digest,
        tensors: usize,
        scalars: impl Iterator<Item = DType> + Clone,
    ) -> Result<&'static Callable, NodeError> {
        let callable = self.resolve(digest)?;
        callable.signature().check(callable.name(), tensors, scalars)?;
        Ok(callable)
    }
}

/// Declares a callable: a function that a node can run in a child of the same executable.
///
/// `function`, `chip` or `node` is the kind of worker that it runs in; then come how many tensors it takes (`2`, or `1 ..` for
/// one or more) and the types of its scalars. The body has the call, and answers with a result.
///
/// ```
/// use ringlane_node::{CallError, callable};
/// callable! {
///     /// y = a·x
///     pub static SCALE = function fn(call; tensors: 2, scalars: [Float32]) {
///         let (x, y, a) = (call.slice::<f32>(0)?, call.slice_mut::<f32>(1)?, call.scalar::<f32>(0)?);
///         y.iter_mut().zip(x).for_each(|(y, x)| *y = a * x);
///         Ok(())
///     }
/// }
/// assert_eq!(SCALE.name(), "SCALE");
/// assert!(ringlane_node::registered_callables().iter().any(|callable| callable.name() == "SCALE"));
/// ```
#[macro_export]
macro_rules! callable {
    ($(#[$meta:meta])* $vis:vis static $name:ident =
        $kind:ident fn($call:ident; tensors: $tensors:literal, scalars: [$($scalar:ident),*]) $body:block
    ) => {
        $crate::callable!(@declare [$(#[$meta])*] [$vis] $name $kind $call
            ($crate::Tensors::Exactly($tensors)) [$($scalar),*] $body);
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident =
        $kind:ident fn($call:ident; tensors: $tensors:literal .., scalars: [$($scalar:ident),*]) $body:block
    ) => {
        $crate::callable!(@declare [$(#[$meta])*] [$vis] $name $kind $call
            ($crate::Tensors::AtLeast($tensors)) [$($scalar),*] $body);
    };
    (@declare [$($meta:tt)*] [$vis:vis] $name:ident $kind:ident $call:ident
        ($tensors:expr) [$($scalar:ident),*] $body:block
    ) => {
        $($meta)*
        $vis static $name: $crate::Callable = {
            const SIGNATURE: $crate::Signature = $crate::Signature {
                tensors: $tensors,
                scalars: &[$($crate::task::DType::$scalar),*],
            };
            const PARAMS: [$crate::engine::prelude::ParamSpec; SIGNATURE.param_count()] = SIGNATURE.params();
            fn run($call: &mut $crate::Call<'_>) -> ::core::result::Result<(), $crate::CallError> $body
            $crate::Callable::new(
                module_path!(),
                stringify!($name),
                $crate::callable!(@kind $kind),
                SIGNATURE,
                &PARAMS,
                run,
            )
        };
        $crate::inventory::submit! { $crate::Registered(&$name) }
    };
    (@kind function) => { $crate::WorkerKind::Function };
    (@kind chip) => { $crate::WorkerKind::Chip };
    (@kind node) => { $crate::WorkerKind::Node };
}

#[cfg(test)]
mod tests {
    use super::*;

    callable! {
        static HERE = function fn(_call; tensors: 0, scalars: []) { Ok(()) }
    }

    #[test]
    fn a_registered_callable_is_found_by_its_digest_and_another_is_not() {
        let table = Table::new().unwrap();
        assert_eq!(table.resolve(HERE.digest().unwrap()).unwrap().name(), "HERE");
        let error = table.resolve(Digest([1; 32])).unwrap_err();
        assert!(matches!(error, NodeError::UnknownCallable { known, .. } if known.contains(&"HERE")));
    }

    #[test]
    fn every_part_of_a_callable_is_in_its_digest() {
        let run: CallableFn = |_| Ok(());
        let none = Signature { tensors: Tensors::Exactly(0), scalars: &[] };
        let of_kind = |module, name, kind, signature| {
            Callable::new(module, name, kind, signature, &[], run).digest().unwrap()
        };
        let digest = |module, name, signature| of_kind(module, name, WorkerKind::Function, signature);
        let all = [
            digest("a", "b", none),
            digest("a", "c", none),
            digest("ab", "", none),
            of_kind("a", "b", WorkerKind::Chip, none),
            digest("a", "b", Signature { tensors: Tensors::Exactly(1), ..none }),
            digest("a", "b", Signature { tensors: Tensors::AtLeast(1), ..none }),
            digest("a", "b", Signature { scalars: &[ringlane_task::DType::Int32], ..none }),
        ];
        assert_eq!(all[0], digest("a", "b", none));
        assert!((1..all.len()).all(|i| !all[..i].contains(&all[i])), "{all:?}");
    }
}
