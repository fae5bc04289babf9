//! Paths of runs written by hand.

use ringlane_task::{Explain, Ticks};
use ringlane_trace::swimlane::{CopyDirection, CopyRow, SwimlaneLevel};

use super::{Cause, longest, observed};
use crate::timeline::sample::{AIC, AIV, ANY, Sample};
use crate::timeline::{TaskIndex, Timeline};

/// Start, end and cause of each segment, after a check that they tile the run.
fn path(timeline: &Timeline) -> Vec<(u64, u64, Cause)> {
    let path = observed(timeline).unwrap();
    let ends = path.segments.iter().map(|segment| segment.end);
    assert!(
        path.segments
            .iter()
            .map(|segment| segment.start)
            .skip(1)
            .eq(ends.take(path.segments.len().saturating_sub(1)))
    );
    assert_eq!(path.whole(), timeline.makespan);
    path.segments.iter().map(|segment| (segment.start.0, segment.end.0, segment.cause)).collect()
}

#[test]
fn a_chain_is_its_kernels_and_what_is_between_them() {
    use Cause::{Compute, Scheduler, Submit};
    let timeline = Sample::on(&["aic", "aic"])
        .task((2, 5), 5, &[])
        .block(0, AIC, [8, 10, 30, 33])
        .task((5, 9), 34, &[0])
        .block(1, AIC, [38, 40, 60, 62])
        .ends(70);
    let expected = [
        (0, 2, Submit),
        (2, 5, Submit),
        (5, 10, Scheduler),
        (10, 30, Compute),
        (30, 40, Scheduler),
        (40, 60, Compute),
        (60, 70, Scheduler),
    ];
    assert_eq!(path(&timeline), expected);
}

#[test]
fn without_submits_a_task_that_nobody_made_wait_waited_for_its_submit() {
    use Cause::{Compute, Scheduler, Submit};
    let timeline = Sample::on(&["aic"])
        .task((0, 1), 1, &[])
        .block(0, AIC, [1, 1, 10, 10])
        .task((11, 60), 60, &[])
        .after_done(&[0])
        .block(0, AIC, [61, 62, 70, 70])
        .at_level(SwimlaneLevel::Tasks, 70);
    assert_eq!(path(&timeline), [(0, 60, Submit), (60, 62, Scheduler), (62, 70, Compute)]);
}

#[test]
fn a_block_queued_after_others_waits_for_a_core_until_one_is_idle() {
    use Cause::{Compute, Core, Scheduler, Submit};
    let timeline = Sample::on(&["aic"])
        .task((0, 2), 2, &[])
        .block(0, AIC, [2, 3, 20, 21])
        .task((2, 4), 4, &[])
        .block(0, AIC, [22, 24, 50, 51])
        .ends(51);
    let expected = [
        (0, 2, Submit),
        (2, 3, Scheduler),
        (3, 20, Core),
        (20, 24, Scheduler),
        (24, 50, Compute),
        (50, 51, Scheduler),
    ];
    assert_eq!(path(&timeline), expected);
}

#[test]
fn a_block_that_was_handed_out_ahead_waits_for_a_core_unless_another_that_can_run_it_is_free() {
    use Cause::{Compute, Core, Scheduler, Submit};
    // Dispatched at 6 to core 0, which is busy until 20.
    let sample = |cores: &[&str], kernel| {
        let busy = Sample::on(cores).task((0, 2), 2, &[]).block(0, AIC, [2, 3, 20, 21]);
        path(&busy.task((2, 4), 4, &[]).block(0, kernel, [6, 22, 50, 51]).ends(50))
    };
    // Core 1 is free all the time, and can run it if it is of the kind that the kernel asks for.
    for (cores, kernel) in [(["aic", "aic"], AIC), (["aic", "aiv"], ANY)] {
        assert_eq!(sample(&cores, kernel)[2..], [(4, 22, Scheduler), (22, 50, Compute)]);
    }
    let alone = sample(&["aic", "aiv"], AIC);
    let taken = [(0, 2, Submit), (2, 3, Scheduler), (3, 20, Core), (20, 22, Scheduler), (22, 50, Compute)];
    assert_eq!(alone, taken);
}

#[test]
fn a_submit_to_full_cores_is_not_late_but_a_producer_that_ends_while_they_are_full_is() {
    use Cause::{Compute, Core, Submit};
    // The core is busy from 2 to 90 with what was submitted first; the third task waits for it from 42 on.
    let full = |producers: &[u64]| {
        let busy = Sample::on(&["aic", "aiv"])
            .task((0, 2), 2, &[])
            .block(0, AIC, [2, 2, 50, 50])
            .task((2, 4), 4, &[])
            .block(0, AIC, [50, 50, 90, 90])
            .task((4, 5), 5, &[])
            .block(1, AIV, [5, 5, 42, 42]);
        let submit = if producers.is_empty() { (5, 42) } else { (5, 6) };
        path(&busy.task(submit, 42, producers).block(0, AIC, [90, 90, 99, 99]).ends(99))
    };
    // Submitted earlier, it would not have begun earlier.
    assert_eq!(full(&[]), [(0, 2, Submit), (2, 90, Core), (90, 99, Compute)]);
    // Ready earlier, it could have been before the second one.
    let after =
        [(0, 2, Submit), (2, 4, Submit), (4, 5, Submit), (5, 42, Compute), (42, 90, Core), (90, 99, Compute)];
    assert_eq!(full(&[2]), after);
}

