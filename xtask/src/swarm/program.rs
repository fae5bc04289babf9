//! A random program as plain data: a tree of scopes with operations, the buffers it works on, and the rings it gets.
//!
//! Tensors and tasks have names (numbers). An operation that names something that is not there (because shrinking
//! dropped what made it) is left out, in the oracle as in the engine, so any part of a program is a program.
#![forbid(unsafe_code)]

use ringlane::{Platform, PolicyName};
use ringlane_task::{Access, ChipSpec, DType, DfxFlags, Overflow};

/// Name of a tensor: an external buffer, an `alloc`, or an output.
pub(crate) type TensorName = u32;
/// Name of a task.
pub(crate) type TaskName = u32;

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) buffers: Vec<BufferSpec>,
    pub(crate) body: Vec<Op>,
    pub(crate) rings: Rings,
    pub(crate) threads: i32,
    /// One past the largest name of a task.
    pub(crate) tasks: usize,
    /// A task that does not fit its ring is left out instead of ending the program.
    pub(crate) tolerant: bool,
    /// Run again on the same runtime, also if all went well.
    pub(crate) twice: bool,
    /// The run is interrupted from inside at this submit, once; then it is run again.
    pub(crate) interrupt_at: Option<u32>,
    /// Run again with these diagnostics, and what they leave is checked.
    pub(crate) recorded: Option<Recorded>,
    /// Run also on this modelled chip.
    pub(crate) modelled: Option<Box<Modelled>>,
}

/// Which diagnostics are on, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Diagnostics {
    pub(crate) flags: DfxFlags,
    pub(crate) overflow: Overflow,
    /// The group of counters; 0 is the platform's own choice.
    pub(crate) pmu_group: i32,
}

/// What is recorded of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) diagnostics: Diagnostics,
    /// Threads of a second run, whose dependencies must be the same.
    pub(crate) other_threads: i32,
}

/// A modelled chip, and how it is run.
#[derive(Clone, Debug)]
pub(crate) struct Modelled {
    pub(crate) platform: Platform,
    /// The platform's own chip, or one with other costs and fewer or more cores in a cluster.
    pub(crate) chip: ChipSpec,
    pub(crate) policy: PolicyName,
    /// Clusters and schedulers in use; 0: as the chip has them.
    pub(crate) clusters: i32,
    pub(crate) schedulers: i32,
    pub(crate) diagnostics: Diagnostics,
    /// What goes wrong is drawn from this seed.
    pub(crate) chaos: Option<u64>,
}

/// An external buffer; its name is its place in the list.
#[derive(Clone, Debug)]
pub(crate) struct BufferSpec {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u32>,
    pub(crate) read_only: bool,
    pub(crate) salt: u64,
}

/// How large the rings are.
#[derive(Clone, Debug)]
pub(crate) enum Rings {
    /// Far more than any program needs: a deadlock is a failure.
    Roomy,
    /// Just what the program needs: a deadlock over slots, heap, arguments or map entries is a failure.
    Fitted,
    /// These, as powers of two: most programs must raise some of them, as the hints say.
    Tiny(Capacity),
}

/// Capacities of every bounded resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) window: [u32; 4],
    pub(crate) heap: [u64; 4],
    pub(crate) dep_pool: [u32; 4],
    pub(crate) args: [u32; 4],
    pub(crate) tensormap: u32,
}

/// One step of a program.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Submit(Submit),
    Alloc {
        name: TensorName,
        dtype: DType,
        shape: Vec<u32>,
        /// What the values that are uploaded follow from; without, the tensor is zero.
        upload: Option<u64>,
    },
    Barrier {
        name: TaskName,
    },
    Scope {
        body: Vec<Op>,
    },
    /// A scope without inference, after a barrier if its tasks touch what others touch.
    Manual {
        fence: Option<TaskName>,
        body: Vec<Op>,
    },
    /// The body again and again.
    Repeat {
        times: u32,
        body: Vec<Op>,
    },
    /// Reads a view; its values decide which side is submitted, and salt what follows.
    Branch {
        from: Place,
        /// Whether a failed producer ends the program.
        strict: bool,
        then: Vec<Op>,
        otherwise: Vec<Op>,
    },
    /// The orchestration returns an error of its own.
    Stop,
    /// The orchestration panics.
    Panic,
}

/// A view of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) tensor: TensorName,
    pub(crate) steps: Vec<Step>,
}

