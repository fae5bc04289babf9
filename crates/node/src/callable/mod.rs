//! Functions that a parent calls in a child, by digest.
//!
//! Both are the same executable, so both have the same table. The digest covers the build: a child of another build
//! does not have the callable, whatever its name, and says so.

mod build_id;
mod digest;
mod signature;

use std::sync::OnceLock;

use ringlane_task::{BlobReader, CallConfig};

pub use digest::Digest;
pub use signature::Signature;

use crate::call_error::CallError;
use crate::error::NodeError;

/// What a callable is: a function over a valid configuration and checked arguments.
pub type CallableFn = fn(&CallConfig, &BlobReader<'_>) -> Result<(), CallError>;

/// A function that can be called in a child. Made by [`callable!`](crate::callable!).
#[derive(Debug)]
pub struct Callable {
    module: &'static str,
    name: &'static str,
    signature: Signature,
    run: CallableFn,
    digest: OnceLock<Digest>,
}

impl Callable {
    /// A callable of a module (its path begins with the crate's name), with a name that is unique there.
    pub const fn new(
        module: &'static str,
        name: &'static str,
        signature: Signature,
        run: CallableFn,
    ) -> Self {
        Callable { module, name, signature, run, digest: OnceLock::new() }
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
            &self.signature.bytes(),
            build_id::get()?,
        ]);
        Ok(*self.digest.get_or_init(|| digest))
    }

    /// Runs it here. A panic is an error like any other.
    pub(crate) fn run(&self, config: &CallConfig, arguments: &BlobReader<'_>) -> Result<(), CallError> {
        let run = std::panic::AssertUnwindSafe(|| (self.run)(config, arguments));
        std::panic::catch_unwind(run).unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
            let detail = text.unwrap_or("a panic without a text");
            Err(CallError::new("CallablePanicked", detail, format!("mend {}", self.name)))
        })
    }
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
}

/// Declares a callable: a function that a node can run in a child of the same executable.
///
/// ```
/// use ringlane_node::{CallError, callable};
/// callable! {
///     /// Fails unless its argument is even.
///     pub static EVEN = fn(_config, arguments; tensors: 0, scalars: [UInt64]) {
///         match arguments.scalar(0).and_then(|scalar| scalar.get::<u64>()) {
///             Some(number) if number % 2 == 0 => Ok(()),
///             number => Err(CallError::new("Odd", format!("{number:?}"), "give an even number")),
///         }
///     }
/// }
/// assert_eq!(EVEN.name(), "EVEN");
/// assert!(ringlane_node::registered_callables().iter().any(|callable| callable.name() == "EVEN"));
/// ```
#[macro_export]
macro_rules! callable {
    ($(#[$meta:meta])* $vis:vis static $name:ident =
        fn($config:ident, $arguments:ident; tensors: $tensors:expr, scalars: [$($scalar:ident),*]) $body:block
    ) => {
        $(#[$meta])*
        $vis static $name: $crate::Callable = $crate::Callable::new(
            module_path!(),
            stringify!($name),
            $crate::Signature { tensors: $tensors, scalars: &[$($crate::task::DType::$scalar),*] },
            |$config, $arguments| $body,
        );
        $crate::inventory::submit! { $crate::Registered(&$name) }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    callable! {
        static HERE = fn(_config, _arguments; tensors: 0, scalars: []) { Ok(()) }
    }
    callable! {
        static LOUD = fn(_config, _arguments; tensors: 0, scalars: []) { panic!("oh {}", "no") }
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
        let run: CallableFn = |_, _| Ok(());
        let none = Signature { tensors: 0, scalars: &[] };
        let digest = |module, name, signature| Callable::new(module, name, signature, run).digest().unwrap();
        let all = [
            digest("a", "b", none),
            digest("a", "c", none),
            digest("ab", "", none),
            digest("a", "b", Signature { tensors: 1, scalars: &[] }),
            digest("a", "b", Signature { tensors: 0, scalars: &[ringlane_task::DType::Int32] }),
        ];
        assert_eq!(all[0], digest("a", "b", none));
        assert!((1..all.len()).all(|i| !all[..i].contains(&all[i])), "{all:?}");
    }

    #[test]
    fn a_panic_is_an_error_of_the_call() {
        let mut blob = [0; 8];
        ringlane_task::write_blob(&mut blob, &[], &[]).unwrap();
        let error = LOUD.run(&CallConfig::default(), &BlobReader::open(&blob).unwrap()).unwrap_err();
        assert_eq!((error.name.as_str(), error.detail.as_str()), ("CallablePanicked", "oh no"));
    }
}
