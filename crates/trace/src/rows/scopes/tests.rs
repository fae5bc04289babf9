//! What is read quickly is what `serde` reads.

use proptest::prelude::*;

use super::read::Reader;
use super::*;
use crate::rows::quick::check::{changed, is_quick, read_through};
use crate::rows::row::ObjectRows;

const ROWS: ObjectRows<ScopeRow<'static>> = ObjectRows::new();

fn rows() -> Vec<ScopeRow<'static>> {
    let stall = |ring, resource| ScopeStall { ring, resource, count: 3, ticks: Ticks(900) };
    let peak = |peak| Peak { peak, capacity: 1 << 16 };
    let row = ScopeRow {
        scope: ScopeId(3),
        parent: Some(ScopeId(0)),
        site: "src/run.rs:7".into(),
        ring: RingIndex(1),
        enter: Ticks(40),
        exit: Some(Ticks(900)),
        heap: [peak(0), peak(1), peak(20), peak(300)],
        tensormap: peak(31),
        need: ScopeNeed { task_window: 13, heap: 53248, ..ScopeNeed::default() },
        ..ScopeRow::default()
    };
    let stalls = vec![stall(Some(RingIndex(1)), Resource::Heap), stall(None, Resource::TensorMap)];
    vec![row.clone(), ScopeRow { parent: None, stalls: stalls.into(), ..row }]
}

fn written(row: &ScopeRow<'_>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut writer = ScopesWriter::new(&mut text, None);
    writer.scope(row).unwrap();
    writer.finish(0).unwrap();
    text
}

/// The row's text and what follows it.
fn row_text(row: &ScopeRow<'_>) -> Vec<u8> {
    let text = String::from_utf8(written(row)).unwrap();
    text.as_bytes()[text.find("{\"scope\"").unwrap()..].to_vec()
}

#[test]
fn rows_of_the_writer_are_read_quickly() {
    assert!(rows().iter().all(|row| is_quick(&ROWS, &row_text(row))));
    let open = ScopeRow { exit: None, ..rows()[0].clone() };
    assert!(is_quick(&ROWS, &row_text(&open)));
}

proptest! {
    #[test]
    fn what_is_read_quickly_is_what_serde_reads(text in changed(rows().iter().map(row_text).collect())) {
        is_quick(&ROWS, &text);
    }

    #[test]
    fn a_file_is_the_same_in_any_form_and_however_it_is_cut(site in any::<String>(), buffer_bytes in 1..2000usize) {
        let row = ScopeRow { site: site.into(), ..rows().remove(1) };
        let text = written(&row);
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        for text in [text, serde_json::to_vec_pretty(&value).unwrap()] {
            let mut read = Vec::new();
            read_through(&text, buffer_bytes, Reader::new(|row| read.push(row))).unwrap();
            prop_assert_eq!(&read[..], std::slice::from_ref(&row));
        }
    }
}
