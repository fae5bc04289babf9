//! Claims about manifests.

use std::fs;

use ringlane_task::Explain;

use super::*;
use crate::test_dir::TestDir;

/// The example of the design, word for word.
const DESIGN: &str = r#"
{"version": 1, "ringlane": "0.1.0", "scene": "paged_attention", "case": "small", "params": {"blocks": "8"},
 "platform": "cpu", "runtime": "tensormap_and_ringbuffer", "seed": 0, "threads": 2,
 "started_at": "2026-11-15T09:30:12Z", "wall_us": 1234.5, "makespan_ticks": 12345, "clock_freq_hz": 1000000000,
 "status": "ok", "error": null,
 "cores": 2, "tasks": 208, "blocks": 208, "scopes": 17, "skipped": 0, "peak_heap_bytes": 53248,
 "dfx_flags": "0x7f", "swimlane_level": 3, "overflow": "block", "pmu": {"source": "perf_event", "group": 2},
 "dfx_cost": {"writer_wait_ticks": 0, "bytes": 81234, "collector_us": 310, "export_us": 900},
 "golden": {"checked": 1, "failed": 0, "max_abs_error": 0.0, "output_hash": "…"},
 "files": [{"path": "deps.json", "bytes": 81234, "total": 208, "collected": 208, "dropped": 0}]}"#;

fn read_text(text: &[u8]) -> Result<Manifest, TraceError> {
    let dir = TestDir::new();
    fs::write(dir.join("run.json"), text).unwrap();
    Manifest::read(dir.path())
}

/// The design's example with one piece replaced.
fn read_with(from: &str, to: &str) -> Result<Manifest, TraceError> {
    assert!(DESIGN.contains(from), "{from}");
    read_text(DESIGN.replacen(from, to, 1).as_bytes())
}

fn now() -> UtcTime {
    "2026-11-15T09:30:12Z".parse().unwrap()
}

#[test]
fn the_example_of_the_design_is_read_and_written_back_field_for_field_in_order() {
    let manifest = read_text(DESIGN.as_bytes()).unwrap();
    assert_eq!((manifest.dfx_flags().bits(), manifest.swimlane_level()), (0x7f, 3));
    assert_eq!(manifest.started_at, now());
    assert_eq!(manifest.files, [FileEntry::with_rows("deps.json", 81234, 208, 0)]);
    let tight = |text: &str| text.replace([' ', '\n'], "");
    assert_eq!(tight(&manifest.to_json()), tight(DESIGN));
}

#[test]
fn a_run_without_diagnostics_says_so() {
    let json = Manifest::new("vector", "small", "cpu", now()).to_json();
    for part in [
        r#""dfx_flags":"0x0","swimlane_level":0,"overflow":"block","pmu":null"#,
        r#""golden":null,"files":[]}"#,
        r#""error":null"#,
        r#""runtime":"tensormap_and_ringbuffer""#,
    ] {
        assert!(json.contains(part), "{part} in {json}");
    }
}

