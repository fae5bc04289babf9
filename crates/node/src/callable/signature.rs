//! What a callable takes; checked where the call is submitted, where it is sent and where it runs.

use ringlane_engine::prelude::ParamSpec;
use ringlane_task::DType;

use crate::error::NodeError;

/// What a callable takes: this many tensors, and scalars of these types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// How many tensors.
    pub tensors: Tensors,
    /// The types of the scalars, in their order.
    pub scalars: &'static [DType],
}

/// How many tensors a callable takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensors {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
}

impl Tensors {
    /// The fewest.
    pub const fn fewest(self) -> usize {
        match self {
            Tensors::Exactly(count) | Tensors::AtLeast(count) => count,
        }
    }

    fn takes(self, given: usize) -> bool {
        match self {
            Tensors::Exactly(count) => given == count,
            Tensors::AtLeast(count) => given >= count,
        }
    }

    fn text(self) -> String {
        match self {
            Tensors::Exactly(count) => format!("{count}"),
            Tensors::AtLeast(count) => format!("{count} or more"),
        }
    }
}

impl Signature {
    /// Refuses arguments that are not what is taken.
    pub(crate) fn check(
        &self,
        callable: &'static str,
        tensors: usize,
        scalars: impl Iterator<Item = DType> + Clone,
    ) -> Result<(), NodeError> {
        if self.tensors.takes(tensors) && self.scalars.iter().copied().eq(scalars.clone()) {
            return Ok(());
        }
        let takes = text(&self.tensors.text(), self.scalars.iter().copied());
        Err(NodeError::WrongArguments { callable, takes, given: text(&tensors.to_string(), scalars) })
    }

    /// As it goes into a digest.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        text(&self.tensors.text(), self.scalars.iter().copied()).into_bytes()
    }

    /// Parameters of the kernel that represents the callable in a node's graph: its own, and one that is the node's.
    #[doc(hidden)]
    pub const fn param_count(&self) -> usize {
        self.tensors.fewest() + self.scalars.len() + 1
    }

    /// The parameters themselves; `N` is their [count](Self::param_count).
    #[doc(hidden)]
    pub const fn params<const N: usize>(&self) -> [ParamSpec; N] {
        let (mut params, mut i) = ([ParamSpec::TENSOR; N], 0);
        while i < self.scalars.len() {
            params[self.tensors.fewest() + i] = ParamSpec::scalar(self.scalars[i]);
            i += 1;
        }
        params[N - 1] = ParamSpec::scalar(TICKET);
        params
    }
}

/// The type of the scalar that a node adds to a task of its own: which configuration and which worker it asked for.
pub(crate) const TICKET: DType = DType::UInt64;

fn text(tensors: &str, scalars: impl Iterator<Item = DType>) -> String {
    let scalars: Vec<_> = scalars.map(DType::as_str).collect();
    format!("{tensors} tensors and the scalars ({})", scalars.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_arguments_are_refused_with_both_lists() {
        let scalars = &[DType::UInt64, DType::Float32];
        let signature = Signature { tensors: Tensors::Exactly(1), scalars };
        let check = |tensors, scalars: &[DType]| signature.check("F", tensors, scalars.iter().copied());
        assert_eq!(check(1, &[DType::UInt64, DType::Float32]), Ok(()));
        assert!(check(0, &[DType::UInt64, DType::Float32]).is_err());
        let NodeError::WrongArguments { takes, given, .. } = check(1, &[DType::UInt64]).unwrap_err() else {
            panic!("another error");
        };
        assert_eq!(takes, "1 tensors and the scalars (uint64, float32)");
        assert_eq!(given, "1 tensors and the scalars (uint64)");
    }

    #[test]
    fn some_take_any_number_of_tensors_from_one_on() {
        let signature = Signature { tensors: Tensors::AtLeast(2), scalars: &[] };
        let check = |tensors| signature.check("F", tensors, [].into_iter());
        assert!(check(1).is_err() && check(2).is_ok() && check(9).is_ok());
        assert_eq!(signature.param_count(), 3);
    }
}
