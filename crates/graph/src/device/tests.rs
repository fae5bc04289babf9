//! Programs and recordings whose schedule is known.

use ringlane_task::{Access, CoreId, DType, TaskId, TensorView, Ticks};
use ringlane_trace::swimlane::{
    BlockRow, CopyDirection, CopyRow, LaunchRow, SubmitRow, Swimlane, SwimlaneHead, SwimlaneLevel,
    SwimlaneMeta,
};

use super::batch::Lists;
use super::host::makespan;
use super::{BlockTime, Follows, Measured, RecordedBatch};
use crate::recorded::{Program, ProgramArg, ProgramEdge, ProgramTask, Step, TaskIds, TaskKind};

/// What the host takes for each task, and what a block takes.
const SUBMIT: u64 = 10;
const LAUNCH: u64 = 3;
const SETTLE: u64 = 2;
const BLOCK: u64 = 1000;
/// From a launch, a block on the same list, and a flag until the next block.
const AFTER_LAUNCH: u64 = 50;
const AFTER_BLOCK: u64 = 5;
const AFTER_FLAG: u64 = 20;
const COPY: u64 = 400;
const REST: u64 = 7;

fn task(blocks: u32) -> ProgramTask {
    ProgramTask {
        kind: if blocks == 0 { TaskKind::Barrier } else { TaskKind::Kernels },
        lanes: [(blocks > 0).then_some(0), None, None],
        blocks,
        args: 0..0,
        after: 0..0,
        before: 0..0,
        label: None,
        duration_ps: None,
    }
}

fn edge((before, after): (u32, u32)) -> ProgramEdge {
    ProgramEdge { before, after, cause: "raw" }
}

/// Tasks with these numbers of blocks and these edges, on this number of lists.
fn program(lists: u32, blocks: &[u32], edges: &[(u32, u32)]) -> (Program, Measured) {
    let tasks: Vec<ProgramTask> = blocks.iter().map(|&blocks| task(blocks)).collect();
    let count = tasks.len();
    let block = BlockTime { kernel: BLOCK, ..BlockTime::default() };
    let at_end = |ticks| [vec![0; count], vec![ticks]].concat();
    let measured = Measured {
        lead: at_end(0),
        own: at_end(REST),
        submits: vec![SUBMIT; count],
        copies: at_end(COPY),
        stalls: vec![None; count],
        launch: vec![LAUNCH; count],
        after_launch: vec![0; count],
        settle: vec![SETTLE; count],
        blocks: blocks.iter().map(|&blocks| vec![block; blocks as usize]).collect(),
        usual: [AFTER_LAUNCH, AFTER_BLOCK, AFTER_FLAG],
        lists,
        ..Measured::default()
    };
    let edges = edges.iter().copied().map(edge).collect();
    (Program { tasks, edges, ..Program::default() }, measured)
}

fn makespan_of((program, measured): &(Program, Measured)) -> u64 {
    makespan(program, measured, &Follows::all(program))
}

/// Blocks one after another on a list, from a launch on.
fn in_turn(blocks: u64) -> u64 {
    AFTER_LAUNCH + BLOCK + (blocks - 1) * (AFTER_BLOCK + BLOCK)
}

const END: u64 = COPY + REST;

#[test]
fn few_tasks_are_one_batch_which_is_launched_when_all_are_submitted() {
    let host = |tasks| tasks * (SUBMIT + LAUNCH + SETTLE);
    assert_eq!(makespan_of(&program(1, &[1; 4], &[])), host(4) + in_turn(4) + END);
    assert_eq!(makespan_of(&program(2, &[1; 4], &[])), host(4) + in_turn(2) + END);
    assert_eq!(makespan_of(&program(9, &[1; 4], &[])), host(4) + in_turn(1) + END);
    assert_eq!(makespan_of(&program(2, &[5], &[])), host(1) + in_turn(3) + END, "blocks of one task");
    assert_eq!(makespan_of(&program(4, &[], &[])), END);
}

#[test]
fn a_chain_stays_on_its_list_and_a_join_waits_for_a_flag() {
    let chain: Vec<(u32, u32)> = (1..6).map(|task| (task - 1, task)).collect();
    let host = 6 * (SUBMIT + LAUNCH + SETTLE);
    assert_eq!(makespan_of(&program(3, &[1; 6], &chain)), host + in_turn(6) + END);
    // Two tasks on two lists, and one that follows both.
    let host = 3 * (SUBMIT + LAUNCH + SETTLE);
    let join = AFTER_LAUNCH + BLOCK + AFTER_FLAG + BLOCK;
    assert_eq!(makespan_of(&program(2, &[1; 3], &[(0, 2), (1, 2)])), host + join + END);
    // The same through a barrier, which takes no time.
    let host = 4 * (SUBMIT + LAUNCH + SETTLE);
    assert_eq!(makespan_of(&program(2, &[1, 1, 0, 1], &[(0, 2), (1, 2), (2, 3)])), host + join + END);
}

