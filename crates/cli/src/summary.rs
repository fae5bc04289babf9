//! What a command reports of its runs: a table for people, JSON for programs.

use ringlane_chip_sim::core::CoreKind;
use ringlane_insight::units::{bytes_text, microseconds, time_text};
use ringlane_trace::{Golden, Manifest, RunError, RunStatus};
use serde::Serialize;

use crate::case_report::{CaseReport, Modelled};
use crate::output::{self, path_text};
use ringlane_insight::text_table::{Side, Table};

/// `ringlane run … --json`. Fields may be added, never renamed.
#[derive(Serialize)]
struct Summary<'a, M: Serialize> {
    ok: bool,
    runs: Vec<Run<'a>>,
    #[serde(flatten)]
    more: Option<M>,
}

#[derive(Serialize)]
struct Run<'a> {
    scene: &'a str,
    case: &'a str,
    platform: &'a str,
    threads: u32,
    status: RunStatus,
    dir: String,
    tasks: u64,
    blocks: u64,
    scopes: u64,
    wall_us: f64,
    makespan_us: f64,
    ns_per_task: f64,
    peak_rss_bytes: u64,
    error: Option<&'a RunError>,
    golden: Option<&'a Golden>,
    /// Of a modelled chip: the share of the makespan that its cores were busy, by kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    utilization: Option<Utilization>,
}

#[derive(Serialize)]
struct Utilization {
    aic: f64,
    aiv: f64,
}

/// The summary as one line of JSON.
pub fn json(runs: &[CaseReport]) -> String {
    json_with(runs, None::<()>)
}

/// The same with more fields.
pub fn json_with(runs: &[CaseReport], more: Option<impl Serialize>) -> String {
    let ok = runs.iter().all(|case_report| case_report.manifest.status == RunStatus::Ok);
    output::json(&Summary { ok, runs: runs.iter().map(run).collect(), more })
}

fn run(case_report: &CaseReport) -> Run<'_> {
    let manifest = &case_report.manifest;
    Run {
        scene: &manifest.scene,
        case: &manifest.case,
        platform: &manifest.platform,
        threads: manifest.threads,
        status: manifest.status,
        dir: case_report.dir.display().to_string(),
        tasks: manifest.tasks,
        blocks: manifest.blocks,
        scopes: manifest.scopes,
        wall_us: manifest.wall_us,
        makespan_us: makespan_us(manifest),
        ns_per_task: ns_per_task(manifest),
        peak_rss_bytes: case_report.peak_rss_bytes,
        error: manifest.error.as_ref(),
        golden: manifest.golden.as_ref(),
        utilization: case_report
            .modelled
            .map(|Modelled { utilization: [aic, aiv], .. }| Utilization { aic, aiv }),
    }
}

fn makespan_us(manifest: &Manifest) -> f64 {
    microseconds(manifest.makespan_ticks as f64, manifest.clock_freq_hz)
}

/// Wall time for each task: what a caller pays, start and end of the run included.
fn ns_per_task(manifest: &Manifest) -> f64 {
    if manifest.tasks == 0 { 0.0 } else { manifest.wall_us * 1e3 / manifest.tasks as f64 }
}

/// The summary as a table.
pub fn table(runs: &[CaseReport]) -> String {
    let has_rounds = runs.iter().any(|case_report| case_report.walls_us.len() > 1);
    let mut columns = vec![
        ("case", Side::Left),
        ("platform", Side::Left),
        ("tasks", Side::Right),
        ("scopes", Side::Right),
        ("wall", Side::Right),
        ("ns/task", Side::Right),
        ("golden", Side::Left),
    ];
    if has_rounds {
        columns.insert(5, ("median", Side::Right));
    }
    let mut table = Table::new(columns);
    for case_report in runs {
        let manifest = &case_report.manifest;
        let mut row = vec![
            format!("{} {}", manifest.scene, manifest.case),
            manifest.platform.clone(),
            manifest.tasks.to_string(),
            manifest.scopes.to_string(),
            time_text(manifest.wall_us),
            format!("{:.1}", ns_per_task(manifest)),
            verdict(manifest),
        ];
        if has_rounds {
            row.insert(5, time_text(median(&case_report.walls_us)));
        }
        table.push(row);
    }
    let lines = runs.iter().flat_map(|case_report| {
        modelled(case_report).into_iter().chain(captured(case_report)).chain(recorded(case_report))
    });
    lines.fold(table.render(), |text, line| text + &line)
}

