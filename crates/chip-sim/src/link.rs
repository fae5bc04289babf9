//! The link between host and chip: one copy at a time.

use ringlane_task::LinkSpec;

use crate::time::{Ps, SECOND, TIME_MAX, later};

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From host to chip.
    In,
    /// From chip to host.
    Out,
}

impl Direction {
    /// The name used in artifacts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Direction::In => "h2d",
            Direction::Out => "d2h",
        }
    }
}

/// What was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The external buffer with this number.
    Buffer(u32),
    /// A tensor that the orchestration read.
    Read,
    /// Values that the orchestration uploaded.
    Upload,
    /// Records of a control thread.
    Records(u32),
}

impl core::fmt::Display for Copied {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Copied::Buffer(number) => write!(f, "buffer {number}"),
            Copied::Read => f.write_str("read"),
            Copied::Upload => f.write_str("upload"),
            Copied::Records(thread) => write!(f, "records of thread {thread}"),
        }
    }
}

/// A copy over the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The direction.
    pub direction: Direction,
    /// What was copied.
    pub what: Copied,
    /// The number of bytes.
    pub bytes: u64,
    /// When it began.
    pub start: Ps,
    /// When it ended.
    pub end: Ps,
}

/// The number of copies that are recorded; further ones are only counted.
pub const COPIES_MAX: usize = 1 << 16;

/// The link.
#[derive(Debug)]
pub(crate) struct Link {
    spec: LinkSpec,
    free_at: Ps,
    pub(crate) copies: Vec<Copy>,
    pub(crate) count: u64,
}

impl Link {
    pub(crate) fn new(spec: LinkSpec) -> Self {
        Link { spec, free_at: 0, copies: Vec::new(), count: 0 }
    }

    /// Picoseconds to transfer these bytes, without latency.
    pub(crate) fn takes(&self, bytes: u64) -> Ps {
        let ps = u128::from(bytes) * u128::from(SECOND) / u128::from(self.spec.bytes_per_second.max(1));
        Ps::try_from(ps).unwrap_or(TIME_MAX)
    }

    /// Copies as soon as the link is free; returns the end of the copy.
    pub(crate) fn copy(&mut self, at: Ps, direction: Direction, what: Copied, bytes: u64) -> Ps {
        let start = at.max(self.free_at);
        let end = later(start, self.spec.latency.saturating_add(self.takes(bytes)));
        self.free_at = end;
        self.count += 1;
        if self.copies.len() < COPIES_MAX {
            self.copies.push(Copy { direction, what, bytes, start, end });
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_wait_for_each_other_and_take_latency_and_bytes() {
        let mut link = Link::new(LinkSpec { latency: 5_000_000, bytes_per_second: 25_000_000_000 });
        assert_eq!(link.copy(0, Direction::In, Copied::Buffer(0), 25_000), 6_000_000);
        assert_eq!(link.copy(1_000_000, Direction::Out, Copied::Read, 0), 11_000_000);
        assert_eq!(link.copy(20_000_000, Direction::Out, Copied::Read, 25), 25_001_000);
    }

    #[test]
    fn a_copy_that_would_never_end_ends_with_time() {
        let mut link = Link::new(LinkSpec { latency: 1, bytes_per_second: 1 });
        let ends = [0, 0, Ps::MAX].map(|at| link.copy(at, Direction::In, Copied::Buffer(0), u64::MAX));
        assert_eq!(ends, [TIME_MAX; 3]);
    }
}