#[test]
fn nothing_waits_for_memory_that_the_orchestration_made() {
    let (mut program, measured) = program(2, &[1, 0, 1], &[(0, 1), (1, 2)]);
    let host = 3 * (SUBMIT + LAUNCH + SETTLE);
    let both = AFTER_LAUNCH + BLOCK + AFTER_FLAG + BLOCK;
    assert_eq!(makespan(&program, &measured, &Follows::all(&program)), host + both + END, "after a barrier");
    program.tasks[1].kind = TaskKind::Alloc;
    assert_eq!(makespan(&program, &measured, &Follows::all(&program)), host + in_turn(1) + END);
}

#[test]
fn the_first_batch_has_128_tasks_and_the_next_one_begins_when_it_ends() {
    let one = program(1, &[1; 192], &[]);
    let first = 128 * (SUBMIT + LAUNCH) + in_turn(128);
    // The others are submitted and launched meanwhile.
    assert!(64 * (SUBMIT + LAUNCH) < in_turn(128));
    let second = first + in_turn(64);
    assert_eq!(
        makespan_of(&one),
        second + 64 * SETTLE + END,
        "the first batch is completed while the second one runs"
    );
}

#[test]
fn a_second_batch_has_1024_tasks_while_one_runs_and_128_when_none_does() {
    let (program, mut measured) = program(1, &[1; 1200], &[]);
    let batch = |tasks: u64| in_turn(tasks);
    let follows = Follows::all(&program);
    // The device takes long: 128 tasks, then 1,024 (128 + 1,024 = 18 · 64 submits), then the rest.
    let submitted = 128 * (SUBMIT + LAUNCH);
    let all = submitted + batch(128) + batch(1024) + batch(48);
    assert_eq!(makespan(&program, &measured, &follows), all + 48 * SETTLE + END);
    // The device takes no time: every 128 tasks are a batch. It has ended when the next poll comes, 64 submits later.
    measured.blocks.iter_mut().flatten().for_each(|block| block.kernel = 0);
    (measured.usual, measured.submits) = ([0; 3], vec![1000; 1200]);
    let all = 1200 * (1000 + LAUNCH + SETTLE);
    assert_eq!(makespan(&program, &measured, &follows), all + END);
}

#[test]
fn what_the_orchestration_reads_or_has_no_room_for_is_sent_at_once() {
    let ends = |stop: u64| {
        // A batch until there, then one with the rest.
        let first = stop * (SUBMIT + LAUNCH) + in_turn(stop) + stop * SETTLE;
        let rest = 4 - stop;
        first + rest * (SUBMIT + LAUNCH + SETTLE) + in_turn(rest) + END
    };
    let (mut read, measured) = program(1, &[1; 4], &[]);
    let view = TensorView::contiguous(DType::Float32, &[4]).unwrap();
    read.args = vec![ProgramArg::Tensor { tensor: 0, view, access: Access::Output, split: None }];
    (read.tensors, read.tasks[1].args) = (1, 0..1);
    read.steps = vec![Step::Read { tensor: 0, view, is_in_place: false }];
    (read.tasks[3].before, read.last_steps) = (0..1, 1..1);
    assert_eq!(makespan_of(&(read, measured)), ends(3));
    let (stalled, mut measured) = program(1, &[1; 4], &[]);
    measured.stalls[2] = Some(0);
    assert_eq!(makespan_of(&(stalled, measured)), ends(2));
}

#[test]
fn a_captured_graph_is_one_batch_without_submits() {
    let (program, mut measured) = program(4, &[1; 300], &[]);
    measured.capture();
    assert_eq!(makespan_of(&(program, measured)), in_turn(75) + 300 * SETTLE + END);
}

#[test]
fn lists_of_the_recording_are_kept_for_its_batches_and_planned_for_others() {
    let (program, mut measured) = program(2, &[1; 4], &[(0, 1)]);
    (measured.recorded_lists, measured.batches) = (2, vec![RecordedBatch { first: 0, count: 4 }]);
    measured.blocks.iter_mut().zip([1, 0, 0, 0]).for_each(|(task, list)| task[0].list = list);
    let follows = Follows::all(&program);
    assert_eq!(Lists::of(&measured, &follows, 0..4).into_places(), [1, 0, 0, 0]);
    let planned = [0, 0, 1, 1];
    assert_eq!(Lists::of(&measured, &follows, 0..3).into_places(), planned[..3]);
    let dropped = Follows::without(&program, &[(0, 1)].into());
    assert_eq!(Lists::of(&measured, &dropped, 0..4).into_places(), [0, 1, 0, 1]);
    measured.lists = 3;
    assert_eq!(Lists::of(&measured, &follows, 0..4).into_places(), [0, 0, 1, 2]);
}

