//! How long blocks take on a chip whose blocks take the time they take: slower than their kernels, or a given time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::slowdown::{Slowdown, factor_of};

/// How long each block of a program takes, by the task's place in submission order.
///
/// ```
/// use ringlane_engine::pace::BlockDurations;
/// let mut durations = BlockDurations::default();
/// durations.push_task([2_000, 3_000]); // two blocks
/// durations.push_task([]); // a barrier
/// assert_eq!((durations.of_task(0), durations.tasks()), (&[2_000, 3_000][..], 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockDurations {
    /// The first block of each task.
    first: Vec<usize>,
    picoseconds: Vec<u64>,
}

impl BlockDurations {
    /// Adds the next task: its blocks lane by lane, in picoseconds. A task without kernels has none.
    pub fn push_task(&mut self, blocks: impl IntoIterator<Item = u64>) {
        self.first.push(self.picoseconds.len());
        self.picoseconds.extend(blocks);
    }

    /// The blocks of a task, in picoseconds.
    pub fn of_task(&self, seq: usize) -> &[u64] {
        let end = self.first.get(seq + 1).copied().unwrap_or(self.picoseconds.len());
        self.first.get(seq).map_or(&[], |&first| &self.picoseconds[first..end])
    }

    /// The same, to be changed.
    pub fn of_task_mut(&mut self, seq: usize) -> &mut [u64] {
        let end = self.first.get(seq + 1).copied().unwrap_or(self.picoseconds.len());
        match self.first.get(seq) {
            Some(&first) => &mut self.picoseconds[first..end],
            None => &mut [],
        }
    }

    /// All blocks, in picoseconds.
    pub fn blocks(&self) -> &[u64] {
        &self.picoseconds
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> &mut [u64] {
        &mut self.picoseconds
    }

    /// The number of tasks.
    pub fn tasks(&self) -> usize {
        self.first.len()
    }
}

/// How long blocks take, where that is not just the time of their kernels.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Kernels that are made slower.
    pub slow: Vec<Slowdown>,
    /// How long each block takes.
    pub durations: Option<Arc<BlockDurations>>,
}

impl Pace {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.slow.is_empty() && self.durations.is_none()
    }

    /// How long a block takes whose kernel took this long.
    fn whole(&self, seq: u64, index: u32, kernel: &str, taken: Duration) -> Duration {
        if let Some(durations) = &self.durations {
            let picoseconds = durations.of_task(seq as usize).get(index as usize);
            return Duration::from_nanos(picoseconds.map_or(0, |ps| ps / 1_000));
        }
        let slower = |factor| Duration::try_from_secs_f64(taken.as_secs_f64() * factor).ok();
        factor_of(&self.slow, kernel).and_then(slower).unwrap_or_default()
    }

    /// Spins until a block that began then has taken its time, or the run is stopped.
    #[cold]
    pub(crate) fn spin(
        &self,
        (seq, index): (u64, u32),
        kernel: &str,
        begun: Instant,
        stopped: impl Fn() -> bool,
    ) {
        let whole = self.whole(seq, index, kernel, begun.elapsed());
        while begun.elapsed() < whole && !stopped() {
            core::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: Duration = Duration::from_micros(2);

    #[test]
    fn a_slow_kernel_takes_a_multiple_of_its_time_and_others_take_their_own() {
        let pace = Pace { slow: vec![Slowdown { kernel: "QK".to_string(), factor: 3.0 }], durations: None };
        assert_eq!(pace.whole(0, 0, "QK", TAKEN), 3 * TAKEN);
        assert_eq!(pace.whole(0, 0, "PV", TAKEN), Duration::ZERO);
    }

    #[test]
    fn a_block_with_a_duration_takes_it_and_one_that_is_not_there_takes_no_more_than_its_kernel() {
        let mut durations = BlockDurations::default();
        durations.push_task([5_000_999]);
        durations.push_task([]);
        let pace = Pace { slow: Vec::new(), durations: Some(Arc::new(durations)) };
        assert_eq!(pace.whole(0, 0, "QK", TAKEN), Duration::from_nanos(5_000));
        assert_eq!(pace.whole(0, 1, "QK", TAKEN), Duration::ZERO);
        assert_eq!(pace.whole(7, 0, "QK", TAKEN), Duration::ZERO);
    }

    #[test]
    fn a_run_that_is_stopped_does_not_wait_for_a_long_block() {
        let mut durations = BlockDurations::default();
        durations.push_task([u64::MAX]);
        let pace = Pace { slow: Vec::new(), durations: Some(Arc::new(durations)) };
        pace.spin((0, 0), "QK", Instant::now(), || true);
    }
}
