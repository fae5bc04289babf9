//! Costs are exact to the tick: a chain of equal tasks takes as long as docs/simulator.md says.

mod support;

use ringlane_chip_sim::{SimOptions, SimRuntime};
use ringlane_engine::prelude::*;
use ringlane_task::{CallConfig, ChipSpec};

kernel! {
    /// Takes 100 ticks: 2 µs.
    static STEP = aiv fn(x: &mut [f32]) { x[0] += 1.0; } cost Cost::Ticks(|_| 100)
}

/// The makespan of a chain of n tasks by the recurrence of docs/simulator.md, in picoseconds.
///
/// All tasks but the first are submitted long before they are ready. One thread owns the core on which the chain
/// runs: thread 0, the first to see the first task.
fn recurrence(spec: &ChipSpec, n: u64, duration: u64) -> u64 {
    let c = &spec.costs;
    // The first submit: one slot, one lookup, one insertion, no edge.
    let submitted = c.admit + c.look_up + c.insert;
    // Thread 0 runs rounds without a block in flight since 0, and dispatches the task at the end of the current
    // round.
    let mut poll = submitted.div_ceil(c.round) * c.round;
    let mut end = 0;
    for task in 0..n {
        let stored = poll + c.dispatch_store;
        end = stored + c.dispatch_seen + duration;
        let shows = end + c.done_seen;
        // The last task is reclaimed, then rounds with one block in flight follow each other. The register is read at
        // the end of a round.
        let first = stored + if task > 0 { c.reclaim } else { 0 };
        let round = c.round + c.poll;
        let rounds = shows.saturating_sub(first).div_ceil(round).max(1);
        let polled = first + rounds * round;
        poll = polled + if task + 1 < n { c.resolve } else { 0 };
        end = poll;
    }
    end + c.reclaim
}

fn chain(spec: &ChipSpec, n: u64) -> u64 {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0.0f32]).unwrap();
    let mut runtime = SimRuntime::new(spec, &CallConfig::default(), SimOptions::default()).unwrap();
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        (0..n).try_for_each(|_| o.submit(&STEP, [x.inout()]).map(drop))
    });
    run.result.unwrap();
    assert_eq!(data.get::<f32>(x).unwrap(), [n as f32]);
    runtime.totals().makespan
}

#[test]
fn the_makespan_of_a_chain_of_equal_tasks_follows_the_recurrence() {
    let spec = support::a2a3();
    for n in [1, 2, 3, 10, 100, 1000] {
        assert_eq!(chain(&spec, n), recurrence(&spec, n, 2_000_000), "{n} tasks");
    }
}

#[test]
fn the_recurrence_also_holds_with_other_costs() {
    let mut spec = support::a2a3();
    for (round, poll) in [(20_000, 100_000), (7_000, 31_000), (1, 3), (50_000, 0)] {
        (spec.costs.round, spec.costs.poll, spec.costs.resolve) = (round, poll, poll / 3);
        for n in [1, 2, 17] {
            assert_eq!(chain(&spec, n), recurrence(&spec, n, 2_000_000), "{n} tasks, {round}, {poll}");
        }
    }
}

#[test]
fn a_submit_pays_for_the_edges_that_it_wires_and_not_for_predecessors_that_are_done() {
    let mut spec = support::a2a3();
    let millisecond = 1_000_000_000;
    spec.costs.wire = millisecond;
    let makespan = |waits_first: bool| {
        let mut data = Buffers::new();
        let x = data.add(&[1], &[0.0f32]).unwrap();
        let mut runtime = SimRuntime::new(&spec, &CallConfig::default(), SimOptions::default()).unwrap();
        let run = runtime.run(&mut data, |o| {
            let x = o.external(x)?;
            o.submit(&STEP, [x.inout()])?;
            if waits_first {
                assert_eq!(o.read::<f32>(x)?, [1.0]);
            }
            o.submit(&STEP, [x.inout()]).map(drop)
        });
        run.result.unwrap();
        runtime.totals().makespan
    };
    assert!(makespan(true) < millisecond, "the first task is done: there is nothing to wire");
    assert!(makespan(false) > millisecond, "it is not: one edge");
}
