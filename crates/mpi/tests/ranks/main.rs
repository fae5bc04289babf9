//! Real ranks under mpirun: this program starts mpirun with itself, once per test.
//!
//! ```sh
//! cargo test -p ringlane-mpi --features mpi --test ranks
//! ```

mod launch;
mod roles;

use std::process::ExitCode;
use std::time::Duration;

use launch::{Ended, Mpirun};

type Test = (&'static str, fn());

const TESTS: [Test; 6] = [
    ("four_ranks_exchange_frames_of_all_sizes", four_ranks_exchange_frames_of_all_sizes),
    ("a_scheduler_calls_three_workers_through_mpi", a_scheduler_calls_three_workers_through_mpi),
    ("a_worker_that_is_killed_is_named_and_ends_the_run", a_worker_that_is_killed_is_named_and_ends_the_run),
    (
        "a_rank_that_is_killed_while_it_is_sent_to_is_named",
        a_rank_that_is_killed_while_it_is_sent_to_is_named,
    ),
    ("a_rank_that_is_killed_at_any_moment_is_named", a_rank_that_is_killed_at_any_moment_is_named),
    ("when_rank_0_is_killed_all_ranks_end", when_rank_0_is_killed_all_ranks_end),
];

fn main() -> ExitCode {
    if launch::is_rank() {
        return roles::play(&std::env::args().nth(1).unwrap_or_default());
    }
    let wanted: Vec<_> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, test) in TESTS {
        if wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str())) {
            println!("test {name} ...");
            // A failed assertion ends the program with its message.
            test();
            println!("test {name} ... ok");
        }
    }
    ExitCode::SUCCESS
}

fn four_ranks_exchange_frames_of_all_sizes() {
    let ended = Mpirun::start(4, "exchange").wait();
    assert!(ended.succeeded, "{ended:?}");
    assert_eq!(ended.output.matches("all exchanged").count(), 4, "{ended:?}");
}

fn a_scheduler_calls_three_workers_through_mpi() {
    let ended = Mpirun::start(4, "calls").wait();
    assert!(ended.succeeded, "{ended:?}");
    assert!(ended.output.contains("60 answers from 3 ranks"), "{ended:?}");
}

fn a_worker_that_is_killed_is_named_and_ends_the_run() {
    for victim in [1, 2, 3] {
        let mut run = Mpirun::start(4, "hang");
        let ranks = run.wait_for_ranks(4);
        run.wait_for("all are busy");
        launch::kill(ranks[victim]);
        let ended = run.wait();
        is_named(&ended, victim);
        let place = format!("(process {} on ", ranks[victim]);
        assert!(ended.output.contains(&place) && ended.output.contains("during in a call\n"), "{ended:?}");
        launch::assert_all_gone(&ranks);
    }
}

fn a_rank_that_is_killed_while_it_is_sent_to_is_named() {
    let mut run = Mpirun::start(4, "deaf");
    let ranks = run.wait_for_ranks(4);
    run.wait_for("all are busy");
    // Rank 0 sends it more than MPI buffers without a receiver.
    std::thread::sleep(Duration::from_millis(200));
    launch::kill(ranks[2]);
    is_named(&run.wait(), 2);
    launch::assert_all_gone(&ranks);
}

fn a_rank_that_is_killed_at_any_moment_is_named() {
    for round in 0..12u64 {
        let mut run = Mpirun::start(4, "hang");
        let ranks = run.wait_for_ranks(4);
        // From the moment at which all have connected to the middle of their calls.
        std::thread::sleep(Duration::from_micros(round * 700));
        let victim = 1 + round as usize % 3;
        launch::kill(ranks[victim]);
        is_named(&run.wait(), victim);
        launch::assert_all_gone(&ranks);
    }
}

fn is_named(ended: &Ended, victim: usize) {
    assert!(!ended.succeeded, "{ended:?}");
    let named = format!("error: RankDied: rank {victim} (");
    assert!(ended.output.contains(&named), "{ended:?}");
    assert!(ended.after < Duration::from_secs(20), "{ended:?}");
}

fn when_rank_0_is_killed_all_ranks_end() {
    let mut run = Mpirun::start(4, "hang");
    let ranks = run.wait_for_ranks(4);
    launch::kill(ranks[0]);
    let ended = run.wait();
    assert!(!ended.succeeded, "{ended:?}");
    launch::assert_all_gone(&ranks);
}
