//! All measurements of both sides, found by what was measured.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The name of our own row.
pub const RINGLANE: &str = "ringlane";

/// Whether a graph is built while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Graph {
    /// Tasks are submitted while they run.
    Submitted,
    /// A graph that was built before runs again.
    Built,
}

/// What was measured: one runtime on one workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// A peer's name, or [`RINGLANE`].
    pub runtime: String,
    /// One of the six workloads.
    pub workload: String,
    /// Whether the graph is built while it runs.
    pub graph: Graph,
    /// Microseconds of work in each task.
    pub spin_us: u32,
    /// Threads, the submitting one included.
    pub threads: u32,
}

/// The result of one round.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What was measured.
    pub key: Key,
    /// The fastest repetition.
    pub ns_per_task_min: f64,
    /// The median over the repetitions.
    pub ns_per_task_median: f64,
}

/// The samples of every round.
#[derive(Default)]
pub struct Board(BTreeMap<Key, Vec<Sample>>);

impl Board {
    /// Adds the samples of one turn.
    pub fn extend(&mut self, samples: Vec<Sample>) {
        for sample in samples {
            self.0.entry(sample.key.clone()).or_default().push(sample);
        }
    }

    /// The median over the rounds of each round's median; `None` if it was never measured.
    pub fn ns_per_task(&self, key: &Key) -> Option<f64> {
        self.0.get(key).map(|samples| median(samples.iter().map(|s| s.ns_per_task_median).collect()))
    }

    /// Every measurement: key, least, median, rounds.
    pub fn rows(&self) -> impl Iterator<Item = (&Key, f64, f64, usize)> {
        self.0.iter().map(|(key, samples)| {
            let least = samples.iter().map(|s| s.ns_per_task_min).fold(f64::INFINITY, f64::min);
            let middle = median(samples.iter().map(|s| s.ns_per_task_median).collect());
            (key, least, middle, samples.len())
        })
    }

    /// What was measured of both kinds of graph: task lengths and numbers of threads.
    pub fn settings(&self) -> BTreeSet<(Graph, u32, u32)> {
        self.0.keys().map(|key| (key.graph, key.spin_us, key.threads)).collect()
    }

    /// Every peer that was measured on such graphs, by name; Ringlane is none.
    pub fn peers(&self, graph: Graph) -> BTreeSet<&str> {
        let of_graph = self.0.keys().filter(|key| key.graph == graph && key.runtime != RINGLANE);
        of_graph.map(|key| key.runtime.as_str()).collect()
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// What was measured of a graph that is submitted.
    pub fn key(runtime: &str, workload: &str, spin_us: u32, threads: u32) -> Key {
        let (runtime, workload) = (runtime.to_string(), workload.to_string());
        Key { runtime, workload, graph: Graph::Submitted, spin_us, threads }
    }

    /// A board with one round of each of these.
    pub fn board(samples: &[(&str, &str, u32, u32, f64)]) -> Board {
        let mut board = Board::default();
        for &(runtime, workload, spin_us, threads, ns) in samples {
            let key = key(runtime, workload, spin_us, threads);
            board.extend(vec![Sample { key, ns_per_task_min: ns, ns_per_task_median: ns }]);
        }
        board
    }

    #[test]
    fn rounds_are_joined_by_their_median() {
        let board = board(&[("a", "chain", 0, 1, 3.0), ("a", "chain", 0, 1, 1.0), ("a", "chain", 0, 1, 8.0)]);
        assert_eq!(board.ns_per_task(&key("a", "chain", 0, 1)), Some(3.0));
        assert_eq!(board.ns_per_task(&key("a", "chain", 0, 2)), None);
        assert_eq!(board.ns_per_task(&Key { graph: Graph::Built, ..key("a", "chain", 0, 1) }), None);
        assert_eq!(
            board.rows().map(|(_, least, middle, n)| (least, middle, n)).collect::<Vec<_>>(),
            [(1.0, 3.0, 3)]
        );
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }

    #[test]
    fn ringlane_is_not_its_own_peer() {
        let board =
            board(&[("b", "chain", 0, 1, 1.0), (RINGLANE, "chain", 0, 1, 1.0), ("b", "random", 0, 1, 1.0)]);
        assert_eq!(board.peers(Graph::Submitted).into_iter().collect::<Vec<_>>(), ["b"]);
        assert!(board.peers(Graph::Built).is_empty());
    }
}
