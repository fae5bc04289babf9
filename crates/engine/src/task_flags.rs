//! What a core knows of a task beside its kernels and arguments, in one byte of its slot.

/// What a task has beside its kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskFlags(u8);

impl TaskFlags {
    const OUTPUTS: u8 = 1;
    const ANNOTATED: u8 = 2;

    /// Whether it makes tensors, and whether its submit gave it a name or a duration.
    #[inline]
    pub(crate) const fn new(outputs: bool, annotated: bool) -> Self {
        TaskFlags((outputs as u8 * Self::OUTPUTS) | (annotated as u8 * Self::ANNOTATED))
    }

    /// Whether it makes tensors.
    #[inline]
    pub const fn has_outputs(self) -> bool {
        self.0 & Self::OUTPUTS != 0
    }

    /// Whether its submit gave it a name or a duration.
    #[inline]
    pub const fn is_annotated(self) -> bool {
        self.0 & Self::ANNOTATED != 0
    }
}
