//! Core time of runs written by hand.

use ringlane_task::Ticks;
use ringlane_trace::swimlane::{Phase, PhaseRow, SwimlaneLevel};

use super::{Parts, overhead};
use crate::CoreKind::Aiv;
use crate::bound::Placement;
use crate::timeline::Timeline;
use crate::timeline::sample::{AIC, AIV, ANY, Sample};
use ringlane_task::Explain;

/// The core time of a kind, after a check that all parts add up.
fn time(timeline: &Timeline, kind: usize) -> Parts {
    let overhead = overhead(timeline).unwrap();
    for kind in &overhead.kinds {
        assert_eq!(kind.core_time.whole(), u128::from(kind.cores) * u128::from(timeline.makespan.0));
        assert_eq!(kind.instants.whole(), u128::from(timeline.makespan.0));
    }
    overhead.kinds[kind].core_time
}

#[test]
fn each_idle_core_is_somebodys() {
    let timeline = Sample::on(&["aic", "aic", "aic"])
        .task((0, 10), 10, &[])
        .block(0, AIC, [14, 15, 40, 41])
        // Could have run from the start, and was submitted at 20.
        .task((10, 20), 20, &[])
        .block(1, AIC, [21, 22, 40, 41])
        .task((20, 22), 42, &[0, 1])
        .block(2, AIC, [44, 45, 60, 60])
        .ends(64);
    let parts = time(&timeline, 0);
    assert_eq!(parts.busy, 25 + 18 + 15);
    // 10..15 the first, 20..22 the second, 40..45 the third, one core each.
    assert_eq!(parts.scheduler, 5 + 2 + 5);
    // Before 10 two tasks could run, before 20 one; after 60 all cores wait for the end.
    assert_eq!(parts.orchestrator, 2 * 10 + 10 + 3 * 4);
    assert_eq!(parts.dependencies, 3 * 64 - parts.busy - parts.scheduler - parts.orchestrator);
    let found = overhead(&timeline).unwrap();
    assert_eq!(found.around_blocks.map(|step| step.max_us), [4.0, 1.0, 1.0]);
}

#[test]
fn a_task_whose_producers_were_done_when_it_was_submitted_waits_for_the_orchestrator_at_every_level() {
    let sample = || {
        Sample::on(&["aic"])
            .task((0, 1), 1, &[])
            .block(0, AIC, [1, 1, 10, 10])
            .task((1, 60), 60, &[])
            .after_done(&[0])
            .block(0, AIC, [61, 62, 70, 70])
    };
    let expected = Parts { busy: 9 + 8, scheduler: 2, orchestrator: 1 + 50, dependencies: 0 };
    assert_eq!(time(&sample().ends(70), 0), expected);
    assert_eq!(time(&sample().at_level(SwimlaneLevel::Tasks, 70), 0), expected);
}

#[test]
fn blocks_that_wait_for_a_full_chip_are_nobodys_fault() {
    let timeline = Sample::on(&["aic"])
        .task((0, 1), 1, &[])
        .block(0, AIC, [1, 1, 50, 50])
        .task((1, 2), 2, &[])
        .block(0, AIC, [50, 50, 99, 99])
        .ends(100);
    assert_eq!(time(&timeline, 0), Parts { busy: 98, scheduler: 0, orchestrator: 2, dependencies: 0 });
}

#[test]
fn a_mixed_task_could_use_a_vector_core_only_while_a_matrix_core_is_idle_too() {
    let timeline = Sample::on(&["aic", "aiv"])
        .task((0, 0), 0, &[])
        .block(0, AIC, [0, 0, 50, 50])
        .task((0, 0), 0, &[])
        .lane(0, AIC, 0, [50, 52, 60, 60])
        .lane(1, AIV, 1, [50, 52, 70, 70])
        .ends(70);
    let parts = time(&timeline, 1);
    assert_eq!(overhead(&timeline).unwrap().kinds[1].kind, Placement::On(Aiv));
    assert_eq!((parts.busy, parts.scheduler, parts.dependencies), (18, 2, 50));
}

#[test]
fn a_mixed_task_that_waits_takes_as_many_cores_of_a_kind_as_it_has_blocks_for_it() {
    let timeline = Sample::on(&["aic", "aic", "aic", "aiv", "aiv", "aiv"])
        .task((0, 0), 0, &[])
        .lane(0, AIC, 0, [10, 10, 20, 20])
        .lane(3, AIV, 1, [10, 10, 20, 20])
        .lane(4, AIV, 2, [10, 10, 20, 20])
        .ends(20);
    // One matrix core and two vector cores could have run it from the start; nothing could use the others.
    let (matrix, vector) = (time(&timeline, 0), time(&timeline, 1));
    assert_eq!((matrix.busy, matrix.scheduler, matrix.dependencies), (10, 10, 40));
    assert_eq!((vector.busy, vector.scheduler, vector.dependencies), (20, 20, 20));
}

#[test]
fn a_block_that_can_run_anywhere_waits_for_one_core_and_is_judged_over_all_of_them() {
    let timeline = Sample::on(&["aic", "aiv", "aiv"])
        .task((0, 0), 0, &[])
        .block(0, ANY, [10, 10, 20, 20])
        .task((0, 0), 0, &[])
        .block(1, ANY, [10, 10, 20, 20])
        .ends(20);
    let rows: Vec<_> =
        overhead(&timeline).unwrap().kinds.iter().map(|row| (row.kind.as_str(), row.cores)).collect();
    assert_eq!(rows, [("aic", 1), ("aiv", 2), ("any", 3)]);
    // Until 10 two blocks wait for two of three idle cores: not for one of each kind, nor for all three.
    let all = time(&timeline, 2);
    assert_eq!((all.busy, all.scheduler, all.dependencies), (20, 20, 20));
    assert_eq!(time(&timeline, 0).scheduler + time(&timeline, 1).scheduler, 20);
    assert_eq!(timeline.busy_share(Placement::Anywhere), 20.0 / 60.0);
    // Where every kernel asks for a kind, there is no such row.
    let pinned = Sample::on(&["aic", "aiv"]).task((0, 0), 0, &[]).block(0, AIC, [1, 1, 2, 2]).ends(2);
    assert_eq!(overhead(&pinned).unwrap().kinds.len(), 2);
}

#[test]
fn threads_have_a_budget_and_a_low_level_is_refused_with_the_one_that_is_needed() {
    let phase = |phase, start, end, tasks| PhaseRow {
        thread: 0,
        phase,
        start: Ticks(start),
        end: Ticks(end),
        loop_: 0,
        tasks,
    };
    let timeline = Sample::on(&["aic"])
        .phase(phase(Phase::Dispatch, 5, 8, 2))
        .phase(phase(Phase::Idle, 8, 20, 0))
        .phase(phase(Phase::Dispatch, 20, 21, 1))
        .ends(30);
    let threads = overhead(&timeline).unwrap().threads;
    assert_eq!(threads.len(), 1);
    assert_eq!((threads[0].dispatched, threads[0].elsewhere_us), (3, 14.0));
    assert_eq!(threads[0].phases_us[&Phase::Dispatch], 4.0);
    let refused = overhead(&Sample::on(&["aic"]).at_level(SwimlaneLevel::Blocks, 5)).unwrap_err();
    assert_eq!((refused.name(), refused.hint().contains("with_swimlane_level(2)")), ("LevelTooLow", true));
}
