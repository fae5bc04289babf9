//! What is read quickly is what `serde` reads.

use proptest::prelude::*;

use super::super::kinds::{KINDS, KindRows};
use super::super::read::Reader;
use super::super::{SwimlaneDropped, SwimlaneLevel, SwimlaneMeta, SwimlaneWriter};
use super::*;
use crate::rows::quick::check::{changed, is_quick, read_through};

/// A file with every kind of row.
fn file(level: SwimlaneLevel, numbers: [u64; 3]) -> Vec<u8> {
    let [first, second, third] = numbers;
    let mut text = Vec::new();
    let mut writer = SwimlaneWriter::new(&mut text, level, &SwimlaneMeta::default());
    let (start, end, task_id) = (Ticks(first), Ticks(second), TaskId(third));
    let block = BlockRow { core: CoreId(7), task_id, start, end, dispatch: start, ..BlockRow::default() };
    writer.block(&block).unwrap();
    writer.block(&BlockRow::default()).unwrap();
    if level >= SwimlaneLevel::Tasks {
        for reclaim in [None, Some(end)] {
            writer.task(&TaskRow { task_id, seq: Seq(first), ready: start, reclaim }).unwrap();
        }
        writer.edge(&EdgeRow { pred: TaskId(second), succ: task_id }).unwrap();
    }
    if level >= SwimlaneLevel::Phases {
        for (thread, &phase) in Phase::ALL.iter().enumerate() {
            let row = PhaseRow { thread: thread as u32, phase, start, end, loop_: third, tasks: 2 };
            writer.phase(&row).unwrap();
        }
        writer.submit(&SubmitRow { task_id, end, heap_bytes: first, ..SubmitRow::default() }).unwrap();
    }
    writer.finish(&SwimlaneDropped::default()).unwrap();
    text
}

/// The lines of the rows.
fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"[")).map(<[u8]>::to_vec).collect()
}

/// A reader for each kind of row; the second lets a column be added, so that it takes the more general way.
fn readers() -> impl Iterator<Item = [KindRows<'static>; 2]> {
    KINDS.iter().map(|kind| {
        let names: Vec<String> = kind.columns.iter().map(|name| name.to_string()).collect();
        let more = [&names[..1], &["new".to_string()], &names[1..]].concat();
        [names, more].map(|names| KindRows::new(kind, kind.find(SwimlaneLevel::Phases, &names).unwrap()))
    })
}

#[test]
fn rows_of_the_writer_are_read_quickly() {
    let rows = lines(&file(SwimlaneLevel::Phases, [1, 23_456_789_012, 1 << 33]));
    assert_eq!(rows.len(), 11);
    for row in rows {
        assert!(readers().any(|[exact, _]| is_quick(&exact, &row)), "{}", String::from_utf8_lossy(&row));
    }
    let [exact, more] = readers().nth(2).unwrap();
    assert!(is_quick(&exact, b"[1,2]") && !is_quick(&more, b"[1,2]"));
    assert!(is_quick(&more, b"[1,null, 2]") && !is_quick(&exact, b"[1, 2]"));
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
        for reader in readers().flatten() {
            is_quick(&reader, &text);
        }
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
