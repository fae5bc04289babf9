//! What is written is read back; the examples of the design are read; damage is reported and never a panic.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;

use common::*;
use proptest::prelude::*;
use ringlane_task::{BlockIndex, CoreId, Explain, KernelId, TaskId, Ticks};
use ringlane_trace::deps::{Deps, DepsEdge, DepsNames, DepsTensor, DepsWriter, TensorIndex};
use ringlane_trace::dump::{Dump, DumpData};
use ringlane_trace::pmu::{Pmu, PmuRow, PmuWriter};
use ringlane_trace::scopes::{ScopeFatal, Scopes, ScopesWriter};
use ringlane_trace::swimlane::*;
use ringlane_trace::{RunDir, TraceError};

const FILES: [&str; 5] =
    ["l2_perf_records.json", "tensor_dump/tensor_dump.json", "pmu.csv", "deps.json", "scope_stats.json"];

/// Reads one of the files of a run, whatever it is.
fn read(path: &Path, file: &str) -> Result<(), TraceError> {
    match file {
        "l2_perf_records.json" => Swimlane::read(path).map(drop),
        "tensor_dump/tensor_dump.json" => Dump::read(path).map(drop),
        "pmu.csv" => Pmu::read(path).map(drop),
        "deps.json" => Deps::read(path).map(drop),
        _ => Scopes::read(path).map(drop),
    }
}

#[test]
fn rows_of_every_instrument_are_read_back_as_they_were_written() {
    let root = TestDir::new();
    let path = root.join("run");
    write_run(&path, SwimlaneLevel::Phases);
    let swimlane = Swimlane::read(&path).unwrap();
    assert_eq!((swimlane.head.level, &swimlane.head.meta), (SwimlaneLevel::Phases, &meta()));
    assert_eq!((swimlane.blocks, swimlane.tasks), (blocks(), task_rows()));
    assert_eq!((swimlane.edges, swimlane.phases, swimlane.submits), (engine_edges(), phases(), submits()));
    let dump = Dump::read(&path).unwrap();
    assert_eq!((dump.records, dump.tasks.len(), dump.head.selection), (records(), 3, None));
    let deps = Deps::read(&path).unwrap();
    assert_eq!((deps.tensors, deps.edges, deps.tasks.len()), (tensors(), deps_edges(), 4));
    let lanes: Vec<_> =
        deps.tasks[1].kernels.iter().map(|one| (one.kernel.clone().into_owned(), one.lane)).collect();
    assert_eq!(lanes, [(kernels()[1].clone(), 0), (kernels()[2].clone(), 1)]);
    assert_eq!(Scopes::read(&path).unwrap().scopes, scope_rows());
    let pmu = Pmu::read(&path).unwrap();
    assert_eq!(pmu.counter_columns().collect::<Vec<_>>(), ["instructions", "cache,misses"]);
    assert_eq!(
        (pmu.rows.len(), &pmu.rows[4].counters[..], pmu.rows[4].pmu_total_cycles),
        (5, &[12, 34][..], 60)
    );
}

#[test]
fn a_lower_level_holds_nothing_of_the_levels_above() {
    for (level, absent) in [
        (SwimlaneLevel::Blocks, &["dispatch", "tasks", "edges", "phases"][..]),
        (SwimlaneLevel::Tasks, &["scheduler_phases", "orchestrator_phases", "submit"]),
    ] {
        let mut text = Vec::new();
        write_swimlane(&mut text, level);
        let text = String::from_utf8(text).unwrap();
        assert!(absent.iter().all(|word| !text.contains(word)), "{text}");
        let mut writer = SwimlaneWriter::new(Vec::new(), level, &meta());
        assert!(writer.row(&phases()[0]).is_err());
    }
}

