//! Newtypes for every id, index and tick, so that a slot is never passed where a task is meant.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        id! { $(#[$doc])* $name($inner) without Display }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
    ($(#[$doc:meta])* $name:ident($inner:ty) without Display) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $inner);
    };
}

id! {
    /// The id of a task in every artifact: `ring << 32 | local`, where `local` counts the tasks of that ring.
    ///
    /// ```
    /// use ringlane_task::{RingIndex, TaskId};
    /// let id = TaskId::new(RingIndex(1), 7);
    /// assert_eq!((id.0, id.ring(), id.local()), (4_294_967_303, RingIndex(1), 7));
    /// ```
    ///
    /// Artifacts and `--json` contain the number; all text output names the task `ring:local`:
    ///
    /// ```
    /// # use ringlane_task::TaskId;
    /// assert_eq!(format!("task {}", TaskId(4_294_967_303)), "task 1:7");
    /// ```
    TaskId(u64) without Display
}
id! {
    /// Submission order: 0, 1, 2, … over all rings. Task ids do not order tasks across rings; this does.
    Seq(u64)
}
id! {
    /// A scope, numbered in the order of entry; the root scope is 0.
    ScopeId(u32)
}
id! {
    /// A kernel within one run (`func_id` in the artifacts), numbered in the order of first use.
    KernelId(u32)
}
id! {
    /// A source site (`file:line`) within one run.
    SiteId(u32)
}
id! {
    /// A core of a chip; on `cpu` a thread, 0 is the submitting one.
    CoreId(u32)
}
id! {
    /// One of the four rings; scope depth `d` uses ring `min(d, 3)`.
    RingIndex(u8)
}
id! {
    /// Index of a block within an SPMD task.
    BlockIndex(u32)
}
id! {
    /// Time in ticks of the chip's counter, since the start of the run.
    Ticks(u64)
}

/// `ring:local`. The ring of an id from a damaged file may not exist; it is shown as it is.
impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0 >> 32, self.local())
    }
}

impl TaskId {
    /// Combines a ring and a number within that ring.
    pub const fn new(ring: RingIndex, local: u32) -> Self {
        TaskId((ring.0 as u64) << 32 | local as u64)
    }

    /// The ring of the task.
    pub const fn ring(self) -> RingIndex {
        RingIndex((self.0 >> 32) as u8)
    }

    /// The task's number among the tasks of its ring.
    pub const fn local(self) -> u32 {
        self.0 as u32
    }
}
