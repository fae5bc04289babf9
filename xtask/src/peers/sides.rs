//! The JSON of both sides, read into samples, and the JSON of the comparison.
//!
//! The peers' `run.py` gives nanoseconds of a whole run and the number of its tasks; `ringlane bench` gives
//! nanoseconds per task. Fields that are not needed here are not named here, so that either side may add some.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::bars::Verdict;
use super::board::{Board, Graph, Key, RINGLANE, Sample};
use crate::error::{Error, Result};

#[derive(Deserialize)]
struct Results<T> {
    results: Vec<T>,
}

/// One row of `run.py --json`. A workload that a peer does not support has no numbers.
#[derive(Deserialize)]
struct PeerRow {
    peer: String,
    workload: String,
    spin_us: u32,
    threads: u32,
    n: Option<f64>,
    min: Option<f64>,
    median: Option<f64>,
    /// Of a graph that was built once and ran again.
    rerun_min: Option<f64>,
    rerun_median: Option<f64>,
}

/// One row of `ringlane bench --json`.
#[derive(Deserialize)]
struct RinglaneRow {
    name: String,
    #[serde(default = "cpu")]
    platform: String,
    threads: u32,
    spin_us: f64,
    dfx: String,
    ns_per_task_min: f64,
    ns_per_task_median: f64,
}

fn cpu() -> String {
    "cpu".into()
}

/// The samples in what the peers' `run.py --json` wrote.
pub fn of_peers(text: &str) -> Result<Vec<Sample>> {
    let rows: Vec<PeerRow> = results(text, "the output of the peers' run.py")?;
    Ok(rows.iter().flat_map(samples_of_peer).collect())
}

/// One row's samples: of a graph that is submitted, and of one that runs again.
fn samples_of_peer(row: &PeerRow) -> Vec<Sample> {
    let Some(tasks) = row.n.filter(|&tasks| tasks > 0.0) else { return Vec::new() };
    let of = |graph, min: Option<f64>, median: Option<f64>| {
        let PeerRow { peer, workload, spin_us, threads, .. } = row;
        let (runtime, workload) = (peer.clone(), workload.clone());
        let key = Key { runtime, workload, graph, spin_us: *spin_us, threads: *threads };
        Some(Sample { key, ns_per_task_min: min? / tasks, ns_per_task_median: median? / tasks })
    };
    let submitted = of(Graph::Submitted, row.min, row.median);
    submitted.into_iter().chain(of(Graph::Built, row.rerun_min, row.rerun_median)).collect()
}

/// The samples in what `ringlane bench --json` printed: those on the cpu with every diagnostic off.
pub fn of_ringlane(text: &str, graph: Graph) -> Result<Vec<Sample>> {
    let rows: Vec<RinglaneRow> = results(text, "the output of `ringlane bench --json`")?;
    let plain = rows.into_iter().filter(|row| row.platform == "cpu" && row.dfx == "off");
    let samples = plain.map(|row| Sample {
        key: Key {
            runtime: RINGLANE.into(),
            workload: row.name,
            graph,
            spin_us: row.spin_us.round() as u32,
            threads: row.threads,
        },
        ns_per_task_min: row.ns_per_task_min,
        ns_per_task_median: row.ns_per_task_median,
    });
    Ok(samples.collect())
}

fn results<T: DeserializeOwned>(text: &str, what: &str) -> Result<Vec<T>> {
    let parsed: serde_json::Result<Results<T>> = serde_json::from_str(text);
    parsed.map(|parsed| parsed.results).map_err(|source| Error::Json { what: what.into(), source })
}

/// One measurement as `--json` writes it.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    key: &'a Key,
    ns_per_task_min: f64,
    ns_per_task_median: f64,
    rounds: usize,
}

#[derive(Serialize)]
struct Comparison<'a> {
    results: Vec<Row<'a>>,
    bars: &'a [Verdict],
}

