//! Verdicts on runs written by hand.

use ringlane_task::{KernelId, Ticks};
use ringlane_trace::pmu::{self, PmuRow};

use super::{Limit, Verdict, of, submits};
use crate::critical_path::{Cause, observed};
use crate::pmu::{Counters, Tally};
use crate::timeline::Timeline;
use crate::timeline::sample::{AIC, AIV, ANY, Sample};

/// The verdict, after a check that it is the largest line of the critical path.
fn verdict(timeline: &Timeline, counters: Option<&Counters>) -> Verdict {
    let path = observed(timeline).unwrap();
    let verdict = of(timeline, &path, counters).unwrap();
    let cause = Cause::ALL.into_iter().find(|cause| cause.as_str() == verdict.cause).unwrap();
    assert!(Cause::ALL.iter().all(|&other| path.total(other) <= path.total(cause)), "{verdict:?}");
    assert_eq!(verdict.share, path.share(cause));
    verdict
}

/// A chain of two kernels on an idle chip.
fn chain() -> Timeline {
    Sample::on(&["aic", "aiv"])
        .task((0, 1), 1, &[])
        .block(0, AIC, [2, 3, 43, 44])
        .task((1, 2), 43, &[0])
        .block(1, AIV, [45, 46, 96, 97])
        .ends(100)
}

/// Six blocks of a kernel on the only two cores that can run them.
fn crowd(kernel: u32, cores: &[&str]) -> Timeline {
    let mut sample = Sample::on(cores);
    for task in 0..6 {
        let start = 30 * (task / 2);
        sample =
            sample.task((0, 0), 0, &[]).block(task as u32 % 2, kernel, [0, start, start + 30, start + 30]);
    }
    sample.ends(90)
}

/// Counters of every kernel, each with these parts of 100 cycles.
fn counters(columns: &[(&str, u64)], event_type: u32) -> Counters {
    let names = pmu::columns(&columns.iter().map(|&(name, _)| name).collect::<Vec<_>>());
    let mut tally = Tally::default();
    for kernel in [AIC, AIV, ANY] {
        tally.add(&PmuRow {
            func_id: KernelId(kernel),
            pmu_total_cycles: 100,
            counters: columns.iter().map(|&(_, count)| count).collect(),
            event_type,
            ..PmuRow::default()
        });
    }
    tally.finish(&names)
}

#[test]
fn kernels_that_wait_for_each_other_are_a_graph_that_is_too_narrow() {
    let verdict = verdict(&chain(), None);
    assert_eq!((verdict.limit, verdict.kind, verdict.memory_share), (Limit::Dependencies, "aiv", None));
    assert_eq!(
        verdict.sentence,
        "Dependency-bound: kernels take 90.0 % of the critical path, most of all AIV (50.0 %)."
    );
}

#[test]
fn blocks_that_wait_for_busy_cores_are_about_the_cores_that_can_run_them() {
    let pinned = verdict(&crowd(AIC, &["aic", "aic", "aiv"]), None);
    assert_eq!((pinned.limit, pinned.kind, pinned.share), (Limit::Cores, "aic", 60.0 / 90.0));
    assert!(pinned.sentence.ends_with("; aic cores were busy 100.0 % of the time."), "{}", pinned.sentence);
    let either = verdict(&crowd(ANY, &["aic", "aiv"]), None);
    assert_eq!((either.limit, either.kind), (Limit::Cores, "any"));
    assert!(either.sentence.ends_with("; cores of all kinds were busy 100.0 % of the time."), "{either:?}");
    // With a core that is free all the time, it is not cores that are short, whatever their kind.
    let misplaced = verdict(&crowd(ANY, &["aic", "aic", "aiv"]), None);
    assert_eq!(misplaced.limit, Limit::Scheduler);
    assert_eq!(Limit::Scheduler.remedy("cpu"), "fewer, larger tasks; more threads");
    assert!(Limit::Scheduler.remedy("a5sim").contains("another policy"));
}

