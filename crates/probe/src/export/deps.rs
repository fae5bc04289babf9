//! Stored submits become `deps.json`: each is read, what it adds is derived, and both are written.

use std::borrow::Cow;
use std::{io, thread};

use ringlane_task::{KernelId, ScopeId, Seq, SiteId, TaskId};
use ringlane_trace::ArtifactFile;
use ringlane_trace::deps::{DepsNames, DepsStep, DepsTask, DepsWriter, Inference, TaskKernel};
use ringlane_trace::rows::RowCounts;

use super::steps::Steps;
use super::{Export, Rows};
use crate::deps::background::BackgroundWriter;
use crate::deps::derive::{Derivation, Derived};
use crate::deps::record::{self, StoredSubmit};
use crate::kinds;

type Writer<W> = DepsWriter<W, std::fs::File>;

/// From this number of tasks on, deriving their dependencies and writing them takes longer than starting threads for it: one
/// that derives beside the other files, one that writes in the background.
const MANY_TASKS: u64 = 4096;

impl Export<'_> {
    /// Whether the dependencies are worth threads of their own.
    pub(super) fn has_many_tasks(&self) -> bool {
        self.counts(kinds::DEPS).total >= MANY_TASKS
    }

    pub(super) fn deps(&self, out: &mut ArtifactFile, rows: Rows) -> io::Result<RowCounts> {
        if rows == Rows::Kept && self.has_many_tasks() {
            let written = thread::scope(|scope| {
                let mut writer = BackgroundWriter::start(scope, &mut *out)?;
                let outcome = self.deps_to(&mut writer, rows);
                Some(writer.finish(outcome))
            });
            if let Some(written) = written {
                return written;
            }
        }
        self.deps_to(out, rows)
    }

    fn deps_to(&self, out: impl io::Write, rows: Rows) -> io::Result<RowCounts> {
        let names = DepsNames::new(&self.facts.sites, &self.facts.kernels);
        let spools = [kinds::spool(self.dir)?, kinds::spool(self.dir)?];
        let mut writer = DepsWriter::new(out, spools);
        let mut derivation = Derivation::new(self.facts.external_bytes.clone());
        let (mut derived, mut scratch) = (Derived::default(), Vec::new());
        let (mut steps, mut written) = (Steps::default(), 0);
        self.for_each_chunk(kinds::DEPS, rows, |_, chunk| {
            let mut outcome = Ok(());
            record::for_each(chunk, &mut scratch, |submit| {
                if outcome.is_err() {
                    return;
                }
                if submit.head.kind >= record::STEPS {
                    outcome = steps.add(&submit, &names, &derivation);
                    return;
                }
                derivation.submit(&submit, &mut derived);
                outcome = write(&mut writer, &names, &submit, &derived, steps.take());
                written += 1;
            });
            outcome
        })?;
        // Of a recording that lacks something, the steps do not say what they mean.
        if self.dropped(kinds::DEPS, rows) == 0 {
            let last = steps.take();
            writer.program(steps.into_buffers(&derivation), last);
            return Ok(writer.finish(0)?.tasks);
        }
        let dropped = self.counts(kinds::DEPS).total.saturating_sub(written);
        Ok(writer.finish(dropped)?.tasks)
    }
}

fn write<W: io::Write>(
    writer: &mut Writer<W>,
    names: &DepsNames,
    submit: &StoredSubmit<'_>,
    derived: &Derived,
    before: Vec<DepsStep<'_>>,
) -> io::Result<()> {
    let head = &submit.head;
    let lane = |at: usize| -> io::Result<TaskKernel<'_>> {
        let kernel = names.kernel(KernelId(head.kernels[at].into()))?;
        Ok(TaskKernel { kernel: Cow::Borrowed(kernel), lane: head.lane_ids >> (2 * at) & 3 })
    };
    let kernels = match head.lanes {
        0 => &[][..],
        1 => &[lane(0)?],
        2 => &[lane(0)?, lane(1)?],
        _ => &[lane(0)?, lane(1)?, lane(2)?],
    };
    writer.task(&DepsTask {
        task_id: TaskId(head.task_id),
        seq: Seq(head.seq),
        block_num: head.blocks.max(1),
        scope: ScopeId(head.scope),
        site: names.site(SiteId(head.site))?.into(),
        inference: if head.flags & record::MANUAL == 0 {
            Inference::FromArguments
        } else {
            Inference::Manual
        },
        kernels: kernels.into(),
        args: derived.args.as_slice().into(),
        label: Some(submit.label.into()).filter(|label: &Cow<'_, str>| !label.is_empty()),
        duration: None,
        duration_ps: Some(head.duration_ps).filter(|&ps| ps > 0),
        scalars: Some(derived.scalars).filter(|&count| count > 0),
        upload: (head.flags & record::UPLOAD != 0).then_some(true),
        before: Some(before.into()).filter(|steps: &Cow<'_, [_]>| !steps.is_empty()),
    })?;
    derived.tensors.iter().try_for_each(|tensor| writer.tensor(tensor))?;
    derived.edges.iter().try_for_each(|edge| writer.edge(edge))
}
