//! Capturing arguments: inputs before the first block, outputs after the last, inouts at both, scalars before.
//!
//! The bytes of a tensor go through a lane of their own in *pieces*, each with the place in the file where it belongs, so
//! that a tensor of any size passes through a bounded arena and the collector can put every piece where it stays. The
//! record follows its bytes and says how many there are.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use ringlane_engine::limits::TENSORS_MAX;
use ringlane_engine::observe::{Argument, ObservedTask, TensorArgument};
use ringlane_task::{Access, Dim, MAX_RANK};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::lane::Writer;
use crate::selection::ArgMask;

/// A task whose arguments are captured.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct CapturedTask {
    pub(crate) task_id: u64,
    pub(crate) seq: u64,
    pub(crate) kernels: [u16; 3],
    pub(crate) lanes: u16,
}

/// A captured argument.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Captured {
    pub(crate) task_id: u64,
    /// Scalars: their bits.
    pub(crate) value: u64,
    /// First byte of the view in its tensor.
    pub(crate) offset: u64,
    pub(crate) bin_offset: u64,
    pub(crate) bin_size: u64,
    /// Bytes that the whole view has.
    pub(crate) bytes: u64,
    pub(crate) arg: u16,
    pub(crate) kind: u8,
    pub(crate) access: u8,
    pub(crate) stage: u8,
    pub(crate) dtype: u8,
    pub(crate) rank: u8,
    pub(crate) unused: u8,
    /// Tensors: the number of the tensor that it is a part of.
    pub(crate) tensor: u32,
    pub(crate) unused_word: u32,
    pub(crate) dims: [[u32; 2]; MAX_RANK],
}

pub(crate) const TENSOR: u8 = 1;
pub(crate) const SCALAR: u8 = 2;
pub(crate) const BEFORE: u8 = 0;
pub(crate) const AFTER: u8 = 1;

/// Numbers of the tensors of a task, in the order of its tensor arguments.
pub(crate) type TensorNumbers = [AtomicU32; TENSORS_MAX];

/// What is captured of a task.
pub(crate) struct Wanted<'r> {
    pub(crate) mask: ArgMask,
    pub(crate) tensors: &'r TensorNumbers,
}

impl Wanted<'_> {
    /// The arguments that are captured: index, number of the tensor (0 for a scalar), argument.
    fn of<'t>(&self, task: &ObservedTask<'t>) -> impl Iterator<Item = (usize, u32, Argument<'t>)> {
        let mut numbers = self.tensors.iter();
        let numbered = task.args().enumerate().map(move |(index, argument)| {
            let tensor = matches!(argument, Argument::Tensor(_)).then(|| numbers.next()).flatten();
            (index, tensor.map_or(0, |number| number.load(Ordering::Relaxed)), argument)
        });
        numbered.filter(|(index, ..)| self.mask.contains(*index))
    }
}

/// One core's side of the dump.
pub(crate) struct Capture {
    tasks: Writer,
    records: Writer,
    payload: Writer,
    /// The stretch of the file that is this core's, as far as it is left.
    stretch: Stretch,
    /// Bytes of records and tensors since it was last asked.
    captured_bytes: u64,
}

/// A stretch of the file for the small tensors of one core, so that they are adjacent and written together.
#[derive(Default)]
struct Stretch {
    next: u64,
    end: u64,
}

impl Stretch {
    /// Bytes of a stretch.
    const BYTES: u64 = 64 << 10;
    /// Larger tensors have a place of their own.
    const SMALL: u64 = 8 << 10;

    /// The offset of a place of `bytes` bytes; `end` is where the file ends so far.
    fn take(&mut self, bytes: u64, end: &AtomicU64) -> u64 {
        if bytes > Self::SMALL {
            return end.fetch_add(bytes, Ordering::Relaxed);
        }
        if self.end - self.next < bytes {
            self.next = end.fetch_add(Self::BYTES, Ordering::Relaxed);
            self.end = self.next + Self::BYTES;
        }
        self.next += bytes;
        self.next - bytes
    }
}

impl Capture {
    pub(crate) fn new(tasks: Writer, records: Writer, payload: Writer) -> Self {
        Capture { tasks, records, payload, stretch: Stretch::default(), captured_bytes: 0 }
    }

    /// Bytes of records and tensors that it captured since this was last called.
    pub(crate) fn take_captured_bytes(&mut self) -> u64 {
        core::mem::take(&mut self.captured_bytes)
    }

