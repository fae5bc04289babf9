//! Timelines written by hand, for tests.

use ringlane_task::{BlockIndex, CoreId, KernelId, Seq, TaskId, Ticks};
use ringlane_trace::swimlane::{
    BlockRow, EdgeRow, KernelRow, PhaseRow, SubmitRow, Swimlane, SwimlaneCounts, SwimlaneHead, SwimlaneLevel,
    SwimlaneMeta, TaskRow,
};

use super::{Skeleton, Timeline};

/// Kernels of every sample, by number: one for each kind of core, and one for any.
pub(crate) const AIC: u32 = 0;
pub(crate) const AIV: u32 = 1;
pub(crate) const ANY: u32 = 2;

/// A run in the making. Tasks are numbered from 0, in the order in which they are added.
#[derive(Default)]
pub(crate) struct Sample {
    core_types: Vec<String>,
    tasks: Vec<TaskRow>,
    blocks: Vec<BlockRow>,
    edges: Vec<EdgeRow>,
    submits: Vec<SubmitRow>,
    phases: Vec<PhaseRow>,
    /// Edges that the dependencies alone know.
    done_before: Vec<(TaskId, TaskId)>,
}

/// When a block was dispatched, began, ended, and was seen to have ended.
pub(crate) type Stamps = [u64; 4];

impl Sample {
    pub(crate) fn on(core_types: &[&str]) -> Self {
        Sample { core_types: core_types.iter().map(|name| name.to_string()).collect(), ..Sample::default() }
    }

    /// A task that was submitted in a stretch of time and was ready then, waits for others, and has no blocks yet.
    pub(crate) fn task(mut self, (start, end): (u64, u64), ready: u64, producers: &[u64]) -> Self {
        let task_id = TaskId(self.tasks.len() as u64);
        self.tasks.push(TaskRow { task_id, seq: Seq(task_id.0), ready: Ticks(ready), reclaim: None });
        self.submits.push(SubmitRow {
            task_id,
            start: Ticks(start),
            end: Ticks(end),
            ..SubmitRow::default()
        });
        self.edges.extend(producers.iter().map(|&pred| EdgeRow { pred: TaskId(pred), succ: task_id }));
        self
    }

    /// The last task also depends on others that were done when it was submitted: the dependencies alone know of them.
    pub(crate) fn after_done(mut self, producers: &[u64]) -> Self {
        let task = self.tasks.last().unwrap().task_id;
        self.done_before.extend(producers.iter().map(|&pred| (TaskId(pred), task)));
        self
    }

    /// The last task's submit waited so long for a ring.
    pub(crate) fn stalled(mut self, ticks: u64) -> Self {
        self.submits.last_mut().unwrap().stall = Ticks(ticks);
        self
    }

    /// Before the last task's submit, the orchestration waited for a value.
    pub(crate) fn read(mut self, (start, end): (u64, u64)) -> Self {
        let submit = self.submits.last_mut().unwrap();
        (submit.read, submit.read_end) = (Ticks(end - start), Ticks(end));
        self
    }

    /// A block of the last task.
    pub(crate) fn block(self, core: u32, kernel: u32, stamps: Stamps) -> Self {
        self.lane(core, kernel, 0, stamps)
    }

    /// A block of the last task in a lane of its own.
    pub(crate) fn lane(
        mut self,
        core: u32,
        kernel: u32,
        lane: u8,
        [dispatch, start, end, finish]: Stamps,
    ) -> Self {
        self.blocks.push(BlockRow {
            core: CoreId(core),
            task_id: self.tasks.last().unwrap().task_id,
            func_id: KernelId(kernel),
            lane,
            block: BlockIndex(0),
            start: Ticks(start),
            end: Ticks(end),
            dispatch: Ticks(dispatch),
            finish: Ticks(finish),
            ..BlockRow::default()
        });
        self
    }

    pub(crate) fn phase(mut self, row: PhaseRow) -> Self {
        self.phases.push(row);
        self
    }

    pub(crate) fn ends(self, makespan: u64) -> Timeline {
        self.at_level(SwimlaneLevel::Phases, makespan)
    }

    /// The timeline at a level: what higher ones add is left out.
    pub(crate) fn at_level(mut self, level: SwimlaneLevel, makespan: u64) -> Timeline {
        let skeleton = (!self.done_before.is_empty()).then(|| self.skeleton());
        if level < SwimlaneLevel::Phases {
            self.submits.clear();
        }
        if level < SwimlaneLevel::Tasks {
            self.tasks.clear();
            self.edges.clear();
        }
        let kernel = |(number, name): (u32, &str)| KernelRow {
            func_id: KernelId(number),
            name: name.to_uppercase(),
            core_type: name.to_string(),
        };
        let meta = SwimlaneMeta {
            platform: "sample".to_string(),
            clock_freq_hz: 1_000_000,
            core_to_thread: vec![0; self.core_types.len()],
            core_types: self.core_types,
            num_scheduler_threads: 1,
            kernels: [(AIC, "aic"), (AIV, "aiv"), (ANY, "any")].map(kernel).to_vec(),
        };
        let head =
            SwimlaneHead { level, meta, counts: SwimlaneCounts::default(), copies: None, launches: None };
        let (tasks, blocks, edges) = (self.tasks, self.blocks, self.edges);
        let swimlane = Swimlane { head, blocks, tasks, edges, phases: self.phases, submits: self.submits };
        Timeline::new(swimlane, skeleton, makespan).unwrap()
    }

    fn skeleton(&self) -> Skeleton {
        let wired = self.edges.iter().map(|edge| (edge.pred, edge.succ));
        Skeleton {
            tasks: self.tasks.iter().map(|task| (task.seq, task.task_id)).collect(),
            edges: wired.chain(self.done_before.iter().copied()).collect(),
            labels: Vec::new(),
            lost: 0,
        }
    }
}
