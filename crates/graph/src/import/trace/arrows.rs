//! Flow arrows as edges: the slices that an arrow goes through, one after the other.

use super::lanes::{Lanes, Slice};
use crate::import::ImportError;
use crate::import::builder::GraphBuilder;

/// What an event is to its arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Start,
    Step,
    End,
}

/// Which slice an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bind {
    /// The one around its time.
    Around,
    /// The next one that starts.
    Next,
}

/// An event of an arrow.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrowEnd {
    pub time: i64,
    pub arrow: u32,
    pub lane: u32,
    /// Slices that come before it in the file.
    pub slices_before: u32,
    pub role: Role,
    pub bind: Bind,
}

impl ArrowEnd {
    fn slice(&self, slices: &[Slice], lanes: &Lanes) -> Option<u32> {
        let around = || lanes.around(slices, self.lane, self.time, self.slices_before);
        match self.bind {
            Bind::Around => around(),
            Bind::Next => lanes.next(slices, self.lane, self.time).or_else(around),
        }
    }
}

/// Adds an edge for each arrow from one slice to another. Arrows without a start or an end, with an end outside of all slices or
/// with both in one slice are counted as skipped.
pub(super) fn add_edges(
    graph: &mut GraphBuilder<'_>,
    mut ends: Vec<ArrowEnd>,
    slices: &[Slice],
    lanes: &Lanes,
) -> Result<(), ImportError> {
    // Of one time, an arrow starts before it ends.
    ends.sort_by_key(|end| (end.arrow, end.time, end.role));
    let mut skipped = 0;
    // An id may be used again for another arrow after its end.
    for arrow in ends.chunk_by(|before, after| before.arrow == after.arrow && after.role != Role::Start) {
        let mut last = None;
        let mut steps = 0;
        for end in arrow {
            let slice = end.slice(slices, lanes);
            if end.role == Role::Start {
                last = slice;
                continue;
            }
            steps += 1;
            match (last, slice) {
                (Some(pred), Some(succ)) if pred != succ => graph.add_edge(pred, succ)?,
                _ => skipped += 1,
            }
            // Several ends of one arrow begin at the same slice.
            if end.role == Role::Step {
                last = slice;
            }
        }
        skipped += u64::from(steps == 0);
    }
    graph.skipped.arrows += skipped;
    Ok(())
}