/// A recording of four tasks in two batches on two lists, whose times follow no rule, with an upload during the second submit.
fn recorded() -> (Program, Swimlane, u64) {
    let submit = |task: u64, start: u64, end: u64| SubmitRow {
        task_id: TaskId(task),
        start: Ticks(start),
        end: Ticks(end),
        ..SubmitRow::default()
    };
    let block = |core: u32, task: u64, start: u64, end: u64| BlockRow {
        core: CoreId(core),
        task_id: TaskId(task),
        start: Ticks(start),
        end: Ticks(end),
        ..BlockRow::default()
    };
    let launch = |tasks: u64, times: [u64; 4]| {
        let [start, end, wait, settled] = times.map(Ticks);
        LaunchRow { tasks, start, end, wait, settled }
    };
    let copy = |direction, start: u64, end: u64| CopyRow {
        direction,
        what: "values".to_string(),
        bytes: 64,
        start: Ticks(start),
        end: Ticks(end),
    };
    let meta = SwimlaneMeta { core_types: vec!["any".to_string(); 2], ..SwimlaneMeta::default() };
    let copies = vec![copy(CopyDirection::HostToDevice, 30, 42), copy(CopyDirection::DeviceToHost, 700, 790)];
    // A read waits for the first batch. The last one begins before its launch has returned.
    let launches = vec![launch(3, [80, 100, 103, 420]), launch(1, [460, 531, 535, 690])];
    let head = SwimlaneHead {
        level: SwimlaneLevel::Phases,
        meta,
        counts: Default::default(),
        copies: Some(copies),
        launches: Some(launches),
    };
    let blocks =
        vec![block(1, 0, 130, 230), block(0, 1, 141, 201), block(0, 2, 260, 390), block(1, 3, 520, 660)];
    let submits = vec![submit(0, 11, 20), submit(1, 26, 50), submit(2, 51, 77), submit(3, 433, 455)];
    let recorded = Swimlane { head, blocks, submits, tasks: vec![], edges: vec![], phases: vec![] };
    let view = TensorView::contiguous(DType::Float32, &[4]).unwrap();
    let mut tasks: Vec<ProgramTask> = (0..4).map(|_| task(1)).collect();
    (tasks[2].args, tasks[3].before) = (0..1, 0..1);
    let program = Program {
        tasks,
        args: vec![ProgramArg::Tensor { tensor: 0, view, access: Access::Output, split: None }],
        tensors: 1,
        steps: vec![Step::Read { tensor: 0, view, is_in_place: false }],
        last_steps: 1..1,
        edges: [(0, 2), (2, 3)].map(edge).to_vec(),
        ..Program::default()
    };
    (program, recorded, 800)
}

#[test]
fn a_recording_replays_exactly_and_is_taken_apart_into_what_it_consists_of() {
    let (program, recorded, makespan_ticks) = recorded();
    let (ids, follows) = (TaskIds::in_order((0..4).map(TaskId)), Follows::all(&program));
    let measured = Measured::default().filled((&program, &follows), &ids, &recorded, makespan_ticks).unwrap();
    assert_eq!(makespan(&program, &measured, &follows), makespan_ticks);
    assert_eq!((&measured.lead[..], &measured.own[..]), (&[0, 0, 0, 3, 5][..], &[11, 6, 1, 13, 20][..]));
    assert_eq!((&measured.submits[..], &measured.copies[..]), (&[9, 12, 26, 22][..], &[0, 12, 0, 0, 90][..]));
    let shares = [&measured.launch, &measured.after_launch, &measured.settle];
    assert_eq!(shares.map(|all| all.iter().sum::<u64>()), [20 + 60, 11, 30 + 30]);
    let gaps: Vec<_> = measured.blocks.iter().map(|task| task[0].gaps).collect();
    // Task 2 waited for the flag of task 0, longer than for the block before it, after which none was recorded to begin.
    let first_after = |ticks| [Some(ticks), None, None];
    let after_flag = [None, Some(0), Some(30)];
    assert_eq!(gaps, [first_after(30), first_after(41), after_flag, first_after(0)]);
    let mut slower = measured.clone();
    slower.blocks[0][0].kernel += 1000;
    assert_eq!(makespan(&program, &slower, &follows), makespan_ticks + 1000, "it is on the critical path");
    let mut other = measured;
    other.blocks[1][0].kernel += 10;
    assert_eq!(makespan(&program, &other, &follows), makespan_ticks, "there is time until the flag");
}
