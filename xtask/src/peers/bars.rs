//! The targets: how fast is fast enough, and compared with what.
//!
//! Each is a limit on a median: in nanoseconds, or as a ratio to a peer, or to Ringlane itself with fewer threads, measured in the
//! same run. A target for which one side is missing is neither reached nor missed, and says so. A target for tasks or threads that
//! nobody measured is left out.

use serde::Serialize;

use super::WORKLOADS;
use super::board::{Board, Graph, Key, RINGLANE};

/// The workloads compared with counters written by hand.
const BY_HAND: [&str; 4] = ["wavefront", "cholesky", "random", "independent"];

/// What a limit is about.
#[derive(Clone, Copy)]
enum Against {
    /// Nanoseconds per task.
    Nothing,
    /// A ratio to a peer.
    Peer(&'static str),
    /// A ratio to Ringlane with this many threads.
    Threads(u32),
}

/// One target, for each of some workloads.
struct Bar {
    what: &'static str,
    workloads: &'static [&'static str],
    graph: Graph,
    spin_us: u32,
    threads: u32,
    against: Against,
    limit: f64,
}

/// A target for graphs that are submitted.
const fn bar(
    what: &'static str,
    workloads: &'static [&'static str],
    (spin_us, threads): (u32, u32),
    against: Against,
    limit: f64,
) -> Bar {
    Bar { what, workloads, graph: Graph::Submitted, spin_us, threads, against, limit }
}

/// A target for graphs that run again.
const fn again(what: &'static str, threads: u32) -> Bar {
    let bar = bar(what, &WORKLOADS, (0, threads), Against::Peer("taskflow"), 0.6);
    Bar { graph: Graph::Built, ..bar }
}

static BARS: [Bar; 15] = [
    bar("empty tasks, 1 thread", &WORKLOADS, (0, 1), Against::Nothing, 100.0),
    bar("empty tasks, 2 threads", &WORKLOADS, (0, 2), Against::Nothing, 130.0),
    bar("empty tasks, 2 threads", &WORKLOADS, (0, 2), Against::Peer("taskflow"), 0.6),
    bar("empty tasks, 16 threads", &WORKLOADS, (0, 16), Against::Threads(2), 1.5),
    bar("empty tasks, 16 threads", &WORKLOADS, (0, 16), Against::Peer("taskflow"), 1.0),
    bar("1 µs tasks, 8 threads", &WORKLOADS, (1, 8), Against::Peer("taskflow"), 1.0),
    bar("1 µs tasks, 8 threads", &BY_HAND, (1, 8), Against::Peer("rayon"), 1.15),
    bar("1 µs tasks, 8 threads", &WORKLOADS, (1, 8), Against::Threads(4), 1.0),
    bar("1 µs tasks, 16 threads", &WORKLOADS, (1, 16), Against::Peer("taskflow"), 1.0),
    bar("1 µs tasks, 16 threads", &BY_HAND, (1, 16), Against::Peer("rayon"), 1.15),
    bar("1 µs tasks, 16 threads", &WORKLOADS, (1, 16), Against::Threads(8), 1.0),
    bar("10 µs tasks, 16 threads", &WORKLOADS, (10, 16), Against::Peer("rayon"), 1.03),
    again("run again, empty tasks, 1 thread", 1),
    again("run again, empty tasks, 2 threads", 2),
    again("run again, empty tasks, 16 threads", 16),
];

/// What became of a target on one workload.
#[derive(Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What the target is about.
    pub what: &'static str,
    /// The workload.
    pub workload: &'static str,
    /// What it is measured against, if it is a ratio.
    pub against: Option<String>,
    /// Ringlane's nanoseconds per task.
    pub ringlane_ns: Option<f64>,
    /// Those that it is compared with.
    pub peer_ns: Option<f64>,
    /// The ratio, or the nanoseconds, that the limit is about.
    pub value: Option<f64>,
    /// The most that `value` may be.
    pub limit: f64,
    /// Whether the target is reached; none if a side is missing.
    pub reached: Option<bool>,
}

