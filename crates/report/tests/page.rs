//! What is on a page is what is in the run's files: columns are read back as the page reads them.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use ringlane_insight::Run;
use ringlane_report::page;

const SWIMLANE: &str = r#"{"version": 2, "chip_swimlane_level": 3,
 "metadata": {"platform": "a2a3sim", "clock_freq_hz": 50000000, "num_cores": 3, "core_types": ["aic", "aiv", "aiv"],
   "num_scheduler_threads": 1, "core_to_thread": [0, 0, 0],
   "kernels": [{"func_id": 0, "name": "QK</script>", "core_type": "aic"}, {"func_id": 1, "name": "SOFTMAX", "core_type": "aiv"}]},
 "block_columns": ["core", "task_id", "func_id", "lane", "block", "start", "end", "dispatch", "finish"],
 "blocks": [[2, 4294967297, 1, 0, 1, 60, 90, 55, 95], [0, 4294967296, 0, 0, 0, 10, 40, 5, 45],
            [1, 4294967297, 1, 0, 0, 60, 60, 55, 95], [0, 2, 0, 0, 0, 50, 99, 48, 100]],
 "task_columns": ["task_id", "seq", "ready", "reclaim"],
 "tasks": [[4294967296, 0, 4, 70], [4294967297, 1, 50, 96], [2, 2, 8, null]],
 "edge_columns": ["pred", "succ"], "edges": [[4294967296, 4294967297]],
 "phase_columns": ["thread", "phase", "start", "end", "loop", "tasks"], "scheduler_phases": [[0, "dispatch", 0, 6, 0, 1]],
 "submit_columns": ["task_id", "start", "end", "stall", "alloc", "lookup", "insert", "wire", "heap_bytes"],
 "orchestrator_phases": [[4294967296, 0, 3, 0, 1, 1, 1, 0, 64], [4294967297, 3, 6, 2, 0, 1, 0, 0, 0], [2, 6, 9, 0, 0, 1, 1, 1, 0]],
 "counts": {"blocks": {"total": 4, "collected": 4, "dropped": 0}, "tasks": {"total": 3, "collected": 3, "dropped": 0},
   "edges": {"total": 1, "collected": 1, "dropped": 0}, "phases": {"total": 1, "collected": 1, "dropped": 0},
   "submits": {"total": 3, "collected": 3, "dropped": 0}}}"#;

const MANIFEST: &str = r#"{"version": 1, "ringlane": "0.1.0", "scene": "made_up", "case": "small", "params": {}, "platform": "a2a3sim",
 "runtime": "tensormap_and_ringbuffer", "seed": 0, "threads": 1, "started_at": "2026-11-15T09:30:12Z", "wall_us": 1.0,
 "makespan_ticks": 100, "clock_freq_hz": 50000000, "status": "ok", "error": null, "cores": 3, "tasks": 3, "blocks": 4, "scopes": 1,
 "skipped": 0, "peak_heap_bytes": 0, "dfx_flags": "0x7", "swimlane_level": 3, "overflow": "block", "pmu": null,
 "dfx_cost": {"writer_wait_ticks": 0, "bytes": 0, "collector_us": 0, "export_us": 0}, "golden": null,
 "files": [{"path": "l2_perf_records.json", "bytes": SIZE, "total": 4, "collected": 4, "dropped": 0}]}"#;

fn page_of(dir: &Path) -> (String, page::PageFacts) {
    fs::write(dir.join("l2_perf_records.json"), SWIMLANE).unwrap();
    fs::write(dir.join("run.json"), MANIFEST.replace("SIZE", &SWIMLANE.len().to_string())).unwrap();
    let mut text = Vec::new();
    let facts = page::write(&Run::open(dir).unwrap(), &mut text).unwrap();
    (String::from_utf8(text).unwrap(), facts)
}

/// Reads all columns of a page; `None` is a number that is not known.
fn columns_of(page: &str) -> HashMap<String, Vec<Option<i64>>> {
    let attribute = |tag: &str, name: &str| {
        let start = tag.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
        tag[start..start + tag[start..].find('"').unwrap()].to_string()
    };
    let elements = page.split("<script type=\"text/plain\"").skip(1);
    let columns = elements.map(|element| {
        let (tag, rest) = element.split_once('>').unwrap();
        let text = rest.split_once("</script>").unwrap().0;
        let values = decode(&bytes_of(text), &attribute(tag, "data-coding"));
        assert_eq!(values.len().to_string(), attribute(tag, "data-rows"));
        (attribute(tag, "data-column"), values)
    });
    columns.collect()
}

