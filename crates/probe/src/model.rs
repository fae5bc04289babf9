//! What is recorded of a chip that keeps its own time: its blocks and what its control threads do, with the stamps it gives.
//!
//! One thread reports all of it, so there is one writer of each kind, and records name their core and their thread.

use ringlane_engine::observe::{BlockWork, PlacedBlock, ThreadPhase, ThreadWork};
use ringlane_engine::seams::RecordBytes;
use ringlane_task::DfxFlags;
use ringlane_trace::RecordSizes;
use ringlane_trace::swimlane::Phase;

use crate::dump::{Captured, CapturedTask};
use crate::kinds;
use crate::lane::Writer;
use crate::pmu::COUNTERS_MAX;
use crate::recorder::Recorder;
use crate::recording::Writers;
use crate::records::{
    BlockCounters, BlockLife, BlockName, BlockTime, COUNTED, ModelledBlock, PhaseTime, SubmitTime, ThreadTime,
};
use crate::scope_code::{Head, RingPeaks};

/// The writers of a modelled chip; of another chip, or of what is off, there are none.
#[derive(Default)]
pub(crate) struct ModelState {
    level: u8,
    blocks: Option<Writer>,
    phases: Option<Writer>,
    counters: Option<Writer>,
}

impl ModelState {
    /// Takes the writers of core records, and leaves the rest to the submitter.
    pub(crate) fn new(writers: &mut Writers, level: u8) -> Self {
        let mut one = |kind| writers.take(kind).pop();
        let (blocks, phases) = (one(kinds::BLOCKS), one(kinds::PHASES));
        ModelState { level, blocks, phases, counters: one(kinds::PMU) }
    }

    pub(crate) fn block(&mut self, block: &PlacedBlock<'_>) {
        let name = BlockName {
            local: block.record.local,
            block: block.block,
            func: block.kernel,
            lane: block.lane,
            ring: block.record.ring,
            core: block.core.0,
        };
        let time = BlockTime { start: block.start.0, end: block.end.0, name };
        match &mut self.blocks {
            Some(blocks) if self.level == 1 => blocks.push(&time),
            Some(blocks) => {
                let life = BlockLife { time, dispatch: block.dispatch.0, finish: block.finish.0 };
                let BlockWork { picoseconds, flops, bytes } = block.work.unwrap_or_default();
                blocks.push(&ModelledBlock { life, cost_ps: picoseconds, flops, bytes });
            }
            None => {}
        }
        if let Some(counters) = &mut self.counters {
            let mut values = [0; COUNTERS_MAX];
            values.iter_mut().zip(block.counters).for_each(|(to, from)| *to = *from);
            counters.push(&BlockCounters { name, thread: block.thread, source: COUNTED, values });
        }
    }

    pub(crate) fn phase(&mut self, phase: &ThreadPhase) {
        let Some(phases) = &mut self.phases else { return };
        let work = match phase.work {
            ThreadWork::Complete => Phase::Complete,
            ThreadWork::Resolve => Phase::Resolve,
            ThreadWork::Dispatch => Phase::Dispatch,
            ThreadWork::Reclaim => Phase::Reclaim,
            ThreadWork::Idle => Phase::Idle,
        };
        let time = PhaseTime {
            start: phase.start.0,
            end: phase.end.0,
            phase: work as u16,
            thread: phase.thread as u16,
            tasks: phase.tasks,
        };
        phases.push(&ThreadTime { time, round: phase.round });
    }
}

/// Bytes of a task's life as the chip would record it: which, its order, when it was ready and when it was reclaimed.
const TASK_BYTES: usize = 32;
/// Bytes of a scope as the chip would record it: it has used one ring and did not wait.
const SCOPE_BYTES: usize = size_of::<Head>() + size_of::<RingPeaks>();
/// Bytes of a submit's arguments as the chip would record them for the dependencies: they vary, and this is a usual task's.
const USUAL_SUBMIT_BYTES: usize = 160;

impl<C> Recorder<C> {
    /// The same with what a captured task takes, for `run.json`.
    pub(crate) fn record_sizes(&self) -> RecordSizes {
        let RecordBytes { block, phase, submit, scope } = self.bytes_on_the_chip();
        let dumps = self.settings.flags.contains(DfxFlags::DUMP);
        let [captured_task, captured_argument] = [size_of::<CapturedTask>(), size_of::<Captured>()]
            .map(|size| if dumps { size as u64 } else { 0 });
        RecordSizes { block, phase, submit, scope, captured_task, captured_argument }
    }

    /// What the records that are on would take in the memory of a modelled chip.
    pub(crate) fn bytes_on_the_chip(&self) -> RecordBytes {
        let when = |on: bool, bytes: usize| if on { bytes as u64 } else { 0 };
        let (flags, level) = (self.settings.flags, self.settings.flags.swimlane_level());
        let block = if level == 1 { size_of::<BlockTime>() } else { size_of::<BlockLife>() };
        RecordBytes {
            block: when(level > 0, block) + when(flags.contains(DfxFlags::PMU), size_of::<BlockCounters>()),
            phase: when(level >= 3, size_of::<ThreadTime>()),
            submit: when(level >= 2, TASK_BYTES)
                + when(level >= 3, size_of::<SubmitTime>())
                + when(flags.contains(DfxFlags::DEPS), USUAL_SUBMIT_BYTES),
            scope: when(flags.contains(DfxFlags::SCOPES), SCOPE_BYTES),
        }
    }
}