#[test]
fn submits_full_rings_and_copies_have_verdicts_of_their_own() {
    let late = Sample::on(&["aic"]).task((0, 90), 90, &[]).block(0, AIC, [90, 90, 95, 95]);
    let stalled = Sample::on(&["aic"]).task((0, 90), 90, &[]).stalled(80).block(0, AIC, [90, 90, 95, 95]);
    let read = Sample::on(&["aic"]).task((85, 90), 90, &[]).read((0, 85)).block(0, AIC, [90, 90, 95, 95]);
    let found = [late, stalled, read].map(|sample| verdict(&sample.ends(95), None).limit);
    assert_eq!(found, [Limit::Orchestrator, Limit::Rings, Limit::Transfers]);
    let nothing = Sample::on(&["aic"]).task((0, 90), 90, &[]).ends(90);
    assert_eq!(of(&nothing, &observed(&nothing).unwrap(), None), None);
}

#[test]
fn kernels_that_share_the_submitting_core_wait_for_it_and_not_for_each_other() {
    // Between its submits the only thread runs what it has submitted.
    let mut sample = Sample::on(&["cpu"]);
    for task in 0..10 {
        let start = 10 * task;
        let ran = [start + 1, start + 1, start + 10, start + 10];
        sample = sample.task((start, start + 1), start + 1, &[]).block(0, ANY, ran);
    }
    let verdict = verdict(&sample.ends(100), None);
    assert_eq!((verdict.limit, verdict.cause, verdict.kind), (Limit::Cores, "compute", "cpu"));
}

#[test]
fn memory_is_the_limit_only_where_counters_show_that_data_moves_most_of_the_time() {
    let pipes =
        |moving, computing| counters(&[("vec_busy_cycles", computing), ("mte2_busy_cycles", moving)], 2);
    let limit = |timeline: &Timeline, counters: &Counters| verdict(timeline, Some(counters)).limit;
    for timeline in [chain(), crowd(AIC, &["aic", "aic"])] {
        let without = verdict(&timeline, None).limit;
        assert_eq!(limit(&timeline, &pipes(80, 20)), Limit::Memory);
        assert_eq!(limit(&timeline, &pipes(80, 90)), without, "they compute even longer");
        assert_eq!(limit(&timeline, &pipes(40, 20)), without, "less than half of the cycles");
        // Counters of another group, and the time-stamp counter in place of counters, show nothing.
        let bytes = counters(&[("main_mem_read_bytes", u64::MAX)], 4);
        let time = counters(&[("stalled_cycles_backend", 0), ("mte2_busy_cycles", 100)], 0);
        for counters in [bytes, time] {
            let verdict = verdict(&timeline, Some(&counters));
            assert_eq!((verdict.limit, verdict.memory_share), (without, None));
        }
        let stalled = counters(&[("stalled_cycles_frontend", 5), ("stalled_cycles_backend", 70)], 3);
        assert_eq!(limit(&timeline, &stalled), Limit::Memory);
    }
    // What a kernel moves does not matter where the orchestration is the limit.
    let late = Sample::on(&["aic"]).task((0, 90), 90, &[]).block(0, AIC, [90, 90, 95, 95]).ends(95);
    assert_eq!(limit(&late, &pipes(80, 20)), Limit::Orchestrator);
}

#[test]
fn every_submit_on_the_path_counts_once_and_the_longest_has_a_name() {
    let timeline = Sample::on(&["aic"])
        .task((0, 2), 2, &[])
        .task((2, 52), 52, &[])
        .task((52, 54), 54, &[])
        .block(0, AIC, [54, 54, 60, 60])
        .ends(60);
    let found = submits(&timeline, &observed(&timeline).unwrap()).unwrap();
    assert_eq!((found.spread.count, found.spread.p50, found.spread.max), (3, Ticks(2), Ticks(50)));
    assert_eq!(found.longest, timeline.tasks[1].task_id);
}