/// How long a case took in a modelled chip's own time, and how busy its cores were.
fn modelled(case_report: &CaseReport) -> Option<String> {
    let (manifest, chip) = (&case_report.manifest, case_report.modelled?);
    let busy = CoreKind::ALL.map(|kind| {
        let (cores, share) = (chip.cores[kind as usize], chip.utilization[kind as usize] * 100.0);
        format!("{cores} {} {share:.1} % busy", kind.as_str())
    });
    let makespan = time_text(makespan_us(manifest));
    Some(format!(
        "{} {}: makespan {makespan} on {}, {}\n",
        manifest.scene,
        manifest.case,
        manifest.platform,
        busy.join(", ")
    ))
}

/// What a captured graph comes to.
fn captured(case_report: &CaseReport) -> Option<String> {
    let (manifest, graph) = (&case_report.manifest, case_report.manifest.graph?);
    let [planned, sum, bound] =
        [graph.memory_bytes, graph.memory_sum_bytes, graph.memory_lower_bound_bytes].map(bytes_text);
    let added = match graph.added_edges {
        0 => String::new(),
        edges => format!(", {edges} edges added to fit the limit"),
    };
    let upload = graph.upload_ticks.map_or(String::new(), |ticks| {
        format!("; upload {}", time_text(microseconds(ticks as f64, manifest.clock_freq_hz)))
    });
    Some(format!(
        "{} {}: graph of {} tasks, {} edges; tensors take {planned} of {sum}, at least {bound}{added}{upload}\n",
        manifest.scene, manifest.case, manifest.tasks, graph.edges
    ))
}

/// What the diagnostics of a case left, and what they cost.
fn recorded(case_report: &CaseReport) -> Option<String> {
    let (manifest, text) = (&case_report.manifest, case_report.recorded.as_ref()?);
    let dir = path_text(&case_report.dir);
    Some(format!("{} {}: {dir}: {text}\n", manifest.scene, manifest.case))
}

fn verdict(manifest: &Manifest) -> String {
    match &manifest.golden {
        Some(golden) if golden.failed > 0 => format!("FAIL, {} of {} wrong", golden.failed, golden.checked),
        Some(golden) => format!("pass, max error {:.1e}", golden.max_abs_error),
        None => manifest.status.as_str().to_string(),
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::RecordingSummary;
    use ringlane_trace::UtcTime;

    fn case_report() -> CaseReport {
        let mut manifest = Manifest::new("vector", "small", "cpu", UtcTime::from_unix_seconds(0));
        (manifest.threads, manifest.tasks, manifest.blocks, manifest.scopes) = (2, 5, 5, 2);
        (manifest.wall_us, manifest.makespan_ticks) = (81.0, 60_200);
        let output_hash = "h".to_string();
        manifest.golden = Some(Golden { checked: 1, failed: 0, max_abs_error: 0.0, output_hash });
        CaseReport {
            manifest,
            dir: "outputs/x".into(),
            walls_us: vec![90.0, 70.0, 81.0],
            peak_rss_bytes: 9_437_184,
            recorded: None,
            modelled: None,
        }
    }

    #[test]
    fn the_json_is_the_documented_one() {
        let expected = concat!(
            r#"{"ok":true,"runs":[{"scene":"vector","case":"small","platform":"cpu","threads":2,"status":"ok","#,
            r#""dir":"outputs/x","tasks":5,"blocks":5,"scopes":2,"wall_us":81.0,"makespan_us":60.2,"#,
            r#""ns_per_task":16200.0,"peak_rss_bytes":9437184,"error":null,"#,
            r#""golden":{"checked":1,"failed":0,"max_abs_error":0.0,"output_hash":"h"}}]}"#,
            "\n"
        );
        assert_eq!(json(&[case_report()]), expected);
    }

    #[test]
    fn the_table_shows_the_last_round_and_the_median_of_all() {
        let text = table(&[case_report()]);
        assert!(
            text.starts_with("case          platform  tasks  scopes     wall   median  ns/task  golden\n")
        );
        let row = "vector small  cpu           5       2  81.0 µs  81.0 µs  16200.0  pass, max error 0.0e0\n";
        assert!(text.ends_with(row), "{text}");
    }

    #[test]
    fn what_was_recorded_follows_the_table() {
        let recorded = Some(RecordingSummary::default().text(1));
        let text = table(&[CaseReport { recorded, ..case_report() }, case_report()]);
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("vector small: outputs/x: 0 files, "), "{last}");
        assert_eq!(text.lines().count(), table(&[case_report(), case_report()]).lines().count() + 1);
    }

    #[test]
    fn a_median_is_the_middle_or_between_the_two_middle_values() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[1.0, 4.0]), median(&[])), (2.0, 2.5, 0.0));
    }
}