    fn push(&mut self, record: &Captured) {
        self.records.push(record);
        self.captured_bytes += size_of::<Captured>() as u64 + record.bin_size;
    }

    /// Captures what a task is about to read. `end` is where the next payload goes in the file.
    pub(crate) fn before(&mut self, task: &ObservedTask<'_>, wanted: &Wanted<'_>, end: &AtomicU64) {
        let record = task.record();
        self.captured_bytes += size_of::<CapturedTask>() as u64;
        self.tasks.push(&CapturedTask {
            task_id: task.id().0,
            seq: record.seq,
            kernels: record.kernels,
            lanes: record.lanes() as u16,
        });
        for (index, number, argument) in wanted.of(task) {
            match argument {
                Argument::Scalar(scalar) => self.push(&Captured {
                    task_id: task.id().0,
                    value: scalar.bits(),
                    arg: index as u16,
                    kind: SCALAR,
                    stage: BEFORE,
                    dtype: scalar.dtype() as u8,
                    ..Captured::default()
                }),
                Argument::Tensor(tensor) if tensor.access().reads() => {
                    self.tensor(task, (index, number), &tensor, BEFORE, end);
                }
                Argument::Tensor(_) => {}
            }
        }
    }

    /// Captures what a task has written.
    pub(crate) fn after(&mut self, task: &ObservedTask<'_>, wanted: &Wanted<'_>, end: &AtomicU64) {
        for (index, number, argument) in wanted.of(task) {
            if let Argument::Tensor(tensor) = argument
                && tensor.access().writes()
            {
                self.tensor(task, (index, number), &tensor, AFTER, end);
            }
        }
    }

    fn tensor(
        &mut self,
        task: &ObservedTask<'_>,
        (index, number): (usize, u32),
        tensor: &TensorArgument<'_>,
        stage: u8,
        end: &AtomicU64,
    ) {
        if tensor.access() == Access::NoDep {
            return;
        }
        let bytes = tensor.bytes();
        let bin_offset = self.stretch.take(bytes, end);
        let mut pieces =
            Pieces { payload: &mut self.payload, at: bin_offset, left: bytes, room: 0, padding: 0 };
        // SAFETY: called before the task's first block or after its last: every other task that could write these
        // bytes is ordered before or after the task.
        unsafe { tensor.read(|run| pieces.put(run)) };
        let bin_size = pieces.at - bin_offset;
        let mut dims = [[0; 2]; MAX_RANK];
        for (to, Dim { len, stride }) in dims.iter_mut().zip(tensor.dims()) {
            *to = [*len, *stride];
        }
        self.push(&Captured {
            task_id: task.id().0,
            offset: tensor.offset(),
            bin_offset,
            bin_size,
            bytes,
            arg: index as u16,
            kind: TENSOR,
            access: tensor.access() as u8,
            stage,
            dtype: tensor.dtype() as u8,
            rank: tensor.dims().len() as u8,
            tensor: number,
            dims,
            ..Captured::default()
        });
    }
}

/// The bytes of one tensor on their way into the payload lane.
struct Pieces<'w> {
    payload: &'w mut Writer,
    /// Where the next byte belongs in the file.
    at: u64,
    /// Bytes of the tensor that have no piece yet; none are taken any more once a piece found no place.
    left: u64,
    /// Bytes that the open piece still takes, and those of padding after them.
    room: usize,
    padding: usize,
}

impl Pieces<'_> {
    fn put(&mut self, mut run: &[u8]) {
        while !run.is_empty() {
            let Some(place) = self.open() else { return };
            let count = run.len().min(place.len());
            place[..count].copy_from_slice(&run[..count]);
            run = &run[count..];
            self.at += count as u64;
            self.room -= count;
        }
    }

    /// The room of the open piece; opens the next if it is full. `None`: there is no buffer, the rest is lost.
    fn open(&mut self) -> Option<&mut [u8]> {
        if self.room == 0 {
            if self.left == 0 {
                return None;
            }
            let left = core::mem::take(&mut self.left);
            let bytes = (left as usize).min(self.payload.piece_bytes_max() & !7);
            self.payload.reserve_piece(self.at, bytes)?;
            (self.room, self.padding) = (bytes, bytes.next_multiple_of(8) - bytes);
            self.left = left - bytes as u64;
        }
        let room = self.room;
        Some(&mut self.payload.last(room + self.padding)[..room])
    }
}
