//! Blocks, tasks, edges, phases and submits become `l2_perf_records.json`.

use std::io;

use ringlane_task::{BlockIndex, CoreId, Seq, TaskId, Ticks};
use ringlane_trace::ArtifactFile;
use ringlane_trace::rows::RowCounts;
use ringlane_trace::swimlane::{
    BlockRow, CopyRow, EdgeRow, HeadRows, LaunchRow, SubmitRow, SwimlaneDropped, SwimlaneLevel, SwimlaneMeta,
    SwimlaneWriter, TaskRow,
};

use super::reclaims::Reclaims;
use super::{Export, Rows};
use crate::kinds;
use crate::records::{BlockLife, BlockPhases, BlockTime, Edge, ModelledBlock, SubmitTime, TaskLife};

pub(super) type Writer<'w> = SwimlaneWriter<&'w mut ArtifactFile>;

impl Export<'_> {
    pub(super) fn swimlane(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        let number = self.settings.flags.swimlane_level();
        let level = SwimlaneLevel::from_number(number).unwrap_or(SwimlaneLevel::Phases);
        let meta = SwimlaneMeta {
            platform: self.facts.platform.clone(),
            clock_freq_hz: self.facts.clock_freq_hz,
            core_types: self.facts.core_types.clone(),
            num_scheduler_threads: self.facts.threads,
            core_to_thread: self.facts.core_to_thread.clone(),
            kernels: self.facts.kernels.clone(),
        };
        let (copies, copies_lost) = self.copies(rows);
        let (launches, launches_lost) = self.launches(rows);
        let head = HeadRows { copies: copies.as_deref(), launches: launches.as_deref() };
        let mut writer = match self.facts.has_cost_model {
            true => SwimlaneWriter::of_model(out, level, &meta, head),
            false => SwimlaneWriter::with_head(out, level, &meta, head),
        };
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
            copies: copies_lost,
            launches: launches_lost,
        })?;
        Ok(counts.blocks)
    }

    fn blocks(&self, writer: &mut Writer<'_>, level: SwimlaneLevel, rows: Rows) -> io::Result<()> {
        let kind = kinds::BLOCKS;
        match level {
            SwimlaneLevel::Blocks => self.for_each(kind, rows, |_, time: BlockTime| {
                writer.row(&self.block(&BlockLife { time, ..BlockLife::default() }))
            }),
            _ if self.settings.cores.are_modelled() => {
                self.for_each(kind, rows, |_, block: ModelledBlock| {
                    let ModelledBlock { life, cost_ps, flops, bytes } = block;
                    writer.row(&BlockRow { cost_ps, flops, bytes, ..self.block(&life) })
                })
            }
            // What a thread does between its blocks is recorded with them only where it runs them itself.
            SwimlaneLevel::Phases => {
                self.for_each(kind, rows, |_, block: BlockPhases| writer.row(&self.block(&block.life)))
            }
            SwimlaneLevel::Tasks => {
                self.for_each(kind, rows, |_, life: BlockLife| writer.row(&self.block(&life)))
            }
        }
    }

    /// What was copied between host and device, on the run's clock, and how many copies are missing.
    fn copies(&self, rows: Rows) -> (Option<Vec<CopyRow>>, u64) {
        let Some(copies) = &self.facts.copies else { return (None, 0) };
        if rows == Rows::Lost {
            return (Some(Vec::new()), copies.rows.len() as u64 + copies.dropped);
        }
        let on_clock = |row: &CopyRow| CopyRow {
            start: self.ticks(row.start.0),
            end: self.ticks(row.end.0),
            ..row.clone()
        };
        (Some(copies.rows.iter().map(on_clock).collect()), copies.dropped)
    }

    /// Launches of batches, on the run's clock, and how many of them are missing.
    fn launches(&self, rows: Rows) -> (Option<Vec<LaunchRow>>, u64) {
        let Some(launches) = &self.facts.launches else { return (None, 0) };
        if rows == Rows::Lost {
            return (Some(Vec::new()), launches.rows.len() as u64 + launches.dropped);
        }
        let on_clock = |row: &LaunchRow| LaunchRow {
            tasks: row.tasks,
            start: self.ticks(row.start.0),
            end: self.ticks(row.end.0),
            wait: self.ticks(row.wait.0),
            settled: self.ticks(row.settled.0),
        };
        (Some(launches.rows.iter().map(on_clock).collect()), launches.dropped)
    }

    fn block(&self, life: &BlockLife) -> BlockRow {
        let name = &life.time.name;
        BlockRow {
            core: CoreId(name.core),
            task_id: name.task(),
            func_id: name.kernel(),
            lane: name.lane,
            block: BlockIndex(name.block),
            start: self.ticks(life.time.start),
            end: self.ticks(life.time.end),
            dispatch: self.ticks(life.dispatch),
            finish: self.ticks(life.finish),
            ..BlockRow::default()
        }
    }

    fn tasks(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        let mut reclaims = Reclaims::default();
        self.for_each(kinds::RECLAIMS, rows, |_, reclaim| {
            reclaims.add(reclaim);
            Ok(())
        })?;
        self.for_each(kinds::TASKS, rows, |_, task: TaskLife| {
            writer.row(&TaskRow {
                task_id: TaskId(task.task_id),
                seq: Seq(task.seq),
                ready: self.ticks(task.ready),
                reclaim: reclaims.of(TaskId(task.task_id)).map(|at| self.ticks(at)),
            })
        })?;
        self.for_each(kinds::EDGES, rows, |_, edge: Edge| {
            writer.row(&EdgeRow { pred: TaskId(edge.pred), succ: TaskId(edge.succ) })
        })
    }

    fn submits(&self, writer: &mut Writer<'_>, rows: Rows) -> io::Result<()> {
        self.for_each(kinds::SUBMITS, rows, |_, submit: SubmitTime| {
            let (lookup, insert) = match submit.looked_up {
                // The engine looks an argument up and inserts it in one step: all of it counts as lookup.
                0 => (submit.placed, 0),
                looked_up => (looked_up, submit.placed),
            };
            writer.row(&SubmitRow {
                task_id: TaskId(submit.task_id),
                start: self.ticks(submit.start),
                end: self.ticks(submit.end),
                stall: Ticks(submit.stall),
                alloc: Ticks(submit.alloc),
                lookup: Ticks(lookup),
                insert: Ticks(insert),
                wire: Ticks(submit.wire),
                heap_bytes: submit.heap_bytes,
                read: Ticks(submit.read),
                read_end: if submit.read_end == 0 { Ticks(0) } else { self.ticks(submit.read_end) },
            })
        })
    }
}
