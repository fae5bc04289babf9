//! What a callable takes; checked where the call is sent and where it runs.

use ringlane_task::DType;

use crate::error::NodeError;

/// What a callable takes: so many tensors, and scalars of these types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// How many tensors.
    pub tensors: usize,
    /// The types of the scalars, in their order.
    pub scalars: &'static [DType],
}

impl Signature {
    /// Refuses arguments that are not what is taken.
    pub(crate) fn check(
        &self,
        callable: &'static str,
        tensors: usize,
        scalars: impl Iterator<Item = DType> + Clone,
    ) -> Result<(), NodeError> {
        if self.tensors == tensors && self.scalars.iter().copied().eq(scalars.clone()) {
            return Ok(());
        }
        let takes = text(self.tensors, self.scalars.iter().copied());
        Err(NodeError::WrongArguments { callable, takes, given: text(tensors, scalars) })
    }

    /// As it goes into a digest.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        text(self.tensors, self.scalars.iter().copied()).into_bytes()
    }
}

fn text(tensors: usize, scalars: impl Iterator<Item = DType>) -> String {
    let scalars: Vec<_> = scalars.map(DType::as_str).collect();
    format!("{tensors} tensors and the scalars ({})", scalars.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_arguments_are_refused_with_both_lists() {
        let signature = Signature { tensors: 1, scalars: &[DType::UInt64, DType::Float32] };
        let check = |tensors, scalars: &[DType]| signature.check("F", tensors, scalars.iter().copied());
        assert_eq!(check(1, &[DType::UInt64, DType::Float32]), Ok(()));
        assert!(check(0, &[DType::UInt64, DType::Float32]).is_err());
        let NodeError::WrongArguments { takes, given, .. } = check(1, &[DType::UInt64]).unwrap_err() else {
            panic!("another error");
        };
        assert_eq!(takes, "1 tensors and the scalars (uint64, float32)");
        assert_eq!(given, "1 tensors and the scalars (uint64)");
    }
}
