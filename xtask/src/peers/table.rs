//! The comparison as Markdown tables, ready to paste into a page.

use std::fmt::Write;

use super::WORKLOADS;
use super::bars::Verdict;
use super::board::{Board, RINGLANE};

/// The placeholder for a missing number.
const MISSING: &str = "–";
/// The peers of the published tables and what readers call them; a row each, measured or not.
const NAMED: [(&str, &str); 6] = [
    ("omp-gcc", "OpenMP tasks `depend`, gcc"),
    ("omp-clang", "OpenMP tasks `depend`, clang"),
    ("tbb-flow", "oneTBB flow graph"),
    ("tbb-dyn", "oneTBB dynamic dependencies"),
    ("starpu", "StarPU"),
    ("rayon", "rayon, by hand"),
];
/// Which measurements get a table: title, microseconds of work, threads.
const TABLES: [(&str, u32, u32); 3] =
    [("empty tasks, 1 thread", 0, 1), ("empty tasks, 2 threads", 0, 2), ("1 µs tasks, 2 threads", 1, 2)];

/// A table of every runtime on every workload, for each kind of measurement.
pub fn of_board(board: &Board) -> String {
    let mut text = String::new();
    for (title, spin_us, threads) in TABLES {
        let _ = writeln!(text, "\n### ns per task, {title} (median)\n");
        let _ = writeln!(text, "| | {} |\n|---|{}", WORKLOADS.join(" | "), "---:|".repeat(WORKLOADS.len()));
        for (runtime, label) in rows(board) {
            let ns = WORKLOADS.map(|workload| shown(board.ns_per_task(runtime, workload, spin_us, threads)));
            let _ = writeln!(text, "| {label} | {} |", ns.join(" | "));
        }
    }
    text
}

/// The runtimes in the order of their rows: those with a name, the other peers, and ours last.
fn rows(board: &Board) -> Vec<(&str, String)> {
    let named = NAMED.map(|(runtime, label)| (runtime, label.to_string()));
    let others = board.peers().into_iter().filter(|peer| NAMED.iter().all(|(named, _)| named != peer));
    let others = others.map(|peer| (peer, peer.to_string()));
    named.into_iter().chain(others).chain([(RINGLANE, "**ringlane**".to_string())]).collect()
}

/// A table of every target, and a line that counts them.
pub fn of_verdicts(verdicts: &[Verdict]) -> String {
    let mut text = String::from(
        "\n### targets\n\n| | workload | ringlane, ns | against | its ns | value | target | |\n",
    );
    text.push_str("|---|---|---:|---|---:|---:|---:|---|\n");
    for v in verdicts {
        let (value, limit) = match v.against {
            Some(_) => (
                v.value.map_or(MISSING.into(), |ratio| format!("{ratio:.3} ×")),
                format!("≤ {:.2} ×", v.limit),
            ),
            None => (v.value.map_or(MISSING.into(), |ns| format!("{ns:.1} ns")), format!("≤ {} ns", v.limit)),
        };
        let (ours, theirs, against) = (shown(v.ringlane_ns), shown(v.peer_ns), v.against.unwrap_or(MISSING));
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
    fn a_missing_peer_is_a_dash_and_ringlane_is_last() {
        let text = of_board(&board(&[("omp-gcc", "chain", 0, 1, 92.91), ("dagx", "chain", 0, 1, 1234.5)]));
        let first: Vec<_> = text.lines().skip(3).take(11).collect();
        assert_eq!(
            first[0],
            "| | independent | chain | forkjoin | wavefront | cholesky | random |"[..].trim()
        );
        assert_eq!(first[2], "| OpenMP tasks `depend`, gcc | – | 92.9 | – | – | – | – |");
        assert_eq!(first[6], "| StarPU | – | – | – | – | – | – |");
        assert_eq!(first[8], "| dagx | – | 1234 | – | – | – | – |");
        assert_eq!(first[9], "| **ringlane** | – | – | – | – | – | – |");
    }

    #[test]
    fn every_bar_says_whether_it_is_reached_and_all_are_counted() {
        let samples = [
            ("starpu", "chain", 0, 2, 2000.0),
            (RINGLANE, "chain", 0, 2, 80.0),
            (RINGLANE, "chain", 0, 1, 95.0),
        ];
        let text = of_verdicts(&judge(&board(&samples)));
        let ratio =
            "| empty tasks, 2 threads | chain | 80.0 | starpu | 2000 | 0.040 × | ≤ 0.05 × | reached |";
        let time = "| empty tasks, 1 thread | chain | 95.0 | – | – | 95.0 ns | ≤ 90 ns | not reached |";
        assert!(text.contains(ratio) && text.contains(time), "{text}");
        assert!(text.ends_with("\n1 targets reached, 1 not reached, 23 not measured\n"));
    }
}