/// The examples of the design, as the writers give them: as many cores as are listed, counts after the rows that fit the
/// rows shown (the others are dropped), and the fields that the design's example leaves out.
const DESIGN: [(&str, &str); 4] = [
    (
        "l2_perf_records.json",
        r#"{"version": 2, "chip_swimlane_level": 3,
 "metadata": {"platform": "a2a3sim", "clock_freq_hz": 50000000, "num_cores": 3, "core_types": ["aic","aiv","aiv"],
   "num_scheduler_threads": 3, "core_to_thread": [0,0,0], "kernels": [{"func_id": 0, "name": "QK", "core_type": "aic"}]},
 "block_columns": ["core","task_id","func_id","lane","block","start","end","dispatch","finish"],
 "blocks": [[0, 4294967296, 0, 0, 0, 120, 310, 100, 330]],
 "task_columns": ["task_id","seq","ready","reclaim"],  "tasks": [[4294967296, 1, 90, 400]],
 "edge_columns": ["pred","succ"],  "edges": [[0, 4294967296]],
 "phase_columns": ["thread","phase","start","end","loop","tasks"],  "scheduler_phases": [[0, "complete", 100, 104, 7, 2]],
 "submit_columns": ["task_id","start","end","stall","alloc","lookup","insert","wire","heap_bytes","read","read_end"],
 "orchestrator_phases": [[4294967296, 10, 30, 0, 4, 8, 4, 4, 4096, 0, 0]],
 "counts": {"blocks": {"total": 208, "collected": 1, "dropped": 207}, "tasks": {"total": 1, "collected": 1, "dropped": 0},
  "edges": {"total": 1, "collected": 1, "dropped": 0}, "phases": {"total": 1, "collected": 1, "dropped": 0},
  "submits": {"total": 1, "collected": 1, "dropped": 0}}}"#,
    ),
    (
        "tensor_dump/tensor_dump.json",
        r#"{"version": 1, "bin_file": "tensor_dump.bin", "bin_format": {"layout": "logical_contiguous", "byte_order": "little_endian"},
 "selection": null, "kernels": [{"func_id": 0, "name": "QK"}], "tasks": [[4294967296, 1, [0]]],
 "records": [
  {"task_id": 4294967296, "arg_index": 0, "kind": "tensor", "role": "input", "stage": "before_dispatch", "dtype": "float32",
   "shape": [16,64], "strides": [64,1], "offset": 0, "is_contiguous": true, "truncated": false, "bin_offset": 0, "bin_size": 4096},
  {"task_id": 4294967296, "arg_index": 2, "kind": "scalar", "role": "input", "stage": "before_dispatch", "dtype": "float32",
   "shape": [], "scalar_value": "0x000000003f800000", "value": 1.0, "bin_offset": 0, "bin_size": 0}],
 "total": 3, "collected": 2, "dropped": 1, "tensors": 1, "scalars": 1, "truncated": 0, "before_dispatch": 2, "after_completion": 0}"#,
    ),
    (
        "deps.json",
        r#"{"version": 1,
 "tasks":   [{"task_id": 4294967296, "seq": 1, "block_num": 1, "scope": 3, "site": "src/paged_attention.rs:77", "manual": false,
              "kernels": [{"func_id": 0, "name": "QK", "core_type": "aic", "lane": 0}],
              "args": [{"index": 0, "access": "input", "tensor": 5, "dtype": "float32", "shape": [16,64], "strides": [64,1], "offset": 0}]}],
 "tensors": [{"tensor": 5, "bytes": 65536, "origin": "external"}],
 "edges":   [{"pred": 0, "succ": 4294967296, "source": "tensormap", "hazard": "raw", "arg": 0, "tensor": 5, "overlap": "covered"}],
 "total": 1, "collected": 1, "dropped": 0}"#,
    ),
    (
        "scope_stats.json",
        r#"{"version": 1, "fatal": null,
 "scopes": [{"scope": 3, "parent": 0, "site": "src/paged_attention.rs:77", "depth": 1, "ring": 1, "tasks": 13, "open": false, "enter": 40, "exit": 900,
   "task_window": ["1/16384","13/16384","0/16384","0/16384"],
   "heap":        ["0/268435456","53248/268435456","0/268435456","0/268435456"],
   "dep_pool":    ["0/65536","22/65536","0/65536","0/65536"],
   "args":        ["0/8388608","4096/8388608","0/8388608","0/8388608"],
   "tensormap": "31/65536", "fanin": "4/1024",
   "need": {"task_window": 13, "heap": 53248, "dep_pool": 22, "args": 4096, "heap_piece": 0, "args_piece": 0},
   "stalls": [{"ring": 1, "resource": "heap", "count": 3, "ticks": 900}]}],
 "total": 17, "collected": 1, "dropped": 16}"#,
    ),
];

/// Writes again what was read from one of the design's files.
fn rewrite(path: &Path, file: &str) -> Vec<u8> {
    let mut text = Vec::new();
    match file {
        "l2_perf_records.json" => rewrite_swimlane(&mut text, &Swimlane::read(path).unwrap()),
        "tensor_dump/tensor_dump.json" => rewrite_dump(&mut text, &Dump::read(path).unwrap()),
        "deps.json" => rewrite_deps(&mut text, &Deps::read(path).unwrap()),
        _ => {
            let read = Scopes::read(path).unwrap();
            let mut writer = ScopesWriter::new(&mut text, read.head.fatal.as_ref());
            read.scopes.iter().for_each(|row| writer.scope(row).unwrap());
            writer.finish(read.head.counts.dropped).unwrap();
        }
    }
    text
}

