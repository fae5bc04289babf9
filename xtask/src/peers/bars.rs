//! The targets: how fast is fast enough, and compared with which runtime.
//!
//! Each is a limit on a median, as a ratio to a peer measured in the same run, or in nanoseconds. A bar that could
//! not be measured, because a side is missing, is neither reached nor missed, and says so.

use serde::Serialize;

use super::WORKLOADS;
use super::board::{Board, RINGLANE};

/// The workloads whose tasks depend on each other.
const DEPENDENT: [&str; 5] = ["chain", "forkjoin", "wavefront", "cholesky", "random"];
/// The workloads compared with counters written by hand.
const BY_HAND: [&str; 4] = ["wavefront", "cholesky", "random", "independent"];

/// One bar, for each of some workloads.
struct Bar {
    what: &'static str,
    workloads: &'static [&'static str],
    spin_us: u32,
    threads: u32,
    /// A peer, for a limit that is a ratio; none for one in nanoseconds.
    against: Option<&'static str>,
    limit: f64,
}

const BARS: [Bar; 5] = [
    Bar {
        what: "empty tasks, 2 threads",
        workloads: &DEPENDENT,
        spin_us: 0,
        threads: 2,
        against: Some("omp-gcc"),
        limit: 0.35,
    },
    Bar {
        what: "empty tasks, 2 threads",
        workloads: &DEPENDENT,
        spin_us: 0,
        threads: 2,
        against: Some("tbb-flow"),
        limit: 0.4,
    },
    Bar {
        what: "empty tasks, 2 threads",
        workloads: &DEPENDENT,
        spin_us: 0,
        threads: 2,
        against: Some("starpu"),
        limit: 0.05,
    },
    Bar {
        what: "empty tasks, 1 thread",
        workloads: &WORKLOADS,
        spin_us: 0,
        threads: 1,
        against: None,
        limit: 90.0,
    },
    Bar {
        what: "1 µs tasks, 2 threads",
        workloads: &BY_HAND,
        spin_us: 1,
        threads: 2,
        against: Some("rayon"),
        limit: 1.10,
    },
];

/// What became of a bar on one workload.
#[derive(Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What the bar is about.
    pub what: &'static str,
    /// The workload.
    pub workload: &'static str,
    /// The peer it is measured against, if it is.
    pub against: Option<&'static str>,
    /// Ringlane's nanoseconds per task.
    pub ringlane_ns: Option<f64>,
    /// The peer's.
    pub peer_ns: Option<f64>,
    /// The ratio, or the nanoseconds, that the limit is about.
    pub value: Option<f64>,
    /// The most that `value` may be.
    pub limit: f64,
    /// Whether the bar is reached; none if a side is missing.
    pub reached: Option<bool>,
}

/// Every bar on every workload that either side was measured on.
pub fn judge(board: &Board) -> Vec<Verdict> {
    let cases = BARS.iter().flat_map(|bar| bar.workloads.iter().map(move |workload| (bar, *workload)));
    let verdicts = cases.map(|(bar, workload)| {
        let ns = |runtime| board.ns_per_task(runtime, workload, bar.spin_us, bar.threads);
        let (ringlane_ns, peer_ns) = (ns(RINGLANE), bar.against.and_then(ns));
        let value = match bar.against {
            None => ringlane_ns,
            Some(_) => ringlane_ns.zip(peer_ns).map(|(ours, theirs)| ours / theirs),
        };
        let reached = value.map(|value| value <= bar.limit);
        let Bar { what, against, limit, .. } = *bar;
        Verdict { what, workload, against, ringlane_ns, peer_ns, value, limit, reached }
    });
    verdicts.collect()
}

#[cfg(test)]
mod tests {
    use super::super::board::tests::board;
    use super::*;

    fn verdict(board: &Board, against: Option<&str>, workload: &str) -> Option<bool> {
        let mut all = judge(board).into_iter();
        all.find(|v| v.against == against && v.workload == workload).unwrap().reached
    }

    #[test]
    fn every_bar_has_its_workloads() {
        assert_eq!(judge(&Board::default()).len(), 3 * 5 + 6 + 4);
        assert!(judge(&Board::default()).iter().all(|verdict| verdict.reached.is_none()));
    }

    #[test]
    fn a_bar_is_reached_at_its_limit_and_not_above() {
        let at = board(&[("omp-gcc", "chain", 0, 2, 1000.0), (RINGLANE, "chain", 0, 2, 350.0)]);
        assert_eq!(verdict(&at, Some("omp-gcc"), "chain"), Some(true));
        let above = board(&[("omp-gcc", "chain", 0, 2, 1000.0), (RINGLANE, "chain", 0, 2, 351.0)]);
        assert_eq!(verdict(&above, Some("omp-gcc"), "chain"), Some(false));
        assert_eq!(verdict(&above, Some("starpu"), "chain"), None);
    }

    #[test]
    fn one_thread_is_judged_in_nanoseconds() {
        let board = board(&[(RINGLANE, "random", 0, 1, 90.0), (RINGLANE, "chain", 0, 1, 90.5)]);
        assert_eq!(verdict(&board, None, "random"), Some(true));
        assert_eq!(verdict(&board, None, "chain"), Some(false));
    }

    #[test]
    fn tasks_of_a_microsecond_are_judged_against_rayon() {
        let board = board(&[("rayon", "wavefront", 1, 2, 550.0), (RINGLANE, "wavefront", 1, 2, 620.0)]);
        assert_eq!(verdict(&board, Some("rayon"), "wavefront"), Some(false));
    }
}
