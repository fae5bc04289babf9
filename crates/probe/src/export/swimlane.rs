//! Blocks, tasks, edges, phases and submits become `l2_perf_records.json`.

use std::io;

use ringlane_task::{BlockIndex, CoreId, Seq, TaskId, Ticks};
use ringlane_trace::ArtifactFile;
use ringlane_trace::rows::RowCounts;
use ringlane_trace::swimlane::{
    BlockRow, EdgeRow, Phase, PhaseRow, SubmitRow, SwimlaneDropped, SwimlaneLevel, SwimlaneMeta,
    SwimlaneWriter, TaskRow,
};

use super::{Export, Rows};
use crate::kinds;
use crate::records::{
    BlockLife, BlockPhases, BlockTime, Edge, IDLE, PhaseTime, RECLAIM, SubmitTime, TaskLife,
};

type Writer<'w> = SwimlaneWriter<&'w mut ArtifactFile>;

impl Export<'_> {
    pub(super) fn swimlane(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        let number = self.settings.flags.swimlane_level();
        let level = SwimlaneLevel::from_number(number).unwrap_or(SwimlaneLevel::Phases);
        let cores = self.settings.cores;
        let meta = SwimlaneMeta {
            platform: self.facts.platform.clone(),
            clock_freq_hz: self.facts.clock_freq_hz,
            core_types: self.facts.core_types.clone(),
            num_scheduler_threads: cores,
            core_to_thread: (0..cores).collect(),
            kernels: self.facts.kernels.clone(),
        };
        let mut writer = SwimlaneWriter::new(out, level, &meta);
        self.blocks(&mut writer, level, rows)?;
        if level >= SwimlaneLevel::Tasks {
            self.tasks(&mut writer, rows)?;
        }
        if level >= SwimlaneLevel::Phases {
            self.phases(&mut writer, rows)?;
            self.submits(&mut writer, rows)?;
        }
        let counts = writer.finish(&SwimlaneDropped {
            blocks: self.dropped(kinds::BLOCKS, rows),
            tasks: self.dropped(kinds::TASKS, rows),
            edges: self.dropped(kinds::EDGES, rows),
            phases: self.dropped(kinds::PHASES, rows),
            submits: self.dropped(kinds::SUBMITS, rows),
        })?;
        Ok(counts.blocks)
    }

    fn blocks(&self, writer: &mut Writer<'_>, level: SwimlaneLevel, rows: Rows) -> io::Result<()> {
        let kind = kinds::BLOCKS;
        match level {
            SwimlaneLevel::Blocks => self.for_each(kind, rows, |core, time: BlockTime| {
                writer.block(&self.block(core, &BlockLife { time, ..BlockLife::default() }))
            }),
            SwimlaneLevel::Tasks => {
                self.for_each(kind, rows, |core, life: BlockLife| writer.block(&self.block(core, &life)))
            }
            SwimlaneLevel::Phases => self.for_each(kind, rows, |core, block: BlockPhases| {
                writer.block(&self.block(core, &block.life))
            }),
        }
    }

    fn block(&self, core: u32, life: &BlockLife) -> BlockRow {
        let name = &life.time.name;
        BlockRow {
            core: CoreId(core),
            task_id: name.task(),
            func_id: name.kernel(),
            lane: name.lane,
            block: BlockIndex(name.block),
            start: self.ticks(life.time.start),
            end: self.ticks(life.time.end),
            dispatch: self.ticks(life.dispatch),
            finish: self.ticks(life.finish),
        }
    }

    fn tasks(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        self.for_each(kinds::TASKS, rows, |_, task: TaskLife| {
            writer.task(&TaskRow {
                task_id: TaskId(task.task_id),
                seq: Seq(task.seq),
                ready: self.ticks(task.ready),
                reclaim: Some(self.ticks(task.reclaim)),
            })
        })?;
        self.for_each(kinds::EDGES, rows, |_, edge: Edge| {
            writer.edge(&EdgeRow { pred: TaskId(edge.pred), succ: TaskId(edge.succ) })
        })
    }

    /// A thread's phases: those between its blocks follow from the blocks' stamps, the others were recorded.
    fn phases(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        let threads = self.settings.cores;
        let mut loops = vec![0u64; threads as usize];
        let mut put = |thread: u32, phase, start, end, tasks| {
            let (start, end) = (self.ticks(start), self.ticks(end));
            // A stretch of no time says nothing, except that there was a thread.
            let first = loops[thread as usize] == 0;
            if start == end && !first {
                return Ok(());
            }
            loops[thread as usize] += 1;
            let loop_ = loops[thread as usize];
            writer.phase(&PhaseRow { thread, phase, start, end, loop_, tasks })
        };
        self.for_each(kinds::PHASES, rows, |writer, time: PhaseTime| {
            // The submitter's own lane comes last; its thread is that of core 0.
            let thread = if writer == threads { 0 } else { writer };
            let phase = match time.phase {
                IDLE => Phase::Idle,
                RECLAIM => Phase::Reclaim,
                _ => Phase::Resolve,
            };
            put(thread, phase, time.start, time.end, time.tasks as u64)
        })?;
        self.for_each(kinds::BLOCKS, rows, |core, block: BlockPhases| {
            let BlockLife { time, dispatch, finish } = block.life;
            put(core, Phase::Dispatch, dispatch, time.start, 1)?;
            put(core, Phase::Complete, time.end, block.resolve, 1)?;
            put(core, Phase::Resolve, block.resolve, finish, 1)
        })
    }

    fn submits(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        self.for_each(kinds::SUBMITS, rows, |_, submit: SubmitTime| {
            let (lookup, insert) = match submit.looked_up {
                // The engine looks an argument up and files it in one go: all of it is called looking up.
                0 => (submit.placed, 0),
                looked_up => (looked_up, submit.placed),
            };
            writer.submit(&SubmitRow {
                task_id: TaskId(submit.task_id),
                start: self.ticks(submit.start),
                end: self.ticks(submit.end),
                stall: Ticks(submit.stall),
                alloc: Ticks(submit.alloc),
                lookup: Ticks(lookup),
                insert: Ticks(insert),
                wire: Ticks(submit.wire),
                heap_bytes: submit.heap_bytes,
            })
        })
    }
}