fn rewrite_swimlane(text: &mut Vec<u8>, read: &Swimlane) {
    let mut writer = SwimlaneWriter::new(text, read.head.level, &read.head.meta);
    read.blocks.iter().for_each(|row| writer.row(row).unwrap());
    read.tasks.iter().for_each(|row| writer.row(row).unwrap());
    read.edges.iter().for_each(|row| writer.row(row).unwrap());
    read.phases.iter().for_each(|row| writer.row(row).unwrap());
    read.submits.iter().for_each(|row| writer.row(row).unwrap());
    let dropped = SwimlaneDropped { blocks: read.head.counts.blocks.dropped, ..Default::default() };
    assert_eq!(writer.finish(&dropped).unwrap(), read.head.counts);
}

fn rewrite_dump(text: &mut Vec<u8>, read: &Dump) {
    use ringlane_trace::dump::DumpWriter;
    let mut writer = DumpWriter::new(text, read.head.selection.as_deref(), &read.head.kernels);
    read.tasks.iter().for_each(|task| writer.task(task).unwrap());
    read.records.iter().for_each(|record| writer.record(record).unwrap());
    assert_eq!(writer.finish(read.head.counts.records.dropped).unwrap(), read.head.counts);
}

fn rewrite_deps(text: &mut Vec<u8>, read: &Deps) {
    let spools = [std::io::Cursor::new(Vec::new()), std::io::Cursor::new(Vec::new())];
    let mut writer = DepsWriter::new(text, spools);
    read.tasks.iter().for_each(|row| writer.task(row).unwrap());
    read.edges.iter().for_each(|row| writer.edge(row).unwrap());
    read.tensors.iter().for_each(|row| writer.tensor(row).unwrap());
    writer.finish(read.dropped).unwrap();
}

#[test]
fn the_examples_of_the_design_are_read_and_written_back_field_for_field_in_order() {
    let root = TestDir::new();
    let tight = |text: &str| text.replace([' ', '\n'], "");
    for (file, example) in DESIGN {
        let path = root.join("example");
        fs::write(&path, example).unwrap();
        let again = String::from_utf8(rewrite(&path, file)).unwrap();
        assert_eq!(tight(&again), tight(example), "{file}");
    }
}

#[test]
fn a_file_that_is_cut_short_anywhere_is_damaged_and_names_itself() {
    let root = TestDir::new();
    let run = root.join("run");
    write_run(&run, SwimlaneLevel::Phases);
    for file in FILES {
        let bytes = fs::read(run.join(file)).unwrap();
        let cut = root.join("cut");
        // A CSV file that ends within its last number cannot be distinguished from a whole one.
        let end = if file == "pmu.csv" { 60 } else { bytes.len() - 1 };
        for end in 0..end {
            fs::write(&cut, &bytes[..end]).unwrap();
            let error = read(&cut, file).unwrap_err();
            assert_eq!(error.name(), "Damaged", "{file} {end}");
            assert!(error.detail().contains("cut: "), "{}", error.detail());
        }
    }
}

#[test]
fn a_swimlane_that_does_not_mention_reads_is_read_as_one_without_any() {
    let root = TestDir::new();
    let path = root.join("file");
    let text = DESIGN[0].1.replace(",\"read\",\"read_end\"", "").replace("4096, 0, 0]", "4096]");
    std::fs::write(&path, &text).unwrap();
    let submits = Swimlane::read(&path).unwrap().submits;
    assert_eq!((submits[0].heap_bytes, submits[0].read, submits[0].read_end), (4096, Ticks(0), Ticks(0)));
}

