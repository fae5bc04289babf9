//! Programs that can be run in parts, each on a chip of its own.
//!
//! A program says what it cannot divide (a sequence, a row of tiles), which rows of which buffers some of that touches, and
//! submits the tasks of some of it. Whoever runs the parts decides how many there are, and the tensors decide what waits for
//! what.

use core::ops::Range;

use ringlane_engine::prelude::*;

/// What a part does to an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartAccess {
    /// Reads it.
    Read,
    /// Overwrites it.
    Write,
    /// Reads and writes it.
    InOut,
}

/// What a part touches of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartArgument {
    /// Which of its rows, along the first axis; all if there are none.
    pub rows: Option<Range<u32>>,
    /// What is done to it.
    pub access: PartAccess,
}

impl PartArgument {
    /// All of it, to be read.
    pub const WHOLE: PartArgument = PartArgument { rows: None, access: PartAccess::Read };

    /// Some rows, to be read.
    pub fn rows(rows: &Range<u32>) -> Self {
        PartArgument { rows: Some(rows.clone()), access: PartAccess::Read }
    }

    /// The same, to be overwritten.
    #[must_use]
    pub fn written(self) -> Self {
        PartArgument { access: PartAccess::Write, ..self }
    }

    /// The same, to be read and written.
    #[must_use]
    pub fn updated(self) -> Self {
        PartArgument { access: PartAccess::InOut, ..self }
    }
}

/// A program that can be run in parts.
pub trait Parts {
    /// How many pieces there are that cannot be divided; a part is some of them.
    fn units(&self) -> u32;
    /// The buffers that it touches, once they are made.
    fn part_buffers(&self) -> Result<Vec<BufferId>>;
    /// What these units touch of each of them, in that order.
    fn arguments(&self, units: Range<u32>) -> Vec<PartArgument>;
    /// Submits the tasks of these units; the tensors are what [`arguments`](Self::arguments) tells of the buffers.
    fn orchestrate_part<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        units: Range<u32>,
        tensors: &[Tensor<'s>],
    ) -> Result<()>;
}

/// Shares units out: no more parts than units, each with as many as any other or one more.
///
/// ```
/// use ringlane_scenes::share_out;
/// assert_eq!(share_out(3..10, 3), [3..6, 6..8, 8..10]);
/// assert_eq!(share_out(0..2, 5), [0..1, 1..2]);
/// ```
pub fn share_out(units: Range<u32>, parts: u32) -> Vec<Range<u32>> {
    let count = units.len() as u32;
    let parts = parts.clamp(1, count.max(1));
    let start = |part: u32| units.start + part * (count / parts) + part.min(count % parts);
    (0..parts).map(|part| start(part)..start(part + 1)).filter(|part| !part.is_empty()).collect()
}