/// Measurements and bars, for other programs.
pub fn to_json(board: &Board, verdicts: &[Verdict]) -> String {
    let results = board.rows().map(|(key, ns_per_task_min, ns_per_task_median, rounds)| Row {
        key,
        ns_per_task_min,
        ns_per_task_median,
        rounds,
    });
    let comparison = Comparison { results: results.collect(), bars: verdicts };
    serde_json::to_string_pretty(&comparison).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::bars;
    use super::super::board::tests::{board, key};
    use super::*;

    const PEERS: &str = r#"{
     "calibration": {"tsc_ghz": 2.5961, "ns_per_iter": 0.81221, "ns_per_call": 3.96, "two_thread_slowdown": 1.0},
     "threads": [1, 2], "seconds": 9.3, "waited": 0.0, "measurements": 8, "disturbed": 0,
     "results": [
      {"n": 100000, "edges": 99999, "crit": 100000, "iters": 0, "reps": 4, "delay": 0.0, "min": 8756667,
       "rerun_min": null, "ideal_tasks": 100000.0, "foreign": 0.08, "median": 9291611.5, "build": 5456603,
       "run": 3300014, "teardown": 0, "rerun_median": null, "peer": "omp-gcc", "workload": "chain", "spin_us": 0,
       "threads": 1},
      {"n": 1000, "min": 190000, "median": 200000, "rerun_min": 40000, "rerun_median": 42000, "peer": "taskflow",
       "workload": "chain", "spin_us": 0, "threads": 1},
      {"unsupported": true, "peer": "tokio", "workload": "forkjoin", "spin_us": 0, "threads": 1}
     ], "memory": {}}"#;

    const RINGLANE_BENCH: &str = r#"{"results": [
      {"name": "random", "platform": "cpu", "threads": 2, "spin_us": 0, "tasks": 100000, "dfx": "off",
       "ns_per_task_min": 81.0, "ns_per_task_median": 86.5, "repetitions": 15},
      {"name": "random", "platform": "cpu", "threads": 2, "spin_us": 0, "tasks": 100000, "dfx": "swimlane=1",
       "ns_per_task_min": 99.0, "ns_per_task_median": 99.5, "repetitions": 15},
      {"name": "random", "platform": "cuda", "threads": 2, "spin_us": 0, "tasks": 100000, "dfx": "off",
       "ns_per_task_min": 9.0, "ns_per_task_median": 9.5, "repetitions": 15}]}"#;

    #[test]
    fn what_run_py_writes_becomes_nanoseconds_per_task() {
        let samples = of_peers(PEERS).unwrap();
        let sample = |runtime, graph, ns_per_task_min, ns_per_task_median| {
            let key = Key { graph, ..key(runtime, "chain", 0, 1) };
            Sample { key, ns_per_task_min, ns_per_task_median }
        };
        let expected = [
            sample("omp-gcc", Graph::Submitted, 87.56667, 92.916115),
            sample("taskflow", Graph::Submitted, 190.0, 200.0),
            sample("taskflow", Graph::Built, 40.0, 42.0),
        ];
        assert_eq!(samples, expected);
    }

    #[test]
    fn what_ringlane_bench_prints_is_taken_for_the_cpu_without_diagnostics() {
        let samples = of_ringlane(RINGLANE_BENCH, Graph::Submitted).unwrap();
        let key = key(RINGLANE, "random", 0, 2);
        assert_eq!(samples, [Sample { key, ns_per_task_min: 81.0, ns_per_task_median: 86.5 }]);
    }

    #[test]
    fn output_of_another_form_is_an_error_that_says_whose() {
        let report = of_ringlane("usage: ringlane", Graph::Submitted).unwrap_err().report();
        assert!(
            report.starts_with("error: the output of `ringlane bench --json` is not the JSON it should be")
        );
        assert!(of_peers(r#"{"results": [{"peer": 1}]}"#).is_err());
    }

    #[test]
    fn the_comparison_can_be_read_by_other_programs() {
        let board = board(&[("rayon", "random", 1, 8, 550.0), (RINGLANE, "random", 1, 8, 560.0)]);
        let json = to_json(&board, &bars::judge(&board, &["random"]));
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["results"][0]["runtime"], "rayon");
        assert_eq!(read["results"][1]["ns_per_task_median"], 560.0);
        let reached: Vec<_> =
            read["bars"].as_array().unwrap().iter().filter(|b| b["reached"] == true).collect();
        assert_eq!((reached.len(), &reached[0]["against"]), (1, &"rayon".into()));
    }
}
