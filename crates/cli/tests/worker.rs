//! `ringlane worker`, started by hand: it says what is missing. What it does for a node is tested in `crates/node`.

mod common;

use common::Sandbox;

#[test]
fn a_worker_without_a_mailbox_says_who_starts_workers() {
    for descriptor in ["1", "99"] {
        let answer = Sandbox::new().ringlane(&["worker", "--mailbox-fd", descriptor]);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
        assert!(answer.line("error: ").starts_with("NoMailbox: "), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains(descriptor), "{}", answer.stderr);
        assert!(answer.line("hint: ").contains("a node starts its workers"), "{}", answer.stderr);
    }
}

#[test]
#[cfg(not(feature = "mpi"))]
fn a_worker_that_is_to_be_a_rank_says_how_to_build_one() {
    let answer = Sandbox::new().ringlane(&["worker", "--", "run", "vector"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
    assert!(answer.line("error: ").starts_with("NoMpi: "), "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("--features mpi"), "{}", answer.stderr);
}

#[test]
fn a_worker_with_nobody_to_work_for_says_who_starts_workers() {
    let answer = Sandbox::new().ringlane(&["worker"]);
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
    assert!(answer.line("error: ").starts_with("NoRanks: "), "{}", answer.stderr);
    assert!(answer.line("hint: ").contains("mpirun -n 4"), "{}", answer.stderr);
}

#[test]
fn its_help_says_that_a_node_starts_it() {
    let answer = Sandbox::new().ringlane(&["worker", "--help"]);
    assert!(
        answer.status == 0 && answer.stdout.contains("A node starts its workers itself"),
        "{}",
        answer.stdout
    );
}
