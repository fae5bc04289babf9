//! What threads spent their time on becomes rows of `l2_perf_records.json`.

use std::io;

use ringlane_trace::swimlane::{Phase, PhaseRow};

use super::swimlane::Writer;
use super::{Export, Rows};
use crate::kinds;
use crate::records::{BlockLife, BlockPhases, PhaseTime, ThreadTime};

impl Export<'_> {
    pub(super) fn phases(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        if self.settings.cores.are_modelled() {
            self.reported_phases(writer, rows)
        } else {
            self.seen_phases(writer, rows)
        }
    }

    /// The phases of control threads, as the chip reported them: without gaps, so that what has no length and concerns no
    /// task can be left out.
    fn reported_phases(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        let mut seen = vec![false; self.facts.threads as usize];
        self.for_each(kinds::PHASES, rows, |_, ThreadTime { time, round }: ThreadTime| {
            let mut row = self.phase(&time);
            // Of a run of no length, one row for each thread says that there was a thread.
            let first =
                seen.get_mut(time.thread as usize).is_some_and(|seen| !core::mem::replace(seen, true));
            if row.start == row.end && row.tasks == 0 && !(first && self.facts.makespan_ticks == 0) {
                return Ok(());
            }
            row.loop_ = round;
            writer.row(&row)
        })
    }

    /// The phases of threads that are cores: those between a thread's blocks follow from the blocks' stamps, the others were
    /// recorded.
    fn seen_phases(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        let mut loops = vec![0u64; self.facts.threads as usize];
        let mut put = |row: PhaseRow| {
            let Some(loops) = loops.get_mut(row.thread as usize) else { return Ok(()) };
            // A stretch of no time says nothing, except that there was a thread.
            if row.start == row.end && *loops > 0 {
                return Ok(());
            }
            *loops += 1;
            writer.row(&PhaseRow { loop_: *loops, ..row })
        };
        self.for_each(kinds::PHASES, rows, |_, time: PhaseTime| put(self.phase(&time)))?;
        self.for_each(kinds::BLOCKS, rows, |_, block: BlockPhases| {
            let BlockLife { time, dispatch, finish } = block.life;
            let thread = time.name.core as u16;
            let mut one = |phase, start, end| {
                put(self.phase(&PhaseTime { start, end, phase: phase as u16, thread, tasks: 1 }))
            };
            one(Phase::Dispatch, dispatch, time.start)?;
            one(Phase::Complete, time.end, block.resolve)?;
            one(Phase::Resolve, block.resolve, finish)
        })
    }

    fn phase(&self, time: &PhaseTime) -> PhaseRow {
        PhaseRow {
            thread: time.thread.into(),
            phase: Phase::from_code(time.phase as u8).unwrap_or(Phase::Idle),
            start: self.ticks(time.start),
            end: self.ticks(time.end),
            loop_: 0,
            tasks: time.tasks.into(),
        }
    }
}
