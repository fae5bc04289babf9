//! Programs that can be divided into parts, each of which runs on its own chip.
//!
//! A program states its indivisible units (a sequence, a row of tiles) and which rows of which buffers a range of
//! units uses, and submits the tasks of such a range. The caller chooses the number of parts; dependencies follow
//! from the tensors.

use core::ops::Range;

use ringlane_engine::prelude::*;

/// How a part uses an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartAccess {
    /// Reads it.
    Read,
    /// Overwrites it.
    Write,
    /// Reads and writes it.
    InOut,
}

/// The part of a buffer that a part of the program uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartArgument {
    /// Its rows, along the first axis; `None` for all rows.
    pub rows: Option<Range<u32>>,
    /// How they are used.
    pub access: PartAccess,
}

impl PartArgument {
    /// The whole buffer, for reading.
    pub const WHOLE: PartArgument = PartArgument { rows: None, access: PartAccess::Read };

    /// Some rows, for reading.
    pub fn rows(rows: &Range<u32>) -> Self {
        PartArgument { rows: Some(rows.clone()), access: PartAccess::Read }
    }

    /// The same rows, to be overwritten.
    #[must_use]
    pub fn written(self) -> Self {
        PartArgument { access: PartAccess::Write, ..self }
    }

    /// The same rows, for reading and writing.
    #[must_use]
    pub fn updated(self) -> Self {
        PartArgument { access: PartAccess::InOut, ..self }
    }
}

/// A program that can be divided into parts.
pub trait Parts {
    /// The number of indivisible units; a part is a range of them.
    fn units(&self) -> u32;
    /// The buffers that it uses, once they exist.
    fn part_buffers(&self) -> Result<Vec<BufferId>>;
    /// The part of each of these buffers that a range of units uses, in the same order.
    fn arguments(&self, units: Range<u32>) -> Result<Vec<PartArgument>>;
    /// Submits the tasks of these units; `tensors` correspond to [`arguments`](Self::arguments).
    fn orchestrate_part<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        units: Range<u32>,
        tensors: &[Tensor<'s>],
    ) -> Result<()>;
}

/// Divides units evenly: no more parts than units, and part sizes differ by at most one.
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
