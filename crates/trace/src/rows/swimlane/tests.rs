//! What is read quickly is what `serde` reads.

use proptest::prelude::*;
use ringlane_task::Explain;

use super::read::Reader;
use super::sections::SectionRow;
use super::*;
use crate::rows::quick::check::{changed, is_quick, read_through};
use crate::rows::row::{ArrayRows, Row};
use crate::test_dir::TestDir;

/// A file with every kind of row, and all of their columns.
fn file(level: SwimlaneLevel, numbers: [u64; 3]) -> Vec<u8> {
    let [first, second, third] = numbers;
    let mut text = Vec::new();
    let mut writer =
        SwimlaneWriter::of_model(&mut text, level, &SwimlaneMeta::default(), HeadRows::default());
    let (start, end, task_id) = (Ticks(first), Ticks(second), TaskId(third));
    let block = BlockRow { core: CoreId(7), task_id, start, end, dispatch: start, ..BlockRow::default() };
    writer.row(&block).unwrap();
    writer.row(&BlockRow::default()).unwrap();
    if level >= SwimlaneLevel::Tasks {
        for reclaim in [None, Some(end)] {
            writer.row(&TaskRow { task_id, seq: Seq(first), ready: start, reclaim }).unwrap();
        }
        writer.row(&EdgeRow { pred: TaskId(second), succ: task_id }).unwrap();
    }
    if level >= SwimlaneLevel::Phases {
        for (thread, &phase) in Phase::ALL.iter().enumerate() {
            let row = PhaseRow { thread: thread as u32, phase, start, end, loop_: third, tasks: 2 };
            writer.row(&row).unwrap();
        }
        writer.row(&SubmitRow { task_id, end, heap_bytes: first, ..SubmitRow::default() }).unwrap();
    }
    writer.finish(&SwimlaneDropped::default()).unwrap();
    text
}

/// The lines of the rows.
fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"[")).map(<[u8]>::to_vec).collect()
}

/// Whether the rows of one kind are read quickly: below their own columns, with a new column after them, and with one among
/// them, which is left to `serde`.
fn quick<R: SectionRow + PartialEq + std::fmt::Debug>(text: &[u8]) -> [bool; 3] {
    let names: Vec<String> = R::COLUMNS.iter().map(|name| name.to_string()).collect();
    let after = [&names[..], &["new".to_string()]].concat();
    let among = [&names[..1], &["new".to_string()], &names[1..]].concat();
    [names, after, among].map(|names| is_quick(&ArrayRows::<R>::find(names, R::REQUIRED).unwrap(), text))
}

fn all_kinds(text: &[u8]) -> [[bool; 3]; 5] {
    [quick::<BlockRow>, quick::<TaskRow>, quick::<EdgeRow>, quick::<PhaseRow>, quick::<SubmitRow>]
        .map(|quick: fn(&[u8]) -> [bool; 3]| quick(text))
}

#[test]
fn rows_of_the_writer_are_read_quickly() {
    let rows = lines(&file(SwimlaneLevel::Phases, [1, 23_456_789_012, 1 << 33]));
    assert_eq!(rows.len(), 11);
    for row in rows {
        assert!(all_kinds(&row).iter().any(|[own, ..]| *own), "{}", String::from_utf8_lossy(&row));
    }
    assert_eq!(quick::<EdgeRow>(b"[1,2]"), [true, false, false]);
    assert_eq!(quick::<EdgeRow>(b"[1,2,null]"), [false, true, false]);
    // Without the columns that came later, or that the level does not have.
    let names = BlockRow::COLUMNS[..7].iter().map(|name| name.to_string()).collect();
    assert!(is_quick(&ArrayRows::<BlockRow>::find(names, 7).unwrap(), b"[1,2,3,4,5,6,7]"));
}

/// All rows of a file, read through a buffer of this size.
fn read(text: &[u8], buffer_bytes: usize) -> Vec<SwimlaneRow> {
    let mut rows = Vec::new();
    read_through(text, buffer_bytes, Reader::new(|row| rows.push(row))).unwrap();
    rows
}

proptest! {
    #[test]
    fn what_is_read_quickly_is_what_serde_reads(text in changed(lines(&file(SwimlaneLevel::Phases, [1, 234, 1 << 33])))) {
        all_kinds(&text);
    }

    #[test]
    fn a_file_is_the_same_in_any_form_and_however_it_is_cut(numbers in any::<[u64; 3]>(), buffer_bytes in 1..1000usize) {
        for level in [SwimlaneLevel::Blocks, SwimlaneLevel::Tasks, SwimlaneLevel::Phases] {
            let text = file(level, numbers);
            let rows = read(&text, buffer_bytes);
            let SwimlaneRow::Block(first) = rows[0] else { panic!("{:?}", rows[0]) };
            prop_assert_eq!([first.start.0, first.end.0, first.task_id.0], numbers);
            let spaced = String::from_utf8(text).unwrap().replace(',', " ,\n ").replace('[', "[ ").replace(']', "\t]");
            prop_assert_eq!(read(spaced.as_bytes(), buffer_bytes), rows);
        }
    }
}

