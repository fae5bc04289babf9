//! What is said of runs written by hand.

use ringlane_task::{Resource, RingIndex, ScopeId};
use ringlane_trace::scopes::{ScopeFatal, ScopeRow, ScopeStall, Scopes};
use ringlane_trace::{FileEntry, Golden, RunError, RunStatus};

use super::*;
use crate::critical_path::observed;
use crate::overhead::overhead;
use crate::timeline::sample::{AIC, Sample};
use crate::verdict;

fn manifest(makespan: u64) -> Manifest {
    let mut manifest = Manifest::new("by_hand", "small", "a2a3sim", "2026-11-15T09:30:12Z".parse().unwrap());
    (manifest.makespan_ticks, manifest.clock_freq_hz) = (makespan, 1_000_000);
    manifest
}

fn of_manifest(manifest: &Manifest, scopes: Option<&Scopes>) -> Vec<Finding> {
    findings(&Known { scopes, ..Known::of(manifest) })
}

fn of_timeline(timeline: &Timeline) -> Vec<Finding> {
    let (overhead, path) = (overhead(timeline).unwrap(), observed(timeline).unwrap());
    let manifest = manifest(timeline.makespan.0);
    let verdict = verdict::of(timeline, &path, None);
    let known = Known {
        timeline: Some(timeline),
        overhead: Some(&overhead),
        verdict: verdict.as_ref(),
        path: Some(&path),
        ..Known::of(&manifest)
    };
    findings(&known)
}

#[test]
fn nothing_is_said_of_a_run_that_recorded_nothing_and_went_well() {
    assert_eq!(of_manifest(&manifest(100), None), []);
}

#[test]
fn what_went_wrong_comes_first() {
    let mut manifest = manifest(1000);
    let [name, detail, hint] = ["TaskFailed", "task 7 (QK): no", "check it"].map(str::to_string);
    manifest.fail(RunStatus::Failed, RunError { name, detail, hint });
    manifest.skipped = 3;
    manifest.golden =
        Some(Golden { checked: 100, failed: 2, max_abs_error: 1.0, output_hash: String::new() });
    let mut lost = FileEntry::plain("deps.json", 10);
    (lost.dropped, lost.incomplete) = (Some(5), Some("ENOSPC".to_string()));
    manifest.files.push(lost);
    let texts: Vec<_> = of_manifest(&manifest, None).into_iter().map(|finding| finding.text).collect();
    assert_eq!(
        texts,
        [
            "The run ended with TaskFailed: task 7 (QK): no; 3 tasks skipped.",
            "2 of 100 values differ from the golden result.",
            "5 rows of deps.json are missing (ENOSPC)."
        ]
    );
    manifest.files[0].dropped = Some(1);
    let texts: Vec<_> = of_manifest(&manifest, None).into_iter().map(|finding| finding.text).collect();
    assert_eq!(texts.last().unwrap(), "1 row of deps.json is missing (ENOSPC).");
}

#[test]
fn a_full_ring_is_reported_with_its_scope_and_a_fatal_one_before_all() {
    let stall = |ticks| ScopeStall {
        ring: Some(RingIndex(1)),
        resource: Resource::Heap,
        count: 1,
        ticks: Ticks(ticks),
    };
    let scope = |id, site: &'static str, stalls: Vec<ScopeStall>| ScopeRow {
        scope: ScopeId(id),
        site: site.into(),
        stalls: stalls.into(),
        ..ScopeRow::default()
    };
    let mut scopes = Scopes {
        scopes: vec![scope(0, "a.rs:1", vec![stall(5)]), scope(1, "a.rs:9", vec![stall(200)])],
        ..Scopes::default()
    };
    let waited = of_manifest(&manifest(1000), Some(&scopes));
    assert_eq!(waited[0].target, Target::Scope("a.rs:9".to_string()));
    assert!(waited[0].text.starts_with("Submits waited 205.0 µs (20.5 %) for full rings"), "{waited:?}");
    scopes.head.fatal = Some(ScopeFatal {
        scope: ScopeId(1),
        label: None,
        site: "a.rs:9".into(),
        ring: Some(RingIndex(1)),
        resource: Resource::TaskWindow,
        used: 16,
        capacity: 16,
        need: 20,
    });
    let fatal = of_manifest(&manifest(1000), Some(&scopes));
    assert_eq!((fatal.len(), fatal[0].severity), (2, Severity::Problem));
    assert!(fatal[0].text.contains("16 of 16 in use, 20 needed"), "{}", fatal[0].text);
}

#[test]
fn the_verdict_leads_and_a_path_through_submits_says_how_many_and_how_long() {
    let mut sample = Sample::on(&["aic", "aic"]);
    for task in 0..10 {
        let end = 100 * (task + 1);
        sample = sample.task((100 * task, end), end, &[]).block(0, AIC, [end, end, end + 20, end + 20]);
    }
    let found = of_timeline(&sample.ends(1020));
    let submits = "10 submits: median 100.0 µs, longest 100.0 µs (task 0:0).";
    let headline =
        format!("Orchestrator-bound: 98.0 % of the critical path is the orchestration, with {submits}");
    assert_eq!(found[0].text, headline);
    let expected = format!("The orchestration is on the critical path (1.0 ms, 98.0 %), with {submits}");
    let submits = found.iter().find(|finding| finding.text == expected);
    // It shows all ten, not the longest of them.
    assert_eq!(submits.map(|finding| &finding.target), Some(&Target::PathCause(Cause::Submit)), "{found:?}");
    assert!(found.len() <= FINDINGS_MAX);
}

#[test]
fn one_slow_submit_among_many_fast_ones_is_named() {
    let mut sample = Sample::on(&["aic"]);
    for task in 0..100 {
        let start = if task > 50 { 50 + 2 * task } else { 2 * task };
        let end = if task == 50 { start + 52 } else { start + 2 };
        sample = sample.task((start, end), end, &[]);
    }
    let found = of_timeline(&sample.block(0, AIC, [250, 250, 255, 255]).ends(255));
    let expected = "100 submits: median 2.0 µs, longest 52.0 µs (task 0:50).";
    let about = found.iter().filter(|finding| finding.text.ends_with(expected)).count();
    assert_eq!(about, 2, "the verdict and the finding: {found:?}");
}

#[test]
fn a_tail_a_slow_block_and_small_blocks_are_pointed_at() {
    let mut sample = Sample::on(&["aic", "aic", "aic", "aic"]);
    for task in 0..12 {
        let start = 50 * (task / 4);
        sample =
            sample.task((0, 0), 0, &[]).block(task as u32 % 4, AIC, [start, start, start + 50, start + 50]);
    }
    let found = of_timeline(&sample.task((0, 0), 0, &[]).block(0, AIC, [150, 150, 1000, 1000]).ends(1000));
    let tail = found.iter().find(|finding| finding.target == Target::Range(Ticks(150), Ticks(1000)));
    assert!(tail.unwrap().text.contains("at most 1 of 4 cores were busy"), "{found:?}");
    let slow = found.iter().find(|finding| finding.target == Target::Task(TaskId(12))).unwrap();
    assert!(slow.text.contains("17.0 times the median of its blocks: task 0:12 on"), "{}", slow.text);
    let small = Sample::on(&["aic"]).task((0, 1), 1, &[]).block(0, AIC, [1, 30, 31, 60]).ends(60);
    assert!(of_timeline(&small).iter().any(|finding| finding.text.starts_with("Blocks are small")));
}
