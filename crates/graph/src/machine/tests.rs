//! Programs whose schedule is known.

use super::submitter::makespan;
use super::{BlockTime, Delays, Measured, Slowness};
use crate::recorded::{Program, ProgramEdge, ProgramTask, TaskKind};

const SUBMIT: u64 = 10;
const BLOCK: u64 = 100_000;
const REST: u64 = 7;
/// One tick is a nanosecond.
const CLOCK_FREQ_HZ: u64 = 1_000_000_000;
/// What an idle thread takes where nothing is recorded: when tasks wait, and when it waits for one.
const STEAL: u64 = 500;
const POLL: u64 = 1_500;

fn task(blocks: u32) -> ProgramTask {
    ProgramTask {
        kind: TaskKind::Kernels,
        lanes: [Some(0), None, None],
        blocks,
        args: 0..0,
        after: 0..0,
        before: 0..0,
        label: None,
        duration_ps: None,
    }
}

/// Tasks with these numbers of blocks, and these edges.
fn program(blocks: &[u32], edges: &[(u32, u32)]) -> (Program, Measured) {
    let edge = |&(before, after): &(u32, u32)| ProgramEdge { before, after, cause: "raw" };
    let program = Program {
        tasks: blocks.iter().map(|&blocks| task(blocks)).collect(),
        edges: edges.iter().map(edge).collect(),
        ..Program::default()
    };
    let block = BlockTime { kernel: BLOCK, ..BlockTime::default() };
    let measured = Measured {
        own: vec![0; blocks.len()],
        submits: vec![SUBMIT; blocks.len()],
        blocks: blocks.iter().map(|&blocks| vec![block; blocks as usize]).collect(),
        placed: Vec::new(),
        slowness: Slowness::default(),
        delays: Delays::usual(CLOCK_FREQ_HZ),
        clock_freq_hz: CLOCK_FREQ_HZ,
        rest: REST,
        is_captured: false,
    };
    (program, measured)
}

#[test]
fn one_thread_takes_the_sum_of_everything() {
    let (program, measured) = program(&[1; 100], &[(0, 1), (1, 99)]);
    assert_eq!(makespan(&program, &measured, 1), 100 * (SUBMIT + BLOCK) + REST);
}

#[test]
fn a_second_thread_takes_the_first_task_after_a_poll_and_the_rest_is_shared_evenly() {
    let (program, measured) = program(&[1; 4], &[]);
    // The submitter takes two tasks after its submits; the other one its first after a poll, the next after a steal.
    let other = SUBMIT + POLL + BLOCK + STEAL + BLOCK;
    assert_eq!(makespan(&program, &measured, 2), other + REST);
}

#[test]
fn a_chain_stays_on_the_thread_that_began_it_and_costs_no_steals() {
    let edges: Vec<(u32, u32)> = (1..10).map(|task| (task - 1, task)).collect();
    let (program, measured) = program(&[1; 10], &edges);
    for threads in [2, 4] {
        // The submitter is free before an idle thread has polled.
        assert_eq!(makespan(&program, &measured, threads), 10 * (SUBMIT + BLOCK) + REST);
    }
}

#[test]
fn the_blocks_of_one_task_are_shared() {
    let (program, measured) = program(&[8], &[]);
    assert_eq!(makespan(&program, &measured, 1), SUBMIT + 8 * BLOCK + REST);
    let two = makespan(&program, &measured, 2);
    assert!((SUBMIT + 4 * BLOCK + REST..5 * BLOCK).contains(&two), "{two}");
}

#[test]
fn submits_take_their_time_also_where_threads_are_idle() {
    let (program, mut measured) = program(&[1; 4], &[]);
    measured.submits = vec![2 * BLOCK; 4];
    // The last task is taken by the submitter, which is there first.
    assert_eq!(makespan(&program, &measured, 3), 4 * 2 * BLOCK + BLOCK + REST);
}

#[test]
fn more_threads_than_work_change_nothing() {
    let (program, measured) = program(&[1; 16], &[]);
    let [many, more] = [32, 1024].map(|threads| makespan(&program, &measured, threads));
    assert_eq!(many, more);
    assert!(many < 2 * BLOCK, "{many}");
}

#[test]
fn a_thread_prefers_what_it_ran_in_the_recording() {
    let (program, mut measured) = program(&[1; 3], &[]);
    // In submission order the submitter would take the long task, and the run would take as long as that and another one.
    let short = BlockTime { kernel: BLOCK / 10, ..measured.blocks[0][0] };
    measured.blocks = vec![vec![short], vec![measured.blocks[1][0]], vec![short]];
    let usual = makespan(&program, &measured, 2);
    measured.placed = vec![vec![(0, 0), (2, 0)], vec![(1, 0)]];
    assert_eq!(makespan(&program, &measured, 2), SUBMIT + POLL + BLOCK + REST);
    measured.placed = vec![vec![(1, 0), (2, 0)], vec![(0, 0)]];
    let other = 3 * SUBMIT + BLOCK + REST;
    assert_eq!(makespan(&program, &measured, 2), other);
    measured.placed.push(Vec::new());
    assert_eq!(makespan(&program, &measured, 2), usual, "of another number of threads");
}

#[test]
fn a_block_on_a_faster_thread_is_shorter() {
    let (program, mut measured) = program(&[1; 2], &[]);
    measured.blocks.iter_mut().flatten().for_each(|block| block.thread = 1);
    measured.slowness = Slowness(vec![1.0, 2.0]);
    assert_eq!(makespan(&program, &measured, 1), 2 * (SUBMIT + BLOCK / 2) + REST);
    assert_eq!(
        makespan(&program, &measured, 2),
        SUBMIT + POLL + BLOCK + REST,
        "the second thread is as slow as it was"
    );
}