#[test]
fn a_core_between_two_blocks_is_not_free_but_if_most_are_it_is_not_cores_that_are_short() {
    // Both cores have their next block all the time; the third task waits for one of them until 40.
    let run = |gap: u64| {
        let at = |start: u64| [0, start, start + 20 - gap, start + 20 - gap];
        Sample::on(&["aic", "aic"])
            .task((0, 0), 0, &[])
            .block(0, AIC, at(gap))
            .block(0, AIC, at(20 + gap))
            .task((0, 0), 0, &[])
            .block(1, AIC, at(gap))
            .block(1, AIC, at(20 + gap))
            .task((0, 0), 0, &[])
            .block(0, AIC, [0, 42, 50, 50])
            .ends(50)
    };
    let waited = |gap: u64| observed(&run(gap)).unwrap().total(Cause::Core);
    assert_eq!((waited(2), waited(20)), (Ticks(36), Ticks(0)));
}

#[test]
fn a_late_submit_and_a_full_ring_are_distinguished() {
    use Cause::{Compute, RingFull, Scheduler, Submit};
    let timeline = Sample::on(&["aic"])
        .task((0, 2), 2, &[])
        .block(0, AIC, [2, 3, 10, 10])
        .task((20, 40), 40, &[0])
        .stalled(15)
        .block(0, AIC, [41, 42, 50, 50])
        .ends(50);
    let expected = [
        (0, 2, Submit),
        (2, 20, Submit),
        (20, 35, RingFull),
        (35, 40, Submit),
        (40, 42, Scheduler),
        (42, 50, Compute),
    ];
    assert_eq!(path(&timeline), expected);
}

#[test]
fn what_the_submitting_thread_ran_between_submits_is_compute_and_a_copy_is_data() {
    use Cause::{Compute, Data, Scheduler, Submit};
    let own = Sample::on(&["cpu"])
        .task((0, 2), 2, &[])
        .block(0, ANY, [2, 3, 10, 10])
        .task((12, 14), 14, &[])
        .block(0, ANY, [14, 14, 20, 20])
        .ends(20);
    assert_eq!(
        path(&own),
        [
            (0, 2, Submit),
            (2, 3, Submit),
            (3, 10, Compute),
            (10, 12, Submit),
            (12, 14, Submit),
            (14, 20, Compute)
        ]
    );
    let mut copied = Sample::on(&["aic"]).task((30, 32), 32, &[]).block(0, AIC, [32, 33, 40, 40]).ends(60);
    let copy = |start, end| CopyRow {
        direction: CopyDirection::HostToDevice,
        what: "buffer 0".to_string(),
        bytes: 64,
        start: Ticks(start),
        end: Ticks(end),
    };
    copied.copies = vec![copy(5, 25), copy(45, 60)];
    let expected = [
        (0, 5, Submit),
        (5, 25, Data),
        (25, 30, Submit),
        (30, 32, Submit),
        (32, 33, Scheduler),
        (33, 40, Compute),
        (40, 45, Scheduler),
        (45, 60, Data),
    ];
    assert_eq!(path(&copied), expected);
}

#[test]
fn a_read_leads_to_the_task_that_was_waited_for() {
    use Cause::{Compute, Data, Scheduler, Submit};
    let timeline = Sample::on(&["aic", "aic"])
        .task((0, 2), 2, &[])
        .block(0, AIC, [2, 3, 20, 21])
        .task((30, 32), 32, &[])
        .read((4, 25))
        .block(0, AIC, [32, 33, 40, 40])
        .ends(40);
    let expected = [
        (0, 2, Submit),
        (2, 3, Scheduler),
        (3, 20, Compute),
        (20, 25, Data),
        (25, 30, Submit),
        (30, 32, Submit),
        (32, 33, Scheduler),
        (33, 40, Compute),
    ];
    assert_eq!(path(&timeline), expected);
    // A wait in which nothing ended is data all the same.
    let alone =
        Sample::on(&["aic"]).task((30, 32), 32, &[]).read((4, 25)).block(0, AIC, [32, 32, 40, 40]).ends(40);
    assert_eq!(path(&alone)[..3], [(0, 4, Submit), (4, 25, Data), (25, 30, Submit)]);
}

#[test]
fn from_level_2_on_the_path_adds_up() {
    for level in [SwimlaneLevel::Tasks, SwimlaneLevel::Phases] {
        let timeline = Sample::on(&["aic", "aiv"])
            .task((1, 3), 3, &[])
            .block(0, AIC, [4, 5, 25, 26])
            .task((3, 6), 6, &[])
            .task((6, 9), 27, &[0, 1])
            .lane(0, AIC, 0, [30, 31, 50, 52])
            .lane(1, AIV, 1, [30, 32, 55, 57])
            .at_level(level, 60);
        let segments = path(&timeline);
        assert_eq!(segments.last().unwrap().2, Cause::Scheduler);
        assert!(segments.contains(&(32, 55, Cause::Compute)), "{level:?}: {segments:?}");
    }
    assert_eq!(path(&Sample::on(&["aic"]).ends(9)), [(0, 9, Cause::Submit)]);
    assert_eq!(path(&Sample::on(&["aic"]).ends(0)), []);
    let refused = observed(&Sample::on(&["aic"]).at_level(SwimlaneLevel::Blocks, 9)).unwrap_err();
    assert_eq!(refused.name(), "LevelTooLow");
}

#[test]
fn the_longest_chain_is_the_floor_whatever_the_cores_did() {
    let timeline = Sample::on(&["aic"])
        .task((0, 1), 1, &[])
        .block(0, AIC, [1, 1, 11, 11])
        .task((1, 2), 2, &[])
        .block(0, AIC, [11, 11, 41, 41])
        .task((2, 3), 41, &[0, 1])
        .task((3, 4), 41, &[2])
        .block(0, AIC, [41, 41, 46, 46])
        .ends(46);
    let path = longest(&timeline);
    assert_eq!((path.ticks, path.tasks), (Ticks(35), vec![TaskIndex(1), TaskIndex(3)]));
}