fn bytes_of(base64: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut gzip, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for letter in base64.bytes().filter(|&letter| letter != b'=') {
        bits = bits << 6 | ALPHABET.iter().position(|&known| known == letter).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            gzip.push((bits >> held) as u8);
        }
    }
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

fn decode(bytes: &[u8], coding: &str) -> Vec<Option<i64>> {
    let (mut values, mut before, mut bits, mut shift) = (Vec::new(), 0, 0u64, 0);
    let unfold = |bits: u64| (bits >> 1) as i64 ^ -((bits & 1) as i64);
    for byte in bytes {
        bits |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 != 0 {
            continue;
        }
        values.push(match coding {
            "plain" => Some(bits as i64),
            "signed" => Some(unfold(bits)),
            "delta" => {
                before += unfold(bits);
                Some(before)
            }
            "maybe" => bits.checked_sub(1).map(unfold),
            other => panic!("no such coding: {other}"),
        });
        (bits, shift) = (0, 0);
    }
    values
}

fn known(values: &[i64]) -> Vec<Option<i64>> {
    values.iter().copied().map(Some).collect()
}

#[test]
fn blocks_are_stored_core_by_core_in_the_order_of_time() {
    let dir = tempfile::tempdir().unwrap();
    let (page, facts) = page_of(dir.path());
    let columns = columns_of(&page);
    assert_eq!((facts.blocks, facts.bytes), (4, page.len() as u64));
    assert_eq!(columns["cores.blocks"], known(&[2, 1, 1]));
    // The second block of core 0 begins 10 after the first ends; the first of each core is counted from 0.
    assert_eq!(columns["blocks.gap"], known(&[10, 10, 60, 60]));
    assert_eq!(columns["blocks.took"], known(&[30, 49, 0, 30]));
    assert_eq!(columns["blocks.kernel"], known(&[0, 0, 1, 1]));
    assert_eq!(columns["blocks.task"], known(&[0, 2, 1, 1]));
    assert_eq!(columns["blocks.row.block"], known(&[0, 0, 0, 1]));
    assert_eq!(columns["blocks.waited"], known(&[5, 2, 5, 5]));
    assert_eq!(columns["blocks.seen"], known(&[5, 1, 35, 5]));
}

#[test]
fn tasks_keep_their_names_and_every_moment_of_their_lives() {
    let dir = tempfile::tempdir().unwrap();
    let columns = columns_of(&page_of(dir.path()).0);
    assert_eq!(columns["tasks.ring"], known(&[1, 1, 0]));
    assert_eq!(columns["tasks.step"], known(&[1, 1, 3]), "from the last number of the ring, -1 at first");
    assert_eq!(columns["tasks.seq"], known(&[0, 1, 2]));
    assert_eq!(columns["tasks.submit"], known(&[0, 3, 3]), "from the submit before");
    assert_eq!(columns["tasks.submit.stall"], known(&[0, 2, 0]));
    assert_eq!(columns["tasks.ready"], known(&[4, 47, 2]), "from the submit");
    assert_eq!(columns["tasks.reclaim"], [Some(66), Some(46), None], "from ready; the last was not seen");
    assert_eq!(columns["tasks.producers"], known(&[0, 1, 0]));
    assert_eq!(columns["edges.back"], known(&[1]));
}

#[test]
fn the_critical_path_on_the_page_adds_up_to_the_makespan() {
    let dir = tempfile::tempdir().unwrap();
    let columns = columns_of(&page_of(dir.path()).0);
    assert_eq!(columns["path.took"].iter().flatten().sum::<i64>(), 100);
}

#[test]
fn the_page_asks_nobody_for_anything_and_no_name_is_markup() {
    let dir = tempfile::tempdir().unwrap();
    let (page, facts) = page_of(dir.path());
    assert!(!page.contains("QK</script>") && page.contains("QK\\u003c/script>"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    assert_eq!(facts.missing.len(), 4, "{:?}", facts.missing);
}