#[test]
fn unknown_fields_and_columns_are_skipped_and_unknown_versions_refused() {
    let root = TestDir::new();
    let path = root.join("file");
    for (file, example) in DESIGN {
        let more = example.replacen('{', "{\"later\": {\"a\": [1, {}]}, ", 1);
        fs::write(&path, more).unwrap();
        read(&path, file).unwrap();
        let later = example.replacen("\"version\": ", "\"version\": 4", 1);
        fs::write(&path, format!("{{\"later\": [], {}", &later[1..])).unwrap();
        assert_eq!(read(&path, file).unwrap_err().name(), "UnknownVersion", "{file}");
        fs::write(&path, "{}").unwrap();
        assert!(read(&path, file).unwrap_err().detail().ends_with("it has no version"), "{file}");
        let twice = example.replacen("\"version\": ", "\"version\": 1, \"version\": ", 1);
        fs::write(&path, twice).unwrap();
        assert!(read(&path, file).is_err(), "{file}");
    }
    let moved =
        DESIGN[0].1.replace("\"start\",\"end\",\"dispatch\"", "\"new\",\"start\",\"end\",\"dispatch\"");
    fs::write(&path, moved.replace("120, 310", "[\"x\"], 120, 310")).unwrap();
    assert_eq!(Swimlane::read(&path).unwrap().blocks[0].start, Ticks(120));
}

#[test]
fn damage_is_reported_with_its_record() {
    let root = TestDir::new();
    let path = root.join("file");
    for (example, from, to, what) in [
        (0, "310, 100, 330]", "310, 100]", "blocks record 0: finish: invalid length 8"),
        (0, "310, 100, 330]", "310, 100, 330, 1]", "blocks record 0: invalid length 10"),
        (0, "120, 310", "-120, 310", "blocks record 0: start: invalid value: integer `-120`"),
        (0, "120, 310", "null, 310", "blocks record 0: start: invalid type: null"),
        (
            0,
            "[[0, 4294967296, 0",
            "[[4294967296, 0, 0",
            "blocks record 0: core: invalid value: integer `4294967296`",
        ),
        (0, "\"block_columns\"", "\"other\"", "block_columns comes after blocks"),
        (1, "[16,64]", "[16,64,1]", "records record 0: 3 lengths and 2 strides"),
        (1, "\"0x000000003f800000\"", "\"0x100000003f800000\"", "is not a float32"),
        (2, "\"scope\": 3, ", "", "tasks record 0: missing field `scope`"),
        (3, "\"exit\": 900", "\"exit\": null", "scopes record 0: open says false, not true"),
        (3, "\"ring\": 1, \"tasks\"", "\"ring\": 9, \"tasks\"", "scopes record 0: ring 9 of 4"),
        (3, "\"resource\": \"heap\"", "\"resource\": \"air\"", "unknown resource \"air\""),
    ] {
        let (file, text) = DESIGN[example];
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let detail = read(&path, file).unwrap_err().detail();
        assert!(detail.contains(what), "{what:?} in {detail:?}");
    }
}

#[test]
fn a_fatal_stop_and_an_open_scope_are_read_back() {
    let root = TestDir::new();
    let fatal = ScopeFatal {
        scope: ringlane_task::ScopeId(3),
        label: None,
        site: "src/\"odd\".rs:7".into(),
        ring: None,
        resource: ringlane_task::Resource::TensorMap,
        used: 16,
        capacity: 16,
        need: 20,
    };
    let mut row = scope_rows().remove(0);
    row.exit = None;
    let mut text = Vec::new();
    let mut writer = ScopesWriter::new(&mut text, Some(&fatal));
    writer.scope(&row).unwrap();
    writer.finish(0).unwrap();
    fs::write(root.join("s"), &text).unwrap();
    let read = Scopes::read(root.join("s")).unwrap();
    assert_eq!((read.head.fatal, read.scopes), (Some(fatal), vec![row]));
}

#[test]
fn edges_that_do_not_fit_into_memory_go_through_the_spool_and_keep_their_order() {
    let root = TestDir::new();
    let dir = RunDir::create_exact(root.join("run")).unwrap();
    let mut file = dir.create_file("deps.json").unwrap();
    let mut writer = DepsWriter::new(&mut file, [dir.spool().unwrap(), dir.spool().unwrap()]);
    let edge = |number: u64| DepsEdge { succ: TaskId(number), ..deps_edges()[3] };
    let tensor = |number: u32| DepsTensor { tensor: TensorIndex(number), ..tensors()[1] };
    (0..30_000).for_each(|number| writer.edge(&edge(number)).unwrap());
    (0..50_000).for_each(|number| writer.tensor(&tensor(number)).unwrap());
    let counts = writer.finish(0).unwrap();
    assert_eq!((counts.edges, counts.tensors), (30_000, 50_000));
    file.commit().unwrap();
    let deps = Deps::read(dir.path()).unwrap();
    assert!(deps.edges.iter().copied().eq((0..30_000).map(edge)));
    assert!(deps.tensors.iter().copied().eq((0..50_000).map(tensor)));
}

