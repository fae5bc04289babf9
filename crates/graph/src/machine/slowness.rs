//! How much slower some threads are than others, for the same work.
//!
//! Two virtual processors may be the two hardware threads of one physical core, and other programs or other virtual machines
//! may use the second one. A thread on such a processor takes up to twice as long for the same block, often for a whole run, and
//! is not the same one in the next run. So what a block takes says as much about its thread as about its kernel.
//!
//! ```text
//! blocks alike: same kernel, same bytes    thread 1  ██ ██ ██ ██ ██        slowness 1
//!                                          thread 2  ████ ████ ████        slowness 2
//! ```

use std::collections::HashMap;

use super::measured::{BlockTime, PlacedBlock};
use crate::recorded::{Program, ProgramArg};

/// Blocks alike that a thread must have run to be compared with others.
const BLOCKS_MIN: usize = 8;
/// A block that took this many times as long as those alike was interrupted: it counts as this long.
const RATIO_MAX: f64 = 3.0;
/// Threads that differ by less than this factor are equally fast: caches and memory make small differences.
const DIFFERENCE_MIN: f64 = 1.25;

/// How much longer the same work took on each thread than on the fastest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slowness(pub(super) Vec<f64>);

impl Slowness {
    /// That of the threads of a recorded run.
    pub(super) fn of(program: &Program, blocks: &[Vec<BlockTime>], placed: &[Vec<PlacedBlock>]) -> Self {
        let kind_of = |&(task, block): &PlacedBlock| {
            let task = &program.tasks[task as usize];
            let lane = block / task.blocks.max(1);
            (
                task.lanes.iter().flatten().nth(lane as usize).copied(),
                task.blocks,
                bytes_of(program, task.args.clone()),
            )
        };
        let time_of = |&(task, block): &PlacedBlock| blocks[task as usize][block as usize].kernel;
        let mut alike: HashMap<_, Vec<u64>> = HashMap::new();
        for block in placed.iter().flatten() {
            alike.entry(kind_of(block)).or_default().push(time_of(block));
        }
        alike.retain(|_, times| times.len() >= BLOCKS_MIN);
        let usual: HashMap<_, u64> = alike.into_iter().map(|(kind, times)| (kind, median(times))).collect();
        let of_thread = |thread: &Vec<PlacedBlock>| {
            let (mut count, mut took, mut usually) = (0, 0.0, 0.0);
            for block in thread {
                let Some(&usual) = usual.get(&kind_of(block)).filter(|usual| **usual > 0) else { continue };
                count += 1;
                took += (time_of(block) as f64).min(RATIO_MAX * usual as f64);
                usually += usual as f64;
            }
            (count >= BLOCKS_MIN).then(|| took / usually)
        };
        let ratios: Vec<Option<f64>> = placed.iter().map(of_thread).collect();
        Slowness::against_fastest(&ratios)
    }

    /// Of what each thread took in proportion to the usual time, where that is known.
    fn against_fastest(ratios: &[Option<f64>]) -> Self {
        let mut known: Vec<f64> = ratios.iter().flatten().copied().collect();
        known.sort_by(f64::total_cmp);
        // Of many threads some are fast by chance.
        let Some(&fastest) = known.get(known.len().saturating_sub(1) / 4) else { return Slowness::default() };
        let slower = |ratio: &Option<f64>| {
            Some(ratio.unwrap_or(fastest) / fastest).filter(|&slower| slower >= DIFFERENCE_MIN).unwrap_or(1.0)
        };
        Slowness(ratios.iter().map(slower).collect())
    }

    /// That of this many threads. As many as in the recording are like those; of fewer, the fastest remain; threads that were
    /// not there are as fast as the fastest.
    pub(super) fn of_threads(&self, threads: usize) -> Vec<f64> {
        let mut all = self.0.clone();
        if threads < all.len() {
            all.sort_by(f64::total_cmp);
        }
        all.resize(threads, 1.0);
        all
    }

    /// That of one thread of the recording.
    pub fn of_thread(&self, thread: usize) -> f64 {
        self.0.get(thread).copied().unwrap_or(1.0)
    }

