//! Any bytes: refused by name, or a graph. Never a panic, never a wait.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use ringlane_graph::import::{Format, ImportOptions, read};
use ringlane_task::Explain;

use super::generate::{Dag, File};
use super::import;

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| Dag::layered(12).files());

/// A change of a file: bytes at a place are replaced, by none or by others.
#[derive(Clone, Debug)]
struct Change {
    at: Index,
    count: usize,
    bytes: Vec<u8>,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let word = prop::sample::select(vec![
        "{", "}", "[", "]", "\"", ",", "\n", "->", "0", "-1", "1e999", "id", "\\", "\0",
    ]);
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        word.prop_map(|word| word.as_bytes().to_vec()),
    ];
    let change = (any::<Index>(), 0..6usize, bytes);
    prop::collection::vec(change.prop_map(|(at, count, bytes)| Change { at, count, bytes }), 1..5)
}

fn changed(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for Change { at, count, bytes: new } in changes {
        let at = at.index(bytes.len() + 1);
        let end = (at + count).min(bytes.len());
        bytes.splice(at..end, new.iter().copied());
    }
    bytes
}

fn holds(file: &File) {
    match import(file) {
        Ok(graph) => {
            let tasks = graph.tasks().len() as u32;
            assert!(graph.edges().iter().all(|&(pred, succ)| pred < succ && succ < tasks));
            assert!(graph.longest_path_ticks() <= graph.work_ticks());
        }
        Err(error) => {
            assert!(!error.name().is_empty() && !error.detail().is_empty() && !error.hint().is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_changed_file_is_refused_by_name_or_is_a_graph(which in any::<Index>(), changes in changes()) {
        let file = which.get(&FILES);
        let bytes = changed(&file.bytes, &changes);
        holds(&File { format: file.format, what: file.what, bytes, edges: file.edges.clone() });
        let edges = changed(&file.edges, &changes);
        holds(&File { format: file.format, what: file.what, bytes: file.bytes.clone(), edges });
    }

    #[test]
    fn any_bytes_are_refused_by_name_or_are_a_graph(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in Format::ALL {
            holds(&File { format, what: "any", bytes: bytes.clone(), edges: bytes.clone() });
        }
    }
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    for file in
        FILES.iter().filter(|file| !matches!(file.what, "csv" | "chakra protobuf" | "chakra jsonizer"))
    {
        let whole = file.bytes.trim_ascii_end().len();
        for length in 0..whole {
            let cut = read(file.format, "f", &file.bytes[..length], &ImportOptions::default());
            assert!(cut.is_err(), "{} is whole after {length} of {whole} bytes", file.what);
        }
    }
}

#[test]
fn messages_that_are_cut_off_within_are_refused() {
    let file = FILES.iter().find(|file| file.what == "chakra protobuf").unwrap();
    let mut whole = 0;
    for length in 0..file.bytes.len() {
        match read(file.format, "f", &file.bytes[..length], &ImportOptions::default()) {
            // Between two messages there is no sign that more should come.
            Ok(_) => whole += 1,
            Err(error) => assert!(["CutOff", "EmptyGraph"].contains(&error.name()), "{length}: {error}"),
        }
    }
    assert_eq!(whole, 11);
}