#[test]
fn what_is_written_is_read_back_from_the_directory_and_from_the_file() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.join("run")).unwrap();
    let mut manifest = Manifest::new("moe", "wide", "cpu", now()).with_dfx_flags(DfxFlags::SWIMLANE_TASKS);
    manifest.seed = u64::MAX;
    manifest.params.insert("k".into(), "a \"quoted\" \u{1F600}\n value".into());
    manifest.fail(
        RunStatus::Fatal,
        RunError {
            name: "FlowControlDeadlock".into(),
            detail: "16/16".into(),
            hint: "--ring-task-window 32".into(),
        },
    );
    manifest.files.push(FileEntry::plain("tensor_dump/tensor_dump.bin", 9));
    manifest
        .files
        .push(FileEntry { incomplete: Some("ENOSPC".into()), ..FileEntry::with_rows("deps.json", 1, 3, 4) });
    manifest.write(&dir).unwrap();
    assert_eq!(Manifest::read(dir.path()).unwrap(), manifest);
    assert_eq!(Manifest::read(dir.path().join("run.json")).unwrap(), manifest);
    assert_eq!(TestDir::names_in(dir.path()), ["run.json"]);
    let json = manifest.to_json();
    assert!(json.contains(r#"{"path":"tensor_dump/tensor_dump.bin","bytes":9}"#));
    assert!(json.contains(r#""status":"fatal","error":{"name":"FlowControlDeadlock""#));
}

#[test]
fn an_error_that_is_not_finite_survives() {
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let mut manifest = Manifest::new("vector", "small", "cpu", now());
        manifest.golden = Some(Golden { checked: 1, failed: 1, max_abs_error: value, ..Golden::default() });
        let json = manifest.to_json();
        assert!(json.contains(&format!(r#""max_abs_error":"{text}""#)), "{json}");
        let read = read_text(json.as_bytes()).unwrap().golden.unwrap().max_abs_error;
        assert_eq!(read.to_string(), text);
    }
    assert_eq!(read_with("0.0", "\"none\"").unwrap_err().name(), "Damaged");
    assert_eq!(read_with("0.0", "0").unwrap().golden.unwrap().max_abs_error, 0.0);
}

#[test]
fn a_version_that_is_not_known_is_refused_by_its_number_whatever_else_is_in_the_file() {
    for text in [r#"{"version": 2}"#, r#"{"tasks": "many", "version": 2, "files": 3}"#] {
        let error = read_text(text.as_bytes()).unwrap_err();
        assert!(matches!(error, TraceError::UnknownVersion { version: 2, .. }));
        assert!(error.detail().ends_with("run.json has version 2, known versions: 1"), "{}", error.detail());
    }
    assert!(read_text(b"{}").unwrap_err().detail().ends_with("it has no version"));
    for version in ["-1", "1.0", "\"1\"", "null", "1e0"] {
        let error = read_with(r#""version": 1"#, &format!(r#""version": {version}"#)).unwrap_err();
        assert_eq!(error.name(), "Damaged", "{version}");
    }
}

#[test]
fn fields_that_are_not_known_are_skipped() {
    let manifest = read_with(r#""seed": 0"#, r#""seed": 7, "later": {"a": [1, {}]}"#).unwrap();
    assert_eq!(manifest.seed, 7);
}

#[test]
fn a_file_that_is_cut_short_anywhere_is_damaged_and_says_where() {
    let bytes = DESIGN.trim().as_bytes();
    for end in 0..bytes.len() {
        let error = read_text(&bytes[..end]).unwrap_err();
        assert_eq!(error.name(), "Damaged", "{end}");
        assert!(
            error.detail().contains("run.json: ") && error.detail().contains("line"),
            "{}",
            error.detail()
        );
    }
}

#[test]
fn damage_is_reported_with_the_file_and_what_is_wrong() {
    for (from, to, what) in [
        (r#""tasks": 208"#, r#""tasks": -1"#, "invalid value"),
        (r#""tasks": 208, "#, "", "missing field `tasks`"),
        (r#""tasks": 208"#, r#""tasks": 1, "tasks": 2"#, "duplicate field `tasks`"),
        (r#""ok""#, r#""great""#, "unknown variant `great`"),
        ("2026-11-15T09", "2026-11-31T09", "not a time like"),
        ("0x7f", "0xzz", "is not hexadecimal"),
        ("0x7f", "0x+f", "is not hexadecimal"),
        ("0x7f", "0x17f", "bit 8 of dfx_flags is set"),
        (r#""swimlane_level": 3"#, r#""swimlane_level": 2"#, "does not follow from dfx_flags 0x7f"),
        (r#""overflow": "block""#, r#""overflow": "wait""#, "neither block nor drop"),
        (r#""dropped": 0"#, r#""dropped": 1"#, "208 collected and 1 dropped are not 208"),
        (r#", "dropped": 0"#, "", "belong together"),
        (r#""status": "ok""#, r#""status": "failed""#, "status failed and error do not agree"),
        ("deps.json", "../deps.json", "is not inside the run directory"),
        ("deps.json", "/etc/passwd", "is not inside the run directory"),
        (r#""dropped": 0}]}"#, r#""dropped": 0}]} {}"#, "trailing characters"),
    ] {
        let error = read_with(from, to).unwrap_err();
        assert_eq!(error.name(), "Damaged", "{to}");
        assert!(error.detail().contains(what), "{what:?} in {:?}", error.detail());
    }
    assert_eq!(read_text(b"\xff\xfe{}").unwrap_err().name(), "Damaged");
}

#[test]
fn a_directory_without_a_manifest_holds_a_run_that_died() {
    let root = TestDir::new();
    for path in [root.path().to_path_buf(), root.join("missing")] {
        let error = Manifest::read(path).unwrap_err();
        assert_eq!(error.name(), "NoManifest");
        assert!(error.hint().contains("the run crashed"));
    }
    fs::create_dir(root.join("run.json")).unwrap();
    assert_eq!(Manifest::read(root.path()).unwrap_err().name(), "CannotRead");
}

const CHILD: &str =
    r#"{"worker": "chip0", "seq": 1, "dir": "chip0/1", "task_id": 4294967296, "status": "died"}"#;

fn read_with_children(children: &str) -> Result<Manifest, TraceError> {
    read_with(r#""files": ["#, &format!(r#""children": [{children}], "files": ["#))
}

#[test]
fn the_runs_of_a_nodes_workers_are_read_back_and_left_out_where_there_are_none() {
    let manifest = read_with_children(CHILD).unwrap();
    let child = ChildRun {
        worker: "chip0".to_string(),
        seq: 1,
        dir: "chip0/1".to_string(),
        task_id: ringlane_task::TaskId(1 << 32),
        status: crate::rows::dist::CallStatus::Died,
    };
    assert_eq!(manifest.children, [child]);
    assert_eq!(read_text(manifest.to_json().as_bytes()).unwrap(), manifest);
    let without = read_text(DESIGN.as_bytes()).unwrap();
    assert!(without.children.is_empty() && !without.to_json().contains("children"));
}

#[test]
fn a_child_that_is_not_below_the_run_or_shares_a_directory_is_refused() {
    for dir in ["", "/tmp/run", "..", "../other", "chip0/../..", "chip0//1", "./chip0", "chip0/"] {
        let error = read_with_children(&CHILD.replace("chip0/1", dir)).unwrap_err();
        assert!(error.detail().contains("is not inside the run directory"), "{}", error.detail());
    }
    let error = read_with_children(&format!("{CHILD}, {CHILD}")).unwrap_err();
    assert!(error.detail().contains("two children have the directory \"chip0/1\""), "{}", error.detail());
    let error = read_with_children(&CHILD.replace("died", "dead")).unwrap_err();
    assert!(error.detail().contains("unknown variant `dead`"), "{}", error.detail());
}