/// One step from a tensor to a view of it.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Slice(usize, u32, u32),
    Select(usize, u32),
    Transpose(usize, usize),
    Reshape(Vec<u32>),
    Broadcast(u32),
}

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Submit {
    pub(crate) name: TaskName,
    /// One kernel, or two or three that run side by side: places in [`super::kernels::ALL`].
    pub(crate) kernels: Vec<usize>,
    pub(crate) blocks: u32,
    pub(crate) args: Vec<ArgSpec>,
    pub(crate) after: Vec<TaskName>,
    /// By `submit_slice`, whatever the number of arguments.
    pub(crate) as_slice: bool,
    pub(crate) notes: Notes,
}

/// What a submit says about its task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    /// Characters of its name after its number.
    pub(crate) label: Option<u32>,
    /// Nanoseconds that it takes on a modelled chip.
    pub(crate) duration_ns: Option<u32>,
}

impl Notes {
    /// The name of a task.
    pub(crate) fn label_of(&self, task: TaskName) -> Option<String> {
        // One of two bytes and one of one, so that names end at every place of a word.
        self.label
            .map(|count| format!("{task} {}", "äx".chars().cycle().take(count as usize).collect::<String>()))
    }
}

/// An argument.
#[derive(Clone, Debug)]
pub(crate) enum ArgSpec {
    Tensor { place: Place, access: Access, split: Option<u8> },
    Out { name: TensorName, dtype: DType, shape: Vec<u32>, split: Option<u8> },
    Scalar { dtype: DType, bits: u64 },
    Meta(Meta),
}

/// The scalars that a kernel gets besides its tensors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meta {
    /// Which task this is, for the list of what ran.
    pub(crate) task: u16,
    /// Makes its results its own.
    pub(crate) salt: u32,
    /// How long it dawdles, in fours of pauses.
    pub(crate) spin: u16,
    /// Whether it dawdles before it reads, or between reading and writing.
    pub(crate) spin_first: bool,
    /// Whether it leaves elements as they are.
    pub(crate) gaps: bool,
    pub(crate) fail: Fail,
    /// Whether it fails after it has written.
    pub(crate) fail_late: bool,
}

/// How a kernel ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fail {
    #[default]
    Not,
    Error,
    Panic,
    /// An error, of the last block only.
    LastBlock,
}

/// Bits of a task's number in a packed [`Meta`].
pub(crate) const TASK_BITS: u32 = 14;
const SALT_BITS: u32 = 24;
const SPIN_BITS: u32 = 10;

impl Meta {
    /// As one scalar.
    pub(crate) fn pack(&self) -> u64 {
        let fields = [
            (self.task as u64, TASK_BITS),
            (self.salt as u64 & ((1 << SALT_BITS) - 1), SALT_BITS),
            (self.spin as u64, SPIN_BITS),
            (self.spin_first as u64, 1),
            (self.gaps as u64, 1),
            (self.fail as u64, 2),
            (self.fail_late as u64, 1),
        ];
        fields.iter().rev().fold(0, |packed, &(value, bits)| {
            debug_assert!(value < 1 << bits);
            packed << bits | value
        })
    }

    /// From a scalar.
    pub(crate) fn unpack(mut packed: u64) -> Self {
        let mut next = |bits: u32| {
            let value = packed & ((1 << bits) - 1);
            packed >>= bits;
            value
        };
        Meta {
            task: next(TASK_BITS) as u16,
            salt: next(SALT_BITS) as u32,
            spin: next(SPIN_BITS) as u16,
            spin_first: next(1) == 1,
            gaps: next(1) == 1,
            fail: [Fail::Not, Fail::Error, Fail::Panic, Fail::LastBlock][next(2) as usize],
            fail_late: next(1) == 1,
        }
    }
}

/// Walks from a tensor (or its view) through `steps`; both have the same methods.
macro_rules! walk {
    ($start:expr, $steps:expr) => {{
        let mut at = Ok($start);
        for step in $steps {
            at = at.and_then(|view| match step {
                Step::Slice(axis, start, len) => view.slice(*axis, *start, *len),
                Step::Select(axis, index) => view.select(*axis, *index),
                Step::Transpose(a, b) => view.transpose(*a, *b),
                Step::Reshape(shape) => view.reshape(shape),
                Step::Broadcast(len) => view.broadcast(*len),
            });
        }
        at
    }};
}
pub(crate) use walk;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_a_kernel_survive_packing() {
        let meta = Meta {
            task: 9_001,
            salt: 0xabcdef,
            spin: 1023,
            spin_first: true,
            gaps: false,
            fail: Fail::Panic,
            fail_late: true,
        };
        assert_eq!(format!("{:?}", Meta::unpack(meta.pack())), format!("{meta:?}"));
    }
}