fn copies() -> Vec<CopyRow> {
    let copy = |direction, what: &str, start, end| CopyRow {
        direction,
        what: what.to_string(),
        bytes: 4096,
        start: Ticks(start),
        end: Ticks(end),
    };
    vec![
        copy(CopyDirection::HostToDevice, "buffer 0", 0, 260),
        copy(CopyDirection::DeviceToHost, "a \"read\"", 300, 301),
    ]
}

fn written(level: SwimlaneLevel, copies: Option<&[CopyRow]>, dropped: u64) -> String {
    let mut text = Vec::new();
    let head = HeadRows { copies, launches: None };
    let writer = SwimlaneWriter::with_head(&mut text, level, &SwimlaneMeta::default(), head);
    writer.finish(&SwimlaneDropped { copies: dropped, ..SwimlaneDropped::default() }).unwrap();
    String::from_utf8(text).unwrap()
}

fn read_file(text: &str) -> Result<Swimlane, String> {
    let dir = TestDir::new();
    let path = dir.join(FILE_NAME);
    std::fs::write(&path, text).unwrap();
    Swimlane::read(&path).map_err(|error| error.detail())
}

#[test]
fn copies_are_read_back_at_every_level_and_are_not_missed_where_there_are_none() {
    for level in [SwimlaneLevel::Blocks, SwimlaneLevel::Tasks, SwimlaneLevel::Phases] {
        let text = written(level, Some(&copies()), 3);
        let head = read_file(&text).unwrap().head;
        assert_eq!((head.copies, head.counts.copies.total()), (Some(copies()), 5));
        assert_eq!(read_file(&written(level, Some(&[]), 0)).unwrap().head.copies, Some(Vec::new()));
        let without = written(level, None, 0);
        assert!(!without.contains("cop") && read_file(&without).unwrap().head.copies.is_none());
    }
}

#[test]
fn launches_are_read_back_beside_copies_and_are_counted() {
    let launch = |tasks, times: [u64; 4]| {
        let [start, end, wait, settled] = times.map(Ticks);
        LaunchRow { tasks, start, end, wait, settled }
    };
    let (copies, launches) = (copies(), [launch(128, [1, 4, 9, 12]), launch(1024, [5, 7, 13, 20])]);
    let head = HeadRows { copies: Some(&copies), launches: Some(&launches) };
    let mut text = Vec::new();
    let writer = SwimlaneWriter::with_head(&mut text, SwimlaneLevel::Blocks, &SwimlaneMeta::default(), head);
    writer.finish(&SwimlaneDropped { launches: 4, ..SwimlaneDropped::default() }).unwrap();
    let read = read_file(std::str::from_utf8(&text).unwrap()).unwrap().head;
    assert_eq!((read.launches, read.counts.launches.total()), (Some(launches.to_vec()), 6));
    assert_eq!((read.copies, read.counts.copies.total()), (Some(copies), 2));
    let without = written(SwimlaneLevel::Blocks, None, 0);
    assert!(!without.contains("launch") && read_file(&without).unwrap().head.launches.is_none());
}

#[test]
fn copies_that_are_damaged_are_refused_with_what_is_wrong() {
    let text = written(SwimlaneLevel::Blocks, Some(&copies()), 0);
    let broken = [
        ("\"direction\"", "\"way\"", "there is no column \"direction\""),
        ("\"h2d\"", "\"up\"", "copies record 0: direction: unknown variant `up`"),
        (",300,301]", ",300]", "copies record 1: end: invalid length 4"),
        (",300,301]", ",300,-1]", "copies record 1: end: invalid value"),
        ("\"copy_columns\"", "\"columns\"", "copy_columns comes after copies"),
        ("\"total\":2,\"collected\":2", "\"total\":3,\"collected\":3", "copies has 2 rows, collected says 3"),
    ];
    for (from, to, expected) in broken {
        assert!(text.contains(from), "{from}");
        let found = read_file(&text.replacen(from, to, 1)).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
    let moved = text.replace("\"direction\",\"what\"", "\"what\",\"direction\"");
    let moved = moved.replace("\"h2d\",\"buffer 0\"", "\"buffer 0\",\"h2d\"");
    let moved = moved.replace("\"d2h\",\"a \\\"read\\\"\"", "\"a \\\"read\\\"\",\"d2h\"");
    assert_eq!(read_file(&moved).unwrap().head.copies, Some(copies()));
}