/// Every target that some measurement is about, on each of these workloads.
pub fn judge(board: &Board, workloads: &[&str]) -> Vec<Verdict> {
    let settings = board.settings();
    let measured = |bar: &&Bar| settings.contains(&(bar.graph, bar.spin_us, bar.threads));
    let of = |bar: &'static Bar| bar.workloads.iter().map(move |&workload| (bar, workload));
    let wanted = |(_, workload): &(&Bar, &str)| workloads.contains(workload);
    let cases = BARS.iter().filter(measured).flat_map(of).filter(wanted);
    cases.map(|(bar, workload)| verdict(board, bar, workload)).collect()
}

fn verdict(board: &Board, bar: &Bar, workload: &'static str) -> Verdict {
    let Bar { what, graph, spin_us, limit, .. } = *bar;
    let ns = |runtime: &str, threads| {
        let (runtime, workload) = (runtime.to_string(), workload.to_string());
        board.ns_per_task(&Key { runtime, workload, graph, spin_us, threads })
    };
    let ringlane_ns = ns(RINGLANE, bar.threads);
    let (against, peer_ns) = match bar.against {
        Against::Nothing => (None, None),
        Against::Peer(peer) => (Some(peer.to_string()), ns(peer, bar.threads)),
        Against::Threads(threads) => (Some(format!("{threads} threads")), ns(RINGLANE, threads)),
    };
    let value = match against {
        None => ringlane_ns,
        Some(_) => ringlane_ns.zip(peer_ns).map(|(ours, theirs)| ours / theirs),
    };
    let reached = value.map(|value| value <= limit);
    Verdict { what, workload, against, ringlane_ns, peer_ns, value, limit, reached }
}

#[cfg(test)]
mod tests {
    use super::super::board::Sample;
    use super::super::board::tests::{board, key};
    use super::*;

    fn judged(board: &Board, against: Option<&str>, workload: &str) -> Option<bool> {
        let mut all = judge(board, &WORKLOADS).into_iter();
        all.find(|v| v.against.as_deref() == against && v.workload == workload).unwrap().reached
    }

    #[test]
    fn targets_that_nothing_was_measured_for_are_left_out() {
        assert_eq!(judge(&Board::default(), &WORKLOADS), []);
        let board = board(&[("rayon", "wavefront", 1, 8, 200.0), (RINGLANE, "wavefront", 1, 8, 210.0)]);
        // Against Taskflow, against rayon and against four threads.
        assert_eq!(judge(&board, &WORKLOADS).len(), 6 + 4 + 6);
        assert_eq!(judge(&board, &["chain", "wavefront"]).len(), 2 + 1 + 2);
        assert_eq!(judged(&board, Some("rayon"), "wavefront"), Some(true));
        assert_eq!(judged(&board, Some("4 threads"), "wavefront"), None);
    }

    #[test]
    fn a_target_is_reached_at_its_limit_and_not_above() {
        let at = board(&[("taskflow", "chain", 0, 2, 200.0), (RINGLANE, "chain", 0, 2, 120.0)]);
        assert_eq!(judged(&at, Some("taskflow"), "chain"), Some(true));
        assert_eq!(judged(&at, None, "chain"), Some(true));
        let above = board(&[("taskflow", "chain", 0, 2, 200.0), (RINGLANE, "chain", 0, 2, 131.0)]);
        assert_eq!(judged(&above, Some("taskflow"), "chain"), Some(false));
        assert_eq!(judged(&above, None, "chain"), Some(false));
        assert_eq!(judged(&above, Some("taskflow"), "random"), None);
    }

    #[test]
    fn sixteen_threads_are_compared_with_fewer() {
        let board = board(&[(RINGLANE, "cholesky", 1, 16, 290.0), (RINGLANE, "cholesky", 1, 8, 240.0)]);
        assert_eq!(judged(&board, Some("8 threads"), "cholesky"), Some(false));
    }

    #[test]
    fn a_graph_that_runs_again_is_compared_with_one_that_runs_again() {
        let mut board = board(&[("taskflow", "chain", 0, 1, 1.0)]);
        for (runtime, ns) in [("taskflow", 40.0), (RINGLANE, 11.0)] {
            let key = Key { graph: Graph::Built, ..key(runtime, "chain", 0, 1) };
            board.extend(vec![Sample { key, ns_per_task_min: ns, ns_per_task_median: ns }]);
        }
        let verdicts = judge(&board, &["chain"]);
        let again = verdicts.iter().find(|v| v.what.starts_with("run again")).unwrap();
        assert_eq!((again.value, again.reached), (Some(11.0 / 40.0), Some(true)));
    }
}
