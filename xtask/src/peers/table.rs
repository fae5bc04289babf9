//! The comparison as Markdown tables, ready to paste into a page.

use std::fmt::Write;

use super::WORKLOADS;
use super::bars::Verdict;
use super::board::{Board, Graph, Key, RINGLANE};

/// The placeholder for a missing number.
const MISSING: &str = "–";
/// Peers and what readers call them, in the order of their rows.
const NAMED: [(&str, &str); 7] = [
    ("taskflow", "Taskflow, edges given"),
    ("omp-gcc", "OpenMP tasks `depend`, gcc"),
    ("omp-clang", "OpenMP tasks `depend`, clang"),
    ("tbb-flow", "oneTBB flow graph"),
    ("tbb-dyn", "oneTBB dynamic dependencies"),
    ("starpu", "StarPU"),
    ("rayon", "rayon, by hand"),
];
/// A table of every runtime on every workload, for each kind of measurement.
pub fn of_board(board: &Board) -> String {
    let mut text = String::new();
    for (graph, spin_us, threads) in board.settings() {
        let title = title(graph, spin_us, threads);
        let _ = writeln!(text, "\n### ns per task, {title} (median)\n");
        let _ = writeln!(text, "| | {} |\n|---|{}", WORKLOADS.join(" | "), "---:|".repeat(WORKLOADS.len()));
        for (runtime, label) in rows(board, graph) {
            let ns = WORKLOADS.map(|workload| {
                let (runtime, workload) = (runtime.to_string(), workload.to_string());
                shown(board.ns_per_task(&Key { runtime, workload, graph, spin_us, threads }))
            });
            let _ = writeln!(text, "| {label} | {} |", ns.join(" | "));
        }
    }
    text
}

fn title(graph: Graph, spin_us: u32, threads: u32) -> String {
    let tasks = if spin_us == 0 { "empty tasks".to_string() } else { format!("{spin_us} µs tasks") };
    let again = if graph == Graph::Built { "a built graph, run again, " } else { "" };
    format!("{again}{tasks}, {threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// The runtimes in the order of their rows: the peers with a name, the others, and ours last.
fn rows(board: &Board, graph: Graph) -> Vec<(&str, String)> {
    let peers = board.peers(graph);
    let named = NAMED.iter().filter(|(runtime, _)| peers.contains(runtime));
    let named = named.map(|&(runtime, label)| (runtime, label.to_string()));
    let others = peers.iter().filter(|peer| NAMED.iter().all(|(named, _)| named != *peer));
    let others = others.map(|&peer| (peer, peer.to_string()));
    named.chain(others).chain([(RINGLANE, "**ringlane**".to_string())]).collect()
}

/// A table of every target, and a line that counts them.
pub fn of_verdicts(verdicts: &[Verdict]) -> String {
    let mut text = String::from(
        "\n### targets\n\n| | workload | ringlane, ns | against | its ns | value | target | |\n",
    );
    text.push_str("|---|---|---:|---|---:|---:|---:|---|\n");
    for v in verdicts {
        let (value, limit) = match &v.against {
            Some(_) => (
                v.value.map_or(MISSING.into(), |ratio| format!("{ratio:.3} ×")),
                format!("≤ {:.2} ×", v.limit),
            ),
            None => (v.value.map_or(MISSING.into(), |ns| format!("{ns:.1} ns")), format!("≤ {} ns", v.limit)),
        };
        let (ours, theirs) = (shown(v.ringlane_ns), shown(v.peer_ns));
        let against = v.against.as_deref().unwrap_or(MISSING);
        let Verdict { what, workload, reached, .. } = v;
        let verdict = word(*reached);
        let _ = writeln!(
            text,
            "| {what} | {workload} | {ours} | {against} | {theirs} | {value} | {limit} | {verdict} |"
        );
    }
    let count = |wanted| verdicts.iter().filter(|v| v.reached == wanted).count();
    let (reached, missed, unknown) = (count(Some(true)), count(Some(false)), count(None));
    let _ = writeln!(text, "\n{reached} targets reached, {missed} not reached, {unknown} not measured");
    text
}

fn word(reached: Option<bool>) -> &'static str {
    match reached {
        Some(true) => "reached",
        Some(false) => "not reached",
        None => "not measured",
    }
}

/// Nanoseconds with as many digits as they deserve.
fn shown(ns: Option<f64>) -> String {
    match ns {
        None => MISSING.into(),
        Some(ns) if ns < 100.0 => format!("{ns:.1}"),
        Some(ns) => format!("{ns:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bars::judge;
    use super::super::board::tests::board;
    use super::*;

    #[test]
    fn every_setting_has_a_table_in_which_ringlane_is_last() {
        let samples = [
            ("omp-gcc", "chain", 0, 1, 92.91),
            ("dagx", "chain", 0, 1, 1234.5),
            (RINGLANE, "chain", 1, 8, 1050.0),
        ];
        let text = of_board(&board(&samples));
        let first: Vec<_> = text.lines().skip(1).take(7).collect();
        assert_eq!(first[0], "### ns per task, empty tasks, 1 thread (median)");
        assert_eq!(first[2], "| | independent | chain | forkjoin | wavefront | cholesky | random |");
        assert_eq!(first[4], "| OpenMP tasks `depend`, gcc | – | 92.9 | – | – | – | – |");
        assert_eq!(first[5], "| dagx | – | 1234 | – | – | – | – |");
        assert_eq!(first[6], "| **ringlane** | – | – | – | – | – | – |");
        assert!(text.contains("### ns per task, 1 µs tasks, 8 threads (median)"), "{text}");
        assert_eq!(title(Graph::Built, 0, 16), "a built graph, run again, empty tasks, 16 threads");
    }

    #[test]
    fn every_target_says_whether_it_is_reached_and_all_are_counted() {
        let samples = [
            ("taskflow", "chain", 0, 2, 200.0),
            (RINGLANE, "chain", 0, 2, 80.0),
            (RINGLANE, "chain", 0, 1, 105.0),
        ];
        let text = of_verdicts(&judge(&board(&samples), &WORKLOADS));
        let ratio =
            "| empty tasks, 2 threads | chain | 80.0 | taskflow | 200 | 0.400 × | ≤ 0.60 × | reached |";
        let time = "| empty tasks, 1 thread | chain | 105 | – | – | 105.0 ns | ≤ 100 ns | not reached |";
        assert!(text.contains(ratio) && text.contains(time), "{text}");
        assert!(text.ends_with("\n2 targets reached, 1 not reached, 15 not measured\n"), "{text}");
    }
}