    /// The threads that were slower than the fastest, and by which factor.
    pub fn slower(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().copied().enumerate().filter(|&(_, slower)| slower > 1.0)
    }

    /// How long a kernel takes on a thread of this slowness.
    pub(super) fn on(&self, thread: f64, time: BlockTime) -> u64 {
        let was = self.of_thread(time.thread as usize);
        if thread == was { time.kernel } else { (time.kernel as f64 * thread / was) as u64 }
    }
}

/// The bytes of all tensors that a task uses.
fn bytes_of(program: &Program, args: std::ops::Range<usize>) -> u64 {
    let bytes = |arg: &ProgramArg| match arg {
        ProgramArg::Tensor { view, .. } => view.bytes(),
        ProgramArg::Scalar => 0,
    };
    program.args[args].iter().map(bytes).fold(0, u64::saturating_add)
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use ringlane_task::{Access, DType, TensorView};

    use super::*;
    use crate::recorded::{ProgramTask, TaskKind};

    /// Tasks of one kernel, each with a tensor of this many bytes, and how long each took on which thread.
    fn slowness(tasks: &[(u32, u64, u32)], threads: u32) -> Slowness {
        let mut program = Program::default();
        let (mut blocks, mut placed) = (Vec::new(), vec![Vec::new(); threads as usize]);
        for (place, &(bytes, kernel, thread)) in tasks.iter().enumerate() {
            let view = TensorView::contiguous(DType::UInt8, &[bytes]).unwrap();
            program.args.push(ProgramArg::Tensor { tensor: 0, view, access: Access::Input, split: None });
            program.tasks.push(ProgramTask {
                kind: TaskKind::Kernels,
                lanes: [Some(0), None, None],
                blocks: 1,
                args: place..place + 1,
                after: 0..0,
                before: 0..0,
                label: None,
                duration_ps: None,
            });
            blocks.push(vec![BlockTime { kernel, thread, ..BlockTime::default() }]);
            placed[thread as usize].push((place as u32, 0));
        }
        Slowness::of(&program, &blocks, &placed)
    }

    #[test]
    fn a_thread_is_slower_if_the_same_work_takes_longer_there() {
        let fast = [(64, 100, 0); BLOCKS_MIN];
        let slow = [(64, 200, 1); BLOCKS_MIN];
        let slowness = slowness(&[fast, slow].concat(), 2);
        assert_eq!(slowness.slower().collect::<Vec<_>>(), [(1, 2.0)]);
        let block = |thread| BlockTime { kernel: 900, thread, ..BlockTime::default() };
        assert_eq!([1.0, 2.0].map(|on| slowness.on(on, block(1))), [450, 900]);
        assert_eq!(slowness.on(2.0, block(0)), 1800);
    }

    #[test]
    fn more_work_does_not_make_a_thread_slow() {
        let small = [(64, 100, 0); BLOCKS_MIN];
        let large = [(128, 200, 1); BLOCKS_MIN];
        assert_eq!(slowness(&[small, large].concat(), 2).slower().count(), 0);
    }

    #[test]
    fn a_thread_that_ran_little_is_not_judged_and_one_interruption_makes_none_slow() {
        let fast = [(64, 1000, 0); 100];
        let mut other = [(64, 1000, 1); 100];
        other[7].1 = 1_000_000;
        let few = [(64, 9000, 2); BLOCKS_MIN - 1];
        assert_eq!(slowness(&[&fast[..], &other, &few].concat(), 3).slower().count(), 0);
    }

    #[test]
    fn of_fewer_threads_the_fastest_remain_and_further_ones_are_as_fast() {
        let slowness = Slowness(vec![1.8, 1.0, 1.2]);
        assert_eq!(slowness.of_threads(1), [1.0]);
        assert_eq!(slowness.of_threads(2), [1.0, 1.2]);
        assert_eq!(slowness.of_threads(3), [1.8, 1.0, 1.2]);
        assert_eq!(slowness.of_threads(4), [1.8, 1.0, 1.2, 1.0]);
        assert_eq!(Slowness::default().of_threads(2), [1.0, 1.0]);
    }
}
