//! What a core knows of a task beside its kernels and arguments, in one byte of its slot.

#![forbid(unsafe_code)]

use core::ops::BitOrAssign;

/// What a task has beside its kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskFlags(u8);

impl TaskFlags {
    pub(crate) const OUTPUTS: TaskFlags = TaskFlags(1);
    pub(crate) const ANNOTATED: TaskFlags = TaskFlags(2);

    pub(crate) const INITS: TaskFlags = TaskFlags(4);

    /// Whether memory is initialized before its first block, in a captured graph.
    #[inline]
    pub const fn has_inits(self) -> bool {
        self.0 & Self::INITS.0 != 0
    }

    /// The same for a task whose memory was initialized elsewhere.
    pub const fn initialized(self) -> Self {
        TaskFlags(self.0 & !Self::INITS.0)
    }

    /// Whether it makes tensors.
    #[inline]
    pub const fn has_outputs(self) -> bool {
        self.0 & Self::OUTPUTS.0 != 0
    }

    /// Whether its submit gave it a name or a duration.
    #[inline]
    pub const fn is_annotated(self) -> bool {
        self.0 & Self::ANNOTATED.0 != 0
    }
}

impl BitOrAssign for TaskFlags {
    #[inline]
    fn bitor_assign(&mut self, more: Self) {
        self.0 |= more.0;
    }
}