#[test]
fn a_task_whose_names_are_not_known_is_refused() {
    let names = DepsNames::new(&["a:1"], &kernels()[3..]);
    let site = |site| names.site(ringlane_task::SiteId(site)).map(str::to_string);
    let kernel = |func| names.kernel(KernelId(func)).map(|kernel| kernel.name.clone());
    assert!(site(0).is_ok() && kernel(3).is_ok());
    for refused in [site(1), kernel(0), kernel(4)] {
        assert!(refused.unwrap_err().to_string().contains("without a name"));
    }
}

fn any_block() -> impl Strategy<Value = BlockRow> {
    (any::<(u32, u64, u32, u8, u32)>(), any::<[u64; 4]>()).prop_map(|((core, task, func, lane, block), t)| {
        BlockRow {
            core: CoreId(core),
            task_id: TaskId(task),
            func_id: KernelId(func),
            lane,
            block: BlockIndex(block),
            start: Ticks(t[0]),
            end: Ticks(t[1]),
            dispatch: Ticks(t[2]),
            finish: Ticks(t[3]),
            ..BlockRow::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_blocks_and_any_kernel_names_are_read_back(
        rows in prop::collection::vec(any_block(), 0..20),
        name in any::<String>(),
    ) {
        let root = TestDir::new();
        let kernel = KernelRow { func_id: KernelId(0), name: name.clone(), core_type: "any".to_string() };
        let meta = SwimlaneMeta { kernels: vec![kernel], platform: name, ..SwimlaneMeta::default() };
        let mut text = Vec::new();
        let mut writer = SwimlaneWriter::new(&mut text, SwimlaneLevel::Tasks, &meta);
        rows.iter().for_each(|row| writer.row(row).unwrap());
        writer.finish(&SwimlaneDropped::default()).unwrap();
        fs::write(root.join("file"), &text).unwrap();
        let read = Swimlane::read(root.join("file")).unwrap();
        prop_assert_eq!((read.blocks, read.head.meta), (rows, meta));
    }

    #[test]
    fn any_column_names_of_counters_are_read_back(names in prop::collection::vec("[a-z,\"\r\n ]{0,8}x", 1..4)) {
        let root = TestDir::new();
        let columns: Vec<&str> = names.iter().map(String::as_str).collect();
        let counters = vec![7; columns.len()];
        let mut text = Vec::new();
        let mut writer = PmuWriter::new(&mut text, &columns);
        let row = PmuRow {
            thread_id: 1, core_id: CoreId(2), task_id: TaskId(3), func_id: KernelId(4), core_type: "a,\"b\"\nc".into(),
            pmu_total_cycles: u64::MAX, counters: counters.into(), event_type: 5,
        };
        writer.row(&row).unwrap();
        let short = PmuRow { counters: Default::default(), ..row.clone() };
        prop_assert!(writer.row(&short).is_err());
        writer.finish().unwrap();
        fs::write(root.join("file"), &text).unwrap();
        let read = Pmu::read(root.join("file")).unwrap();
        prop_assert_eq!(read.counter_columns().collect::<Vec<_>>(), columns);
        prop_assert_eq!(&read.rows[0].core_type, &row.core_type);
    }

    #[test]
    fn bytes_changed_at_random_are_refused_or_read_but_never_a_panic(
        file in 0..FILES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let root = TestDir::new();
        let run = root.join("run");
        write_run(&run, SwimlaneLevel::Phases);
        let path = run.join(FILES[file]);
        let mut bytes = fs::read(&path).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        fs::write(&path, &bytes).unwrap();
        let _ = ringlane_trace::check_run(&run).unwrap();
    }
}

#[test]
fn a_scalar_keeps_its_bits_and_its_type() {
    let scalars: Vec<_> =
        records().iter().filter(|record| matches!(record.data, DumpData::Scalar(_))).copied().collect();
    let mut text = Vec::new();
    let mut writer = ringlane_trace::dump::DumpWriter::new(&mut text, Some("ADD:1"), &[]);
    scalars.iter().for_each(|record| writer.record(record).unwrap());
    writer.finish(0).unwrap();
    text.flush().unwrap();
    let root = TestDir::new();
    fs::write(root.join("file"), &text).unwrap();
    let dump = Dump::read(root.join("file")).unwrap();
    assert_eq!((dump.records, dump.head.selection.as_deref()), (scalars, Some("ADD:1")));
    assert!(String::from_utf8(text).unwrap().contains(r#""value":"-1152921504606846976""#));
}
