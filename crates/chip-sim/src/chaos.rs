//! Faults of a chip, drawn from a seed: varying durations, delayed completions, slow and silent cores.
//!
//! Each draw that changes something is recorded, so that a failed run can be read like a log. The same seed gives the
//! same run.

use core::fmt;

use ringlane_task::{CoreId, TaskId};

use crate::core::NEVER;
use crate::time::Ps;

/// One in this many cores is slow.
const SLOW_CORES: u64 = 16;
/// One in this many runs has a silent core.
const SILENT_RUNS: u64 = 4;
/// One in this many blocks has another duration.
const VARIED_BLOCKS: u64 = 8;
/// One in this many blocks completes late.
const LATE_BLOCKS: u64 = 32;
/// The largest delay of a completion.
const LATE_MAX: Ps = 50_000_000;

/// An injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// A core takes this percentage of the normal time for everything.
    SlowCore(CoreId, u64),
    /// A core stops responding at its block with this number, counted from 1.
    SilentCore(CoreId, u64),
    /// A block takes this percentage of its normal time.
    Varied(TaskId, u32, u64),
    /// The end of a block becomes visible this many picoseconds late.
    Late(TaskId, u32, Ps),
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Draw::SlowCore(core, percent) => write!(f, "core {}: everything takes {percent} %", core.0),
            Draw::SilentCore(core, block) => write!(f, "core {}: silent from its block {block} on", core.0),
            Draw::Varied(task, block, percent) => write!(f, "task {task} block {block}: takes {percent} %"),
            Draw::Late(task, block, ps) => {
                write!(f, "task {task} block {block}: its end shows {ps} ps later")
            }
        }
    }
}

/// Draws that are recorded one by one; further draws are only counted.
pub const DRAWS_MAX: usize = 1 << 16;

/// The faults of one run.
#[derive(Debug)]
pub(crate) struct Chaos {
    state: u64,
    /// The duration of blocks in percent, by core.
    slow: Vec<u64>,
    silent: Option<(usize, u64)>,
    pub(crate) draws: Vec<Draw>,
    pub(crate) count: u64,
}

impl Chaos {
    pub(crate) fn new(seed: u64, cores: u32) -> Self {
        let (slow, draws) = (vec![100; cores as usize], Vec::new());
        let mut chaos = Chaos { state: seed, slow, silent: None, draws, count: 0 };
        for core in 0..cores {
            if chaos.below(SLOW_CORES) == 0 {
                let percent = 150 + chaos.below(250);
                chaos.slow[core as usize] = percent;
                chaos.record(Draw::SlowCore(CoreId(core), percent));
            }
        }
        if chaos.below(SILENT_RUNS) == 0 {
            let (core, block) = (chaos.below(cores.into()) as u32, 1 + chaos.below(64));
            chaos.silent = Some((core as usize, block));
            chaos.record(Draw::SilentCore(CoreId(core), block));
        }
        chaos
    }

    /// The next number of a fixed sequence (SplitMix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn record(&mut self, draw: Draw) {
        self.count += 1;
        if self.draws.len() < DRAWS_MAX {
            self.draws.push(draw);
        }
    }

    /// The duration of a block whose normal duration is `ps`.
    pub(crate) fn takes(&mut self, core: usize, task: TaskId, block: u32, ps: Ps) -> Ps {
        let mut percent = self.slow[core];
        if self.below(VARIED_BLOCKS) == 0 {
            let varied = 50 + self.below(200);
            self.record(Draw::Varied(task, block, varied));
            percent = percent * varied / 100;
        }
        let silent = self.silent.as_mut().filter(|(silent, _)| *silent == core);
        if let Some((_, left)) = silent {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return NEVER;
            }
        }
        (u128::from(ps) * u128::from(percent) / 100).clamp(1, u128::from(NEVER / 4)) as Ps
    }

    /// The delay after which its end becomes visible.
    pub(crate) fn late(&mut self, task: TaskId, block: u32) -> Ps {
        if self.below(LATE_BLOCKS) > 0 {
            return 0;
        }
        let late = 1 + self.below(LATE_MAX);
        self.record(Draw::Late(task, block, late));
        late
    }
}
